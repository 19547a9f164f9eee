-- Written by `make generated` from pgclarify/declared. Do not edit.
-- Results of runs: as people read them, and as functions return them.

create or replace view pgclarify.interpretation as
select
    result.run_id,
    result.ordinal,
    result.interpretation || '' as interpretation,
    result.answer || '' as answer,
    result.support,
    result.cohesion,
    result.is_contested,
    result.older_hidden,
    (
        select max(document.dated)
        from pgclarify_private.citation
        inner join pgclarify_private.document
            on citation.corpus_id = document.corpus_id and citation.document_id = document.id
        where citation.run_id = result.run_id and citation.ordinal = result.ordinal
    ) as dated,
    result.doubt,
    result.probability,
    result.level
from pgclarify_private.interpretation as result
where result.is_shown;

comment on view pgclarify.interpretation is
'A reading after consolidation.';
comment on column pgclarify.interpretation.dated is
'The newest date of the documents that it cites; null if none is known.';
grant select on pgclarify.interpretation to pgclarify_reader;

create or replace view pgclarify.investigation_step as
select
    result.run_id,
    result.ordinal,
    result.kind,
    result.question || '' as question,
    result.answer || '' as answer,
    result.outcome,
    result.confidence,
    result.reason || '' as reason,
    result.semantic_sets,
    result.created_at,
    result.abstention_code
from pgclarify_private.step as result;

comment on view pgclarify.investigation_step is
'A question of an investigation with its answer, also while the run is not over.';
grant select on pgclarify.investigation_step to pgclarify_reader;

create or replace view pgclarify.detection as
select
    result.run_id,
    run.operation,
    run.corpus_name || '' as corpus,
    result.ordinal,
    result.question || '' as question,
    result.is_ambiguous,
    result.probability,
    result.kind,
    result.reasons #> '{}' as reasons,
    result.classifier_version || '' as classifier_version,
    run.finished_at
from pgclarify_private.detection as result
inner join pgclarify_private.run on result.run_id = run.run_id;

comment on view pgclarify.detection is
'Whether a question is ambiguous, and why: from detect_ambiguity, rewrite, and clarify with option ask_back.';
comment on column pgclarify.detection.operation is
'detect_ambiguity, rewrite or clarify.';
comment on column pgclarify.detection.corpus is
'The corpus''s name at the time of the question; null without a corpus.';
comment on column pgclarify.detection.finished_at is
'When the run ended; null before.';
grant select on pgclarify.detection to pgclarify_reader;

create or replace view pgclarify.rewriting as
select
    result.run_id,
    result.rewritten || '' as rewritten,
    result.was_ambiguous,
    result.reason || '' as reason
from pgclarify_private.rewriting as result;

comment on view pgclarify.rewriting is
'The result of rewrite or reply, or of clarify with a history: a question that stands alone.';
grant select on pgclarify.rewriting to pgclarify_reader;

create or replace view pgclarify.clarifying_question as
select
    result.run_id,
    run.corpus_name || '' as corpus,
    run.question || '' as question,
    case
        when result.ambiguity_type is null then run.settings ->> 'form'
        else replace(run.settings ->> 'form', 'split', 'respond')
    end as form,
    result.ordinal,
    result.ambiguity_type,
    result.clarifying_question || '' as clarifying_question,
    result.reformulation || '' as reformulation,
    result.reasoning || '' as reasoning,
    result.is_answerable,
    (
        select count(distinct citation.document_id)
        from pgclarify_private.citation
        where citation.run_id = result.run_id and citation.ordinal = result.ordinal
    ) as documents
from pgclarify_private.clarifying_question as result
inner join pgclarify_private.run on result.run_id = run.run_id;

comment on view pgclarify.clarifying_question is
'Clarifying questions, and reformulations to choose from. Their citations are in view citation.';
comment on column pgclarify.clarifying_question.corpus is
'The corpus''s name at the time of the question; null without a corpus.';
comment on column pgclarify.clarifying_question.question is
'The question that they are about.';
comment on column pgclarify.clarifying_question.form is
'split (which readings of clarify are meant), respond (questions to answer freely) or select (reformulations to choose from).';
comment on column pgclarify.clarifying_question.documents is
'How many documents answered it, including those that you may not read.';
grant select on pgclarify.clarifying_question to pgclarify_reader;

create or replace view pgclarify.listed_answer as
select
    result.run_id,
    run.corpus_name || '' as corpus,
    run.question || '' as question,
    result.ordinal,
    result.answer || '' as answer,
    trim_array(result.variants, 0) as variants,
    (
        select count(distinct citation.document_id)
        from pgclarify_private.citation
        where citation.run_id = result.run_id and citation.ordinal = result.ordinal
    ) as documents,
    result.created_at
from pgclarify_private.listed_answer as result
inner join pgclarify_private.run on result.run_id = run.run_id;

comment on view pgclarify.listed_answer is
'Listed answers. Their citations are in view citation. An answer with several spellings is hidden if a citation of it is; '
'list_answers shows its first spelling.';
comment on column pgclarify.listed_answer.corpus is
'The corpus''s name at the time of the question.';
comment on column pgclarify.listed_answer.question is
'The question.';
comment on column pgclarify.listed_answer.documents is
'How many documents have it, including those that you may not read.';
grant select on pgclarify.listed_answer to pgclarify_reader;

create or replace view pgclarify.estimate as
select
    result.run_id,
    result.questions,
    result.distinct_questions,
    result.answered,
    result.sampled,
    result.calls,
    result.calls_at_most,
    result.reused_calls,
    result.prompt_tokens,
    result.completion_tokens,
    result.cost_usd,
    run.model || '' as model
from pgclarify_private.estimate as result
inner join pgclarify_private.run on result.run_id = run.run_id;

comment on view pgclarify.estimate is
'The result of a run of estimate: what questions would cost.';
comment on column pgclarify.estimate.model is
'The model that would be called.';
grant select on pgclarify.estimate to pgclarify_reader;

create or replace view pgclarify_private.withheld_interpretation with (security_barrier) as
select citation.run_id, citation.ordinal
from pgclarify_private.citation
inner join pgclarify_private.withheld_candidate as withheld
    on citation.run_id = withheld.run_id and citation.candidate_rank = withheld.rank
where citation.is_medoid;

comment on view pgclarify_private.withheld_interpretation is
'Rows of table interpretation that are hidden, because a citation of a withheld candidate may show in them.';
grant select on pgclarify_private.withheld_interpretation to pgclarify_views;

create or replace view pgclarify_private.withheld_step with (security_barrier) as
select result.run_id, result.ordinal
from pgclarify_private.citation
inner join pgclarify_private.step as result on citation.run_id = result.run_id and citation.ordinal <= result.ordinal
inner join pgclarify_private.withheld_candidate as withheld
    on citation.run_id = withheld.run_id and citation.candidate_rank = withheld.rank;

comment on view pgclarify_private.withheld_step is
'Rows of table step that are hidden, because a citation of a withheld candidate may show in them.';
grant select on pgclarify_private.withheld_step to pgclarify_views;

create or replace view pgclarify_private.withheld_clarifying_question with (security_barrier) as
select citation.run_id, citation.ordinal
from pgclarify_private.citation
inner join pgclarify_private.withheld_candidate as withheld
    on citation.run_id = withheld.run_id and citation.candidate_rank = withheld.rank
where citation.is_medoid;

comment on view pgclarify_private.withheld_clarifying_question is
'Rows of table clarifying_question that are hidden, because a citation of a withheld candidate may show in them.';
grant select on pgclarify_private.withheld_clarifying_question to pgclarify_views;

create or replace view pgclarify_private.withheld_listed_answer with (security_barrier) as
select result.run_id, result.ordinal
from pgclarify_private.citation
inner join pgclarify_private.listed_answer as result on citation.run_id = result.run_id and citation.ordinal = result.ordinal
inner join pgclarify_private.withheld_candidate as withheld
    on citation.run_id = withheld.run_id and citation.candidate_rank = withheld.rank
where citation.rank = 1 or cardinality(result.variants) > 1;

comment on view pgclarify_private.withheld_listed_answer is
'Rows of table listed_answer that are hidden, because a citation of a withheld candidate may show in them.';
grant select on pgclarify_private.withheld_listed_answer to pgclarify_views;

create or replace function pgclarify_private.result_tables()
returns table (relation text, withheld text, is_recorded boolean, is_erased boolean)
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select known.*
    from (
        values
        ('interpretation', 'withheld_interpretation', false, false),
        ('step', 'withheld_step', true, false),
        ('detection', null, true, false),
        ('rewriting', null, true, false),
        ('clarifying_question', 'withheld_clarifying_question', true, true),
        ('listed_answer', 'withheld_listed_answer', true, true),
        ('estimate', null, false, false)
    ) as known (relation, withheld, is_recorded, is_erased);
end;

comment on function pgclarify_private.result_tables() is
'The tables of results. withheld: the view with its rows that are hidden from the reader; null if it hides none. is_recorded: '
'whether workers store its rows with record_results. is_erased: whether all rows of a run go if a document is erased that the '
'run has read.';

create or replace function pgclarify_private.delete_results(run_id bigint)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    delete from pgclarify_private.interpretation where interpretation.run_id = delete_results.run_id;
    delete from pgclarify_private.step where step.run_id = delete_results.run_id;
    delete from pgclarify_private.detection where detection.run_id = delete_results.run_id;
    delete from pgclarify_private.rewriting where rewriting.run_id = delete_results.run_id;
    delete from pgclarify_private.clarifying_question where clarifying_question.run_id = delete_results.run_id;
    delete from pgclarify_private.listed_answer where listed_answer.run_id = delete_results.run_id;
    delete from pgclarify_private.estimate where estimate.run_id = delete_results.run_id;
    delete from pgclarify_private.citation where citation.run_id = delete_results.run_id;
end
$$;

comment on function pgclarify_private.delete_results(bigint) is
'Delete the results of a run, and their citations.';

create or replace function pgclarify_private.clarification_rows(run_ids bigint[], requester name, include text default null)
returns setof pgclarify.clarification
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        result.run_id,
        run.status,
        result.ordinal,
        result.interpretation,
        result.answer,
        result.support,
        result.cohesion,
        coalesce(cited.document_ids, '{}'),
        coalesce(cited.citations, '[]'),
        result.is_contested,
        cited.dated,
        result.older_hidden,
        result.doubt,
        result.probability,
        result.level
    from pgclarify_private.interpretation as result
    inner join pgclarify_private.run on result.run_id = run.run_id
    left join pgclarify_private.cited(
        clarification_rows.run_ids, pgclarify_private.roles_of(clarification_rows.requester)
    ) as cited
        on result.run_id = cited.run_id and result.ordinal = cited.ordinal
    where result.run_id = any(clarification_rows.run_ids) and cited.is_withheld is not true
        -- In place, because the planner inlines no function with a subquery.
        and case clarification_rows.include
            when 'all' then true
            when 'likely' then result.is_shown or result.level <> 'all'
            when 'certain' then
                coalesce(result.level, 'certain') = 'certain'
                or result.ordinal = 1 and not exists (
                    select from pgclarify_private.interpretation as other
                    where other.run_id = result.run_id and coalesce(other.level, 'certain') = 'certain'
                )
            else result.is_shown
        end
    order by result.run_id, result.ordinal;
end;

comment on function pgclarify_private.clarification_rows(bigint[], name, text) is
'A reading with its answer and its evidence: a row of clarify. It does not check who may see the runs; documents are those '
'that the requester may read now. include: null asks for those that the run shows. Where nothing is certain, certain asks for '
'the first reading, as consolidation conservative shows it.';

create or replace function pgclarify_private.proposed_question_rows(run_ids bigint[], requester name)
returns setof pgclarify.proposed_question
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        result.run_id,
        result.ordinal,
        result.ambiguity_type,
        result.clarifying_question,
        result.reformulation,
        coalesce(cited.document_ids, '{}'),
        result.reasoning,
        result.is_answerable,
        coalesce(cited.citations, '[]')
    from pgclarify_private.clarifying_question as result
    left join pgclarify_private.cited(
        proposed_question_rows.run_ids, pgclarify_private.roles_of(proposed_question_rows.requester)
    ) as cited
        on result.run_id = cited.run_id and result.ordinal = cited.ordinal
    where result.run_id = any(proposed_question_rows.run_ids) and cited.is_withheld is not true
    order by result.run_id, result.ordinal;
end;

comment on function pgclarify_private.proposed_question_rows(bigint[], name) is
'A clarifying question, or a reformulation to choose: the row of clarifying_questions. It does not check who may see the runs; '
'documents are those that the requester may read now.';

create or replace function pgclarify_private.answer_rows(run_ids bigint[], requester name)
returns setof pgclarify.answer
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        result.run_id,
        result.ordinal,
        result.answer,
        case when cited.has_withheld then result.variants[:1] else result.variants end,
        coalesce(cited.document_ids, '{}'),
        coalesce(cited.citations, '[]')
    from pgclarify_private.listed_answer as result
    left join pgclarify_private.cited(answer_rows.run_ids, pgclarify_private.roles_of(answer_rows.requester)) as cited
        on result.run_id = cited.run_id and result.ordinal = cited.ordinal
    where result.run_id = any(answer_rows.run_ids) and cited.is_withheld is not true
    order by result.run_id, result.ordinal;
end;

comment on function pgclarify_private.answer_rows(bigint[], name) is
'One answer of a list: the row of list_answers. It does not check who may see the runs; documents are those that the requester '
'may read now.';

create or replace function pgclarify_private.detection_rows(run_ids bigint[], requester name)
returns setof pgclarify.detection
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        result.run_id,
        run.operation,
        run.corpus_name,
        result.ordinal,
        result.question,
        result.is_ambiguous,
        result.probability,
        result.kind,
        result.reasons,
        result.classifier_version,
        run.finished_at
    from pgclarify_private.detection as result
    inner join pgclarify_private.run on result.run_id = run.run_id
    where result.run_id = any(detection_rows.run_ids)
    order by result.run_id, result.ordinal;
end;

comment on function pgclarify_private.detection_rows(bigint[], name) is
'Whether a question is ambiguous, and why: from detect_ambiguity, rewrite, and clarify with option ask_back. It does not check '
'who may see the runs: the requester makes no difference.';

create or replace function pgclarify_private.rewriting_rows(run_ids bigint[], requester name)
returns setof pgclarify.rewriting
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        result.run_id,
        result.rewritten,
        result.was_ambiguous,
        result.reason
    from pgclarify_private.rewriting as result
    where result.run_id = any(rewriting_rows.run_ids)
    order by result.run_id;
end;

comment on function pgclarify_private.rewriting_rows(bigint[], name) is
'The result of rewrite or reply, or of clarify with a history: a question that stands alone. It does not check who may see the '
'runs: the requester makes no difference.';

create or replace function pgclarify_private.estimate_rows(run_ids bigint[], requester name)
returns setof pgclarify.estimate
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        result.run_id,
        result.questions,
        result.distinct_questions,
        result.answered,
        result.sampled,
        result.calls,
        result.calls_at_most,
        result.reused_calls,
        result.prompt_tokens,
        result.completion_tokens,
        result.cost_usd,
        run.model
    from pgclarify_private.estimate as result
    inner join pgclarify_private.run on result.run_id = run.run_id
    where result.run_id = any(estimate_rows.run_ids)
    order by result.run_id;
end;

comment on function pgclarify_private.estimate_rows(bigint[], name) is
'The result of a run of estimate: what questions would cost. It does not check who may see the runs: the requester makes no '
'difference.';

create or replace function pgclarify_private.question_reading(
    question_ordinal bigint, question_key text, question text, run_id bigint, status text, stop_code text,
    reading pgclarify.clarification
)
returns setof pgclarify.question_clarification
language sql stable
rows 1
begin atomic
    select
        question_reading.question_ordinal::integer,
        question_reading.question_key,
        question_reading.question,
        question_reading.run_id,
        question_reading.status,
        (question_reading.reading).ordinal,
        (question_reading.reading).interpretation,
        (question_reading.reading).answer,
        (question_reading.reading).support,
        (question_reading.reading).cohesion,
        (question_reading.reading).document_ids,
        (question_reading.reading).citations,
        (question_reading.reading).is_contested,
        question_reading.stop_code,
        (question_reading.reading).dated,
        (question_reading.reading).older_hidden,
        (question_reading.reading).doubt,
        (question_reading.reading).probability,
        (question_reading.reading).level;
end;

comment on function pgclarify_private.question_reading(bigint, text, text, bigint, text, text, pgclarify.clarification) is
'A row of clarify_many. reading: null if there is none. It sets no search_path, so that the planner can inline it.';
