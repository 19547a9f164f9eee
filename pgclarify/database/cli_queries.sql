-- name: cli_list_workers
-- Workers that serve the queue now.
select worker_id, host, version, provider, model, prompt_version, embedding_models, started_at, seen_at, is_alive
from pgclarify.worker_status
where is_alive
order by worker_id;

-- name: cli_get_server
-- What is connected to.
select
    current_database() as database,
    current_setting('server_version') as version;

-- name: cli_get_queue
-- How much work waits.
select queued, running, oldest_queued_at
from pgclarify.queue_status;

-- name: cli_list_corpora
-- Every corpus that the caller may see, with its counters.
select corpus, documents, passages, pending, embedded, linked, failed, lag, revision, embedding_model, error
from pgclarify.corpus_status
order by corpus;

-- name: cli_get_corpus
-- The counters of one corpus.
select corpus, documents, passages, pending, embedded, linked, failed, lag, revision, embedding_model, error
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
