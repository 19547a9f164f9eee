-- Lexical retrieval: candidates by the rarest lexemes of a question, then their scores by BM25.

create or replace function pgclarify_private.score_by_turns(
    passage text,
    is_visible text,
    roles name[],
    candidate_queries tsquery[],
    max_candidates bigint,
    queries tsquery[],
    weights double precision[],
    mean_lexemes double precision,
    depth integer,
    part_ids text[],
    out document_ids text[],
    out passage_ids bigint[],
    out scores double precision[]
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_query tsquery;
    v_more record;
begin
    document_ids := '{}';
    passage_ids := '{}';
    scores := '{}';
    foreach v_query in array score_by_turns.candidate_queries loop
        -- The score is computed on the node of the passage: an append of several searches would send all their rows.
        execute format(
            $sql$
            select
                array_agg(document_id) as document_ids, array_agg(id) as passage_ids, array_agg(score) as scores
            from (
                select passage.document_id, passage.id, (%2$s) as score
                from %1$s as passage
                where passage.lexemes @@ $1 and %3$s
                limit $3
            ) as matching
            $sql$,
            score_by_turns.passage, pgclarify_private.bm25_sql('passage', '$4', '$5', '$6'), score_by_turns.is_visible
        ) into v_more
        using
            v_query, score_by_turns.roles, score_by_turns.max_candidates, score_by_turns.queries, score_by_turns.weights,
            score_by_turns.mean_lexemes, score_by_turns.part_ids;
        document_ids := document_ids || v_more.document_ids;
        passage_ids := passage_ids || v_more.passage_ids;
        scores := scores || v_more.scores;
        exit when cardinality(passage_ids) >= score_by_turns.max_candidates;
    end loop;
    select
        coalesce(array_agg(best.document_id), '{}'), coalesce(array_agg(best.passage_id), '{}'),
        coalesce(array_agg(best.score), '{}')
    into document_ids, passage_ids, scores
    from (
        -- A passage may match several of the queries.
        select seen.document_id, seen.passage_id, max(seen.score) as score
        from unnest(document_ids, passage_ids, scores) as seen (document_id, passage_id, score)
        group by seen.document_id, seen.passage_id
        order by max(seen.score) desc, seen.document_id, seen.passage_id
        limit score_by_turns.depth
    ) as best;
end
$$;

comment on function pgclarify_private.score_by_turns(
    text, text, name[], tsquery[], bigint, tsquery[], double precision[], double precision, integer, text[]
) is
'The depth best passages by BM25 of a distributed table, as arrays. They are chosen from max_candidates that match the first '
'of candidate_queries, or, if these are too few, the next ones. is_visible: the condition that a passage may be read, with '
'roles as $2 and part_ids as $7. queries, weights, mean_lexemes: as for bm25_sql.';

create or replace function pgclarify_private.lexical(
    corpus_id bigint,
    roles name[],
    question text,
    depth integer,
    part pgclarify_private.part default null,
    out document_ids text[],
    out passage_ids bigint[],
    out scores double precision[]
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    -- Maximum number of passages that are scored.
    v_candidates constant bigint := 5000;
    v_corpus pgclarify_private.corpus;
    v_count pgclarify_private.corpus_count;
    v_queries tsquery[];
    v_weights double precision[];
    v_candidate_queries tsquery[];
    -- Lexemes of passages for everyone, and lexemes that only restricted passages have.
    v_open_queries tsquery[];
    v_other_query tsquery;
    v_rarest bigint;
    v_mean_lexemes double precision;
    v_is_visible text := 'true';
    v_are_few_visible boolean := false;
    v_candidate_sql text;
    -- On shards, if the matching passages are few enough, they need no limit before they are sorted by score.
    v_are_all_scored boolean := false;
    v_is_distributed constant boolean := pgclarify_private.is_distributed(lexical.corpus_id);
    v_is_second_try boolean := false;
begin
    select corpus.* into v_corpus from pgclarify_private.living_corpus as corpus where corpus.corpus_id = lexical.corpus_id;
    select counted.* into v_count
    from pgclarify_private.corpus_count as counted where counted.corpus_id = lexical.corpus_id;
    if coalesce(v_count.passages, 0) <= 0 then
        return;
    end if;
    if v_count.restricted_passages > 0 then
        v_is_visible := pgclarify_private.is_visible_sql('$2');
        -- Then every passage that has any of the lexemes is a candidate.
        v_are_few_visible := pgclarify_private.are_few_visible(v_count, lexical.roles, v_candidates);
    end if;
    v_are_few_visible := v_are_few_visible or coalesce((lexical.part).passages <= 20000, false);
    -- Rarest first. Candidates are the passages with one of the rarest lexemes, for as many lexemes as keep the number of
    -- candidates small. Lexemes that only restricted passages have are chosen separately: their existence must not change what
    -- is found among the others.
    with asked as (
        select
            seen.*,
            sum(case when seen.passages > 0 then seen.passages else seen.all_passages end) over rarest as passages_so_far,
            row_number() over rarest as place
        from pgclarify_private.question_lexemes(v_count, lexical.roles, v_corpus.search_config, lexical.question) as seen
        window rarest as (partition by seen.passages > 0 order by seen.passages, seen.all_passages, seen.lexeme)
    ),
    chosen as (
        select
            asked.*,
            v_are_few_visible or asked.place = 1 or asked.passages_so_far <= v_candidates as is_candidate
        from asked
    )
    select
        array_agg(chosen.query order by chosen.passages, chosen.place),
        array_agg(chosen.weight order by chosen.passages, chosen.place),
        array[
            string_agg(chosen.query::text, ' | ' order by chosen.passages, chosen.place)
            filter (where chosen.is_candidate)::tsquery
        ],
        array_agg(chosen.query order by chosen.place) filter (where chosen.passages > 0),
        string_agg(chosen.query::text, ' | ' order by chosen.place)
        filter (where chosen.passages = 0 and chosen.is_candidate)::tsquery,
        min(chosen.passages) filter (where chosen.passages > 0),
        max(chosen.mean_lexemes)
    into v_queries, v_weights, v_candidate_queries, v_open_queries, v_other_query, v_rarest, v_mean_lexemes
    from chosen;
    if v_queries is null then
        return;
    end if;
    if v_rarest > v_candidates and not v_are_few_visible then
        -- Even the rarest lexeme is common: passages with all lexemes come first, then those with all except the most common
        -- one, and so on.
        select array_remove(v_other_query || array_agg(nested.query order by nested.length desc), null)
        into v_candidate_queries
        from (
            select
                count(*) over (order by asked.place) as length,
                string_agg(asked.query::text, ' & ') over (order by asked.place)::tsquery as query
            from unnest(v_open_queries[:8]) with ordinality as asked (query, place)
        ) as nested;
    end if;
    loop
        v_are_all_scored := v_is_distributed
            and (v_are_few_visible or not v_is_second_try and coalesce(v_rarest, 0) <= v_candidates);
        if v_is_distributed and not v_are_all_scored then
            select scored.* into document_ids, passage_ids, scores
            from pgclarify_private.score_by_turns(
                pgclarify_private.partition_name('passage', lexical.corpus_id),
                v_is_visible || ' and ' || pgclarify_private.in_part_sql(lexical.part, lexical.corpus_id, 'passage', '$7'),
                lexical.roles, v_candidate_queries, v_candidates, v_queries, v_weights, v_mean_lexemes, lexical.depth,
                (lexical.part).document_ids
            ) as scored;
        else
            -- An append stops at the limit, so later branches often never start.
            select
                case when count(*) > 1 then 'select distinct on (document_id, id) * from (' else '(' end
                || string_agg(
                    format(
                        $sql$
                        (
                            select passage.document_id, passage.id, passage.lexemes, passage.lexeme_count
                            from %s as passage
                            -- Without corpus_id, which the partition implies: before there are statistics, the planner would
                            -- treat it as selective and scan the primary key.
                            where passage.lexemes @@ $1[%s] and %s
                        )
                        $sql$,
                        pgclarify_private.partition_name('passage', lexical.corpus_id), branch.ordinal,
                        v_is_visible || ' and ' || pgclarify_private.in_part_sql(lexical.part, lexical.corpus_id, 'passage', '$8')
                    ),
                    ' union all ' order by branch.ordinal
                )
                || case when v_are_all_scored then ')' else ' limit $3)' end || case when count(*) > 1 then ' as repeated' else '' end
            into v_candidate_sql
            from generate_subscripts(v_candidate_queries, 1) as branch (ordinal);
            execute format(
                $sql$
                select array_agg(document_id), array_agg(id), array_agg(score)
                from (
                    select
                        candidate.document_id, candidate.id,
                        (
                            %2$s
                        ) as score
                    from (
                        %1$s
                    ) as candidate
                    order by score desc, candidate.document_id, candidate.id
                    limit $7
                ) as best
                $sql$,
                v_candidate_sql, pgclarify_private.bm25_sql('candidate', '$4', '$5', '$6')
            ) into document_ids, passage_ids, scores
            using
                v_candidate_queries, lexical.roles, v_candidates, v_queries, v_weights,
                v_mean_lexemes, lexical.depth, (lexical.part).document_ids;
        end if;
        -- All passages with the rarest lexemes may be outside of the part.
        exit when lexical.part is null or v_are_few_visible or v_is_second_try
            or coalesce(cardinality(document_ids), 0) >= lexical.depth;
        v_is_second_try := true;
        v_candidate_queries := array_remove(v_other_query || v_open_queries, null);
    end loop;
end
$$;

comment on function pgclarify_private.lexical(bigint, name[], text, integer, pgclarify_private.part) is
'The depth best passages of a corpus, or of a part of it, by BM25 that these roles may read, as arrays, null for none. '
'Candidates are found by the rarest lexemes of the question through the GIN index, so common words cost nothing.';
