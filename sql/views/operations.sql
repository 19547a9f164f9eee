-- The rows of the other operations, as people read them. Text is wrapped: see views/wrapping.sql.

create or replace view pgclarify.rewriting as
select
    rewriting.run_id,
    rewriting.rewritten || '' as rewritten,
    rewriting.was_ambiguous,
    rewriting.reason || '' as reason
from pgclarify_private.rewriting;

grant select on pgclarify.rewriting to pgclarify_reader;

create or replace view pgclarify.estimate as
select
    estimate.run_id,
    estimate.questions,
    estimate.distinct_questions,
    estimate.answered,
    estimate.sampled,
    estimate.calls,
    estimate.calls_at_most,
    estimate.reused_calls,
    estimate.prompt_tokens,
    estimate.completion_tokens,
    estimate.cost_usd
from pgclarify_private.estimate;

grant select on pgclarify.estimate to pgclarify_reader;

create or replace view pgclarify.ambiguity_rule as
select
    ambiguity_rule.ambiguity_rule_id,
    ambiguity_rule.pattern || '' as pattern,
    ambiguity_rule.kind,
    ambiguity_rule.corpus || '' as corpus,
    ambiguity_rule.note || '' as note,
    ambiguity_rule.created_at
from pgclarify_private.ambiguity_rule;

grant select on pgclarify.ambiguity_rule to pgclarify_reader;
