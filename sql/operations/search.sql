-- Searching: passages, without judging them.

create or replace function pgclarify_private.scores_passages(settings jsonb)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_settings constant jsonb := scores_passages.settings;
    v_top_k constant integer := v_settings -> 'top_k';
    v_max_passages constant integer := v_settings -> 'max_passages';
    v_is_scored constant boolean := v_settings ->> 'retrieval' = 'adaptive' or v_settings ? 'reranker';
begin
    if v_is_scored and v_max_passages < v_top_k then
        raise exception 'max_passages must not be less than top_k'
            using errcode = 'invalid_parameter_value',
                column = 'max_passages',
                detail = format('max_passages is %s, and top_k is %s.', v_max_passages, v_top_k),
                hint = 'Only passages that are scored can be among the best: pass a larger max_passages, or a smaller top_k.';
    end if;
    return v_is_scored;
end
$$;

comment on function pgclarify_private.scores_passages(jsonb) is
'Whether passages are scored once more; error 22023 if fewer are scored than are wanted.';

create or replace function pgclarify_private.check_searching(settings jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_settings jsonb := check_searching.settings;
begin
    if pgclarify_private.scores_passages(v_settings) then
        v_settings := jsonb_build_object('reranker', 'signal', 'max_passages', greatest(100, (v_settings -> 'top_k')::integer))
            || v_settings;
    elsif v_settings ? 'max_passages' then
        raise exception 'option "max_passages" is for retrieval adaptive, or for a reranker'
            using errcode = 'invalid_parameter_value',
                column = 'max_passages',
                detail = 'No passage is scored again.',
                hint = 'Omit it, or pass {"retrieval": "adaptive"}.';
    end if;
    return case when v_settings ->> 'retrieval' = 'fixed' then v_settings - 'retrieval' else v_settings end;
end
$$;

comment on function pgclarify_private.check_searching(jsonb) is
'As check_settings, for search: retrieval is present if it is adaptive; reranker and max_passages are present if passages are '
'scored again.';

create or replace function pgclarify_private.search_result_rows(run_ids bigint[], requester name)
returns setof pgclarify.search_result
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_roles constant name[] := pgclarify_private.roles_of(search_result_rows.requester);
    v_run_id bigint;
    v_corpus_id bigint;
    v_document_ids text[];
begin
    for v_run_id, v_corpus_id, v_document_ids in
        select
            run.run_id, visible.corpus_id,
            array(select candidate.document_id from pgclarify_private.candidate where candidate.run_id = run.run_id)
        from pgclarify_private.run
        inner join pgclarify_private.visible_corpora(v_roles) as visible on visible.corpus_id = run.corpus_id
        where run.run_id = any(search_result_rows.run_ids)
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
                select listed.*, passage.heading, passage.content, passage.start_char
                from listed
                inner join %s as passage
                    on passage.corpus_id = $3
                    and passage.document_id = listed.document_id
                    and passage.id = listed.passage_id
                    %s
                where passage.readers is null or passage.readers && $2
            )
            select
                found.rank, found.passage_id, found.document_id, document.title, found.heading, found.content,
                found.score, found.origin, pgclarify_private.place_at(document.places, found.start_char)
            from found
            inner join pgclarify_private.document on document.corpus_id = $3 and document.id = found.document_id
            where pgclarify_private.may_read(document, $2, $4)
            order by found.rank
            $sql$,
            pgclarify_private.passages_of(v_corpus_id),
            -- Citus then needs no node but those that have the documents.
            case when pgclarify_private.is_distributed(v_corpus_id) then 'and passage.document_id = any($5)' end
        ) using v_run_id, v_roles, v_corpus_id, pgclarify_private.fence_of(v_corpus_id, v_roles), v_document_ids;
    end loop;
end
$$;

comment on function pgclarify_private.search_result_rows(bigint[], name) is
'Candidates of runs with their passages, if the requester may read them now.';

create or replace function pgclarify_private.search_corpus(
    caller pgclarify_private.caller, parameters jsonb, options jsonb
)
returns setof pgclarify.search_result
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_requester constant name := pgclarify_private.verify_caller(search_corpus.caller);
    v_run constant pgclarify_private.run := pgclarify_private.prepare(
        search_corpus.caller, 'search', search_corpus.parameters, search_corpus.options
    );
    v_roles constant name[] := pgclarify_private.roles_of(v_requester);
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
            seen.origin, pgclarify_private.place_at(document.places, seen.start_char)
        from pgclarify_private.search(
            v_run.corpus_id, v_roles, 'lexical', v_run.question, null, (v_run.settings -> 'top_k')::integer,
            pgclarify_private.part_of(v_run.corpus_id, v_roles, v_run.settings)
        ) as seen
        inner join pgclarify_private.document on document.corpus_id = v_run.corpus_id and document.id = seen.document_id
        order by seen.rank;
        return;
    end if;
    v_run_ids := pgclarify_private.ask_one(search_corpus.caller, v_run, v_timeout);
    perform pgclarify_private.lock_passages(v_run.corpus_id);
    return query
    select seen.* from pgclarify_private.current_search_results(v_run_ids, v_requester) as seen;
end
$$;

comment on function pgclarify_private.search_corpus(pgclarify_private.caller, jsonb, jsonb) is 'See search.';
grant execute on function pgclarify_private.search_corpus(pgclarify_private.caller, jsonb, jsonb) to pgclarify_user;
