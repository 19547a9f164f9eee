-- Statements that the Python client sends. Those that the command line sends too are in cli_queries.sql.

-- name: client_clarify
-- Ask, and wait for the readings.
select
    run_id, status, ordinal, interpretation, answer, support, cohesion, document_ids, citations
from pgclarify.clarify(
    question => %(question)s,
    corpus => %(corpus)s,
    top_k => %(top_k)s,
    timeout => %(timeout)s::interval,
    options => %(options)s::jsonb
)
order by ordinal;

-- name: client_clarify_many
-- Ask many questions at once, and wait for the readings of all.
select
    question_ordinal, run_id, status, ordinal, interpretation, answer, support, cohesion, document_ids, citations
from pgclarify.clarify_many(
    questions => %(questions)s::text[],
    corpus => %(corpus)s,
    top_k => %(top_k)s,
    timeout => %(timeout)s::interval,
    options => %(options)s::jsonb
)
order by question_ordinal, ordinal;

-- name: client_submit_many
-- Ask, and come back for the answers.
select
    pgclarify.submit_many(
        questions => %(questions)s::text[],
        corpus => %(corpus)s,
        top_k => %(top_k)s,
        options => %(options)s::jsonb
    ) as run_ids;

-- name: client_wait
-- Wait for runs.
select run_id, status, error, interpretations
from pgclarify.wait(run_ids => %(run_ids)s::bigint[], timeout => %(timeout)s::interval);

-- name: client_result
-- What a run found.
select
    run_id, status, ordinal, interpretation, answer, support, cohesion, document_ids, citations
from pgclarify.result(run_id => %(run_id)s)
order by ordinal;

-- name: client_consolidate
-- Group a run's verdicts again.
select
    run_id, status, ordinal, interpretation, answer, support, cohesion, document_ids, citations
from pgclarify.consolidate(run_id => %(run_id)s, options => %(options)s::jsonb)
order by ordinal;

-- name: client_search
-- The passages that fit a question best.
select rank, passage_id, document_id, title, heading, content, score, origin
from pgclarify.search(
    question => %(question)s, corpus => %(corpus)s, top_k => %(top_k)s, options => %(options)s::jsonb
)
order by rank;

-- name: client_watch_run
-- How a run stands, with the verdicts that have not been seen yet: one row at least, if the run may be seen.
select
    run.run_id,
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

-- name: client_investigate
-- Have a question investigated, and wait for the answer.
select run_id, status, outcome, answer, confidence, steps, document_ids, citations
from pgclarify.investigate(question => %(question)s, corpus => %(corpus)s, options => %(options)s::jsonb);

-- name: client_create_corpus
-- Make a corpus.
select
    pgclarify.create_corpus(
        name => %(name)s, embedding_model => %(embedding_model)s, options => %(options)s::jsonb
    ) as corpus_id;

-- name: client_drop_corpus
-- Drop a corpus.
select pgclarify.drop_corpus(name => %(name)s);

-- name: client_remove_document
-- Remove a document.
select pgclarify.remove_document(corpus => %(corpus)s, document_id => %(document_id)s) as is_removed;

-- name: client_corpus_status
-- How far the corpus is that is named here or in the session; all of them if none is.
select
    corpus, documents, passages, pending, embedded, linked, failed, lag, revision, embedding_model, error,
    next_embedding_model, next_embedded
from pgclarify.corpus_status
where corpus = coalesce(%(corpus)s, nullif(current_setting('pgclarify.corpus', true), ''), corpus)
order by corpus;
