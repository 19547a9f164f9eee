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

-- name: client_submit
-- Start an operation without waiting.
select
    pgclarify.submit(
        operation => %(operation)s, question => %(question)s, corpus => %(corpus)s, options => %(options)s::jsonb
    ) as run_id;

-- name: client_submit_many
-- Start an operation for many questions without waiting.
select
    pgclarify.submit_many(
        operation => %(operation)s,
        questions => %(questions)s::text[],
        corpus => %(corpus)s,
        options => %(options)s::jsonb
    ) as run_ids;

-- name: client_wait
-- Wait for runs.
select run_id, status, error, interpretations, stop_reason, cost_usd, stop_code, error_code
from pgclarify.wait(run_ids => %(run_ids)s::bigint[], timeout => %(timeout)s::interval);

-- name: client_get_operation
-- The operation of a run; no row if there is none that the caller may see.
select operation from pgclarify.run where run_id = %(run_id)s;

-- name: client_result
-- The readings of a run.
select
    run_id, status, ordinal, interpretation, answer, support, cohesion, document_ids, citations
from pgclarify.result(run_id => %(run_id)s)
order by ordinal;

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

-- name: client_consolidate
-- Group a run's verdicts again.
select
    run_id, status, ordinal, interpretation, answer, support, cohesion, document_ids, citations
from pgclarify.consolidate(run_id => %(run_id)s, options => %(options)s::jsonb)
order by ordinal;

-- name: client_estimate
-- Estimate the model calls of questions.
select
    run_id, questions, distinct_questions, answered, sampled, calls, calls_at_most, reused_calls, prompt_tokens,
    completion_tokens, cost_usd, model
from pgclarify.estimate(
    questions => %(questions)s::text[], corpus => %(corpus)s, top_k => %(top_k)s, options => %(options)s::jsonb
);

-- name: client_search
-- The passages that match a question best.
select rank, passage_id, document_id, title, heading, content, score, origin
from pgclarify.search(
    question => %(question)s, corpus => %(corpus)s, top_k => %(top_k)s, options => %(options)s::jsonb
)
order by rank;

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

-- name: client_investigate
-- Investigate a question, and wait for the answer.
select run_id, status, outcome, answer, confidence, steps, document_ids, citations
from pgclarify.investigate(question => %(question)s, corpus => %(corpus)s, options => %(options)s::jsonb);

-- name: client_create_corpus
-- Create a corpus.
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
-- The state of the corpus that is named here or in the session; of all corpora if none is named.
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

-- name: client_result_of_investigate
-- The result of an investigation.
select
    seen.run_id,
    seen.status,
    seen.outcome,
    seen.answer,
    seen.confidence,
    seen.steps,
    seen.document_ids,
    seen.citations
from pgclarify_private.caller as caller
cross join lateral jsonb_populate_recordset(
    null::pgclarify.investigation, pgclarify_private.result_rows(caller, %(run_id)s, 'investigation')
) as seen;

-- name: client_watch_investigation
-- The state of a run, with the steps that were not returned yet: at least one row if the caller may see the run.
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

-- name: client_result_of_search
-- The passages of a search.
select
    seen.rank,
    seen.passage_id,
    seen.document_id,
    seen.title,
    seen.heading,
    seen.content,
    seen.score,
    seen.origin
from pgclarify_private.caller as caller
cross join lateral jsonb_populate_recordset(
    null::pgclarify.search_result, pgclarify_private.result_rows(caller, %(run_id)s, 'search_result')
) as seen
order by seen.rank;

-- name: client_result_of_detect_ambiguity
-- The judgement of detect_ambiguity.
select
    seen.run_id,
    seen.is_ambiguous,
    seen.probability,
    seen.kind,
    seen.reasons,
    seen.ordinal,
    seen.question
from pgclarify_private.caller as caller
cross join lateral jsonb_populate_recordset(
    null::pgclarify.ambiguity, pgclarify_private.result_rows(caller, %(run_id)s, 'ambiguity')
) as seen;

-- name: client_result_of_rewrite
-- The rewritten question.
select
    seen.run_id,
    seen.rewritten,
    seen.was_ambiguous,
    seen.reason
from pgclarify_private.caller as caller
cross join lateral jsonb_populate_recordset(
    null::pgclarify.rewritten_question, pgclarify_private.result_rows(caller, %(run_id)s, 'rewritten_question')
) as seen;

-- name: client_result_of_clarifying_questions
-- The questions of clarifying_questions.
select
    seen.run_id,
    seen.ordinal,
    seen.ambiguity_type,
    seen.clarifying_question,
    seen.reformulation,
    seen.document_ids,
    seen.reasoning,
    seen.is_answerable,
    seen.citations
from pgclarify_private.caller as caller
cross join lateral jsonb_populate_recordset(
    null::pgclarify.proposed_question, pgclarify_private.result_rows(caller, %(run_id)s, 'proposed_question')
) as seen
order by seen.ordinal;

-- name: client_result_of_list_answers
-- The answers of list_answers.
select
    seen.run_id,
    seen.ordinal,
    seen.answer,
    seen.variants,
    seen.document_ids,
    seen.citations
from pgclarify_private.caller as caller
cross join lateral jsonb_populate_recordset(
    null::pgclarify.answer, pgclarify_private.result_rows(caller, %(run_id)s, 'answer')
) as seen
order by seen.ordinal;

-- name: client_result_of_estimate
-- The result of estimate.
select
    seen.run_id,
    seen.questions,
    seen.distinct_questions,
    seen.answered,
    seen.sampled,
    seen.calls,
    seen.calls_at_most,
    seen.reused_calls,
    seen.prompt_tokens,
    seen.completion_tokens,
    seen.cost_usd,
    seen.model
from pgclarify_private.caller as caller
cross join lateral jsonb_populate_recordset(
    null::pgclarify.estimation, pgclarify_private.result_rows(caller, %(run_id)s, 'estimation')
) as seen;

-- name: client_cancel
-- Cancel runs.
select pgclarify.cancel(%(run_ids)s::bigint[]) as cancelled;

-- name: client_explain
-- Explain a run, line by line.
select line from pgclarify.explain(run_id => %(run_id)s, options => %(options)s::jsonb) as line;

-- name: client_detect_ambiguity
-- Say whether a question is ambiguous.
select run_id, is_ambiguous, probability, kind, reasons
from pgclarify.detect_ambiguity(
    question => %(question)s, history => %(history)s::text[], options => %(options)s::jsonb
);

-- name: client_rewrite
-- Rewrite a question so that it stands alone.
select run_id, rewritten, was_ambiguous, reason
from pgclarify.rewrite(question => %(question)s, history => %(history)s::text[], options => %(options)s::jsonb);

-- name: client_get_route
-- The route that the router chose for a run, and why; no row if there is none that the caller may see.
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
-- Propose clarifying questions.
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

-- name: client_reply
-- Reply to clarifying questions, or choose a reformulation.
select conversation_id, turn, question, turns_left
from pgclarify.reply(
    run_id => %(run_id)s, reply => %(reply)s, ordinal => %(ordinal)s, options => %(options)s::jsonb
);

-- name: client_list_answers
-- Ask for all answers of a question.
select run_id, ordinal, answer, variants, document_ids, citations
from pgclarify.list_answers(question => %(question)s, corpus => %(corpus)s, options => %(options)s::jsonb)
order by ordinal;

-- name: client_get_time
-- The server's clock.
select clock_timestamp() as now;
