-- The ledger: who claims an input first makes the call; others wait for it, or take it over when its lease has run out or its
-- worker is dead.

create or replace function pgclarify._claim_completions(
    worker_id bigint,
    run_id bigint,
    lease interval,
    purposes text[],
    models text[],
    parameters jsonb[],
    prompt_versions text[],
    input_hashes bytea[],
    samples integer[]
)
returns table (
    ordinal integer,
    completion_id bigint,
    is_ours boolean,
    reply text,
    prompt_tokens integer,
    completion_tokens integer,
    latency_ms real
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_living bigint[] := array(select living.worker_id from pgclarify._living_workers() as living);
    v_until timestamptz := clock_timestamp() + _claim_completions.lease;
    v_ordinals integer[];
    v_completion_ids bigint[];
begin
    with given as (
        select
            asked.ordinal::integer, asked.purpose, asked.model, asked.parameters, asked.prompt_version,
            asked.input_hash, asked.sample
        from unnest(
            _claim_completions.purposes, _claim_completions.models, _claim_completions.parameters,
            _claim_completions.prompt_versions, _claim_completions.input_hashes, _claim_completions.samples
        ) with ordinality as asked (purpose, model, parameters, prompt_version, input_hash, sample, ordinal)
    ),
    claimed as (
        insert into pgclarify.completion as known (
            purpose, model, parameters, prompt_version, input_hash, sample, run_id, leased_by, leased_until
        )
        select distinct
            given.purpose, given.model, given.parameters, given.prompt_version, given.input_hash, given.sample,
            _claim_completions.run_id, _claim_completions.worker_id, v_until
        from given
        -- What is answered or asked already is only looked at: the insertion would lock it.
        where not exists (
            select
            from pgclarify.completion as settled
            where settled.purpose = given.purpose
                and settled.model = given.model
                and settled.parameters = given.parameters
                and settled.prompt_version = given.prompt_version
                and settled.input_hash = given.input_hash
                and settled.sample = given.sample
                and (
                    settled.reply is not null
                    or settled.leased_until >= clock_timestamp()
                    and settled.leased_by = any(v_living)
                    and (settled.leased_by, settled.run_id)
                    is distinct from (_claim_completions.worker_id, _claim_completions.run_id)
                )
        )
        -- In one order, or two runs that share inputs deadlock.
        order by 1, 2, 3, 4, 5, 6
        on conflict on constraint completion_purpose_model_parameters_prompt_version_input_ha_key do update
        set
            run_id = excluded.run_id,
            leased_by = excluded.leased_by,
            leased_until = excluded.leased_until
        where known.reply is null
            and (
                known.leased_until is null
                or known.leased_until < clock_timestamp()
                or known.leased_by <> all(v_living)
                -- An earlier attempt of this very run, which is over.
                or known.leased_by = _claim_completions.worker_id and known.run_id = _claim_completions.run_id
            )
        returning
            known.completion_id, known.purpose, known.model, known.parameters, known.prompt_version,
            known.input_hash, known.sample
    )
    select coalesce(array_agg(given.ordinal), '{}'), coalesce(array_agg(claimed.completion_id), '{}')
    into v_ordinals, v_completion_ids
    from given
    inner join claimed using (purpose, model, parameters, prompt_version, input_hash, sample);
    return query
    select ours.ordinal, ours.completion_id, true, null::text, null::integer, null::integer, null::real
    from unnest(v_ordinals, v_completion_ids) as ours (ordinal, completion_id);

    -- A statement of its own: its snapshot sees what others have stored meanwhile.
    return query
    select
        asked.ordinal::integer, known.completion_id, false, known.reply, known.prompt_tokens, known.completion_tokens,
        known.latency_ms
    from unnest(
        _claim_completions.purposes, _claim_completions.models, _claim_completions.parameters,
        _claim_completions.prompt_versions, _claim_completions.input_hashes, _claim_completions.samples
    ) with ordinality as asked (purpose, model, parameters, prompt_version, input_hash, sample, ordinal)
    inner join pgclarify.completion as known
        on known.purpose = asked.purpose
        and known.model = asked.model
        and known.parameters = asked.parameters
        and known.prompt_version = asked.prompt_version
        and known.input_hash = asked.input_hash
        and known.sample = asked.sample
    where asked.ordinal <> all(v_ordinals);
end
$$;

comment on function pgclarify._claim_completions(
    bigint, bigint, interval, text[], text[], jsonb[], text[], bytea[], integer[]
) is
'Look inputs up in the ledger and lease those that nobody has answered or is asking. One row an input: is_ours (make the '
'call), a reply (it is there), or neither (another run is asking: come again).';
grant execute on function pgclarify._claim_completions(
    bigint, bigint, interval, text[], text[], jsonb[], text[], bytea[], integer[]
) to pgclarify_worker;

create or replace function pgclarify._store_completions(
    completion_ids bigint[],
    replies text[],
    prompt_tokens integer[],
    completion_tokens integer[],
    latencies_ms real[]
)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    with given as (
        select *
        from unnest(
            _store_completions.completion_ids,
            _store_completions.replies,
            _store_completions.prompt_tokens,
            _store_completions.completion_tokens,
            _store_completions.latencies_ms
        ) as said (completion_id, reply, prompt_tokens, completion_tokens, latency_ms)
    ),
    held as (
        select completion.completion_id
        from pgclarify.completion
        where completion.completion_id in (select given.completion_id from given)
        -- In the order of claims, or the two deadlock.
        order by
            completion.purpose, completion.model, completion.parameters, completion.prompt_version, completion.input_hash,
            completion.sample
        for no key update
    )
    update pgclarify.completion
    set
        reply = given.reply,
        prompt_tokens = given.prompt_tokens,
        completion_tokens = given.completion_tokens,
        latency_ms = given.latency_ms,
        finished_at = clock_timestamp(),
        leased_by = null,
        leased_until = null
    from given
    inner join held on given.completion_id = held.completion_id
    where
        completion.completion_id = given.completion_id
        -- The first reply stays: runs may have been decided by it.
        and completion.reply is null;
end;

comment on function pgclarify._store_completions(bigint[], text[], integer[], integer[], real[]) is
'Keep what a model said.';
grant execute on function pgclarify._store_completions(
    bigint[], text[], integer[], integer[], real[]
) to pgclarify_worker;

create or replace function pgclarify._release_completions(worker_id bigint, run_id bigint, completion_ids bigint[])
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    update pgclarify.completion
    set leased_by = null, leased_until = null
    where
        completion.completion_id in (
            select held.completion_id
            from pgclarify.completion as held
            where
                held.completion_id = any(_release_completions.completion_ids)
                and held.leased_by = _release_completions.worker_id
                and held.run_id is not distinct from _release_completions.run_id
            -- In the order of claims, or the two deadlock.
            order by
                held.purpose, held.model, held.parameters, held.prompt_version, held.input_hash, held.sample
            for no key update
        );
end;

comment on function pgclarify._release_completions(bigint, bigint, bigint[]) is
'Give leases back after calls that failed or were cut off.';
grant execute on function pgclarify._release_completions(bigint, bigint, bigint[]) to pgclarify_worker;
