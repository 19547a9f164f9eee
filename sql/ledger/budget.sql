-- Budgets, and which calls they admit. A call that is claimed is reserved on its row of the ledger. If it was not sent, the
-- reservation ends with the lease. If it was sent, the reservation stays until the call is counted: with its cost when the
-- reply arrives, or with the most that it may cost when no reply will come (sending.sql).

create or replace function pgclarify_private.period_start(period text, created_at timestamptz, at timestamptz)
returns timestamptz
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        case period_start.period
            when 'total' then period_start.created_at
            else date_trunc(period_start.period, period_start.at, 'UTC')
        end;
end;

comment on function pgclarify_private.period_start(text, timestamptz, timestamptz) is
'When the budget period that contains a moment began: a day or month in UTC, or the creation of the budget (total).';
grant execute on function pgclarify_private.period_start(text, timestamptz, timestamptz) to pgclarify_reader;

create or replace function pgclarify_private.budgets_of(requester name, login name, corpus_id bigint)
returns bigint[]
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- Not pg_has_role: of a superuser it says that it has the rights of every role, so every budget would bind it.
    with recursive held (role_oid, role_name) as (
        select pg_roles.oid, pg_roles.rolname
        from pg_catalog.pg_roles
        where pg_roles.rolname in (budgets_of.requester, budgets_of.login)
        union
        select granted.oid, granted.rolname
        from held
        inner join pg_catalog.pg_auth_members as membership
            on held.role_oid = membership.member and membership.inherit_option
        inner join pg_catalog.pg_roles as granted on membership.roleid = granted.oid
    )

    select coalesce(array_agg(budget.budget_id order by budget.budget_id), '{}')
    from pgclarify_private.budget
    where
        (budget.corpus_id is null or budget.corpus_id = budgets_of.corpus_id)
        and (budget.role_name is null or budget.role_name in (select held.role_name from held));
end;

comment on function pgclarify_private.budgets_of(name, name, bigint) is
'Budgets that apply to runs on this corpus of a role and its login role, ordered by id: those for all roles, and those for '
'what one of the two is or inherits. requester: null for a call without a run. login: that of the worker for such a call; null '
'for a run that was entered before logins were stored. corpus_id: null without a corpus.';

create or replace function pgclarify_private.lock_budgets()
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- This is shorter than a worker's other lock timeouts: while budgets are locked, each of its runs retries again and again.
set lock_timeout = '500ms'
as $$
declare
    v_holders text;
begin
    lock table pgclarify_private.budget, pgclarify_private.model_price in access share mode;
    lock table pgclarify_private.budget_counter in row exclusive mode;
exception
    when lock_not_available then
        select string_agg(distinct format('process %s holds %s', pg_locks.pid, pg_locks.mode), '; ') into v_holders
        from pg_locks
        where
            pg_locks.granted
            and pg_locks.database = (select pg_database.oid from pg_database where pg_database.datname = current_database())
            and pg_locks.relation = any(
                '{pgclarify_private.budget, pgclarify_private.model_price, pgclarify_private.budget_counter}'::regclass[]
            )
            and pg_locks.mode in ('AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock');
        raise exception 'budgets are locked'
            using errcode = 'lock_not_available',
                detail = coalesce('Now ' || v_holders || '.', 'The lock was released meanwhile.'),
                hint = 'Models are not called until the lock is released. Let that transaction end, or end it with '
                    'pg_terminate_backend.';
end
$$;

comment on function pgclarify_private.lock_budgets() is
'Take the locks that reading and counting budgets needs. After half a second without them, error 55P03 names the processes '
'that hold them.';

create or replace function pgclarify_private.reserved(
    budget_ids bigint[], at timestamptz, living bigint[], except_ids bigint[] default '{}'
)
returns table (budget_id bigint, calls bigint, cost_usd numeric)
language sql stable security definer
set search_path = pg_catalog, pg_temp
rows 10
begin atomic
    with present as materialized (
        select
            budget.budget_id,
            pgclarify_private.period_start(budget.period, budget.created_at, reserved.at) as period_start
        from pgclarify_private.budget
        where budget.budget_id = any(reserved.budget_ids)
    )
    select present.budget_id, count(*), sum(call.reserved_usd)
    from (
        select completion.budget_ids, completion.reserved_usd, completion.reserved_at
        from pgclarify_private.completion
        where
            completion.budget_ids is not null
            and (
                completion.sent_at is not null
                or completion.leased_until >= reserved.at and completion.leased_by = any(reserved.living)
            )
            and completion.completion_id <> all(reserved.except_ids)
        union all
        -- The endpoint answers a batch without a worker.
        select request.budget_ids, request.reserved_usd, request.reserved_at
        from pgclarify_private.batch_request as request
        where request.budget_ids is not null
    ) as call
    inner join present on present.budget_id = any(call.budget_ids) and present.period_start <= call.reserved_at
    group by present.budget_id;
end;

comment on function pgclarify_private.reserved(bigint[], timestamptz, bigint[], bigint[]) is
'Calls of each budget that are claimed or sent, and not counted yet, and their maximum cost. at: now. living: ids of live '
'workers. except_ids: rows of the ledger that do not count.';

create or replace function pgclarify_private.lock_budget_counters(budget_ids bigint[], at timestamptz)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_budget record;
    v_is_new boolean := false;
begin
    -- One after another, in order of ids, so that two transactions that lock the same counters do not deadlock.
    for v_budget in
        select
            budget.budget_id,
            pgclarify_private.period_start(budget.period, budget.created_at, lock_budget_counters.at) as period_start
        from pgclarify_private.budget
        where budget.budget_id = any(lock_budget_counters.budget_ids)
        order by budget.budget_id
    loop
        perform
        from pgclarify_private.budget_counter as counter
        where counter.budget_id = v_budget.budget_id and counter.period_start = v_budget.period_start
        for no key update;
        if not found then
            insert into pgclarify_private.budget_counter as counter (budget_id, period_start)
            values (v_budget.budget_id, v_budget.period_start)
            on conflict on constraint budget_counter_pk do update set calls = counter.calls;
            v_is_new := true;
        end if;
    end loop;
    if v_is_new then
        -- This happens once a period, and blocks no other transaction.
        delete from pgclarify_private.budget_counter as counter
        where (counter.budget_id, counter.period_start) in (
            select orphan.budget_id, orphan.period_start
            from pgclarify_private.budget_counter as orphan
            where not exists (select from pgclarify_private.budget where budget.budget_id = orphan.budget_id)
            for update skip locked
        );
    end if;
end
$$;

comment on function pgclarify_private.lock_budget_counters(bigint[], timestamptz) is
'Lock the counters of budgets for the periods that contain a moment, and create the missing ones. It also deletes counters '
'of budgets that were removed.';

create or replace function pgclarify_private.refusal(budget_id bigint, model text, bound_usd numeric)
returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        case
            when budget.max_cost_usd is not null and refusal.bound_usd is null then jsonb_build_object(
                'budget_id', budget.budget_id,
                'sqlstate', 'PC008',
                'message', format(
                    'model "%s" has no price, which budget "%s" goes by',
                    pgclarify_private.shown(refusal.model), pgclarify_private.shown(budget.name)
                ),
                'detail', 'Insert one into pgclarify.model_price, in US dollars for a million tokens.'
            )
            when budget.max_cost_usd < refusal.bound_usd then jsonb_build_object(
                'budget_id', budget.budget_id,
                'sqlstate', 'PC007',
                'message', format(
                    'budget "%s" has no room for a call that may cost %s US dollars',
                    pgclarify_private.shown(budget.name), trim_scale(refusal.bound_usd)
                ),
                'detail', format(
                    'Its limit is %s. To go on, raise it with pgclarify.set_budget.', trim_scale(budget.max_cost_usd)
                )
            )
            else jsonb_build_object(
                'budget_id', budget.budget_id,
                'sqlstate', 'PC007',
                'message', format('budget "%s" is spent', pgclarify_private.shown(budget.name)),
                'detail', case budget.period
                    when 'day' then
                        'It begins anew at midnight UTC; to go on before, raise its limit with pgclarify.set_budget.'
                    when 'month' then
                        'It begins anew with the next month of UTC; to go on before, raise its limit with pgclarify.set_budget.'
                    else 'To go on, raise its limit with pgclarify.set_budget.'
                end
            )
        end
    from pgclarify_private.budget
    where budget.budget_id = refusal.budget_id;
end;

comment on function pgclarify_private.refusal(bigint, text, numeric) is
'Why a budget does not admit a call: object with budget_id, sqlstate, message and detail. bound_usd: maximum cost of the '
'call; null if the model has no price.';

create or replace function pgclarify_private.bounds(calls pgclarify_private.model_call[])
returns table (ordinal integer, model text, bound_usd numeric)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    with price as materialized (
        select asked.model, known.input_usd, known.cached_input_usd, known.output_usd
        from (select distinct named.model from unnest(bounds.calls) as named) as asked
        left join lateral pgclarify_private.price_of(asked.model) as known on true
    )
    select
        given.ordinal,
        given.model,
        pgclarify_private.cost_of(
            -- A text rarely has more than one token for two of its bytes.
            ceil(given.input_bytes / 2.0)::bigint, 0, given.max_output_tokens, price.input_usd, price.cached_input_usd,
            price.output_usd
        )
    from unnest(bounds.calls) as given
    inner join price on price.model = given.model;
end;

comment on function pgclarify_private.bounds(pgclarify_private.model_call[]) is
'The most that each call costs, in US dollars: half a token for each byte of input, and all output tokens that it allows. Null '
'if its model has no price.';

create or replace function pgclarify_private.admit(
    budget_ids bigint[],
    at timestamptz,
    living bigint[],
    except_ids bigint[],
    calls pgclarify_private.model_call[]
)
returns table (ordinal integer, bound_usd numeric, is_admitted boolean, refusal jsonb)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_ids bigint[];
    v_max_costs numeric[];
    v_max_calls bigint[];
    v_costs numeric[];
    v_calls bigint[];
    v_reserved_costs numeric[];
    v_reserved_calls bigint[];
    v_call record;
    v_is_refused boolean;
begin
    select
        array_agg(budget.budget_id order by budget.budget_id),
        array_agg(budget.max_cost_usd order by budget.budget_id),
        array_agg(budget.max_calls order by budget.budget_id),
        array_agg(coalesce(counter.cost_usd, 0) order by budget.budget_id),
        array_agg(coalesce(counter.calls, 0) order by budget.budget_id),
        array_agg(coalesce(reserved.cost_usd, 0) order by budget.budget_id),
        array_agg(coalesce(reserved.calls, 0) order by budget.budget_id)
    into v_ids, v_max_costs, v_max_calls, v_costs, v_calls, v_reserved_costs, v_reserved_calls
    from pgclarify_private.budget
    left join pgclarify_private.budget_counter as counter
        on counter.budget_id = budget.budget_id
        and counter.period_start = pgclarify_private.period_start(budget.period, budget.created_at, admit.at)
    left join pgclarify_private.reserved(admit.budget_ids, admit.at, admit.living, admit.except_ids) as reserved
        on reserved.budget_id = budget.budget_id
    where budget.budget_id = any(admit.budget_ids);
    for v_call in
        select bound.ordinal, bound.model, bound.bound_usd
        from pgclarify_private.bounds(admit.calls) as bound
        order by bound.ordinal
    loop
        ordinal := v_call.ordinal;
        bound_usd := coalesce(v_call.bound_usd, 0);
        is_admitted := true;
        refusal := null;
        for v_place in 1..coalesce(cardinality(v_ids), 0) loop
            v_is_refused := v_max_calls[v_place] < v_calls[v_place] + 1
                or v_max_costs[v_place] < v_costs[v_place] + bound_usd
                or v_max_costs[v_place] is not null and v_call.bound_usd is null;
            if v_is_refused then
                refusal := pgclarify_private.refusal(v_ids[v_place], v_call.model, v_call.bound_usd);
                is_admitted := false;
                exit;
            end if;
            is_admitted := is_admitted
                and coalesce(v_max_calls[v_place] >= v_calls[v_place] + v_reserved_calls[v_place] + 1, true)
                and coalesce(
                    v_max_costs[v_place] >= v_costs[v_place] + v_reserved_costs[v_place] + bound_usd, true
                );
        end loop;
        if is_admitted then
            for v_place in 1..coalesce(cardinality(v_ids), 0) loop
                v_reserved_calls[v_place] := v_reserved_calls[v_place] + 1;
                v_reserved_costs[v_place] := v_reserved_costs[v_place] + bound_usd;
            end loop;
        end if;
        return next;
    end loop;
end
$$;

comment on function pgclarify_private.admit(
    bigint[], timestamptz, bigint[], bigint[], pgclarify_private.model_call[]
) is
'Which calls fit into budgets, checked one after another by ordinal. The sum of what is spent, what is reserved and the '
'maximum cost of the call (as in bounds) must be within the limit. A call gets a refusal if it would not fit even if the calls '
'in flight cost nothing; otherwise it must wait for them.';

create or replace function pgclarify_private.admit_free(
    budget_ids bigint[],
    at timestamptz,
    living bigint[],
    worker_id bigint,
    run_id bigint,
    calls pgclarify_private.model_call[]
)
returns table (ordinal integer, bound_usd numeric, is_admitted boolean, refusal jsonb)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_free pgclarify_private.model_call[];
    v_own bigint[];
begin
    select
        array_agg(asked),
        coalesce(array_agg(known.completion_id) filter (where known.completion_id is not null), '{}')
    into v_free, v_own
    from unnest(admit_free.calls) as asked
    left join pgclarify_private.completion as known on pgclarify_private.is_of_call(known, asked)
    where
        known.completion_id is null
        or pgclarify_private.is_claimable(known, admit_free.at, admit_free.living, admit_free.worker_id, admit_free.run_id);
    return query
    select call.*
    from pgclarify_private.admit(admit_free.budget_ids, admit_free.at, admit_free.living, v_own, v_free) as call;
end
$$;

comment on function pgclarify_private.admit_free(
    bigint[], timestamptz, bigint[], bigint, bigint, pgclarify_private.model_call[]
) is
'What admit returns for the inputs that a run of a worker may claim: they have no reply, and no live run is asking them.';
