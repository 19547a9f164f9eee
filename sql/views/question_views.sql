-- Views of questions for dashboards: what was asked, and outdated answers. A row is a group of questions with the same meaning,
-- from the runs that you may see; the text is that of one of them.

create or replace view pgclarify.asked_question as
select
    asked.question_group_id + 0 as question_group_id,
    asked.corpus || '' as corpus,
    (select run.question || '' from pgclarify_private.run where run.run_id = asked.last_run_id) as question,
    asked.times_asked,
    asked.runs,
    asked.answered_runs,
    asked.unanswered_runs,
    asked.unread_runs,
    asked.first_asked_at,
    greatest(asked.last_run_at, asked.last_served_at) as last_asked_at,
    asked.last_run_id,
    (
        select count(distinct counted.requested_by)
        from pgclarify_private.asked_run as counted
        where counted.question_group_id = asked.question_group_id
    ) as requesters,
    asked.interpretations,
    asked.mean_interpretations,
    asked.last_answered_at,
    asked.times_unanswered,
    greatest(asked.last_unanswered_run_at, asked.last_unanswered_served_at) as last_unanswered_at,
    asked.last_unanswered_run_id,
    coalesce(asked.last_unanswered_run_id > coalesce(asked.last_answered_run_id, 0), false) as is_gap,
    (
        select seen.revision <> run.corpus_revision
        from pgclarify_private.run
        inner join pgclarify_private.seen_by_requester as seen
            on run.corpus_id = seen.corpus_id
                and run.requested_by = seen.requested_by
                and run.requested_by_oid = seen.requested_by_oid
        where run.run_id = asked.last_unanswered_run_id
    ) as has_corpus_changed,
    coalesce(
        (select run.requested_by from pgclarify_private.run where run.run_id = asked.last_answered_run_id)
        <> (select run.requested_by from pgclarify_private.run where run.run_id = asked.last_unanswered_run_id),
        false
    ) as is_answered_for_another_role
from (
    select
        run.question_group_id,
        max(run.corpus_name) as corpus,
        sum(run.times_asked) as times_asked,
        count(*) as runs,
        count(*) filter (where run.interpretations > 0) as answered_runs,
        count(*) filter (where run.stop_code = 'not_answered') as unanswered_runs,
        count(*) filter (where run.interpretations = 0 and run.stop_code <> 'not_answered') as unread_runs,
        min(run.created_at) as first_asked_at,
        max(run.created_at) as last_run_at,
        max(run.last_served_at) as last_served_at,
        max(run.run_id) as last_run_id,
        max(run.interpretations) as interpretations,
        (avg(run.interpretations) filter (where run.interpretations > 0))::double precision as mean_interpretations,
        max(run.created_at) filter (where run.interpretations > 0) as last_answered_at,
        max(run.run_id) filter (where run.interpretations > 0) as last_answered_run_id,
        coalesce(sum(run.times_asked) filter (where run.stop_code = 'not_answered'), 0) as times_unanswered,
        max(run.created_at) filter (where run.stop_code = 'not_answered') as last_unanswered_run_at,
        max(run.last_served_at) filter (where run.stop_code = 'not_answered') as last_unanswered_served_at,
        max(run.run_id) filter (where run.stop_code = 'not_answered') as last_unanswered_run_id
    from pgclarify_private.asked_run as run
    group by run.question_group_id
) as asked;

comment on view pgclarify.asked_question is
'Questions to clarify, a row for questions with the same meaning: how often they were asked, and with which results. '
'is_gap: questions that the corpus does not answer. interpretations > 1: ambiguous questions.';
comment on column pgclarify.asked_question.question_group_id is 'The group, as in run.';
comment on column pgclarify.asked_question.corpus is 'The corpus.';
comment on column pgclarify.asked_question.question is 'The question as it was last asked.';
comment on column pgclarify.asked_question.times_asked is
'How often it was asked: runs, and answers that were reused.';
comment on column pgclarify.asked_question.runs is 'Runs, in any state.';
comment on column pgclarify.asked_question.answered_runs is 'Those that found a reading.';
comment on column pgclarify.asked_question.unanswered_runs is
'Runs for which a language model judged the passages, and none answers (stop_code not_answered). Other runs without a result '
'do not show whether the corpus has an answer.';
comment on column pgclarify.asked_question.unread_runs is
'Runs that found nothing although the corpus may have an answer: for example, there was no language model, a budget was '
'spent, or calls failed. stop_code in run has the reason.';
comment on column pgclarify.asked_question.first_asked_at is 'When it was first asked.';
comment on column pgclarify.asked_question.last_asked_at is 'When it was last asked.';
comment on column pgclarify.asked_question.last_run_id is 'Its last run.';
comment on column pgclarify.asked_question.requesters is 'How many roles asked.';
comment on column pgclarify.asked_question.interpretations is
'The largest number of readings that one of its runs found; null if no run has succeeded or is partial.';
comment on column pgclarify.asked_question.mean_interpretations is
'Mean number of readings of the runs that found any; null if none did.';
comment on column pgclarify.asked_question.last_answered_at is
'When the last run that found a reading was asked; null if there is none.';
comment on column pgclarify.asked_question.times_unanswered is
'How often it was asked without an answer: unanswered_runs, and empty answers that were reused.';
comment on column pgclarify.asked_question.last_unanswered_at is
'When it was last asked without an answer; null if it never was.';
comment on column pgclarify.asked_question.last_unanswered_run_id is
'The last of unanswered_runs; is_gap and has_corpus_changed compare with it. Null if there is none.';
comment on column pgclarify.asked_question.is_gap is
'True if a run of it is in unanswered_runs, and no later run found a reading.';
comment on column pgclarify.asked_question.has_corpus_changed is
'True if the content that the role of last_unanswered_run_id can find in the corpus has changed since that run: the question '
'may have an answer now. Null without that run, if the corpus or that role no longer exists, or if that role may not search '
'the corpus.';
comment on column pgclarify.asked_question.is_answered_for_another_role is
'True if the last run with a reading is of another role than the last run without an answer, and may cite documents that '
'this role cannot read; false if there is none.';
grant select on pgclarify.asked_question to pgclarify_reader;

create or replace view pgclarify.stale_answer as
select
    answered.run_id,
    answered.corpus || '' as corpus,
    (select run.question || '' from pgclarify_private.run where run.run_id = answered.run_id) as question,
    (answered.requested_by || '')::name as requested_by,
    answered.created_at,
    answered.interpretations,
    answered.served,
    answered.last_served_at,
    greatest(revised.revision - answered.corpus_revision, 0) as corpus_changes,
    (
        select
            -- Unknown if none of it can be read.
            case
                when count(document.id) > 0 then count(*) filter (
                    -- This compares the words: the time of a change does not show when the change became visible. The quote is
                    -- nearly always where it was, and a call of the function costs more than this comparison.
                    where (
                        substr(document.content, citation.start_char + 1, length(citation.quote))
                        is distinct from citation.quote
                        or pgclarify_private.cuts_word(
                            document.content, citation.start_char, citation.start_char + length(citation.quote)
                        )
                    )
                        and pgclarify_private.quote_position(document.content, citation.quote, citation.start_char) is null
                )
            end
        from pgclarify_private.citation
        left join pgclarify_private.document
            on citation.corpus_id = document.corpus_id and citation.document_id = document.id
        where citation.run_id = answered.run_id
            and citation.is_shown
            -- As below: a filter on lost quotes must not read the documents of all other answers.
            and (revised.revision = answered.corpus_revision) is not true
    ) as lost_quotes,
    answered.question_group_id + 0 as question_group_id
from (
    -- This scans the index backward, one group after another, and sorts only the runs of one group.
    select distinct on (run.question_group_id, run.requested_by)
        run.question_group_id,
        run.run_id,
        run.corpus_id,
        run.corpus_name as corpus,
        run.requested_by,
        run.created_at,
        run.interpretations,
        run.served,
        run.last_served_at,
        run.corpus_revision,
        run.requested_by_oid
    from pgclarify_private.asked_run as run
    where run.interpretations > 0
    order by run.question_group_id desc, run.requested_by asc, run.run_id desc
) as answered
left join pgclarify_private.seen_by_requester as revised
    on answered.corpus_id = revised.corpus_id
        and answered.requested_by = revised.requested_by
        and answered.requested_by_oid = revised.requested_by_oid
where
    answered.corpus_id in (select living.corpus_id from pgclarify_private.living_corpus as living)
    and (revised.revision = answered.corpus_revision) is not true;

comment on view pgclarify.stale_answer is
'Answers that may be out of date: the last run with a reading of questions with the same meaning, for each role that asked, '
'if its corpus has changed since. They are not reused once the change is searchable.';
comment on column pgclarify.stale_answer.run_id is 'The run.';
comment on column pgclarify.stale_answer.corpus is 'The corpus.';
comment on column pgclarify.stale_answer.question is 'The question.';
comment on column pgclarify.stale_answer.requested_by is 'Role that asked.';
comment on column pgclarify.stale_answer.created_at is 'When it was asked.';
comment on column pgclarify.stale_answer.interpretations is 'Readings that it found.';
comment on column pgclarify.stale_answer.served is 'How often it was reused to answer an equal question.';
comment on column pgclarify.stale_answer.last_served_at is 'When it was last reused; null if it never was.';
comment on column pgclarify.stale_answer.corpus_changes is
'How many changes since then affect what that role can find; 0 if its rights have changed. Null if it may not search the '
'corpus any more.';
comment on column pgclarify.stale_answer.lost_quotes is
'Its quotes that are no longer in a document that you may read; null if you may read none of its documents. 0: all quotes '
'are still there, but the corpus may have new answers.';
comment on column pgclarify.stale_answer.question_group_id is 'The group, as in run.';
grant select on pgclarify.stale_answer to pgclarify_reader;
