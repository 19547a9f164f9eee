-- Views of questions for dashboards: the most frequent questions, questions without an answer, ambiguous questions, and
-- outdated answers. A row is a group of questions with the same meaning, from the runs that you may see; the text is that of
-- one of them.

create or replace view pgclarify.asked_question as
select
    asked.question_group_id,
    asked.corpus || '' as corpus,
    (select run.question || '' from pgclarify_private.run where run.run_id = asked.last_run_id) as question,
    asked.times_asked,
    asked.runs,
    asked.answered_runs,
    asked.unanswered_runs,
    asked.first_asked_at,
    greatest(asked.last_run_at, asked.last_served_at) as last_asked_at,
    asked.last_run_id,
    (
        select count(distinct counted.requested_by)
        from pgclarify_private.asked_run as counted
        where counted.question_group_id = asked.question_group_id
    ) as requesters,
    asked.unread_runs
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
        max(run.run_id) as last_run_id
    from pgclarify_private.asked_run as run
    group by run.question_group_id
) as asked;

comment on view pgclarify.asked_question is
'Questions to clarify, a row for questions with the same meaning: how often they were asked, and with which results.';
comment on column pgclarify.asked_question.question_group_id is 'The group, as in run_summary.';
comment on column pgclarify.asked_question.corpus is 'The corpus.';
comment on column pgclarify.asked_question.question is 'The question as it was last asked.';
comment on column pgclarify.asked_question.times_asked is
'How often it was asked: runs, and answers that were reused.';
comment on column pgclarify.asked_question.runs is 'Runs, in any state.';
comment on column pgclarify.asked_question.answered_runs is 'Those that found a reading.';
comment on column pgclarify.asked_question.unanswered_runs is
'Runs for which a language model judged the passages, and none answers. Other runs without a result do not show whether the '
'corpus has an answer.';
comment on column pgclarify.asked_question.first_asked_at is 'When it was first asked.';
comment on column pgclarify.asked_question.last_asked_at is 'When it was last asked.';
comment on column pgclarify.asked_question.last_run_id is 'Its last run.';
comment on column pgclarify.asked_question.requesters is 'How many roles asked.';
comment on column pgclarify.asked_question.unread_runs is
'Runs that found nothing although the corpus may have an answer: for example, there was no language model, a budget was '
'spent, or calls failed. stop_code in run_summary has the reason.';
grant select on pgclarify.asked_question to pgclarify_reader;

create or replace view pgclarify.content_gap as
select
    asked.question_group_id,
    asked.corpus || '' as corpus,
    (select run.question || '' from pgclarify_private.run where run.run_id = asked.last_run_id) as question,
    asked.times_asked,
    asked.runs,
    asked.first_asked_at,
    greatest(asked.last_run_at, asked.last_served_at) as last_asked_at,
    asked.answered_runs,
    asked.last_answered_at,
    asked.last_run_id > asked.last_answered_run_id is not false as is_open,
    (
        select seen.revision <> run.corpus_revision
        from pgclarify_private.run
        inner join pgclarify_private.seen_by_requester as seen
            on run.corpus_id = seen.corpus_id
                and run.requested_by = seen.requested_by
                and run.requested_by_oid = seen.requested_by_oid
        where run.run_id = asked.last_run_id
    ) as has_corpus_changed,
    asked.last_run_id,
    (
        select count(distinct counted.requested_by)
        from pgclarify_private.asked_run as counted
        where counted.question_group_id = asked.question_group_id
            and counted.stop_code = 'not_answered'
    ) as requesters,
    asked.last_answered_run_id is not null
    and (select run.requested_by from pgclarify_private.run where run.run_id = asked.last_answered_run_id)
    <> (select run.requested_by from pgclarify_private.run where run.run_id = asked.last_run_id) as is_answered_for_another_role
from (
    select
        run.question_group_id,
        max(run.corpus_name) as corpus,
        sum(run.times_asked) filter (where run.stop_code = 'not_answered') as times_asked,
        count(*) filter (where run.stop_code = 'not_answered') as runs,
        min(run.created_at) filter (where run.stop_code = 'not_answered') as first_asked_at,
        max(run.created_at) filter (where run.stop_code = 'not_answered') as last_run_at,
        max(run.last_served_at) filter (where run.stop_code = 'not_answered') as last_served_at,
        max(run.run_id) filter (where run.stop_code = 'not_answered') as last_run_id,
        count(*) filter (where run.interpretations > 0) as answered_runs,
        max(run.created_at) filter (where run.interpretations > 0) as last_answered_at,
        max(run.run_id) filter (where run.interpretations > 0) as last_answered_run_id
    from pgclarify_private.asked_run as run
    where run.stop_code = 'not_answered' or run.interpretations > 0
    group by run.question_group_id
    having count(*) filter (where run.stop_code = 'not_answered') > 0
) as asked;

comment on view pgclarify.content_gap is
'Questions that the corpus did not answer, a row for questions with the same meaning: a language model judged the passages '
'that clarify found, and none answers (stop_code not_answered). Other runs without a result do not count, because they do '
'not show that.';
comment on column pgclarify.content_gap.question_group_id is 'The group, as in run_summary.';
comment on column pgclarify.content_gap.corpus is 'The corpus.';
comment on column pgclarify.content_gap.question is 'The question as it was last asked without an answer.';
comment on column pgclarify.content_gap.times_asked is
'How often it was asked without an answer: runs, and empty answers that were reused.';
comment on column pgclarify.content_gap.runs is 'Runs that found nothing.';
comment on column pgclarify.content_gap.first_asked_at is 'When it was first asked without an answer.';
comment on column pgclarify.content_gap.last_asked_at is 'When it was last asked without an answer.';
comment on column pgclarify.content_gap.answered_runs is 'Runs of the same group that did find a reading.';
comment on column pgclarify.content_gap.last_answered_at is 'When the last of them was asked; null if there is none.';
comment on column pgclarify.content_gap.is_open is
'False if a later run of the group found a reading; true if none has.';
comment on column pgclarify.content_gap.has_corpus_changed is
'True if the content that the role of the last run can find in the corpus has changed since that run: the question may have an '
'answer now. Null if the corpus or that role no longer exists, or if that role may not search the corpus.';
comment on column pgclarify.content_gap.last_run_id is
'The last run that found nothing; is_open and has_corpus_changed compare with it.';
comment on column pgclarify.content_gap.requesters is 'How many roles asked without an answer.';
comment on column pgclarify.content_gap.is_answered_for_another_role is
'True if the last run with a reading is of another role than the last run without an answer, and may cite documents that '
'this role cannot read; false if there is none.';
grant select on pgclarify.content_gap to pgclarify_reader;

create or replace view pgclarify.ambiguous_question as
select
    asked.question_group_id,
    asked.corpus || '' as corpus,
    (select run.question || '' from pgclarify_private.run where run.run_id = asked.last_run_id) as question,
    asked.interpretations,
    asked.mean_interpretations,
    asked.times_asked,
    asked.runs,
    asked.first_asked_at,
    greatest(asked.last_run_at, asked.last_served_at) as last_asked_at,
    asked.last_run_id,
    (
        select count(distinct counted.requested_by)
        from pgclarify_private.asked_run as counted
        where counted.question_group_id = asked.question_group_id
            and counted.interpretations > 0
    ) as requesters
from (
    select
        run.question_group_id,
        max(run.corpus_name) as corpus,
        max(run.interpretations) as interpretations,
        avg(run.interpretations)::double precision as mean_interpretations,
        sum(run.times_asked) as times_asked,
        count(*) as runs,
        min(run.created_at) as first_asked_at,
        max(run.created_at) as last_run_at,
        max(run.last_served_at) as last_served_at,
        max(run.run_id) filter (where run.interpretations > 1) as last_run_id
    from pgclarify_private.asked_run as run
    where run.interpretations > 0
    group by run.question_group_id
    having max(run.interpretations) > 1
) as asked;

comment on view pgclarify.ambiguous_question is
'Questions for which a run found several readings, a row for questions with the same meaning.';
comment on column pgclarify.ambiguous_question.question_group_id is 'The group, as in run_summary.';
comment on column pgclarify.ambiguous_question.corpus is 'The corpus.';
comment on column pgclarify.ambiguous_question.question is 'The question as it was asked by last_run_id.';
comment on column pgclarify.ambiguous_question.interpretations is 'The largest number of readings that one of its runs found.';
comment on column pgclarify.ambiguous_question.mean_interpretations is 'Mean number of readings of the runs that found any.';
comment on column pgclarify.ambiguous_question.times_asked is
'How often it was asked and answered: runs, and answers that were reused.';
comment on column pgclarify.ambiguous_question.runs is 'Runs that found a reading.';
comment on column pgclarify.ambiguous_question.first_asked_at is 'When the first of them was asked.';
comment on column pgclarify.ambiguous_question.last_asked_at is 'When it was last asked and answered.';
comment on column pgclarify.ambiguous_question.last_run_id is 'The last run that found several.';
comment on column pgclarify.ambiguous_question.requesters is 'How many roles asked and were answered.';
grant select on pgclarify.ambiguous_question to pgclarify_reader;

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
                    where substr(document.content, citation.start_char + 1, length(citation.quote))
                        is distinct from citation.quote
                        and pgclarify_private.quote_position(document.content, citation.quote, citation.start_char) is null
                )
            end
        from pgclarify_private.citation
        left join pgclarify_private.document
            on citation.corpus_id = document.corpus_id and citation.document_id = document.id
        where citation.run_id = answered.run_id
            -- As below: a filter on lost quotes must not read the documents of all other answers.
            and (revised.revision = answered.corpus_revision) is not true
    ) as lost_quotes,
    answered.question_group_id
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
    answered.corpus_id is not null
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
comment on column pgclarify.stale_answer.question_group_id is 'The group, as in run_summary.';
grant select on pgclarify.stale_answer to pgclarify_reader;

create or replace view pgclarify.cited_document as
select
    corpus.name || '' as corpus,
    document.id || '' as document_id,
    document.title || '' as title,
    document.uri || '' as uri,
    coalesce(cited.citations, 0)::bigint as citations,
    coalesce(cited.runs, 0)::bigint as runs,
    cited.last_cited_at,
    document.created_at,
    document.updated_at
from pgclarify_private.document
inner join pgclarify_private.corpus on document.corpus_id = corpus.corpus_id
left join (
    select
        citation_tally.corpus_id,
        citation_tally.document_id,
        sum(citation_tally.citations) as citations,
        sum(citation_tally.runs) as runs,
        max(citation_tally.last_cited_at) as last_cited_at
    from pgclarify_private.citation_tally
    group by citation_tally.corpus_id, citation_tally.document_id
) as cited on document.corpus_id = cited.corpus_id and document.id = cited.document_id;

comment on view pgclarify.cited_document is
'Documents that you may read, and how often runs that you may see cited them; citations = 0: never. Workers count after a '
'run has ended; deleted runs still count.';
comment on column pgclarify.cited_document.corpus is 'The corpus.';
comment on column pgclarify.cited_document.document_id is 'The document.';
comment on column pgclarify.cited_document.title is 'Its title; null if it has none.';
comment on column pgclarify.cited_document.uri is 'Its address, for people; null if it has none.';
comment on column pgclarify.cited_document.citations is
'How often it was cited: for interpretations, in steps of investigations, and for listed answers.';
comment on column pgclarify.cited_document.runs is 'In how many runs.';
comment on column pgclarify.cited_document.last_cited_at is 'When the last of them ended; null if it was never cited.';
comment on column pgclarify.cited_document.created_at is 'When it was added.';
comment on column pgclarify.cited_document.updated_at is 'When it last changed.';
grant select on pgclarify.cited_document to pgclarify_reader;
