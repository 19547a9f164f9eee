-- Statements that the Python client sends.

-- name: client_get_operation
-- The operation of a run; no row if there is none that the caller may see.
select operation from pgclarify.run where run_id = %(run_id)s;

-- name: client_name_page
-- The address of a run on the page of `pgclarify ui`; without its beginning if setting pgclarify.page_url has none.
select coalesce(rtrim(current_setting('pgclarify.page_url', true), '/'), '') || '/run/' || %(run_id)s::bigint as page;

-- name: client_closest_passages
-- The best passages of a run's search that the caller may read; no model is called.
with listed as materialized (
    select
        candidate.rank, candidate.corpus_id, candidate.document_id, candidate.passage_id, candidate.heading,
        candidate.score, candidate.origin
    from pgclarify.candidate
    where candidate.run_id = %(run_id)s
)

select
    listed.rank, listed.passage_id, listed.document_id, document.title, listed.heading, passage.content, listed.score,
    listed.origin, pgclarify_private.place_at(document.places, passage.start_char) as place
from pgclarify_private.caller as caller
cross join lateral pgclarify_private.readable_passages(
    caller,
    (select max(listed.corpus_id) from listed),
    array(select listed.document_id from listed order by listed.rank),
    array(select listed.passage_id from listed order by listed.rank)
) as passage
inner join listed on passage.document_id = listed.document_id and passage.passage_id = listed.passage_id
inner join pgclarify.document on listed.corpus_id = document.corpus_id and listed.document_id = document.id
order by listed.rank
limit %(top_k)s;

-- name: client_cited_passages
-- The passages that a run cites and that the caller may read; no model is called.
with cited as materialized (
    select distinct citation.corpus_id, citation.document_id, citation.passage_id
    from pgclarify.citation
    where citation.run_id = %(run_id)s
)

select passage.document_id, passage.passage_id, passage.content, passage.start_char
from pgclarify_private.caller as caller
cross join lateral pgclarify_private.readable_passages(
    caller,
    (select max(cited.corpus_id) from cited),
    array(select cited.document_id from cited order by cited.document_id, cited.passage_id),
    array(select cited.passage_id from cited order by cited.document_id, cited.passage_id)
) as passage
order by passage.document_id, passage.passage_id;

-- name: client_watch_run
-- The state of a run, with the verdicts that were not returned yet: at least one row if the caller may see the run.
select
    run.run_id,
    run.operation,
    run.status,
    current_setting('transaction_isolation') as isolation,
    verdict.rank,
    verdict.outcome,
    candidate.document_id,
    document.title,
    candidate.passage_id,
    candidate.heading,
    verdict.interpretation,
    verdict.answer,
    verdict.quote,
    verdict.start_char,
    verdict.end_char,
    verdict.reason,
    verdict.error
from pgclarify.run
left join pgclarify.verdict
    on run.run_id = verdict.run_id and verdict.rank <> all(%(seen)s::integer[])
left join pgclarify.candidate
    on verdict.run_id = candidate.run_id and verdict.rank = candidate.rank
left join pgclarify.document
    on candidate.corpus_id = document.corpus_id and candidate.document_id = document.id
where run.run_id = %(run_id)s
order by verdict.created_at, verdict.rank;

-- name: client_corpus_status
-- The state of the corpus that is named here or in the session; of all corpora if none is named, or with are_all.
select
    corpus, documents, passages, pending, embedded, linked, failed, lag, revision, embedding_model, error,
    next_embedding_model, next_embedded, pending_passages
from pgclarify.corpus
where %(are_all)s or corpus = coalesce(%(corpus)s, nullif(current_setting('pgclarify.corpus', true), ''), corpus)
order by corpus;

-- name: client_list_workers
-- Workers that serve the queue now.
select worker_id, host, version, provider, model, embedding_models, started_at
from pgclarify.worker_status
where is_alive
order by worker_id;

-- name: client_list_model_trials
-- How many passages a call the models of living workers read, and the trials that have found it.
select model, passages_per_call, is_going_on, measured, calls, tokens, cost_usd, finished_at, error, due_at
from pgclarify_private.model_trials()
order by model, finished_at;

-- name: client_list_findings
-- What is wrong, the most serious first.
select level, kind, name, finding, count, remedy
from pgclarify.finding
order by array_position('{problem,warning,note}', level), kind, name;

-- name: client_get_queue
-- How much is waiting.
select queued, running, oldest_queued_at, pending_documents, pending_passages from pgclarify.queue_status;

-- name: client_list_attached_tables
-- Attached tables of the caller's corpora.
select corpus, relation, state, error, pending_changes, loaded_at, attached_by
from pgclarify.source_status
order by corpus, relation;

-- name: client_list_documents
-- The first documents of a corpus that the caller may read, by id.
select document.id as document_id, document.error
from pgclarify.document
inner join pgclarify.corpus on document.corpus_id = corpus.corpus_id
where corpus.corpus = %(corpus)s and (document.has_failed or not %(has_failed)s)
order by document.id
limit %(most)s;

-- name: client_find_documents
-- Documents of a corpus that the caller may read, by id: those whose ids begin so.
select document.id, document.title, document.author, document.dated, document.uri, document.error
from pgclarify.document
inner join pgclarify.corpus on document.corpus_id = corpus.corpus_id
where corpus.corpus = %(corpus)s and starts_with(document.id, %(beginning)s)
order by document.id
limit %(most)s;

-- name: client_list_runs
-- Runs that the caller may see, newest first, with the reason of those that failed or are partial.
select
    run.run_id, run.operation, run.corpus, run.question, run.status, run.requested_by, run.created_at, run.finished_at,
    extract(epoch from coalesce(run.finished_at, now()) - run.created_at)::double precision as seconds,
    run.interpretations, run.candidates, run.verdicts - coalesce(failure.passages, 0) as judged,
    coalesce(failure.passages, 0) as failed, run.completions, run.reused_completions, run.cost_usd, run.model,
    coalesce(run.error, failure.error, run.stop_reason, known.meaning, run.error_code) as reason,
    run.stop_code, run.stop_reason, known.meaning, known.help, run.less_sure
from pgclarify.run
left join pgclarify_private.stop_codes() as known on run.stop_code = known.stop_code
left join lateral (
    select count(*) as passages, min(verdict.error) as error
    from pgclarify.verdict
    where verdict.run_id = run.run_id and verdict.outcome = 'failed'
) as failure on run.status in ('failed', 'partial')
where %(run_ids)s::bigint[] is null or run.run_id = any(%(run_ids)s::bigint[])
order by run.run_id desc
limit %(most)s;

-- name: client_show_progress
-- Until this transaction ends, calls that wait report their progress as notices.
select set_config('pgclarify.progress', 'on', true);

-- name: client_get_asked_run
-- The run of the last question of this transaction, and whether an earlier transaction made it.
select asked.run_id, (select run.created_at < now() from pgclarify.run where run.run_id = asked.run_id) as is_served
from (select nullif(current_setting('pgclarify.asked_run', true), '')::bigint as run_id) as asked;

-- name: client_list_roles
-- Existing roles of these names, and whether the caller has their rights.
select
    rolname as role,
    pg_has_role(oid, 'usage') as has_usage
from pg_catalog.pg_roles
where rolname = any(%(roles)s::text[]);

-- name: client_find_extension
-- An extension of this database, by its name.
select extname as extension from pg_catalog.pg_extension where extname = %(name)s;

-- name: client_list_open_superusers
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
