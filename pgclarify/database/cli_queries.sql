-- name: cli_list_workers
-- Workers that serve the queue now.
select
    worker_id, host, version, provider, model, prompt_version, embedding_models, started_at, seen_at, is_alive,
    extract(epoch from now() - seen_at)::double precision as silent_seconds
from pgclarify.worker_status
where is_alive
order by worker_id;

-- name: cli_get_server
-- What is connected to.
select
    current_database() as database,
    current_user as user,
    current_setting('server_version') as version;

-- name: cli_get_queue
-- How much work waits.
select
    queued, running, oldest_queued_at,
    extract(epoch from now() - oldest_queued_at)::double precision as oldest_queued_seconds
from pgclarify.queue_status;

-- name: cli_list_corpora
-- Every corpus that the caller may see, with its counters.
select
    corpus, documents, passages, pending, embedded, linked, failed, lag, revision, embedding_model, error,
    next_embedding_model, next_embedded
from pgclarify.corpus_status
order by corpus;

-- name: cli_list_sources
-- Tables that are attached to corpora of the caller.
select
    corpus, source_id, relation, relation_oid, state, error, pending_changes, rows_added, rows_changed, rows_removed,
    load_started_at, loaded_at, attached_by
from pgclarify.source_status
order by corpus, relation;

-- name: cli_get_corpus
-- The counters of one corpus.
select
    corpus, documents, passages, pending, embedded, linked, failed, lag, revision, embedding_model, error,
    next_embedding_model, next_embedded
from pgclarify.corpus_status
where corpus = %(corpus)s;

-- name: cli_create_corpus
-- Make a corpus.
select pgclarify.create_corpus(name => %(corpus)s, embedding_model => %(embedding_model)s);

-- name: cli_add_documents
-- Add a batch of documents in one round trip; one row each, in order: whether anything changed.
select
    pgclarify.add_document(
        corpus => %(corpus)s,
        document_id => batch.document_id,
        content => batch.content,
        title => batch.title,
        uri => batch.uri,
        metadata => batch.metadata,
        -- An array of arrays would have to be rectangular, so readers come as JSON.
        readers => case
            when batch.readers is not null then array(select jsonb_array_elements_text(batch.readers))::name[]
        end
    ) as is_changed
from unnest(
    %(document_ids)s::text[],
    %(contents)s::text[],
    %(titles)s::text[],
    %(uris)s::text[],
    %(metadata)s::jsonb[],
    %(readers)s::jsonb[]
) as batch (document_id, content, title, uri, metadata, readers);

-- name: cli_clarify
-- Ask, and wait for the readings.
select
    run_id, status, ordinal, interpretation, answer, support, cohesion, document_ids, citations
from pgclarify.clarify(
    question => %(question)s,
    corpus => %(corpus)s,
    top_k => %(top_k)s,
    timeout => %(timeout)s::interval
)
order by ordinal;

-- name: cli_count_foreign_documents
-- Documents of a corpus whose ids are not among those given.
select count(*) as documents
from pgclarify.document
inner join pgclarify.corpus using (corpus_id)
where corpus.name = %(corpus)s and document.id <> all(%(document_ids)s::text[]);

-- name: cli_get_run
-- How much one run looked at.
select candidates, verdicts, interpretations
from pgclarify.run_summary
where run_id = %(run_id)s;

-- name: cli_list_failed_documents
-- Documents of a corpus that cannot be indexed, and why.
select document.id as document_id, document.error
from pgclarify.document
inner join pgclarify.corpus using (corpus_id)
where corpus.name = %(corpus)s and document.error is not null
order by document.id
limit 100;

-- name: cli_list_recent_runs
-- The last runs that the caller may see, newest first.
select
    run_id, operation, corpus, question, status, error, requested_by, created_at, finished_at, interpretations,
    completions, reused_completions, model,
    extract(epoch from coalesce(finished_at, now()) - created_at)::double precision as seconds
from pgclarify.run_summary
order by run_id desc
limit %(most)s;

-- name: cli_list_recent_errors
-- Of the last runs those that failed or came out in part, newest first, with the error, or one of its passages or steps.
select
    run_summary.run_id, run_summary.corpus, run_summary.question, run_summary.status, run_summary.finished_at,
    coalesce(run_summary.error, failure.error, step.reason) as error,
    failure.failed_passages
from pgclarify.run_summary
left join lateral (
    select count(*) as failed_passages, min(verdict.error) as error
    from pgclarify.verdict
    where verdict.run_id = run_summary.run_id and verdict.outcome = 'failed'
) as failure on true
left join lateral (
    select investigation_step.reason
    from pgclarify.investigation_step
    where
        investigation_step.run_id = run_summary.run_id
        and investigation_step.outcome in ('failed', 'cut_off')
        and investigation_step.reason is not null
    order by investigation_step.ordinal
    limit 1
) as step on true
where
    run_summary.status in ('failed', 'partial')
    -- Without a bound, a house without errors would be searched from end to end.
    and run_summary.run_id > (select max(newest.run_id) - 10000 from pgclarify.run_summary as newest)
order by run_summary.run_id desc
limit %(most)s;

-- name: cli_submit
-- Ask without waiting.
select pgclarify.submit(question => %(question)s, corpus => %(corpus)s, top_k => %(top_k)s) as run_id;

-- name: cli_wait
-- Wait for one run; how it stands.
select run_id, status, error, interpretations
from pgclarify.wait(array[%(run_id)s::bigint], timeout => %(timeout)s::interval);

-- name: cli_result
-- What a run found.
select
    run_id, status, ordinal, interpretation, answer, support, cohesion, document_ids, citations
from pgclarify.result(%(run_id)s)
order by ordinal;

-- name: cli_submit_investigation
-- Have a question investigated, and come back for the answer.
select
    pgclarify.submit_investigation(
        question => %(question)s, corpus => %(corpus)s, options => %(options)s::jsonb
    ) as run_id;

-- name: cli_investigation
-- What an investigation came to.
select run_id, status, outcome, answer, confidence, steps, document_ids, citations
from pgclarify.investigation(run_id => %(run_id)s);

-- name: cli_watch_investigation
-- How a run stands, with the steps that have not been seen yet: one row at least, if the run may be seen.
select
    run.run_id,
    run.status,
    current_setting('transaction_isolation') as isolation,
    step.ordinal,
    step.kind,
    step.question,
    step.answer,
    step.outcome,
    step.confidence,
    step.reason,
    step.semantic_sets,
    (
        select coalesce(jsonb_agg(to_jsonb(citation) order by citation.rank), '[]')
        from pgclarify.investigation_citation as citation
        where citation.run_id = step.run_id and citation.step_ordinal = step.ordinal
    ) as citations
from pgclarify.run
left join pgclarify.investigation_step as step
    on run.run_id = step.run_id and step.ordinal <> all(%(seen)s::integer[])
where run.run_id = %(run_id)s
order by step.ordinal;

-- name: cli_read_interval
-- How long an interval is.
select extract(epoch from %(interval)s::interval)::double precision as seconds;

-- name: cli_cancel
-- Cancel a run.
select pgclarify.cancel(%(run_id)s) as was_cancelled;

-- name: cli_list_extensions
-- Versions of the extensions that pgclarify uses: what is in this database, and what the server could install.
select
    wanted.name,
    installed.extversion as installed,
    available.default_version as available
from (values ('vector'), ('dblink')) as wanted (name)
left join pg_catalog.pg_extension as installed on wanted.name = installed.extname
left join pg_catalog.pg_available_extensions as available on wanted.name = available.name;

-- name: cli_list_roles
-- Roles of pgclarify that exist, and which of them the caller has the rights of.
select
    rolname as role,
    pg_has_role(oid, 'usage') as has_usage
from pg_catalog.pg_roles
where rolname = any(%(roles)s::text[]);

-- name: cli_freeze_snapshot
-- From here on, this transaction sees what others commit through the loopback alone.
set transaction isolation level repeatable read;

-- name: cli_wait_for_nothing
-- Look at no run at all.
select run_id from pgclarify.wait('{}', timeout => '5s');

-- name: cli_list_running
-- Runs under way that the caller may see, with their age, oldest first.
select
    run_id,
    extract(epoch from now() - coalesce(started_at, created_at))::double precision as seconds
from pgclarify.run_summary
where status = 'running'
order by started_at
limit 100;

-- name: cli_build_graph
-- Have the graph of a corpus built again.
select pgclarify.build_graph(%(corpus)s) as passages;

-- name: cli_count_pending_links
-- How many passages of a corpus wait to be linked or unlinked.
select pgclarify._graph_pending(_caller, %(corpus)s) as pending from pgclarify._caller;

-- name: cli_check_graph
-- Check the graph of a corpus.
select passages, linked, unlinked, pending, self_edges, dangling, orphans, gaps, unordered, sampled, recall
from pgclarify.check_graph(%(corpus)s, %(sample)s);

-- name: cli_explain
-- What a run did, line by line.
select line from pgclarify.explain(run_id => %(run_id)s, options => %(options)s::jsonb) as line;
