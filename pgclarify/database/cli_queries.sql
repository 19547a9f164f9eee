-- Statements of the command line, which also uses some of client_queries.sql.

-- name: cli_get_server
-- The server of this connection.
select
    current_database() as database,
    current_user as user,
    current_setting('server_version') as version;

-- name: cli_get_queue
-- How much work is waiting.
select
    queued, running, oldest_queued_at,
    extract(epoch from now() - oldest_queued_at)::double precision as oldest_queued_seconds,
    pending_documents, pending_passages
from pgclarify.queue_status;

-- name: cli_list_sources
-- Attached tables of the caller's corpora.
select
    corpus, source_id, relation, relation_oid, state, error, pending_changes, rows_added, rows_changed, rows_removed,
    rows_skipped, load_started_at, loaded_at, attached_by
from pgclarify.source_status
order by corpus, relation;

-- name: cli_list_tight_budgets
-- Budgets with a tenth or less left.
select
    name, role_name, corpus, period, max_cost_usd, max_calls, left_usd, left_calls, resets_at
from pgclarify.budget
where left_usd <= 0.1 * max_cost_usd or left_calls <= 0.1 * max_calls
order by name;

-- name: cli_list_idle_budgets
-- Budgets of roles that do not exist.
select name, role_name from pgclarify.budget where not role_exists order by name;

-- name: cli_notice_lost_client
-- Until the transaction ends, end the statement of a client that was killed. By default the server would complete it.
select set_config('client_connection_check_interval', '10s', true) as interval;

-- name: cli_check_load
-- The ids under which files would be stored, and the ids that documents of other sources have.
select located.ordinal, located.document_id, located.is_taken, located.is_unnoted, located.taken_from, located.relation
from
    pgclarify_private.caller as caller,
    pgclarify_private.check_load(
        caller => caller,
        corpus => %(corpus)s,
        document_ids => %(document_ids)s::text[],
        origins => %(origins)s::text[],
        known_as => %(known_as)s::text[]
    ) as located
order by located.ordinal;

-- name: cli_list_loaded
-- A page of the documents of a source.
select loaded.document_id, loaded.origin
from
    pgclarify_private.caller as caller,
    pgclarify_private.loaded_from(
        caller => caller,
        corpus => %(corpus)s,
        origin_prefix => %(origin_prefix)s,
        after => %(after)s,
        max_rows => %(most)s
    ) as loaded
order by loaded.origin;

-- name: cli_remove_loaded
-- Remove documents that still belong to these files.
select
    pgclarify_private.remove_loaded(
        caller => caller,
        corpus => %(corpus)s,
        document_ids => %(document_ids)s::text[],
        origins => %(origins)s::text[]
    ) as removed
from pgclarify_private.caller as caller;

-- name: cli_list_documents
-- A page of the documents of a corpus that the caller may read, by id.
select
    document.id as document_id,
    document.title,
    document.uri,
    document.origin,
    document.source_id,
    document.created_at,
    document.updated_at,
    document.indexed_at,
    document.error
from pgclarify.document
inner join pgclarify.corpus on document.corpus_id = corpus.corpus_id
where corpus.corpus = %(corpus)s and document.id > coalesce(%(after)s::text, '')
order by document.id
limit %(most)s;

-- name: cli_get_asked_run
-- The run of the last question of this transaction.
select nullif(current_setting('pgclarify.asked_run', true), '')::bigint as run_id;

-- name: cli_explain
-- The lines of a run's explanation, in the parts that pgclarify.explain joins.
select explained.kind, explained.indent, explained.label, explained.body, explained.figures
from pgclarify_private.caller
cross join lateral pgclarify_private.explain(caller, %(run_id)s, %(options)s::jsonb) as explained;

-- name: cli_get_stop_code
-- The meaning of a stop code, and what to do.
select stop_code, meaning, help from pgclarify_private.stop_codes() where stop_code = %(stop_code)s;

-- name: cli_count_foreign_documents
-- Documents of a corpus whose ids are not in a list.
select count(*) as documents
from pgclarify.document
inner join pgclarify.corpus using (corpus_id)
where corpus.corpus = %(corpus)s and document.id <> all(%(document_ids)s::text[]);

-- name: cli_get_run
-- One run: its state, how many passages it judged, why it stopped early, and its cost.
select
    run_id, status, candidates,
    (
        select count(*) from pgclarify.verdict
        where verdict.run_id = run.run_id and verdict.outcome <> 'failed'
    ) as judged,
    stop_reason, stop_code, coalesce(stop_code = 'budget', false) as is_over_budget, cost_usd
from pgclarify.run
where run_id = %(run_id)s;

-- name: cli_list_failed_documents
-- Documents of a corpus that cannot be indexed, with the reason.
select document.id as document_id, document.error
from pgclarify.document
inner join pgclarify.corpus using (corpus_id)
where corpus.corpus = %(corpus)s and document.has_failed
order by document.id
limit 100;

-- name: cli_list_recent_runs
-- The latest runs that the caller may see, newest first.
select
    run_id, operation, corpus, question, status, error, requested_by, created_at, finished_at, interpretations,
    completions, reused_completions, model,
    extract(epoch from coalesce(finished_at, now()) - created_at)::double precision as seconds
from pgclarify.run
order by run_id desc
limit %(most)s;

-- name: cli_list_recent_errors
-- The latest runs that failed or are partial, newest first, with the error or the reason.
select
    run.run_id, run.corpus, run.question, run.status, run.finished_at,
    extract(epoch from clock_timestamp() - run.finished_at)::double precision as age_seconds,
    coalesce(run.error, failure.error, step.reason, checking.note, run.stop_reason) as error,
    failure.failed_passages
from pgclarify.run
left join lateral (
    select count(*) as failed_passages, min(verdict.error) as error
    from pgclarify.verdict
    where verdict.run_id = run.run_id and verdict.outcome = 'failed'
) as failure on true
left join lateral (
    select investigation_step.reason
    from pgclarify.investigation_step
    where
        investigation_step.run_id = run.run_id
        and investigation_step.outcome = 'failed'
        and investigation_step.reason is not null
    order by investigation_step.ordinal
    limit 1
) as step on true
left join pgclarify_private.seen_stage as checking
    on
        run.run_id = checking.run_id
        and checking.name = 'checking'
        and run.operation = 'clarifying_questions'
where
    run.status in ('failed', 'partial')
    -- Limits the search if there are no errors.
    and run.run_id > (select max(newest.run_id) - 10000 from pgclarify.run as newest)
order by run.run_id desc
limit %(most)s;

-- name: cli_list_extensions
-- The extensions of pgclarify: the versions in this database, and those that the server can install.
select
    wanted.name,
    installed.extversion as installed,
    available.default_version as available
from (values ('vector'), ('dblink')) as wanted (name)
left join pg_catalog.pg_extension as installed on wanted.name = installed.extname
left join pg_catalog.pg_available_extensions as available on wanted.name = available.name;

-- name: cli_list_roles
-- Existing roles of pgclarify, and whether the caller has their rights.
select
    rolname as role,
    pg_has_role(oid, 'usage') as has_usage
from pg_catalog.pg_roles
where rolname = any(%(roles)s::text[]);

-- name: cli_list_orphaned_roles
-- Objects of roles that no longer exist; for members of pgclarify_owner.
select name, role_oid, present_oid <> 0 as is_present, kind, count from pgclarify_private.orphaned_roles();

-- name: cli_list_unfit_corpora
-- Distributed corpora with each node that lacks settings for them, or does not answer; for members of pgclarify_owner.
select corpus, ef_search, node, error from pgclarify_private.unfit_corpora();

-- name: cli_list_open_superusers
-- Superusers who can connect to the embedded server over TCP by membership; its rules name postgres and the owner.
with recursive member (role, of_role) as (
    select oid, rolname
    from pg_catalog.pg_roles
    where rolname in ('pgclarify_reader', 'pgclarify_worker', 'pgclarify_owner')
    union
    select membership.member, member.of_role
    from pg_catalog.pg_auth_members as membership
    inner join member on member.role = membership.roleid
)
select rolname as role
from pg_catalog.pg_roles
inner join member on member.role = pg_roles.oid
where rolsuper and rolcanlogin and rolname <> 'postgres'
group by rolname
having not bool_or(member.of_role = 'pgclarify_owner')
order by rolname;

-- name: cli_freeze_snapshot
-- From here on, this transaction sees others' commits only through the loopback.
set transaction isolation level repeatable read;

-- name: cli_wait_for_nothing
-- Wait for no run at all, to test waiting.
select run_id from pgclarify.wait('{}', timeout => '5s');

-- name: cli_list_running
-- Runs in work that the caller may see, with their age, oldest first.
select
    run_id,
    extract(epoch from now() - coalesce(started_at, created_at))::double precision as seconds
from pgclarify.run
where status = 'running'
order by started_at
limit 100;

-- name: cli_classifier_in_use
-- The trained version of the classifier that judges a corpus's questions, for roles that may train another one.
select version, shipped_version, threshold, judges_questions, judges_conversations, weights
from pgclarify_private.caller
cross join lateral pgclarify_private.classifier_in_use(caller, %(corpus)s) as trained;

-- name: cli_add_trained_classifier
-- Store a trained version of the classifier.
select
    pgclarify_private.add_trained_classifier(
        caller, %(corpus)s, %(trained)s::jsonb, %(weights)s::real[], %(is_used)s
    ) as version
from pgclarify_private.caller;

-- name: cli_list_findings
-- What is wrong in corpora, tables and costs.
select kind, name, finding, count, remedy
from pgclarify.finding
order by kind, name;

-- name: cli_price_runs
-- Fill in the cost of runs that had no price; up to 10,000 in one transaction.
select pgclarify_private.price_runs() as runs;
