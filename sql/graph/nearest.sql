-- The search for neighbors: by vectors, with their index, or by the rare words that passages share.

create or replace function pgclarify_private.nearest(
    embedding_space_id bigint, document_ids text[], passage_ids bigint[], depth integer
)
returns setof pgclarify_private.neighborhood
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
-- Parallel workers share several calls of one query.
cost 1000000 rows 250
as $$
declare
    v_dimensions integer;
begin
    select space.dimensions into v_dimensions
    from pgclarify_private.embedding_space as space
    where space.embedding_space_id = nearest.embedding_space_id;
    return query execute format(
        $sql$
        select $1, own.document_id, own.passage_id, near.document_ids, near.passage_ids, near.similarities
        from unnest($2, $3) as given (document_id, passage_id)
        inner join %1$s as own
            on own.embedding_space_id = $1
            and own.document_id = given.document_id
            and own.passage_id = given.passage_id
        cross join lateral (
            select
                coalesce(array_agg(other.document_id order by other.distance, other.passage_id), '{}') as document_ids,
                coalesce(array_agg(other.passage_id order by other.distance, other.passage_id), '{}') as passage_ids,
                coalesce(
                    array_agg((1 - other.distance)::real order by other.distance, other.passage_id), '{}'
                ) as similarities
            from (
                -- The index has exactly this expression.
                select
                    embedding.document_id,
                    embedding.passage_id,
                    (embedding.vector::@extschema:vector@.halfvec(%2$s))
                    operator(@extschema:vector@.<=>) (own.vector::@extschema:vector@.halfvec(%2$s)) as distance
                from %1$s as embedding
                order by
                    (embedding.vector::@extschema:vector@.halfvec(%2$s))
                    operator(@extschema:vector@.<=>) (own.vector::@extschema:vector@.halfvec(%2$s))
                -- It also finds the passage itself.
                limit $4 + 1
            ) as other
            where other.passage_id <> own.passage_id
                -- A zero vector is near nothing.
                and other.distance < 'NaN'
        ) as near
        $sql$,
        pgclarify_private.partition_name('passage_embedding', nearest.embedding_space_id), v_dimensions
    ) using
        nearest.embedding_space_id, nearest.document_ids, nearest.passage_ids, nearest.depth;
end
$$;

comment on function pgclarify_private.nearest(bigint, text[], bigint[], integer) is
'The nearest passages of these by the index over their vectors, depth of them or one more. The caller sets hnsw.ef_search.';

create or replace function pgclarify_private.nearest_by_words(
    embedding_space_id bigint,
    document_ids text[],
    passage_ids bigint[],
    depth integer,
    max_candidates bigint default 2000,
    roles name[] default null
)
returns setof pgclarify_private.neighborhood
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
cost 1000000 rows 50
as $$
declare
    -- Lexemes that represent a passage.
    v_lexemes constant integer := 12;
    v_score constant text := pgclarify_private.bm25_sql('passage', '$4', '$5', '$3');
    v_corpus_id bigint;
    v_count pgclarify_private.corpus_count;
    v_passage text;
    v_is_visible text := case when nearest_by_words.roles is null then 'true' else pgclarify_private.is_visible_sql('$7') end;
    v_given record;
    v_asked record;
    v_near record;
begin
    select space.corpus_id into v_corpus_id
    from pgclarify_private.embedding_space as space
    where space.embedding_space_id = nearest_by_words.embedding_space_id;
    select counted.* into v_count from pgclarify_private.corpus_count as counted where counted.corpus_id = v_corpus_id;
    v_passage := pgclarify_private.partition_name('passage', v_corpus_id);
    for v_given in
        execute format(
            $sql$
            select passage.document_id, passage.id, passage.lexemes, passage.lexeme_count
            from unnest($2, $3) as given (document_id, id)
            inner join %s as passage
                on passage.corpus_id = $1 and passage.document_id = given.document_id and passage.id = given.id
            $sql$,
            v_passage
        ) using v_corpus_id, nearest_by_words.document_ids, nearest_by_words.passage_ids
    loop
        with rare as (
            select
                term.lexeme, term.passages,
                ln(1 + greatest(v_count.passages - term.passages + 0.5, 0.5) / (term.passages + 0.5)) as weight,
                (
                    '''' || replace(replace(term.lexeme, E'\\', E'\\\\'), '''', '''''') || ''''
                )::tsquery as query
            from unnest(tsvector_to_array(v_given.lexemes)) as present (lexeme)
            inner join pgclarify_private.term
                on term.corpus_id = v_corpus_id and term.lexeme = present.lexeme and term.passages > 0
            order by term.passages, term.lexeme
            limit v_lexemes
        ),
        placed as (
            select
                rare.*,
                sum(rare.passages) over (order by rare.passages, rare.lexeme) as passages_so_far,
                row_number() over (order by rare.passages, rare.lexeme) as place
            from rare
        )
        select
            array_agg(placed.query order by placed.place) as queries,
            array_agg(placed.weight order by placed.place) as weights,
            string_agg(placed.query::text, ' | ' order by placed.place)
            filter (where placed.passages_so_far <= nearest_by_words.max_candidates)::tsquery as candidates
        into v_asked
        from placed;
        -- A lexeme of every second passage finds no useful candidates.
        if v_asked.candidates is null then
            select array[]::text[] as document_ids, array[]::bigint[] as passage_ids, array[]::real[] as similarities
            into v_near;
        else
            execute format(
                $sql$
                with scored as (
                    select passage.document_id, passage.id, (%3$s) as score
                    from %1$s as passage
                    where passage.lexemes @@ $2 and %2$s
                ),
                nearest as (
                    select
                        scored.document_id, scored.id,
                        least(
                            scored.score / (select own.score from scored as own where own.id = $1), 1
                        )::real as similarity
                    from scored
                    where scored.id <> $1 and scored.score > 0
                    order by scored.score desc, scored.id
                    limit $6
                )
                select
                    coalesce(array_agg(document_id order by similarity desc, id), '{}') as document_ids,
                    coalesce(array_agg(id order by similarity desc, id), '{}') as passage_ids,
                    coalesce(array_agg(similarity order by similarity desc, id), '{}') as similarities
                from nearest
                where similarity > 0
                $sql$,
                v_passage, v_is_visible, v_score
            ) into v_near
            using
                v_given.id, v_asked.candidates,
                greatest(v_count.lexemes, 1)::double precision / greatest(v_count.passages, 1), v_asked.queries,
                v_asked.weights, nearest_by_words.depth, nearest_by_words.roles;
        end if;
        return query select
            nearest_by_words.embedding_space_id, v_given.document_id, v_given.id, v_near.document_ids,
            v_near.passage_ids, v_near.similarities;
    end loop;
end
$$;

comment on function pgclarify_private.nearest_by_words(bigint, text[], bigint[], integer, bigint, name[]) is
'The depth passages that share most with each of these: BM25 of its twelve rarest lexemes, divided by its own score. '
'max_candidates: most passages that those lexemes may find; more common lexemes then add no candidates, but still count. '
'roles: those that must be able to read the passages, and each of these; null for all passages.';
