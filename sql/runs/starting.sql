-- The start of an attempt at a run.

create or replace function pgclarify_private.start_run(run_id bigint, worker_id bigint, is_alone boolean default false)
returns table (
    must_be_alone boolean,
    attempt integer,
    operation text,
    question text,
    settings jsonb,
    corpus_id bigint,
    embedding_model text,
    dimensions integer,
    parent_run_id bigint,
    traceparent text,
    error_code text
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    -- After this many crashes, a run is executed alone: only crashes while it was alone can fail it.
    v_alone_from constant integer := 2;
    v_most_crashes constant integer := 10;
    v_run pgclarify_private.run;
    v_roles name[];
    v_error text;
    v_error_code text;
    v_lock_timeout constant text := current_setting('lock_timeout');
begin
    -- It does not wait for the lock: an open transaction may keep it for long. The run is tried again later.
    select run.* into v_run from pgclarify_private.run where run.run_id = start_run.run_id for update nowait;
    if not found then
        return;
    end if;
    if v_run.status not in ('queued', 'running') then
        -- Another transaction may have locked it when its last reply was stored, and when its attempt ended.
        perform pgclarify_private.settle_runs(array[v_run.run_id]);
        return;
    end if;
    if start_run.is_alone and v_run.status = 'running' then
        -- Another worker has taken it meanwhile.
        return;
    end if;
    -- While a document is being erased, a run could still read it. The transaction that erases may stay open for long. But a
    -- worker that updates the counts of the corpus has the same lock for milliseconds.
    perform set_config('lock_timeout', '100ms', true);
    perform from pgclarify_private.living_corpus as corpus where corpus.corpus_id = v_run.corpus_id for share;
    perform set_config('lock_timeout', v_lock_timeout, true);
    v_roles := pgclarify_private.roles_of(v_run.requested_by, v_run.requested_by_oid);
    if v_run.corpus_name is not null and not exists (
        select from pgclarify_private.living_corpus as corpus where corpus.corpus_id = v_run.corpus_id
    ) then
        v_error := 'the corpus was dropped';
        v_error_code := '42704';
    elsif v_run.corpus_id is not null and not exists (
        select from pgclarify_private.visible_corpora(v_roles) as visible where visible.corpus_id = v_run.corpus_id
    ) then
        v_error := 'the role that asked may not search the corpus any more';
        v_error_code := '42501';
    elsif v_run.crashes >= v_most_crashes then
        v_error := format(
            '%s workers in a row were lost while they carried it out, the last %s while they carried out nothing else',
            v_run.crashes, v_run.crashes - v_alone_from
        );
        v_error_code := 'PC016';
    else
        select 'the corpus cannot be searched: ' || space.error, 'PC011' into v_error, v_error_code
        from pgclarify_private.living_corpus as corpus
        inner join pgclarify_private.embedding_space as space on space.corpus_id = corpus.corpus_id
        where
            corpus.corpus_id = v_run.corpus_id
            and space.error is not null
            and (
                corpus.embedding_space_id is null
                -- Its vectors mean nothing to the model. Words can still be searched for.
                or corpus.embedding_space_id = space.embedding_space_id
                and space.changed_at is not null
                and v_run.settings ->> 'method' <> 'lexical'
            )
        order by space.embedding_space_id desc
        limit 1;
    end if;
    if v_error is not null then
        update pgclarify_private.run
        set
            status = 'failed', error = v_error, error_code = v_error_code, finished_at = clock_timestamp(),
            -- So that a worker that still executes an earlier attempt finds that it has lost the run.
            attempt = run.attempt + 1
        where run.run_id = start_run.run_id;
        perform pgclarify_private.settle_runs(array[start_run.run_id]);
        return query
        select
            false, null::integer, v_run.operation, null::text, null::jsonb, null::bigint, null::text, null::integer,
            null::bigint, null::text, v_error_code;
        return;
    end if;
    if (
        'model' in (v_run.settings ->> 'reranker', v_run.settings ->> 'verify')
        or pgclarify_private.prefers_language_model(v_run.operation)
    )
    and exists (
        select from pgclarify_private.worker
        where worker.worker_id = start_run.worker_id and worker.provider = 'extractive'
    )
    and exists (select from pgclarify_private.serving_workers() as serving where serving.provider <> 'extractive') then
        raise exception 'run % is for a worker with a language model', v_run.run_id
            using errcode = 'lock_not_available',
                detail = 'This worker has none, and another one that is running has.',
                hint = 'The other worker will execute it.';
    end if;
    if start_run.worker_id not in (select living.worker_id from pgclarify_private.living_workers() as living) then
        raise exception 'worker % counts as dead', start_run.worker_id
            using errcode = 'lock_not_available',
                detail = 'Its lease has expired.',
                hint = 'Register it again.';
    end if;
    if v_run.crashes >= v_alone_from and not start_run.is_alone then
        return query
        select
            true, null::integer, null::text, null::text, null::jsonb, null::bigint, null::text, null::integer, null::bigint,
            null::text, null::text;
        return;
    end if;
    -- Rows of an earlier attempt; its paid replies are in the ledger.
    if v_run.attempt > 0 then
        delete from pgclarify_private.candidate where candidate.run_id = start_run.run_id;
        perform pgclarify_private.delete_results(start_run.run_id);
    end if;
    return query
    update pgclarify_private.run
    set
        status = 'running',
        attempt = run.attempt + 1,
        worker_id = worker.worker_id,
        model = worker.model,
        prompt_version = worker.prompt_version,
        corpus_revision = seen.revision,
        -- By the current rights of the role, which also decide what it is shown.
        reuse_key = pgclarify_private.reuse_key(
            run.operation, run.corpus_id, run.question, run.settings,
            run.requested_by, v_roles
        ),
        graph_revision = seen.graph_revision,
        -- The vector may be of the question that that attempt relaxed.
        relaxed_question = null,
        question_vector = null,
        embedding_model = null,
        route = null,
        -- If it is lost, another worker takes it at once.
        due_at = null,
        started_at = clock_timestamp()
    from pgclarify_private.worker
    left join pgclarify_private.seen_revision(v_run.corpus_id, v_roles) as seen on true
    left join pgclarify_private.living_corpus as corpus on corpus.corpus_id = v_run.corpus_id
    left join pgclarify_private.embedding_space as space on space.embedding_space_id = corpus.embedding_space_id
    where run.run_id = start_run.run_id and worker.worker_id = start_run.worker_id
    returning
        false, run.attempt, run.operation, run.question, run.settings,
        run.corpus_id,
        space.model, space.dimensions, run.parent_run_id, run.traceparent, null::text;
end
$$;

comment on function pgclarify_private.start_run(bigint, bigint, boolean) is
'Start an attempt of a run, and return what the worker needs; no row if it was cancelled or has ended. If it cannot be '
'executed, it fails here, and the row has only its operation and error_code. '
'must_be_alone: true, with nulls otherwise, if two workers in a row were lost while they executed it: call again with '
'is_alone while the worker executes and starts no other run. A run without '
'a corpus has no corpus_id, embedding_model and dimensions. Error 55P03 if another transaction has locked it, if the worker '
'counts as dead, or if it needs a language model that this worker lacks and another live worker has.';
grant execute on function pgclarify_private.start_run(bigint, bigint, boolean) to pgclarify_worker;
