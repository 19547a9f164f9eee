-- Statements of the report of a run. Its parts are those of explain, by function run_report.

-- name: report_run
-- A run with its settings and its cost, why it stopped, and all that it left. One statement, so one snapshot.
select
    run.run_id, run.operation, run.corpus_id, run.corpus, run.question, run.relaxed_question, run.history, run.parent_run_id,
    run.requested_by, run.model, run.prompt_version, run.status, run.error, run.corpus_revision, run.completions,
    run.reused_completions, run.prompt_tokens, run.completion_tokens, run.cost_usd, run.created_at, run.started_at,
    run.finished_at, run.stop_reason, run.settings -> 'filter' as filter,
    -- As in client_name_page.
    coalesce(rtrim(current_setting('pgclarify.page_url', true), '/'), '') || '/run/' || run.run_id as page,
    extract(epoch from run.started_at - run.created_at)::double precision as waited_seconds,
    extract(epoch from run.finished_at - run.started_at)::double precision as took_seconds,
    -- The version of the rules of the provider extractive stands for that of a prompt.
    coalesce(starts_with(run.prompt_version, 'extractive-'), false) as asked_no_model,
    current_user as seen_by, known.meaning as stop_meaning, known.help as stop_help,
    pgclarify_private.run_report(caller => caller, run_id => run.run_id) as report
from pgclarify_private.caller as caller
cross join pgclarify.run
left join pgclarify_private.stop_codes() as known on run.stop_code = known.stop_code
where run.run_id = %(run_id)s;
