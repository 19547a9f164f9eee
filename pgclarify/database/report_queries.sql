-- Statements of the report of a run. Row-level security decides what the caller sees.

-- name: report_begin
-- From here on, all statements see the same snapshot.
set transaction isolation level repeatable read;

-- name: report_run
-- A run, with its settings and its cost.
select
    run.run_id, run.operation, run.corpus_id, run.corpus, run.question, run.relaxed_question, run.history,
    run.settings, run.parent_run_id, run.requested_by, run.status, run.error, run.corpus_revision, run.model,
    run.prompt_version, run.completions, run.reused_completions, run.prompt_tokens, run.completion_tokens, run.cost_usd,
    run.created_at, run.started_at, run.finished_at, run.stop_reason,
    coalesce(run.stop_code = 'budget', false) as is_over_budget, run.route,
    -- The version of the rules of the provider extractive stands for that of a prompt.
    coalesce(starts_with(run.prompt_version, 'extractive-'), false) as asked_no_model,
    current_user as seen_by, run.stop_code, known.meaning as stop_meaning, known.help as stop_help
from pgclarify.run
left join pgclarify_private.stop_codes() as known on run.stop_code = known.stop_code
where run.run_id = %(run_id)s;

-- name: report_passages
-- The passages of a run with their verdicts; contents only if the caller may read them now.
select
    candidate.rank, candidate.document_id, candidate.passage_id, candidate.heading, document.title, document.uri,
    passage.content, passage.start_char, candidate.score, candidate.origin, candidate.via_passage_id, candidate.batch,
    candidate.step_ordinal, verdict.interpretation, verdict.answer, verdict.quote,
    verdict.start_char as quote_start_char, verdict.reason, verdict.is_reused,
    -- Passages that a budget kept from being judged; the run's stop_reason says it once.
    case when not pgclarify_private.is_over_budget(verdict.error_code) then verdict.outcome end as outcome,
    case when not pgclarify_private.is_over_budget(verdict.error_code) then verdict.error end as error
from pgclarify.candidate
left join pgclarify.verdict on candidate.run_id = verdict.run_id and candidate.rank = verdict.rank
left join pgclarify.document
    on document.corpus_id = %(corpus_id)s::bigint and candidate.document_id = document.id
left join (
    select found.document_id, found.passage_id, found.content, found.start_char
    from pgclarify_private.caller as caller
    cross join lateral pgclarify_private.readable_passages(
        caller,
        %(corpus_id)s::bigint,
        array(
            select listed.document_id from pgclarify.candidate as listed where listed.run_id = %(run_id)s
            order by listed.rank
        ),
        array(
            select listed.passage_id from pgclarify.candidate as listed where listed.run_id = %(run_id)s
            order by listed.rank
        )
    ) as found
) as passage on candidate.document_id = passage.document_id and candidate.passage_id = passage.passage_id
where candidate.run_id = %(run_id)s
order by candidate.rank;

-- name: report_findings
-- What a run found: its readings, the steps of an investigation, or the answers of a list.
select
    interpretation.ordinal, interpretation.interpretation as question, interpretation.answer, interpretation.support,
    interpretation.cohesion, interpretation.is_contested, null as kind, null as outcome, null as confidence,
    null as reason, '{}'::text[] as variants, null as proofs
from pgclarify.interpretation
where interpretation.run_id = %(run_id)s
union all
select ordinal, question, answer, null, null, false, kind, outcome, confidence, reason, '{}', null
from pgclarify.investigation_step
where run_id = %(run_id)s
union all
select ordinal, null, answer, null, null, false, null, null, null, null, array_remove(variants, answer), null
from pgclarify.listed_answer
where run_id = %(run_id)s
order by ordinal;

-- name: report_citations
-- The citations of a run: of its readings, steps or answers.
select
    ordinal, rank, candidate_rank, coalesce(is_medoid, false) as is_medoid, document_id, passage_id, title, uri, heading, quote,
    start_char, is_current
from pgclarify.citation
where run_id = %(run_id)s
order by ordinal, rank;

-- name: report_stages
-- The stages of a run that has ended.
select
    name, batch, step_ordinal, started_at, duration_ms, rows, calls, reused_calls, prompt_tokens, completion_tokens,
    reused_prompt_tokens, reused_completion_tokens, model_ms, note
from pgclarify_private.seen_stage
where run_id = %(run_id)s
order by ordinal;

-- name: report_explain
-- Explain a run, line by line.
select line from pgclarify.explain(run_id => %(run_id)s) as line;
