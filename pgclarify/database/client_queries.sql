-- Statements that the Python client sends; the command line sends some of them, too.

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
    question_ordinal, run_id, status, ordinal, interpretation, answer, support, cohesion, document_ids, citations,
    stop_code
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

-- name: client_start
-- Start an operation, and come back for its rows.
select pgclarify.start(operation => %(operation)s, arguments => %(arguments)s::jsonb) as run_id;

-- name: client_wait
-- Wait for runs.
select run_id, status, error, interpretations, stop_reason, cost_usd, stop_code, error_code
from pgclarify.wait(run_ids => %(run_ids)s::bigint[], timeout => %(timeout)s::interval);

-- name: client_result
-- What a run found.
select
    run_id, status, ordinal, interpretation, answer, support, cohesion, document_ids, citations
from pgclarify.result(run_id => %(run_id)s)
order by ordinal;

-- name: client_closest_passages
-- The passages that a run found and its search ranks first, as far as the caller may read them; no model is called.
select
    candidate.rank, candidate.passage_id, candidate.document_id, document.title, candidate.heading, passage.content,
    candidate.score, candidate.origin
from pgclarify.candidate
inner join pgclarify.passage
    on
        candidate.corpus_id = passage.corpus_id
        and candidate.document_id = passage.document_id
        and candidate.passage_id = passage.id
inner join pgclarify.document on candidate.corpus_id = document.corpus_id and candidate.document_id = document.id
where candidate.run_id = %(run_id)s
order by candidate.rank
limit %(top_k)s;

-- name: client_consolidate
-- Group a run's verdicts again.
select
    run_id, status, ordinal, interpretation, answer, support, cohesion, document_ids, citations
from pgclarify.consolidate(run_id => %(run_id)s, options => %(options)s::jsonb)
order by ordinal;

-- name: client_estimate
-- What questions would take of the language model.
select
    run_id, questions, distinct_questions, answered, sampled, calls, calls_at_most, reused_calls, prompt_tokens,
    completion_tokens, cost_usd, model
from pgclarify.estimate(
    questions => %(questions)s::text[], corpus => %(corpus)s, top_k => %(top_k)s, options => %(options)s::jsonb
);

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

-- name: client_erase_document
-- Remove a document and erase all text that comes from it.
select pgclarify.erase_document(corpus => %(corpus)s, document_id => %(document_id)s) as is_erased;

-- name: client_corpus_status
-- How far the corpus is that is named here or in the session; all of them if none is.
select
    corpus, documents, passages, pending, embedded, linked, failed, lag, revision, embedding_model, error,
    next_embedding_model, next_embedded, pending_passages
from pgclarify.corpus_status
where corpus = coalesce(%(corpus)s, nullif(current_setting('pgclarify.corpus', true), ''), corpus)
order by corpus;

-- name: client_list_workers
-- Workers that serve the queue now.
select
    worker_id, host, version, provider, model, prompt_version, embedding_models, started_at, seen_at, is_alive
from pgclarify.worker_status
where is_alive
order by worker_id;

-- name: client_list_corpora
-- Every corpus that the caller may see, with its counters.
select
    corpus, documents, passages, pending, embedded, linked, failed, lag, revision, embedding_model, error,
    next_embedding_model, next_embedded, pending_passages
from pgclarify.corpus_status
order by corpus;

-- name: client_add_documents
-- Add a batch of documents in one round trip: how many are new or have changed, and how many were just so.
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

-- name: client_submit_investigation
-- Have a question investigated, and come back for the answer.
select
    pgclarify.submit_investigation(
        question => %(question)s, corpus => %(corpus)s, options => %(options)s::jsonb
    ) as run_id;

-- name: client_investigation
-- What an investigation came to.
select run_id, status, outcome, answer, confidence, steps, document_ids, citations
from pgclarify.investigation(run_id => %(run_id)s);

-- name: client_watch_investigation
-- How a run stands, with the steps that have not been seen yet: one row at least, if the run may be seen.
select
    run.run_id,
    run.operation,
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
    step.abstention_code,
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

-- name: client_search_results
-- What a search found.
select rank, passage_id, document_id, title, heading, content, score, origin
from pgclarify.search_results(run_id => %(run_id)s)
order by rank;

-- name: client_ambiguity
-- What detect_ambiguity found.
select run_id, is_ambiguous, probability, kind, reasons
from pgclarify.ambiguity(run_id => %(run_id)s);

-- name: client_question_ambiguities
-- What detect_ambiguity_many found.
select question_ordinal, question, run_id, is_ambiguous, probability, kind, reasons, status
from pgclarify.question_ambiguities(run_id => %(run_id)s)
order by question_ordinal;

-- name: client_rewritten_question
-- What a question was rewritten to.
select run_id, rewritten, was_ambiguous, reason
from pgclarify.rewritten_question(run_id => %(run_id)s);

-- name: client_proposed_questions
-- What clarifying_questions proposed.
select
    run_id, ordinal, ambiguity_type, clarifying_question, reformulation, document_ids, reasoning, is_answerable,
    citations
from pgclarify.proposed_questions(run_id => %(run_id)s)
order by ordinal;

-- name: client_answers
-- Which answers list_answers found.
select run_id, ordinal, answer, variants, document_ids, citations
from pgclarify.answers(run_id => %(run_id)s)
order by ordinal;

-- name: client_estimation
-- What estimate came to.
select
    run_id, questions, distinct_questions, answered, sampled, calls, calls_at_most, reused_calls, prompt_tokens,
    completion_tokens, cost_usd, model
from pgclarify.estimation(run_id => %(run_id)s);

-- name: client_cancel
-- Cancel a run.
select pgclarify.cancel(%(run_id)s) as was_cancelled;

-- name: client_explain
-- What a run did, line by line.
select line from pgclarify.explain(run_id => %(run_id)s, options => %(options)s::jsonb) as line;

-- name: client_detect_ambiguity
-- Say whether a question is ambiguous.
select run_id, is_ambiguous, probability, kind, reasons
from pgclarify.detect_ambiguity(
    question => %(question)s, history => %(history)s::text[], options => %(options)s::jsonb
);

-- name: client_detect_ambiguity_many
-- Say of many questions whether they are ambiguous.
select question_ordinal, question, run_id, is_ambiguous, probability, kind, reasons, status
from pgclarify.detect_ambiguity_many(questions => %(questions)s::text[], options => %(options)s::jsonb)
order by question_ordinal;

-- name: client_rewrite
-- Make a question stand on its own.
select run_id, rewritten, was_ambiguous, reason
from pgclarify.rewrite(question => %(question)s, history => %(history)s::text[], options => %(options)s::jsonb);

-- name: client_get_route
-- Which way the router in front of a run went, and why: no row if there is none such to see.
select
    run.run_id,
    run.route,
    run.saved_completions,
    detection.is_ambiguous,
    detection.probability,
    detection.kind,
    detection.reasons
from pgclarify.run
left join pgclarify.detection
    on run.run_id = detection.run_id and run.operation = 'clarify' and detection.ordinal = 1
where run.run_id = %(run_id)s;

-- name: client_clarifying_questions
-- Propose what to ask back.
select
    run_id, ordinal, ambiguity_type, clarifying_question, reformulation, document_ids, reasoning, is_answerable,
    citations
from pgclarify.clarifying_questions(
    question => %(question)s,
    corpus => %(corpus)s,
    history => %(history)s::text[],
    options => %(options)s::jsonb
)
order by ordinal;

-- name: client_choose
-- Choose a reformulation that was proposed.
select conversation_id, turn, question, turns_left
from pgclarify.choose(run_id => %(run_id)s, ordinal => %(ordinal)s);

-- name: client_reply
-- Reply to what was asked back.
select conversation_id, turn, question, turns_left
from pgclarify.reply(run_id => %(run_id)s, reply => %(reply)s, options => %(options)s::jsonb);

-- name: client_list_answers
-- Ask for all answers of a question.
select run_id, ordinal, answer, variants, document_ids, citations
from pgclarify.list_answers(question => %(question)s, corpus => %(corpus)s, options => %(options)s::jsonb)
order by ordinal;
