-- Waiting: polling, locally if the snapshot changes, and through the loopback if it does not.

create or replace function pgclarify_private.unfinished_runs(run_ids bigint[])
returns bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return array(
        select run.run_id
        from pgclarify_private.run
        where run.run_id = any(unfinished_runs.run_ids) and run.status in ('queued', 'running')
    );
end
$$;

comment on function pgclarify_private.unfinished_runs(bigint[]) is 'Those of the given runs that are not over.';

create or replace function pgclarify_private.cancel_runs(run_ids bigint[])
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- The first plan may be made for an empty table, and is kept.
set enable_seqscan = off
set jit = off
as $$
declare
    v_queued bigint[];
    v_started bigint[];
begin
    -- First the corpora, as everywhere, in a fixed order. A run that is updated twice in a transaction locks its corpus, by the
    -- foreign key; but drop_corpus has locked the corpus, and waits for its runs.
    perform
    from pgclarify_private.corpus
    where corpus.corpus_id = any(array(
        select distinct run.corpus_id
        from pgclarify_private.run
        where run.run_id = any(cancel_runs.run_ids) and run.status in ('queued', 'running')
    ))
    order by corpus.corpus_id
    for key share;
    -- Planned for each call: a kept plan would compare each run that is not over with each of the given runs.
    execute
        $sql$
        select
            coalesce(array_agg(locked.run_id) filter (where locked.attempt = 0), '{}'),
            coalesce(array_agg(locked.run_id) filter (where locked.attempt > 0), '{}')
        from (
            select run.run_id, run.attempt
            from pgclarify_private.run
            where run.run_id = any($1) and run.status in ('queued', 'running')
            order by run.run_id
            for no key update
        ) as locked
        $sql$
    into v_queued, v_started
    using cancel_runs.run_ids;
    -- A run that was never started has paid for nothing, so there is nothing to sum up.
    update pgclarify_private.run
    set
        status = 'cancelled',
        finished_at = clock_timestamp(),
        completions = 0,
        reused_completions = 0,
        prompt_tokens = 0,
        cached_tokens = 0,
        completion_tokens = 0,
        cost_usd = 0,
        batched_completions = 0,
        reuse_saved_usd = 0,
        batch_saved_usd = 0,
        cache_saved_usd = 0,
        unanswered_calls = 0,
        unanswered_usd = 0
    where run.run_id = any(v_queued);
    if cardinality(v_started) > 0 then
        update pgclarify_private.run
        set status = 'cancelled', finished_at = clock_timestamp()
        where run.run_id = any(v_started);
        perform pgclarify_private.settle_runs(v_started);
    end if;
    return cardinality(v_queued) + cardinality(v_started);
end
$$;

comment on function pgclarify_private.cancel_runs(bigint[]) is
'Cancel runs, and record what they have paid for; returns how many were not over.';

create or replace function pgclarify_private.has_frozen_snapshot()
returns boolean
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') or pg_is_in_recovery();
end;

comment on function pgclarify_private.has_frozen_snapshot() is
'True if this transaction cannot see what a worker commits from now on: above READ COMMITTED, or on a standby.';

create or replace function pgclarify_private.is_out_of_sight(run_ids bigint[])
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return pgclarify_private.has_frozen_snapshot()
        and exists (
            select
            from unnest(is_out_of_sight.run_ids) as asked (run_id)
            where not exists (select from pgclarify_private.run where run.run_id = asked.run_id and run.finished_at is not null)
        );
end
$$;

comment on function pgclarify_private.is_out_of_sight(bigint[]) is
'True if the snapshot of this transaction is too old to see the end of one of these runs, which are over.';

create or replace function pgclarify_private.time_to_go(started_at timestamptz, done bigint, total bigint)
returns text
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select
        case
            when time_to_go.done between 1 and time_to_go.total - 1 and time_to_go.started_at is not null
                then format(
                    ', about %s s to go',
                    ceil(
                        extract(epoch from clock_timestamp() - time_to_go.started_at)
                        * (time_to_go.total - time_to_go.done) / time_to_go.done
                    )
                )
            else ''
        end;
end;

comment on function pgclarify_private.time_to_go(timestamptz, bigint, bigint) is
'How long the rest takes, in words after a comma, if it takes as long for each part as what is done; empty if nothing is done '
'or left, or nothing has started. done, total: numbers of parts.';

create or replace function pgclarify_private.progress(run_ids bigint[], unfinished bigint[])
returns text
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select
        case
            when run_count.total > 1
                then format('%s of %s runs are over', run_count.done, run_count.total)
                || pgclarify_private.time_to_go(
                    (
                        select min(waited.started_at)
                        from pgclarify_private.run as waited
                        where waited.run_id = any(progress.run_ids)
                    ),
                    run_count.done,
                    run_count.total
                )
            when run.status = 'queued' and run.due_at = 'infinity' then format('run %s waits for a batch', run.run_id)
            when run.status = 'queued' then format('run %s waits for a worker', run.run_id)
            when judging.candidates > 0
                then format('run %s: %s of %s passages are judged', run.run_id, judging.verdicts, judging.candidates)
                || pgclarify_private.time_to_go(run.started_at, judging.verdicts, judging.candidates)
            when calling.calls > 0
                then format('run %s: %s of %s model calls are answered', run.run_id, calling.replies, calling.calls)
            else format('run %s is being executed', run.run_id)
        end
    from pgclarify_private.run
    cross join lateral (
        select
            cardinality(progress.run_ids)::bigint as total,
            (cardinality(progress.run_ids) - cardinality(progress.unfinished))::bigint as done
    ) as run_count
    left join lateral (
        select
            (
                select count(*) from pgclarify_private.candidate
                where candidate.run_id = run.run_id and candidate.copy_of is null
            ) as candidates,
            (select count(distinct verdict.rank) from pgclarify_private.verdict where verdict.run_id = run.run_id) as verdicts
        where pgclarify_private.finds_readings(run.operation)
    ) as judging on true
    cross join lateral (
        select count(*) as calls, count(completion.finished_at) as replies
        from pgclarify_private.completion
        where completion.run_id = run.run_id
    ) as calling
    where run.run_id = progress.unfinished[1];
end;

comment on function pgclarify_private.progress(bigint[], bigint[]) is
'What a call is waiting for, in words: null if there is nothing, or if the run was deleted. run_ids: the runs of the call. '
'unfinished: those that are not over.';

create or replace function pgclarify_private.await(run_ids bigint[], deadline timestamptz)
returns bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    -- Long enough to restart a worker.
    v_patience constant interval := '30 seconds';
    v_is_remote constant boolean := pgclarify_private.has_frozen_snapshot();
    v_shows_progress constant boolean := pgclarify_private.is_on('pgclarify.progress', false);
    v_started constant timestamptz := clock_timestamp();
    v_now timestamptz := v_started;
    v_worker_seen_at timestamptz := v_started;
    v_worker_sought_at timestamptz := v_started;
    v_shown_at timestamptz := v_started;
    v_progress text;
    v_left interval;
    v_unfinished bigint[] := await.run_ids;
    v_is_served boolean;
    -- The pause is a small part of the time since the start, so the caller is never much too late and does not poll too often. A
    -- poll through the loopback costs milliseconds, a local one some microseconds.
    v_part constant double precision := case when v_is_remote then 20 else 120 end;
    v_shortest constant double precision := case when v_is_remote then 0.01 else 0.002 end;
    v_longest double precision;
begin
    loop
        if v_is_remote then
            v_unfinished := array(
                select value::bigint
                from jsonb_array_elements_text(pgclarify_private.loopback_call('unfinished', to_jsonb(v_unfinished)))
            );
        else
            -- A call of unfinished_runs would double the cost of a poll.
            v_unfinished := array(
                select run.run_id
                from pgclarify_private.run
                where run.run_id = any(v_unfinished) and run.status in ('queued', 'running')
            );
        end if;
        v_now := clock_timestamp();
        exit when cardinality(v_unfinished) = 0 or v_now >= await.deadline;
        if v_now > v_worker_sought_at + interval '5 seconds' then
            v_worker_sought_at := v_now;
            if v_is_remote then
                -- A frozen snapshot does not show heartbeats, and a standby does not show locks.
                v_is_served := pgclarify_private.loopback_call('is_served', '{}')::boolean;
            else
                -- A transaction caches the list of sessions at its first read, so it would not show a worker that started
                -- later.
                perform pg_stat_clear_snapshot();
                v_is_served := exists (select from pgclarify_private.serving_workers());
            end if;
            if v_is_served then
                v_worker_seen_at := v_now;
            elsif v_now > v_worker_seen_at + v_patience then
                raise exception 'no worker is running any more'
                    using errcode = 'PC001',
                        table = 'run', column = 'run_id', datatype = array_to_string(v_unfinished, ','),
                        detail = format('%s.', pgclarify_private.list_runs(v_unfinished)),
                        hint = 'They continue when a worker is started with: pgclarify worker.';
            end if;
        end if;
        if v_shows_progress and v_now > v_shown_at + interval '1 second' then
            v_shown_at := v_now;
            if v_is_remote then
                v_progress := pgclarify_private.loopback_call(
                    'progress', jsonb_build_object('run_ids', await.run_ids, 'unfinished', v_unfinished)
                ) #>> '{}';
            else
                v_progress := pgclarify_private.progress(await.run_ids, v_unfinished);
            end if;
            -- Null if the run was deleted meanwhile.
            if v_progress is not null then
                v_left := await.deadline - clock_timestamp();
                -- A call without a timeout has a deadline in 100 years.
                if v_left < interval '1 day' then
                    v_progress := format('%s (the call waits %s s more)', v_progress, ceil(extract(epoch from v_left)));
                end if;
                raise notice '%', v_progress using errcode = 'PC019';
            end if;
        end if;
        v_longest := case when v_is_remote or cardinality(v_unfinished) > 10 then 0.25 else 0.05 end;
        perform pg_sleep(
            least(
                greatest(date_part('epoch', v_now - v_started) / v_part, v_shortest),
                v_longest,
                date_part('epoch', await.deadline - v_now)
            )
        );
    end loop;
    return v_unfinished;
end
$$;

comment on function pgclarify_private.await(bigint[], timestamptz) is
'Wait until the runs are over or the deadline has passed; returns those that are not over. Error PC001 if no worker has been '
'alive for half a minute. With pgclarify.progress on, a notice (PC019) each second says what the call waits for.';

create or replace function pgclarify_private.list_runs(run_ids bigint[])
returns text
language sql stable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        case when cardinality(list_runs.run_ids) = 1 then 'Run ' else 'Runs ' end
        || array_to_string(list_runs.run_ids[:100], ', ')
        || case when cardinality(list_runs.run_ids) > 100 then ' and more' else '' end
        || case when cardinality(list_runs.run_ids) = 1 then ' goes on' else ' go on' end;
end;

comment on function pgclarify_private.list_runs(bigint[]) is 'Runs that are not over, for a DETAIL: at most a hundred numbers.';
