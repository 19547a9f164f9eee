-- Statements of `pgclarify eval`, as the role that calls them.

-- name: eval_list_corpora
-- The corpora that the caller may search, and the one that the session names.
select
    corpus.corpus_id,
    corpus.corpus as name,
    corpus.revision,
    coalesce(corpus.embedding_model, '') as embedding_model,
    nullif(current_setting('pgclarify.corpus', true), '') as named
from pgclarify.corpus
order by corpus.corpus;

-- name: eval_list_serving_workers
-- Provider, model and prompt version of live workers that serve.
select distinct worker.provider, worker.model, worker.prompt_version
from pgclarify.worker_status as worker
where worker.is_alive
order by worker.provider, worker.model, worker.prompt_version;

-- name: eval_list_missing_documents
-- Which of these documents the corpus does not have, or hides from the caller.
select given.id
from unnest(%(document_ids)s::text[]) as given (id)
where not exists (
    select
    from pgclarify_private.caller as caller
    cross join lateral pgclarify_private.get_document(caller, %(corpus)s, given.id)
)
order by given.id;

-- name: eval_list
-- Evaluations that the caller may see, newest first.
select
    (found.evaluation).*,
    found.done_cases,
    (found.evaluation).requested_by = current_user as is_own
from pgclarify_private.caller as caller
cross join lateral pgclarify_private.evaluations(caller) as found
order by (found.evaluation).eval_run_id desc;

-- name: eval_list_feedback
-- What people say of readings of a corpus, or of all, oldest first.
select
    feedback.question,
    feedback.history,
    feedback.interpretation,
    coalesce(feedback.answer, feedback.missing) as stated,
    feedback.rating,
    feedback.document_ids,
    feedback.is_of_part
from pgclarify.feedback
where feedback.corpus = %(corpus)s or %(corpus)s::text is null
order by feedback.feedback_id;

-- name: eval_usage_of_run
-- How a run ended, and its calls, tokens and cost as if all had been paid for now.
select
    run.status,
    run.error,
    run.error_code,
    run.stop_code,
    run.stop_reason,
    used.calls,
    used.prompt_tokens + used.completion_tokens as tokens,
    case
        when used.calls = 0 then 0
        else pgclarify_private.cost_usd(run.model, used.prompt_tokens, used.completion_tokens)
    end::double precision as cost_usd
from pgclarify.run
cross join lateral (
    select
        coalesce(sum(stage.calls + stage.reused_calls), 0)::bigint as calls,
        coalesce(sum(stage.prompt_tokens + stage.reused_prompt_tokens), 0)::bigint as prompt_tokens,
        coalesce(sum(stage.completion_tokens + stage.reused_completion_tokens), 0)::bigint as completion_tokens
    from pgclarify_private.seen_stage as stage
    where stage.run_id = run.run_id
) as used
where run.run_id = %(run_id)s;

-- name: eval_price_of_tokens
-- What tokens cost in US dollars at current prices; null if the model has none.
select
    pgclarify_private.cost_usd(%(model)s, %(prompt_tokens)s, %(completion_tokens)s)::double precision as cost_usd;

-- name: eval_list_candidates
-- The passages that a run retrieved, by their keys.
select candidate.corpus_id, candidate.document_id, candidate.passage_id
from pgclarify.candidate
where candidate.run_id = %(run_id)s
order by candidate.rank;

-- name: eval_read_passages
-- Current passages of a corpus that the caller may read.
select
    passage.document_id, passage.passage_id, passage.content, document.title, passage.heading, passage.start_char
from pgclarify_private.caller as caller
cross join lateral pgclarify_private.readable_passages(
    caller, %(corpus_id)s, %(document_ids)s::text[], %(passage_ids)s::bigint[]
) as passage
inner join pgclarify.document
    on document.corpus_id = %(corpus_id)s and passage.document_id = document.id;

-- name: eval_classifier_in_use
-- The trained version of the classifier that judges a corpus's questions, for roles that may train another one.
select
    trained.version,
    trained.shipped_version,
    trained.threshold,
    trained.judges_questions,
    trained.judges_conversations,
    trained.weights
from pgclarify_private.caller
cross join lateral pgclarify_private.classifier_in_use(caller, %(corpus)s) as trained;

-- name: eval_add_trained_classifier
-- Store a trained version of the classifier.
select
    pgclarify_private.add_trained_classifier(
        caller, %(corpus)s, %(trained)s::jsonb, %(weights)s::real[], %(is_used)s
    ) as version
from pgclarify_private.caller;
