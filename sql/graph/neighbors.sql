-- The neighborhood graph for its users: only neighbors that they may read.

create or replace function pgclarify_private.nearest_visible(
    corpus pgclarify_private.corpus, roles name[], document_id text, passage_id bigint, depth integer,
    part pgclarify_private.part
)
returns setof pgclarify.neighbor
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
rows 10
as $$
declare
    v_space_id bigint := (nearest_visible.corpus).embedding_space_id;
    v_vector @extschema:vector@.halfvec;
    v_found record;
begin
    execute format(
        'select vector from %s where embedding_space_id = $1 and document_id = $2 and passage_id = $3',
        pgclarify_private.partition_name('passage_embedding', v_space_id)
    ) into v_vector using v_space_id, nearest_visible.document_id, nearest_visible.passage_id;
    -- It also finds the passage itself.
    select dense.* into v_found
    from pgclarify_private.dense(
        (nearest_visible.corpus).corpus_id, nearest_visible.roles, v_vector, nearest_visible.depth + 1, nearest_visible.part
    ) as dense;
    return query
    select
        (row_number() over (order by near.score desc, near.passage_id))::integer,
        near.document_id, near.passage_id, near.score::real
    from unnest(v_found.document_ids, v_found.passage_ids, v_found.scores) as near (document_id, passage_id, score)
    -- A zero vector is near nothing.
    where near.passage_id <> nearest_visible.passage_id and near.score < 'NaN'
    order by 1
    limit nearest_visible.depth;
end
$$;

comment on function pgclarify_private.nearest_visible(
    pgclarify_private.corpus, name[], text, bigint, integer, pgclarify_private.part
) is
'The depth nearest passages of a passage that these roles may read, found now: its list if there were no other passages.';

create or replace function pgclarify_private.neighbors(
    caller pgclarify_private.caller, corpus text, document_id text, passage_id bigint, k integer, filter jsonb,
    document_ids text[]
)
returns setof pgclarify.neighbor
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
rows 10
as $$
declare
    v_roles name[] := pgclarify_private.roles_of(pgclarify_private.verify_caller(neighbors.caller));
    v_corpus pgclarify_private.corpus := pgclarify_private.find_corpus(v_roles, neighbors.corpus);
    v_most integer := least(neighbors.k, v_corpus.graph_degree);
    v_settings constant jsonb := coalesce(pgclarify_private.check_filter(neighbors.filter), '{}')
        || coalesce(pgclarify_private.check_document_ids(to_jsonb(neighbors.document_ids)), '{}');
    v_part constant pgclarify_private.part := pgclarify_private.part_of(v_corpus.corpus_id, v_roles, v_settings);
    v_seen pgclarify.neighbor[];
    v_is_any_hidden boolean;
begin
    if coalesce(neighbors.k, 0) not between 1 and 1000 then
        raise exception 'k must be between 1 and 1000'
            using errcode = 'invalid_parameter_value',
                column = 'k',
                detail = format('k is %s.', coalesce(neighbors.k::text, 'null')),
                hint = 'Pass k => 10 for the default number of neighbors.';
    end if;
    if not exists (
        select from pgclarify_private.readable_passages(
            neighbors.caller, v_corpus.corpus_id, array[neighbors.document_id], array[neighbors.passage_id]
        )
    ) then
        raise exception 'passage % of document "%" does not exist', neighbors.passage_id, left(neighbors.document_id, 200)
            using errcode = 'undefined_object',
                detail = format('Corpus "%s" has no such passage that you can read.', v_corpus.name),
                hint = 'Passages are found with pgclarify.search.';
    end if;
    if v_corpus.embedding_space_id is null then
        return;
    end if;
    if not (v_part is null) or pgclarify_private.is_distributed(v_corpus.corpus_id) then
        return query select found.* from pgclarify_private.nearest_visible(
            v_corpus, v_roles, neighbors.document_id, neighbors.passage_id, v_most, v_part
        ) as found;
        return;
    end if;
    execute format(
        $sql$
        select
            array_agg(
                (near.rank::integer, near.document_id, near.passage_id, near.similarity)::pgclarify.neighbor
                order by near.rank
            ) filter (where near.is_readable and near.rank <= $6),
            coalesce(bool_or(not near.is_readable), false)
        from (
            select
                listed.*, seen.is_readable,
                row_number() over (partition by seen.is_readable order by listed.place) as rank
            from %1$s as kept
            cross join lateral unnest(
                kept.neighbor_document_ids, kept.neighbor_ids, kept.similarities
            ) with ordinality as listed (document_id, passage_id, similarity, place)
            -- Removed passages are not found.
            inner join %2$s as passage
                on passage.corpus_id = $4 and passage.document_id = listed.document_id and passage.id = listed.passage_id
            cross join lateral (select coalesce(passage.readers && $5, true) as is_readable) as seen
            where kept.embedding_space_id = $1
                and kept.document_id = $2
                and kept.passage_id = $3
        ) as near
        $sql$,
        pgclarify_private.partition_name('neighborhood', v_corpus.embedding_space_id),
        pgclarify_private.partition_name('passage', v_corpus.corpus_id)
    ) into v_seen, v_is_any_hidden using
        v_corpus.embedding_space_id, neighbors.document_id, neighbors.passage_id, v_corpus.corpus_id, v_roles, v_most;
    if v_is_any_hidden and coalesce(cardinality(v_seen), 0) < v_most then
        -- A short list would reveal that there are others.
        return query select found.* from pgclarify_private.nearest_visible(
            v_corpus, v_roles, neighbors.document_id, neighbors.passage_id, v_most, v_part
        ) as found;
    else
        return query select seen.* from unnest(v_seen) as seen;
    end if;
exception
    when undefined_table then
        -- Workers have dropped tables of the corpus since the transaction began.
        raise exception 'the corpus has been dropped, or has another embedding model by now'
            using errcode = 'serialization_failure',
                detail = format('The graph of corpus "%s" that this transaction sees is gone.', v_corpus.name),
                hint = 'Begin a new transaction.';
end
$$;

comment on function
    pgclarify_private.neighbors(pgclarify_private.caller, text, text, bigint, integer, jsonb, text[]) is 'See neighbors.';
grant execute on function
    pgclarify_private.neighbors(pgclarify_private.caller, text, text, bigint, integer, jsonb, text[]) to pgclarify_reader;
