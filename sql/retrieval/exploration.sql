-- Exploration: what a worker reads for a run before it chooses any of it. Every function has the requester's roles as an
-- explicit predicate. Partitions are named, never reached through their parent.

create or replace function pgclarify_private.find_passages(
    run_id bigint,
    attempt integer,
    question text,
    query_vector @extschema:vector@.halfvec,
    embedding_model text,
    method text,
    depth integer,
    signal text,
    are_chosen boolean default false,
    asked_vector @extschema:vector@.halfvec default null,
    are_distinct boolean default true
)
returns table (
    document_id text,
    passage_id bigint,
    title text,
    heading text,
    content text,
    start_char integer,
    score double precision,
    origin text,
    signal_score double precision,
    dated timestamptz
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run := pgclarify_private.check_searchable(
        pgclarify_private.lock_run(find_passages.run_id, find_passages.attempt)
    );
begin
    -- Do not wait for the disk: after a crash the run is executed again, so what it wrote before its end may be lost.
    perform set_config('synchronous_commit', 'off', true);
    -- Other operations search for questions of their own, such as the parts of a question.
    update pgclarify_private.run
    set
        question_vector = coalesce(find_passages.asked_vector, find_passages.query_vector, run.question_vector),
        embedding_model = case
            when find_passages.query_vector is null then run.embedding_model else find_passages.embedding_model
        end,
        relaxed_question = case
            when find_passages.question <> run.question then find_passages.question else run.relaxed_question
        end
    where run.run_id = find_passages.run_id and pgclarify_private.searches_for_question(run.operation);
    return query
    with asked as materialized (
        select
            known.roles,
            pgclarify_private.query_vector(
                v_run.corpus_id, find_passages.embedding_model, find_passages.query_vector
            ) as vector,
            pgclarify_private.part_of(v_run.corpus_id, known.roles, v_run.settings) as part
        from pgclarify_private.roles_of(v_run.requested_by, v_run.requested_by_oid) as known (roles)
    ),
    seen as materialized (
        select result.*
        from asked
        cross join lateral pgclarify_private.search_texts(
            v_run.corpus_id, asked.roles, find_passages.method, find_passages.question, asked.vector,
            find_passages.depth, asked.part, find_passages.depth
        ) as result
        where find_passages.are_distinct
        union all
        select result.*
        from asked
        cross join lateral pgclarify_private.search(
            v_run.corpus_id, asked.roles, find_passages.method, find_passages.question, asked.vector,
            find_passages.depth, asked.part
        ) as result
        where not find_passages.are_distinct
    ),
    scored as materialized (
        select
            pgclarify_private.signal_scores(
                v_run.corpus_id, asked.roles, find_passages.signal, find_passages.question, asked.vector,
                listed.document_ids, listed.passage_ids
            ) as scores
        from asked
        cross join (
            select
                array_agg(seen.document_id order by seen.rank) as document_ids,
                array_agg(seen.passage_id order by seen.rank) as passage_ids
            from seen
        ) as listed
    ),
    chosen as (
        insert into pgclarify_private.candidate (
            run_id, rank, corpus_id, document_id, passage_id, heading, score, origin
        )
        select
            v_run.run_id, seen.rank, v_run.corpus_id, seen.document_id, seen.passage_id, seen.heading, seen.score,
            seen.origin
        from seen
        where find_passages.are_chosen
    )
    select
        seen.document_id, seen.passage_id, seen.title, seen.heading, seen.content, seen.start_char, seen.score,
        seen.origin, scored.scores[seen.rank], seen.dated
    from seen
    cross join scored
    order by seen.rank;
end
$$;

comment on function pgclarify_private.find_passages(
    bigint, integer, text, @extschema:vector@.halfvec, text, text, integer, text, boolean, @extschema:vector@.halfvec,
    boolean
) is
'Search for a run, as its requester: the depth best passages, best first. For clarify, search and list_answers, the vector is '
'stored, and the text, if it is another one than the question of the run. asked_vector: the vector of that question, if so. '
'method: dense, lexical or hybrid. signal: dense, lexical or both, for a second score; null for none. '
'embedding_model: model of the vector; error 40001 if the corpus has another one now. are_chosen: store the passages as the '
'candidates of the run, which must have none. are_distinct: of passages with the same text, find only the best one.';
grant execute on function pgclarify_private.find_passages(
    bigint, integer, text, @extschema:vector@.halfvec, text, text, integer, text, boolean, @extschema:vector@.halfvec,
    boolean
) to pgclarify_worker;

create or replace function pgclarify_private.find_neighbors(
    run_id bigint,
    attempt integer,
    document_ids text[],
    passage_ids bigint[],
    k integer,
    known bigint[],
    question text,
    query_vector @extschema:vector@.halfvec,
    embedding_model text,
    signal text
)
returns table (
    via_passage_id bigint,
    document_id text,
    passage_id bigint,
    similarity real,
    title text,
    heading text,
    content text,
    start_char integer,
    signal_score double precision,
    dated timestamptz
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run := pgclarify_private.check_searchable(
        pgclarify_private.running_attempt(find_neighbors.run_id, find_neighbors.attempt)
    );
    v_roles name[] := pgclarify_private.roles_of(v_run.requested_by, v_run.requested_by_oid);
    v_part constant pgclarify_private.part := pgclarify_private.part_of(v_run.corpus_id, v_roles, v_run.settings);
    v_vector @extschema:vector@.halfvec;
    v_space_id bigint;
begin
    -- Also without a vector: neighbors belong to one embedding model.
    v_space_id := (pgclarify_private.active_space(v_run.corpus_id, find_neighbors.embedding_model)).embedding_space_id;
    v_vector := pgclarify_private.query_vector(
        v_run.corpus_id, find_neighbors.embedding_model, find_neighbors.query_vector
    );
    if v_space_id is null or pgclarify_private.is_distributed(v_run.corpus_id) then
        return;
    end if;
    -- Hidden and removed passages do not count as one of the k. Rows of passages are read only once.
    return query execute format(
        $sql$
        select
            edge.via_passage_id, edge.document_id, edge.passage_id, edge.similarity, document.title,
            case when edge.is_new then edge.heading end,
            case when edge.is_new then edge.content end,
            case when edge.is_new then edge.start_char end,
            case when edge.is_new then %3$s end,
            document.dated
        from (
            select
                batch.passage_id as via_passage_id, batch.place as batch_place, near.*,
                near.passage_id <> all($7)
                and row_number() over (
                    partition by near.passage_id order by near.similarity desc, batch.place
                ) = 1 as is_new
            from unnest($1, $2) with ordinality as batch (document_id, passage_id, place)
            inner join %1$s as kept
                on kept.embedding_space_id = $3
                and kept.document_id = batch.document_id
                and kept.passage_id = batch.passage_id
            inner join %2$s as via
                on via.corpus_id = $4 and via.document_id = batch.document_id and via.id = batch.passage_id
            cross join lateral (
                select
                    listed.document_id, listed.passage_id, listed.similarity, listed.place, neighbor.heading,
                    neighbor.content, neighbor.start_char, neighbor.lexemes, neighbor.lexeme_count
                from unnest(
                    kept.neighbor_document_ids, kept.neighbor_ids, kept.similarities
                ) with ordinality as listed (document_id, passage_id, similarity, place)
                inner join %2$s as neighbor
                    on neighbor.corpus_id = $4
                    and neighbor.document_id = listed.document_id
                    and neighbor.id = listed.passage_id
                where (neighbor.readers is null or neighbor.readers && $5) and %4$s
                order by listed.place
                limit $6
            ) as near
            where (via.readers is null or via.readers && $5) and %5$s
        ) as edge
        left join pgclarify_private.document
            on document.corpus_id = $4 and document.id = case when edge.is_new then edge.document_id end
        order by edge.batch_place, edge.place
        $sql$,
        pgclarify_private.partition_name('neighborhood', v_space_id),
        pgclarify_private.passages_of(v_run.corpus_id),
        pgclarify_private.signal_sql(
            v_run.corpus_id, v_roles, find_neighbors.signal, find_neighbors.question, v_vector, 'edge',
            format(
                '(select embedding.vector from %s as embedding where embedding.embedding_space_id = %L'
                ' and embedding.document_id = edge.document_id and embedding.passage_id = edge.passage_id)',
                pgclarify_private.partition_name('passage_embedding', v_space_id), v_space_id
            )
        ),
        pgclarify_private.in_part_sql(v_part, v_run.corpus_id, 'neighbor', '$8'),
        pgclarify_private.in_part_sql(v_part, v_run.corpus_id, 'via', '$8')
    ) using
        find_neighbors.document_ids, find_neighbors.passage_ids, v_space_id, v_run.corpus_id, v_roles,
        find_neighbors.k, coalesce(find_neighbors.known, '{}'), v_part.document_ids;
exception
    when undefined_table then
        -- The corpus has no graph, or no longer has one.
        return;
end
$$;

comment on function pgclarify_private.find_neighbors(
    bigint, integer, text[], bigint[], integer, bigint[], text, @extschema:vector@.halfvec, text, text
) is
'The edges of some passages that the requester of a run may read, to passages that the requester may read: at most the k '
'nearest of each, nearest first. Content and other values are returned only for passages that are not known yet, in one row '
'each. document_ids, passage_ids: the passages. known: passage_ids. question, query_vector, embedding_model, signal: as for '
'find_passages; error 40001 also without a vector. No row if the corpus has no graph. Stable: everything is from one '
'snapshot.';
grant execute on function pgclarify_private.find_neighbors(
    bigint, integer, text[], bigint[], integer, bigint[], text, @extschema:vector@.halfvec, text, text
) to pgclarify_worker;

create or replace function pgclarify_private.record_candidates(run_id bigint, attempt integer, candidates jsonb)
returns integer[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run := pgclarify_private.check_searchable(
        pgclarify_private.lock_run(record_candidates.run_id, record_candidates.attempt)
    );
    v_roles constant name[] := pgclarify_private.roles_of(v_run.requested_by, v_run.requested_by_oid);
    v_kept integer[];
begin
    -- As in find_passages.
    perform set_config('synchronous_commit', 'off', true);
    execute format(
        $sql$
        -- Nodes of a cluster do not know the type of a candidate.
        with found as materialized (
            select given.candidate || jsonb_build_object('run_id', $2, 'corpus_id', $3, 'heading', passage.heading) as candidate
            from (
                select value as candidate, value ->> 'document_id' as document_id, (value ->> 'passage_id')::bigint as passage_id
                from jsonb_array_elements($1)
            ) as given
            inner join %s as passage
                on passage.corpus_id = $3 and passage.document_id = given.document_id and passage.id = given.passage_id
            where passage.readers is null or passage.readers && $4
        ),
        kept as (
            insert into pgclarify_private.candidate
            select filled.*
            from found
            cross join lateral jsonb_populate_record(null::pgclarify_private.candidate, found.candidate) as filled
            inner join pgclarify_private.document on document.corpus_id = $3 and document.id = filled.document_id
            where pgclarify_private.may_read(document, $4, $5)
            returning rank
        )
        select coalesce(array_agg(kept.rank order by kept.rank), '{}') from kept
        $sql$,
        pgclarify_private.partition_name('passage', v_run.corpus_id)
    ) into v_kept using
        record_candidates.candidates, v_run.run_id, v_run.corpus_id, v_roles,
        pgclarify_private.fence_of(v_run.corpus_id, v_roles);
    return v_kept;
end
$$;

comment on function pgclarify_private.record_candidates(bigint, integer, jsonb) is
'Store candidates of a run in addition to the existing ones, and return the ranks of those that were stored: passages that '
'are gone, or that its requester may not read now, are skipped. Error 23505 for a rank that exists: unlike steps, candidates '
'are sent once. candidates: array of objects with the columns of table candidate but run_id, corpus_id and heading.';
grant execute on function pgclarify_private.record_candidates(bigint, integer, jsonb) to pgclarify_worker;

create or replace function pgclarify_private.record_copies(run_id bigint, attempt integer, ranks integer[], texts text[])
returns table (rank integer, dated timestamptz)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_most constant integer := 100;
    v_run constant pgclarify_private.run := pgclarify_private.check_searchable(
        pgclarify_private.lock_run(record_copies.run_id, record_copies.attempt)
    );
    v_roles constant name[] := pgclarify_private.roles_of(v_run.requested_by, v_run.requested_by_oid);
    v_part constant pgclarify_private.part := pgclarify_private.part_of(v_run.corpus_id, v_roles, v_run.settings);
begin
    -- Citus does not join the shards of passages in this way.
    if pgclarify_private.is_distributed(v_run.corpus_id) then
        return;
    end if;
    -- As in find_passages.
    perform set_config('synchronous_commit', 'off', true);
    return query execute format(
        $sql$
        with judged as materialized (
            select
                candidate.*, bare.text, passage.start_char + strpos(passage.content, bare.text) as text_place
            from unnest($1, $2) as given (rank, content)
            inner join pgclarify_private.candidate on candidate.run_id = $3 and candidate.rank = given.rank
            inner join %1$s as passage
                on passage.corpus_id = $4
                and passage.document_id = candidate.document_id
                and passage.id = candidate.passage_id
                and passage.content = given.content
            cross join lateral (select %4$s as text) as bare
        ),
        copy as materialized (
            select
                judged.rank as copy_of, found.*,
                (select max(known.rank) from pgclarify_private.candidate as known where known.run_id = $3)
                + row_number() over (order by judged.rank, found.document_id, found.id) as own_rank
            from judged
            cross join lateral (
                select
                    passage.document_id, passage.id, passage.heading,
                    passage.start_char + strpos(passage.content, judged.text) as text_place
                from %1$s as passage
                where %5$s = hashtextextended(judged.text, 0)
                    and %4$s = judged.text
                    and (passage.document_id, passage.id) <> (judged.document_id, judged.passage_id)
                    and (passage.readers is null or passage.readers && $5)
                    and %2$s
                    and not exists (
                        select from pgclarify_private.candidate as known
                        where known.run_id = $3
                            and known.document_id = passage.document_id
                            and known.passage_id = passage.id
                    )
                limit %3$s
            ) as found
        ),
        stored as (
            insert into pgclarify_private.candidate
            select filled.*
            from copy
            inner join judged on judged.rank = copy.copy_of
            cross join lateral jsonb_populate_record(
                null::pgclarify_private.candidate,
                to_jsonb(judged) || jsonb_build_object(
                    'rank', copy.own_rank, 'document_id', copy.document_id, 'passage_id', copy.id, 'heading', copy.heading,
                    'copy_of', copy.copy_of, 'copy_shift', copy.text_place - judged.text_place
                )
            ) as filled
        )
        select copy.copy_of, max(document.dated)
        from copy
        inner join pgclarify_private.document on document.corpus_id = $4 and document.id = copy.document_id
        group by copy.copy_of
        $sql$,
        pgclarify_private.passages_of(v_run.corpus_id),
        pgclarify_private.in_part_sql(v_part, v_run.corpus_id, 'passage', '$6'),
        v_most,
        pgclarify_private.bare_text_sql('passage.content'), pgclarify_private.text_hash_sql('passage.content')
    ) using
        record_copies.ranks, record_copies.texts, v_run.run_id, v_run.corpus_id, v_roles, v_part.document_ids;
end
$$;

comment on function pgclarify_private.record_copies(bigint, integer, integer[], text[]) is
'Store the passages that have the text of judged candidates as candidates of the run, too, so that record_citations cites '
'them: up to 100 for each text that its requester may read, in the part of the corpus that it asks. Return the newest date of '
'the documents of each one''s copies. ranks, texts: the candidates, with the texts that were judged. A second call adds '
'nothing.';
grant execute on function pgclarify_private.record_copies(bigint, integer, integer[], text[]) to pgclarify_worker;
