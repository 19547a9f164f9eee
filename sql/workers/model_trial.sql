-- How many passages a model reads in one call. A worker measures it once for each endpoint, model and version of the prompt.

create or replace function pgclarify_private.enter_model_trial(
    worker_id bigint, endpoint text, model text, prompt_version text
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    insert into pgclarify_private.model_trial (endpoint, model, prompt_version)
    values (enter_model_trial.endpoint, enter_model_trial.model, enter_model_trial.prompt_version)
    -- A worker is often started again to mend what made the trial fail.
    on conflict on constraint model_trial_key do update
        set worker_id = null, due_at = null, error = null
        where model_trial.due_at is not null;
    update pgclarify_private.worker
    set model_trial_id = trial.model_trial_id
    from pgclarify_private.model_trial as trial
    where
        worker.worker_id = enter_model_trial.worker_id
        and trial.endpoint = enter_model_trial.endpoint
        and trial.model = enter_model_trial.model
        and trial.prompt_version = enter_model_trial.prompt_version;
end
$$;

comment on function pgclarify_private.enter_model_trial(bigint, text, text, text) is
'Note which model at which endpoint a worker has, so that its trial counts for runs, or is made; one that failed is due at '
'once. endpoint: its address, or the path of the model''s file. prompt_version: of the prompt joint_verdicts.';
grant execute on function pgclarify_private.enter_model_trial(bigint, text, text, text) to pgclarify_worker;

create or replace function pgclarify_private.claim_model_trial(worker_id bigint)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    update pgclarify_private.model_trial as trial
    set worker_id = claim_model_trial.worker_id, started_at = clock_timestamp(), due_at = null, error = null
    from pgclarify_private.worker
    where
        worker.worker_id = claim_model_trial.worker_id
        and trial.model_trial_id = worker.model_trial_id
        and trial.finished_at is null
        and (trial.due_at is null or trial.due_at <= clock_timestamp())
        -- After a failure, its worker is done with it.
        and (
            trial.worker_id is null
            or trial.due_at is not null
            or trial.worker_id = claim_model_trial.worker_id
            or trial.worker_id not in (select living.worker_id from pgclarify_private.living_workers() as living)
        );
    return found;
end
$$;

comment on function pgclarify_private.claim_model_trial(bigint) is
'Claim the trial of a worker''s model: true if the worker is to make it now. False if it is over, if another live worker makes '
'it, or if it failed and is not due again. The claim ends with its worker; what that worker paid for is in the ledger.';
grant execute on function pgclarify_private.claim_model_trial(bigint) to pgclarify_worker;

create or replace function pgclarify_private.end_model_trial(
    worker_id bigint,
    passages_per_call integer,
    measured jsonb,
    calls bigint,
    prompt_tokens bigint,
    completion_tokens bigint
)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    update pgclarify_private.model_trial as trial
    set
        passages_per_call = end_model_trial.passages_per_call,
        measured = end_model_trial.measured,
        calls = end_model_trial.calls,
        prompt_tokens = end_model_trial.prompt_tokens,
        completion_tokens = end_model_trial.completion_tokens,
        cost_usd = pgclarify_private.cost_usd(
            trial.model, end_model_trial.prompt_tokens, end_model_trial.completion_tokens
        ),
        finished_at = clock_timestamp()
    from pgclarify_private.worker
    where
        worker.worker_id = end_model_trial.worker_id
        and trial.model_trial_id = worker.model_trial_id
        and trial.worker_id = end_model_trial.worker_id
        and trial.due_at is null
        and trial.finished_at is null;
    return found;
end
$$;

comment on function pgclarify_private.end_model_trial(bigint, integer, jsonb, bigint, bigint, bigint) is
'Store the result of a trial. False if it is no longer this worker''s. calls and tokens: of all calls of the trial, also those '
'that an earlier worker paid for.';
grant execute on function pgclarify_private.end_model_trial(
    bigint, integer, jsonb, bigint, bigint, bigint
) to pgclarify_worker;

create or replace function pgclarify_private.postpone_model_trial(
    worker_id bigint,
    error text,
    pause interval,
    calls bigint,
    prompt_tokens bigint,
    completion_tokens bigint
)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    update pgclarify_private.model_trial as trial
    set
        error = postpone_model_trial.error,
        failures = trial.failures + 1,
        calls = postpone_model_trial.calls,
        prompt_tokens = postpone_model_trial.prompt_tokens,
        completion_tokens = postpone_model_trial.completion_tokens,
        cost_usd = pgclarify_private.cost_usd(
            trial.model, postpone_model_trial.prompt_tokens, postpone_model_trial.completion_tokens
        ),
        -- Calls that are too slow for an endpoint may cost something each time.
        due_at = clock_timestamp() + least(postpone_model_trial.pause * 2 ^ least(trial.failures, 20), interval '1 day')
    from pgclarify_private.worker
    where
        worker.worker_id = postpone_model_trial.worker_id
        and trial.model_trial_id = worker.model_trial_id
        and trial.worker_id = postpone_model_trial.worker_id
        and trial.finished_at is null;
    return found;
end
$$;

comment on function pgclarify_private.postpone_model_trial(bigint, text, interval, bigint, bigint, bigint) is
'Note that a trial has failed: only what it has used is kept, as in end_model_trial, and any worker of the model tries it '
'again after the pause, which doubles with each failure, up to a day. False if it is no longer this worker''s.';
grant execute on function pgclarify_private.postpone_model_trial(
    bigint, text, interval, bigint, bigint, bigint
) to pgclarify_worker;

create or replace function pgclarify_private.measured_passages_per_call()
returns integer
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- Materialized: reading locks and sessions is most of the cost.
    with serving as materialized (
        select present.model_trial_id
        from pgclarify_private.serving_workers() as present
        where present.provider <> 'extractive'
    ),

    in_service as (
        -- Workers that serve; if there is none, the last one that did.
        select serving.model_trial_id from serving
        union all
        (
            select worker.model_trial_id
            from pgclarify_private.worker
            where worker.is_serving and worker.provider <> 'extractive' and not exists (select from serving)
            order by worker.seen_at desc, worker.worker_id desc
            limit 1
        )
    )

    -- Of several models, any may get the run.
    select coalesce(min(coalesce(trial.passages_per_call, 1)), 1)
    from in_service
    left join pgclarify_private.model_trial as trial on in_service.model_trial_id = trial.model_trial_id;
end;

comment on function pgclarify_private.measured_passages_per_call() is
'How many passages the models of the live workers read in one call, as trials have found; 1 as long as there is no result. If '
'no worker is alive, that of the last one that was.';

create or replace function pgclarify_private.model_trials()
returns table (
    model text,
    passages_per_call integer,
    is_going_on boolean,
    measured jsonb,
    calls bigint,
    tokens bigint,
    cost_usd numeric,
    finished_at timestamptz,
    error text,
    due_at timestamptz
)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    with living as materialized (
        select present.worker_id, present.model, present.model_trial_id, present.is_serving
        from pgclarify_private.living_workers() as present
        where present.provider <> 'extractive'
    )

    select
        distinct living.model,
        trial.passages_per_call,
        coalesce(
            trial.finished_at is null
            and trial.due_at is null
            and trial.worker_id in (select making.worker_id from living as making),
            false
        ),
        trial.measured,
        trial.calls,
        trial.prompt_tokens + trial.completion_tokens,
        trial.cost_usd,
        trial.finished_at,
        trial.error,
        trial.due_at
    from living
    left join pgclarify_private.model_trial as trial on living.model_trial_id = trial.model_trial_id
    where living.is_serving
    order by 1;
end;

comment on function pgclarify_private.model_trials() is
'The trials of the language models of live workers: how many passages a call may have, or why that is not known yet. All but '
'the model is null for a model without a trial.';
grant execute on function pgclarify_private.model_trials() to pgclarify_reader;
