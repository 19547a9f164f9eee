-- Statements that the Python client sends; the command line sends some of them, too.

-- name: client_get_operation
-- The operation of a run; no row if there is none that the caller may see.
select operation from pgclarify.run where run_id = %(run_id)s;

-- name: client_result
-- The rows of a run, as JSON.
select pgclarify_private.result_rows(caller, %(run_id)s, %(row_type)s) as found
from pgclarify_private.caller as caller;

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
    listed.origin
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
-- The state of the corpus that is named here or in the session; of all corpora if none is named.
select
    corpus, documents, passages, pending, embedded, linked, failed, lag, revision, embedding_model, error,
    next_embedding_model, next_embedded, pending_passages
from pgclarify.corpus
where corpus = coalesce(%(corpus)s, nullif(current_setting('pgclarify.corpus', true), ''), corpus)
order by corpus;

-- name: client_list_workers
-- Workers that serve the queue now.
select
    worker_id, host, version, provider, model, prompt_version, embedding_models, started_at, seen_at, is_alive
from pgclarify.worker_status
where is_alive
order by worker_id;

-- name: client_add_documents
-- Add a batch of documents in one round trip; count the new or changed ones, and the unchanged ones.
select loaded.changed, loaded.unchanged
from
    pgclarify_private.caller as caller,
    pgclarify_private.load_documents(
        caller => caller,
        corpus => %(corpus)s,
        document_ids => %(document_ids)s::text[],
        contents => %(contents)s::text[],
        titles => %(titles)s::text[],
        uris => %(uris)s::text[],
        metadata => %(metadata)s::jsonb[],
        readers => %(readers)s::jsonb[],
        origins => %(origins)s::text[],
        known_as => %(known_as)s::text[]
    ) as loaded;

-- name: client_list_corpora
-- Every corpus that the caller may see, with its counters.
select
    corpus, documents, passages, pending, embedded, linked, failed, lag, revision, embedding_model, error,
    next_embedding_model, next_embedded, pending_passages
from pgclarify.corpus
order by corpus;

-- name: client_explain
-- Explain a run, line by line.
select line from pgclarify.explain(run_id => %(run_id)s, options => %(options)s::jsonb) as line;
