-- Searching: passages, without judging them.

create or replace function pgclarify_private.rows(
    row_type pgclarify.search_result, run_ids bigint[], requester name
)
returns setof pgclarify.search_result
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_roles constant name[] := pgclarify_private.roles_of(rows.requester);
    v_run_id bigint;
    v_corpus_id bigint;
begin
    for v_run_id, v_corpus_id in
        select run.run_id, visible.corpus_id
        from pgclarify_private.run
        inner join pgclarify_private.visible_corpora(v_roles) as visible on visible.corpus_id = run.corpus_id
        where run.run_id = any(rows.run_ids)
        order by run.run_id
    loop
        return query execute format(
            $sql$
            with listed as materialized (
                select candidate.rank, candidate.passage_id, candidate.document_id, candidate.score, candidate.origin
                from pgclarify_private.candidate
                where candidate.run_id = $1 and candidate.corpus_id = $3
            ),
            -- A separate step: Citus does not join the shards of passages with tables of the coordinator.
            found as materialized (
                select listed.*, passage.heading, passage.content
                from listed
                inner join %s as passage
                    on passage.corpus_id = $3
                    and passage.document_id = listed.document_id
                    and passage.id = listed.passage_id
                where passage.readers is null or passage.readers && $2
            )
            select
                found.rank, found.passage_id, found.document_id, document.title, found.heading, found.content,
                found.score, found.origin
            from found
            inner join pgclarify_private.document on document.corpus_id = $3 and document.id = found.document_id
            order by found.rank
            $sql$,
            pgclarify_private.passages_of(v_corpus_id)
        ) using v_run_id, v_roles, v_corpus_id;
    end loop;
end
$$;

comment on function pgclarify_private.rows(pgclarify.search_result, bigint[], name) is
'Candidates of runs with their passages, if the requester may read them now.';

create or replace function pgclarify_private.search_corpus(
    caller pgclarify_private.caller, question text, corpus text, top_k integer, options jsonb
)
returns setof pgclarify.search_result
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_requester constant name := pgclarify_private.verify_caller(search_corpus.caller);
    v_run constant pgclarify_private.run := pgclarify_private.prepare(
        search_corpus.caller,
        'search',
        jsonb_build_object(
            'question', search_corpus.question, 'corpus', search_corpus.corpus, 'top_k', search_corpus.top_k
        ),
        search_corpus.options
    );
    v_timeout constant interval := (v_run.settings ->> 'timeout')::interval;
    v_run_ids bigint[];
begin
    if v_run.settings ->> 'method' = 'lexical' and not v_run.settings ? 'reranker' then
        -- It needs no embedding, so it needs no worker. It waits only if the corpus is being moved. It waits here, because a
        -- search that waits has an old snapshot and finds nothing.
        perform pgclarify_private.lock_passages(v_run.corpus_id);
        return query
        select
            seen.rank, seen.passage_id, seen.document_id, seen.title, seen.heading, seen.content, seen.score,
            seen.origin
        from pgclarify_private.search(
            v_run.corpus_id, pgclarify_private.roles_of(v_requester), 'lexical', v_run.question, null,
            (v_run.settings -> 'top_k')::integer
        ) as seen
        order by seen.rank;
        return;
    end if;
    v_run_ids := pgclarify_private.ask_one(search_corpus.caller, v_run, v_timeout);
    perform pgclarify_private.lock_passages(v_run.corpus_id);
    return query
    select seen.* from pgclarify_private.current_rows(null::pgclarify.search_result, v_run_ids, v_requester) as seen;
end
$$;

comment on function pgclarify_private.search_corpus(pgclarify_private.caller, text, text, integer, jsonb) is 'See search.';
grant execute on function pgclarify_private.search_corpus(
    pgclarify_private.caller, text, text, integer, jsonb
) to pgclarify_user;

create or replace function pgclarify.search(
    question text, corpus text default null, top_k integer default 10, options jsonb default '{}'
)
returns setof pgclarify.search_result
language sql volatile
set search_path = pg_catalog, pg_temp
rows 10
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral pgclarify_private.search_corpus(
        caller, search.question, search.corpus, search.top_k, search.options
    ) as seen;
end;

comment on function pgclarify.search(text, text, integer, jsonb) is
'The passages that fit a question best. question: 1 to 10,000 characters. corpus: its name; null means pgclarify.corpus, or '
'the only one. top_k: how many, 1 to 1000. options: method (hybrid; dense; lexical, which needs no worker), retrieval '
'(fixed; adaptive, which also follows neighbors of the passages that it finds), reranker (scores passages again: signal, '
'model, endpoint: and a name, or the name of a cross-encoder; signal by default with adaptive), max_passages (most passages '
'that are scored again, at least top_k; default 100, or top_k if that is more), timeout (60s).';
grant execute on function pgclarify.search(text, text, integer, jsonb) to pgclarify_user;
