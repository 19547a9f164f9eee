-- What is wrong in an installation, as far as the caller may see it.

create or replace function pgclarify_private.administrator_findings(caller pgclarify_private.caller)
returns table (kind text, name text, finding text, count bigint, remedy text, level text)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if not 'pgclarify_owner'::name = any(
        pgclarify_private.roles_of(pgclarify_private.verify_caller(administrator_findings.caller))
    ) then
        return;
    end if;
    return query
    select 'identities', held.name::text,
        case
            when held.is_present then 'this role has the name of an earlier one, and not what that one left: '
            else 'this role is gone, and has left: '
        end || string_agg(format('%s %s', held.kind, held.count), ', ' order by held.kind),
        null::bigint,
        case
            when held.is_present
                then 'If they are the same people, after a restore: select * from pgclarify_private.adopt_roles()'
        end,
        case when held.is_present then 'warning' else 'note' end
    from (
        select orphan.name, orphan.present_oid <> 0 as is_present, orphan.kind, sum(orphan.count) as count
        from pgclarify_private.orphaned_roles() as orphan
        group by orphan.name, orphan.present_oid <> 0, orphan.kind
    ) as held
    group by held.name, held.is_present;
    return query
    with budgeted as (
        select distinct role.oid, role.rolname
        from pgclarify_private.budget
        inner join pg_roles as role on budget.role_name = role.rolname
    )
    select 'budgets', login.rolname::text,
        format(
            'is bound by the budgets of several roles, because it inherits them: %s',
            string_agg(held.rolname, ', ' order by held.rolname)
        ),
        null::bigint,
        format(
            'If it only becomes these roles, as the login of a pooler does, grant it each of them with: grant ROLE to %I with '
                || 'inherit false, set true.',
            login.rolname
        ),
        'warning'
    from pg_roles as login
    inner join budgeted as held on held.oid <> login.oid and pg_has_role(login.oid, held.oid, 'usage')
    where
        login.rolcanlogin
        and not login.rolsuper
        -- Not a role that it has through another one of them: a team and its company are not two tenants.
        and not exists (
            select from budgeted as nearer
            where
                nearer.oid not in (login.oid, held.oid)
                and pg_has_role(login.oid, nearer.oid, 'usage')
                and pg_has_role(nearer.oid, held.oid, 'usage')
        )
    group by login.rolname
    having count(*) > 1;
    return query
    select 'nodes', unfit.node,
        case
            when unfit.error is not null
                then format('does not answer, so searches of %s fail: %s', string_agg(unfit.corpus, ', '), unfit.error)
            else format(
                'pgclarify_owner lacks hnsw.iterative_scan = strict_order or hnsw.ef_search = %s there, so searches of %s '
                    || 'miss passages',
                max(unfit.ef_search), string_agg(unfit.corpus, ', ')
            )
        end,
        null::bigint,
        case
            when unfit.error is not null
                then 'Start this server, and let its pg_hba.conf admit pgclarify_owner from the coordinator.'
            else format(
                'Have a superuser run on the coordinator: alter role pgclarify_owner set hnsw.iterative_scan = '
                    || '''strict_order''; alter role pgclarify_owner set hnsw.ef_search = %s; then restart the workers.',
                max(unfit.ef_search)
            )
        end,
        case when unfit.error is not null then 'problem' else 'warning' end
    from pgclarify_private.unfit_corpora() as unfit
    group by unfit.node, unfit.error;
end
$$;

comment on function pgclarify_private.administrator_findings(pgclarify_private.caller) is
'Rows of view finding about roles, logins and nodes, for members of pgclarify_owner; none for other roles.';
grant execute on function pgclarify_private.administrator_findings(pgclarify_private.caller) to pgclarify_reader;

create or replace view pgclarify.finding as
-- Materialized: each row of the view takes a while.
with status as materialized (
    select
        corpus.corpus, corpus.error, corpus.next_embedding_model, corpus.failed, corpus.passages, corpus.linked, corpus.pending,
        corpus.pending_passages
    from pgclarify.corpus
)

select 'queue' as kind, null::text as name,
    case when waiting.queued = 1 then 'run waits' else 'runs wait' end
        || format(', the oldest for %s s', round(waiting.oldest_queued_seconds)::bigint) as finding,
    waiting.queued as count,
    'Run a worker, or more of them, or raise PGCLARIFY_LLM_CONCURRENCY.' as remedy, 'warning' as level
from pgclarify.queue_status as waiting
where waiting.queued > 0 and waiting.oldest_queued_seconds > 60
union all
-- A run seldom takes so long.
select 'runs', run.run_id::text,
    'is running since ' || to_char(coalesce(run.started_at, run.created_at), 'YYYY-MM-DD HH24:MI:SS TZ'),
    null, format('See the worker''s log, or end it: select pgclarify.cancel(array[%s]);', run.run_id), 'warning'
from pgclarify.run
where run.status = 'running' and coalesce(run.started_at, run.created_at) < clock_timestamp() - interval '15 minutes'
union all
select 'corpora', status.corpus,
    case
        when status.next_embedding_model is null then 'cannot be indexed now: ' || status.error
        else format('keeps its embedding model, and does not get on to %s: %s', status.next_embedding_model, status.error)
    end,
    null,
    case
        when status.next_embedding_model is null
            then 'Remove the cause, and workers index what waits. If there is no such model, use another corpus.'
        else 'Remove the cause, and set option embedding_model of pgclarify.alter_corpus again, or to null.'
    end,
    'problem'
from status
where status.error is not null
union all
select 'documents', status.corpus, case when status.failed = 1 then 'document' else 'documents' end || ' cannot be indexed',
    status.failed::bigint,
    'See: select id, error from pgclarify.document where error is not null.', 'warning'
from status
where status.failed > 0
union all
select 'graph', status.corpus,
    case when status.passages - status.linked = 1 then 'passage has' else 'passages have' end
        || ' no list of neighbors, and nothing is pending',
    (status.passages - status.linked)::bigint,
    'Build it again: select pgclarify.alter_corpus(NAME, ''{"graph": "rebuild"}'').', 'warning'
from status
-- A lone passage has no neighbors.
where status.passages > 1 and status.linked < status.passages and status.pending = 0 and status.pending_passages = 0
union all
select 'tables', source.relation, format('attached to %s: %s', source.corpus, source.error), null,
    format(
        'Remove the cause, and run: select pgclarify.resync(%L, %L). Or let go of it: select pgclarify.detach_table(%L, %s).',
        source.corpus, source.relation, source.corpus, source.relation_oid
    ),
    case when source.state = 'failed' then 'problem' else 'warning' end
from pgclarify.source_status as source
where source.error is not null
union all
select 'costs', usage.model,
    case when sum(usage.unpriced_runs) = 1 then 'run has' else 'runs have' end
        || ' no cost, because a model had no price, or its endpoint reported no tokens',
    sum(usage.unpriced_runs)::bigint,
    'Add a missing price to pgclarify.model_price, and have a member of pgclarify_owner run: select '
        || 'pgclarify_private.price_runs(). Without tokens, only the price 0 gives a cost.',
    'warning'
from pgclarify.usage
where usage.unpriced_runs > 0
group by usage.model
union all
select 'budgets', budget.name, format('limits nothing, because there is no role %s', budget.role_name), null,
    'Name another role with pgclarify.set_budget, option role, or remove it with pgclarify.remove_budget.', 'warning'
from pgclarify.budget
where not budget.role_exists
union all
select 'budgets', budget.name,
    format('refuses every call of %s, which has no price', string_agg(distinct worker.model, ', ')), null,
    'Insert its price into pgclarify.model_price, in US dollars for a million tokens; 0 if it is free.', 'problem'
from pgclarify.budget
-- An update of the extension makes view worker_status anew, which no other view may need.
inner join pgclarify_private.worker_statuses() as worker
    on worker.is_alive
    and worker.provider <> 'extractive'
    and worker.model not in (select price.model from pgclarify.model_price as price)
where budget.max_cost_usd is not null and budget.role_exists
group by budget.name, budget.corpus
union all
-- A tenth or less is left.
select 'budgets', budget.name,
    concat_ws(
        ' and ',
        to_char(budget.left_usd, '"$"FM999999999990.0099') || to_char(budget.max_cost_usd, '" of $"FM999999999990.0099'),
        budget.left_calls::text || ' of ' || budget.max_calls::text || ' calls'
    ) || format(' left (%s)', budget.period),
    null,
    case
        when budget.resets_at is null then 'Raise it with pgclarify.set_budget.'
        else format('It begins anew at %s. Or raise it with pgclarify.set_budget.', budget.resets_at)
    end,
    'warning'
from pgclarify.budget
where budget.left_usd <= 0.1 * budget.max_cost_usd or budget.left_calls <= 0.1 * budget.max_calls
union all
-- For the owner of the corpus, and for administrators.
select 'budgets', budget.name || '',
    format('binds the owner of corpus %s, who cannot drop the corpus meanwhile', corpus.name), null,
    'To allow it, have a member of pgclarify_owner remove the budget, or set its option binds_owner to false.', 'note'
from pgclarify_private.budget
inner join pgclarify_private.corpus on budget.corpus_id = corpus.corpus_id
where
    budget.binds_owner
    and not pg_has_role(corpus.owner_oid, 'pgclarify_owner', 'usage')
    and (
        pgclarify_private.is_among(corpus.owner, corpus.owner_oid, (select pgclarify_private.my_role_oids()))
        or (select pgclarify_private.may_see_everything())
    )
union all
select found.kind, found.name, found.finding, found.count, found.remedy, found.level
from pgclarify_private.caller
cross join lateral pgclarify_private.administrator_findings(caller) as found;

comment on view pgclarify.finding is
'What is wrong, or needs attention, and what to do: no row if nothing is. pgclarify doctor shows it.';
comment on column pgclarify.finding.kind is
'queue, runs, corpora, documents, graph, tables, costs or budgets; for members of pgclarify_owner also identities '
'(what roles left that were dropped) and nodes (of a Citus cluster).';
comment on column pgclarify.finding.name is
'Name of the corpus, table, model, budget, role or node, or the run''s id; null for the queue.';
comment on column pgclarify.finding.finding is 'What is wrong.';
comment on column pgclarify.finding.count is 'How many runs, documents or passages; null for a single thing.';
comment on column pgclarify.finding.remedy is 'What to do; null for a note.';
comment on column pgclarify.finding.level is
'problem (something does not work), warning (it works, but not as well as it could) or note.';
grant select on pgclarify.finding to pgclarify_reader;
