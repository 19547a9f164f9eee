-- The rows of the other operations, as people read them. Text is wrapped: see views/wrapping.sql.

create or replace view pgclarify.detection as
select
    detection.run_id,
    detection.ordinal,
    detection.question || '' as question,
    detection.is_ambiguous,
    detection.probability,
    detection.kind,
    detection.reasons #> '{}' as reasons,
    detection.classifier_version || '' as classifier_version
from pgclarify_private.detection;

grant select on pgclarify.detection to pgclarify_reader;

create or replace view pgclarify.rewriting as
select
    rewriting.run_id,
    rewriting.rewritten || '' as rewritten,
    rewriting.was_ambiguous,
    rewriting.reason || '' as reason
from pgclarify_private.rewriting;

grant select on pgclarify.rewriting to pgclarify_reader;

create or replace view pgclarify.clarifying_question as
select
    clarifying_question.run_id,
    clarifying_question.ordinal,
    clarifying_question.ambiguity_type,
    clarifying_question.reasoning || '' as reasoning,
    clarifying_question.clarifying_question || '' as clarifying_question,
    clarifying_question.reformulation || '' as reformulation,
    clarifying_question.is_answerable
from pgclarify_private.clarifying_question;

grant select on pgclarify.clarifying_question to pgclarify_reader;

create or replace view pgclarify.conversation as
select
    conversation.conversation_id,
    conversation.question || '' as question,
    conversation.corpus_id,
    conversation.corpus_name || '' as corpus_name,
    conversation.history #> '{}' as history,
    (conversation.requested_by || '')::name as requested_by,
    conversation.created_at
from pgclarify_private.conversation;

grant select on pgclarify.conversation to pgclarify_reader;

create or replace view pgclarify.turn as
select
    turn.conversation_id,
    turn.ordinal,
    turn.run_id,
    turn.form,
    turn.asked || '' as asked,
    turn.reply || '' as reply,
    turn.question || '' as question,
    turn.created_at
from pgclarify_private.turn;

grant select on pgclarify.turn to pgclarify_reader;

create or replace view pgclarify.step as
select
    step.run_id,
    step.ordinal,
    step.kind,
    step.question || '' as question,
    step.answer || '' as answer,
    step.outcome,
    step.confidence,
    step.reason || '' as reason,
    step.semantic_sets,
    step.created_at,
    step.abstention_code
from pgclarify_private.step;

grant select on pgclarify.step to pgclarify_reader;

create or replace view pgclarify.step_citation as
select
    step_citation.run_id,
    step_citation.step_ordinal,
    step_citation.rank,
    step_citation.candidate_rank,
    step_citation.corpus_id,
    step_citation.document_id || '' as document_id,
    step_citation.passage_id,
    step_citation.heading || '' as heading,
    step_citation.quote || '' as quote,
    step_citation.start_char,
    step_citation.end_char
from pgclarify_private.step_citation;

grant select on pgclarify.step_citation to pgclarify_reader;

create or replace view pgclarify.listed_answer as
select
    listed_answer.run_id,
    listed_answer.ordinal,
    listed_answer.answer || '' as answer,
    trim_array(listed_answer.variants, 0) as variants,
    listed_answer.created_at
from pgclarify_private.listed_answer;

grant select on pgclarify.listed_answer to pgclarify_reader;

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
