-- The ledger. The first run that claims an input makes the call. Others wait for its reply, or take the call over when its
-- lease has expired or its worker is dead.

-- It sets no search_path, so that the planner can inline it into the statements that call it.
create or replace function pgclarify_private.is_claimable(
    known pgclarify_private.completion, at timestamptz, living bigint[], worker_id bigint, run_id bigint
)
returns boolean
language sql immutable parallel safe
begin atomic
    select
        (is_claimable.known).reply is null
        and (
            (is_claimable.known).leased_until is null
            or (is_claimable.known).leased_until < is_claimable.at
            or (is_claimable.known).leased_by <> all(is_claimable.living)
            -- This row was claimed by an earlier attempt of the same run, which is over. The worker itself keeps apart what
            -- one attempt claims.
            or coalesce(
                (is_claimable.known).leased_by = is_claimable.worker_id
                and (is_claimable.known).run_id = is_claimable.run_id,
                false
            )
        );
end;

comment on function pgclarify_private.is_claimable(pgclarify_private.completion, timestamptz, bigint[], bigint, bigint) is
'Whether a run of a worker may claim a row of the ledger: it has no reply, and no live run is asking it.';

create or replace function pgclarify_private.lock_against_erasing(
    run_id bigint, attempt integer, corpus_id bigint, document_ids text[]
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_document_id text;
begin
    if lock_against_erasing.run_id is not null then
        -- erase_document locks runs in the same way. An attempt that may have read an erased document is over, and must not
        -- make calls.
        perform
        from pgclarify_private.run
        where
            run.run_id = lock_against_erasing.run_id
            and run.attempt = coalesce(lock_against_erasing.attempt, run.attempt)
            and run.status = 'running'
        for key share;
        if not found and lock_against_erasing.attempt is not null then
            perform pgclarify_private.raise_run_is_lost(lock_against_erasing.run_id);
        end if;
        return;
    end if;
    -- Always in the same order, to avoid deadlocks. erase_document deletes these rows first.
    perform
    from pgclarify_private.document
    where document.corpus_id = lock_against_erasing.corpus_id and document.id = any(lock_against_erasing.document_ids)
    order by document.id
    for key share;
    select shown.id into v_document_id
    from unnest(lock_against_erasing.document_ids) as shown (id)
    where not exists (
        select from pgclarify_private.document
        where document.corpus_id = lock_against_erasing.corpus_id and document.id = shown.id
    )
    limit 1;
    if found then
        raise exception 'document "%" was removed while it was being read', pgclarify_private.shown(v_document_id)
            using errcode = 'object_not_in_prerequisite_state',
                hint = 'Run it again: replies that were paid for are kept.';
    end if;
end
$$;

comment on function pgclarify_private.lock_against_erasing(bigint, integer, bigint, text[]) is
'Lock a run of this attempt until the transaction ends; error PC006 if that attempt is over. Without a run, lock documents '
'that are being read, so that they are not erased; error 55000 if one was removed. attempt: null skips the check of the '
'attempt.';

create or replace function pgclarify_private.read_calls(calls jsonb, run_id bigint, corpus_id bigint)
returns pgclarify_private.model_call[]
language sql stable
set search_path = pg_catalog, pg_temp
begin atomic
    select
        array_agg(
            jsonb_populate_record(
                null::pgclarify_private.model_call,
                asked.call || jsonb_build_object(
                    'ordinal', asked.ordinal,
                    'sample', (asked.call -> 'sample')::integer + 1000 * coalesce(caller.refresh, 0),
                    'input_hash',
                    sha256(
                        (asked.call ->> 'input_hash')::bytea
                        || convert_to(
                            concat_ws(
                                ' ',
                                case
                                    when caller.corpus_id is not null then format('corpus %s', caller.corpus_id)
                                    when caller.role_oid is not null then format('role %s', caller.role_oid)
                                end,
                                shown.readers::text
                            ),
                            'UTF8'
                        )
                    )
                )
            )
            order by asked.ordinal
        )
    from (
        select
            coalesce(run.corpus_id, read_calls.corpus_id) as corpus_id,
            run.requested_by_oid as role_oid,
            (run.settings -> 'refresh')::integer as refresh
        from (values (read_calls.run_id)) as given (run_id)
        left join pgclarify_private.run on given.run_id = run.run_id
    ) as caller
    cross join lateral (
        select array_agg(distinct asked_for.key order by asked_for.key) as keys
        from pgclarify_private.fence
        cross join unnest(fence.keys) as asked_for (key)
        where fence.corpus_id = caller.corpus_id
    ) as fenced
    cross join jsonb_array_elements(read_calls.calls) with ordinality as asked (call, ordinal)
    cross join lateral (
        -- Each list of readers once, with the metadata that fences ask for. Null is a document that is open to all who may
        -- search the corpus.
        select
            case
                when fenced.keys is null then jsonb_agg(distinct document.readers)
                else jsonb_agg(
                    distinct jsonb_build_array(
                        document.readers,
                        (
                            select jsonb_object_agg(asked_for.key, document.metadata -> asked_for.key)
                            from unnest(fenced.keys) as asked_for (key)
                        )
                    )
                )
            end as readers
        from jsonb_array_elements_text(asked.call -> 'document_ids') as listed (document_id)
        inner join pgclarify_private.document
            on document.corpus_id = caller.corpus_id and listed.document_id = document.id
    ) as shown;
end;

comment on function pgclarify_private.read_calls(jsonb, bigint, bigint) is
'Calls as a worker sends them: an array of objects with the attributes of type model_call. sample: from 0 to 999; the option '
'refresh of the run adds thousands. input_hash: SHA-256 of the input; in the result also of who may see it. An equal input has '
'another hash in another corpus, with documents that have other readers, or, without a corpus, if another role asks. '
'Otherwise a role could guess a text, ask about its guess, and see by the cost that a hidden document has that text. run_id: '
'null without a run. corpus_id: of a call without a run.';

-- It sets no search_path, so that the planner can inline it and use the index of the ledger's key.
create or replace function pgclarify_private.is_of_call(
    known pgclarify_private.completion, asked pgclarify_private.model_call
)
returns boolean
language sql immutable parallel safe
begin atomic
    select
        (is_of_call.known).purpose = (is_of_call.asked).purpose
        and (is_of_call.known).model = (is_of_call.asked).model
        and (is_of_call.known).parameters = (is_of_call.asked).parameters
        and (is_of_call.known).prompt_version = (is_of_call.asked).prompt_version
        and (is_of_call.known).input_hash = (is_of_call.asked).input_hash
        and (is_of_call.known).sample = (is_of_call.asked).sample;
end;

comment on function pgclarify_private.is_of_call(pgclarify_private.completion, pgclarify_private.model_call) is
'Whether a row of the ledger is that of a call.';

create or replace function pgclarify_private.note_documents(calls pgclarify_private.model_call[], corpus_id bigint)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    insert into pgclarify_private.completion_document (completion_id, corpus_id, document_id)
    select distinct known.completion_id, note_documents.corpus_id, shown.document_id
    from unnest(note_documents.calls) as asked
    cross join lateral unnest(asked.document_ids) as shown (document_id)
    inner join pgclarify_private.completion as known on pgclarify_private.is_of_call(known, asked)
    where
        -- In a corpus that was dropped meanwhile, nothing can be erased.
        note_documents.corpus_id is not null
        and not exists (
            select
            from pgclarify_private.completion_document as noted
            where
                noted.completion_id = known.completion_id
                and noted.corpus_id = note_documents.corpus_id
                and noted.document_id = shown.document_id
        )
    order by 1, 2, 3
    on conflict on constraint completion_document_pk do nothing;
end;

comment on function pgclarify_private.note_documents(pgclarify_private.model_call[], bigint) is
'Note which documents the calls show, so that their replies can be erased with them. Also for calls that have a reply: the '
'same text may be in another document.';

create or replace function pgclarify_private.claim_completions(
    worker_id bigint,
    run_id bigint,
    lease interval,
    calls jsonb,
    attempt integer,
    corpus_id bigint,
    sent_at_once integer default 0
)
returns table (
    ordinal integer,
    completion_id bigint,
    is_ours boolean,
    leased_until timestamptz,
    reply text,
    prompt_tokens integer,
    completion_tokens integer,
    latency_ms real,
    refusal jsonb,
    is_own boolean,
    is_sent boolean,
    finish_reason text
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- It plans for longer than it executes. The first plan may be made for an empty ledger, and is kept.
set plan_cache_mode = 'force_generic_plan'
set enable_seqscan = off
set jit = off
as $$
declare
    v_living constant bigint[] := array(select living.worker_id from pgclarify_private.living_workers() as living);
    v_now constant timestamptz := clock_timestamp();
    v_until constant timestamptz := v_now + claim_completions.lease;
    v_run record;
    v_calls pgclarify_private.model_call[];
    v_budget_ids bigint[] := '{}';
    -- Ordinals that budgets admit; null if no budgets apply.
    v_admitted integer[];
    -- By ordinal; null for a model without a price.
    v_bounds numeric[];
    v_refusals jsonb;
    v_lost_ids bigint[];
    v_lost_leases timestamptz[];
    v_ordinals integer[];
    v_completion_ids bigint[];
    v_are_sent boolean[];
    v_late bigint[];
begin
    select run.requested_by, run.login, run.corpus_id, run.started_at into v_run
    from pgclarify_private.run
    where run.run_id = claim_completions.run_id;
    v_calls := pgclarify_private.read_calls(
        claim_completions.calls, claim_completions.run_id, claim_completions.corpus_id
    );
    perform pgclarify_private.lock_against_erasing(
        claim_completions.run_id, claim_completions.attempt, claim_completions.corpus_id,
        array(select shown.id from unnest(v_calls) as asked cross join lateral unnest(asked.document_ids) as shown (id))
    );
    perform pgclarify_private.lock_budgets();
    -- Calls that were sent, and will not be answered any more: their lease has ended, their worker has gone, or their attempt is
    -- over. They count now, and nothing is claimed: counters are always locked after all rows of the ledger.
    select array_agg(known.completion_id), array_agg(known.leased_until) into v_lost_ids, v_lost_leases
    from unnest(v_calls) as asked
    inner join pgclarify_private.completion as known on pgclarify_private.is_of_call(known, asked)
    where
        known.sent_at is not null
        and pgclarify_private.is_claimable(known, v_now, v_living, claim_completions.worker_id, claim_completions.run_id);
    if v_lost_ids is not null then
        perform pgclarify_private.end_calls(v_lost_ids, v_lost_leases);
    end if;
    if v_lost_ids is not null or claim_completions.worker_id <> all(v_living) then
        -- A worker that does not count as alive would claim beside the others, which do not count its reservations.
        v_admitted := '{}';
        v_refusals := '{}';
    elsif
        exists (select from pgclarify_private.budget)
        and exists (select from unnest(v_calls) as asked where not pgclarify_private.is_extractive(asked.model))
    then
        v_budget_ids := pgclarify_private.budgets_of(
            v_run.requested_by,
            -- Calls without a run are of an evaluation or a trial of a model, whose process pays.
            case when claim_completions.run_id is null then session_user else v_run.login end,
            v_run.corpus_id
        );
    end if;
    if cardinality(v_budget_ids) > 0 then
        select
            coalesce(array_agg(call.ordinal) filter (where call.is_admitted), '{}'),
            coalesce(jsonb_object_agg(call.ordinal, call.refusal) filter (where call.refusal is not null), '{}')
        into v_admitted, v_refusals
        from pgclarify_private.admit_free(
            v_budget_ids, v_now, v_living, claim_completions.worker_id, claim_completions.run_id, v_calls
        ) as call;
    end if;
    select array_agg(bound.bound_usd order by bound.ordinal) into v_bounds from pgclarify_private.bounds(v_calls) as bound;
    with claimed as (
        insert into pgclarify_private.completion as known (
            purpose, model, parameters, prompt_version, input_hash, sample, run_id, leased_by, leased_until, budget_ids,
            reserved_usd, reserved_at, sent_at
        )
        select
            free.purpose, free.model, free.parameters, free.prompt_version, free.input_hash, free.sample,
            claim_completions.run_id, claim_completions.worker_id, v_until,
            case when v_admitted is not null then v_budget_ids end,
            case when v_admitted is null then v_bounds[free.ordinal] else coalesce(v_bounds[free.ordinal], 0) end,
            case when v_admitted is not null then v_now end,
            case when row_number() over (order by free.ordinal) <= claim_completions.sent_at_once then v_now end
        from (
            select distinct on (
                asked.purpose, asked.model, asked.parameters, asked.prompt_version, asked.input_hash, asked.sample
            ) asked.*
            from unnest(v_calls) as asked
            where
                (v_admitted is null or asked.ordinal = any(v_admitted))
                -- Rows with a reply, and rows that a live run is asking, are only read: the insertion would lock them.
                and not exists (
                    select
                    from pgclarify_private.completion as settled
                    where
                        pgclarify_private.is_of_call(settled, asked)
                        and (
                            settled.sent_at is not null
                            or not pgclarify_private.is_claimable(
                                settled, clock_timestamp(), v_living, claim_completions.worker_id, claim_completions.run_id
                            )
                        )
                )
            order by
                asked.purpose, asked.model, asked.parameters, asked.prompt_version, asked.input_hash, asked.sample,
                asked.ordinal
        ) as free
        -- Always in the same order, or two runs that share inputs deadlock.
        order by 1, 2, 3, 4, 5, 6
        on conflict on constraint completion_purpose_model_parameters_prompt_version_input_ha_key do update
        set
            run_id = excluded.run_id,
            leased_by = excluded.leased_by,
            leased_until = excluded.leased_until,
            budget_ids = excluded.budget_ids,
            reserved_usd = excluded.reserved_usd,
            reserved_at = excluded.reserved_at,
            sent_at = excluded.sent_at
        where
            -- Otherwise a call that was sent meanwhile would not count.
            known.sent_at is null
            and pgclarify_private.is_claimable(
                known, clock_timestamp(), v_living, claim_completions.worker_id, claim_completions.run_id
            )
        returning known
    )
    select
        coalesce(array_agg(asked.ordinal), '{}'),
        coalesce(array_agg((claimed.known).completion_id), '{}'),
        coalesce(array_agg((claimed.known).sent_at is not null), '{}')
    into v_ordinals, v_completion_ids, v_are_sent
    from unnest(v_calls) as asked
    inner join claimed on pgclarify_private.is_of_call(claimed.known, asked);
    if cardinality(v_admitted) > 0 and cardinality(v_completion_ids) > 0 then
        -- Another transaction may have claimed inputs meanwhile. So this asks again with the counters locked, in new statements
        -- that see those claims, also of workers that have started meanwhile.
        perform pgclarify_private.lock_budget_counters(v_budget_ids, v_now);
        select coalesce(array_agg(late.completion_id), '{}') into v_late
        from (
            select ours.completion_id
            from unnest(v_ordinals, v_completion_ids) as ours (ordinal, completion_id)
            inner join pgclarify_private.admit(
                v_budget_ids, v_now, array(select living.worker_id from pgclarify_private.living_workers() as living),
                v_completion_ids,
                array(select asked from unnest(v_calls) as asked where asked.ordinal = any(v_ordinals))
            ) as call on call.ordinal = ours.ordinal
            group by ours.completion_id
            having not bool_or(call.is_admitted)
        ) as late;
        update pgclarify_private.completion
        set
            leased_by = null, leased_until = null, budget_ids = null, reserved_usd = null, reserved_at = null, sent_at = null
        where completion.completion_id = any(v_late);
    end if;
    perform pgclarify_private.note_documents(v_calls, coalesce(v_run.corpus_id, claim_completions.corpus_id));
    return query
    select
        ours.ordinal, ours.completion_id, true, v_until, null::text, null::integer, null::integer, null::real, null::jsonb,
        false, ours.is_sent, null::text
    from unnest(v_ordinals, v_completion_ids, v_are_sent) as ours (ordinal, completion_id, is_sent)
    where v_late is null or ours.completion_id <> all(v_late);

    -- A separate statement: its snapshot includes what other transactions have stored meanwhile.
    return query
    select
        asked.ordinal, known.completion_id, false, null::timestamptz, known.reply, known.prompt_tokens,
        known.completion_tokens, known.latency_ms, case when known.reply is null then v_refusals -> asked.ordinal::text end,
        coalesce(known.run_id = claim_completions.run_id and known.finished_at < v_run.started_at, false), false,
        known.finish_reason
    from unnest(v_calls) as asked
    -- An input that budgets do not admit may have no row.
    left join pgclarify_private.completion as known on pgclarify_private.is_of_call(known, asked)
    where asked.ordinal <> all(v_ordinals) or known.completion_id = any(v_late);
end
$$;

comment on function pgclarify_private.claim_completions(bigint, bigint, interval, jsonb, integer, bigint, integer) is
'Look inputs up in the ledger, and lease those without a reply that no live run is asking, if budgets admit them. Returns a '
'row for each input: is_ours (make the call; leased_until identifies this lease of the row; is_sent: it is noted as sent '
'already, else call note_sent before), a reply (it is known; is_own: this run has paid for it before this attempt), a refusal '
'(a budget does not admit it: object with sqlstate, message and detail), or none of these (another run is asking it, a budget '
'may have room when calls in flight end, or the worker does not count as alive: try again). calls: as in read_calls. attempt: '
'of the run; error PC006 if it is over; null without a run. corpus_id: corpus of the documents that the inputs show; with a '
'run, that of the run. sent_at_once: how many of the leased calls, by ordinal, the worker sends now.';
grant execute on function pgclarify_private.claim_completions(
    bigint, bigint, interval, jsonb, integer, bigint, integer
) to pgclarify_worker;
