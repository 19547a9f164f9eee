-- Which rows a role sees when it reads tables and views directly. These policies do not apply to functions of the owner; those
-- have the caller's roles as an explicit predicate.

alter table pgclarify.corpus enable row level security;
alter table pgclarify.embedding_space enable row level security;
alter table pgclarify.document enable row level security;
alter table pgclarify.passage enable row level security;
alter table pgclarify.run enable row level security;
alter table pgclarify.candidate enable row level security;
alter table pgclarify.verdict enable row level security;
alter table pgclarify.interpretation enable row level security;
alter table pgclarify.citation enable row level security;
alter table pgclarify_private.citation_tally enable row level security;
alter table pgclarify.stage enable row level security;
alter table pgclarify.step enable row level security;
alter table pgclarify.step_citation enable row level security;
alter table pgclarify.detection enable row level security;
alter table pgclarify.rewriting enable row level security;
alter table pgclarify.evidence enable row level security;
alter table pgclarify.clarifying_question enable row level security;
alter table pgclarify.conversation enable row level security;
alter table pgclarify.turn enable row level security;
alter table pgclarify.listed_answer enable row level security;
alter table pgclarify.estimate enable row level security;
alter table pgclarify.ambiguity_rule enable row level security;
alter table pgclarify_private.trained_classifier enable row level security;
alter table pgclarify.eval_run enable row level security;
alter table pgclarify.eval_case enable row level security;
alter table pgclarify.eval_metric enable row level security;

drop policy if exists corpus_is_readable on pgclarify.corpus;
create policy corpus_is_readable on pgclarify.corpus for select to pgclarify_reader using (
    reader is null
    or reader = any((select pgclarify_private.my_roles())::name[])
    or pgclarify_private.is_among(owner, owner_oid, (select pgclarify_private.my_role_oids()))
    or analyst = any((select pgclarify_private.my_roles())::name[])
);
comment on policy corpus_is_readable on pgclarify.corpus is 'Its readers, its owner and its analyst.';
grant select on pgclarify.corpus to pgclarify_reader;

drop policy if exists embedding_space_of_readable_corpus on pgclarify.embedding_space;
create policy embedding_space_of_readable_corpus on pgclarify.embedding_space for select to pgclarify_reader using (
    corpus_id in (select corpus.corpus_id from pgclarify.corpus)
);
comment on policy embedding_space_of_readable_corpus on pgclarify.embedding_space is 'Roles that see the corpus.';
-- The other columns name documents, and count passages, that the role may not read.
revoke select on pgclarify.embedding_space from pgclarify_reader;
grant select (embedding_space_id, corpus_id, model, dimensions, state, error, created_at, retired_at)
on pgclarify.embedding_space to pgclarify_reader;

drop policy if exists document_is_readable on pgclarify.document;
create policy document_is_readable on pgclarify.document for select to pgclarify_reader using (
    (readers is null or readers && (select pgclarify_private.my_roles())::name[])
    -- The same as visible_corpora: an analyst sees the corpus and its runs, but reads only documents that are open to it.
    and corpus_id in (
        select corpus.corpus_id from pgclarify.corpus
        where
            corpus.reader is null
            or corpus.reader = any((select pgclarify_private.my_roles())::name[])
            or pgclarify_private.is_among(corpus.owner, corpus.owner_oid, (select pgclarify_private.my_role_oids()))
    )
);
comment on policy document_is_readable on pgclarify.document is 'Its readers, if they may search the corpus.';
grant select on pgclarify.document to pgclarify_reader;

drop policy if exists passage_is_readable on pgclarify.passage;
create policy passage_is_readable on pgclarify.passage for select to pgclarify_reader using (
    (readers is null or readers && (select pgclarify_private.my_roles())::name[])
    -- The same as visible_corpora: an analyst sees the corpus and its runs, but reads only documents that are open to it.
    and corpus_id in (
        select corpus.corpus_id from pgclarify.corpus
        where
            corpus.reader is null
            or corpus.reader = any((select pgclarify_private.my_roles())::name[])
            or pgclarify_private.is_among(corpus.owner, corpus.owner_oid, (select pgclarify_private.my_role_oids()))
    )
);
comment on policy passage_is_readable on pgclarify.passage is 'Its readers, if they may search the corpus.';
grant select on pgclarify.passage to pgclarify_reader;

drop policy if exists run_is_visible on pgclarify.run;
create policy run_is_visible on pgclarify.run for select to pgclarify_reader using (
    corpus_id = any((select pgclarify_private.my_analyzed_corpora())::bigint[])
    or pgclarify_private.is_among(requested_by, requested_by_oid, (select pgclarify_private.my_role_oids()))
);
comment on policy run_is_visible on pgclarify.run is
'The role that asked, members of that role, and the analyst of the corpus.';
grant select on pgclarify.run to pgclarify_reader;

drop policy if exists candidate_of_visible_run on pgclarify.candidate;
create policy candidate_of_visible_run on pgclarify.candidate for select to pgclarify_reader using (
    exists (select from pgclarify.run where run.run_id = candidate.run_id)
    and not exists (
        select from pgclarify_private.withheld_candidate as withheld
        where withheld.run_id = candidate.run_id and withheld.rank = candidate.rank
    )
);
comment on policy candidate_of_visible_run on pgclarify.candidate is
'Roles that see the run, except rows of documents that they may no longer read.';
grant select on pgclarify.candidate to pgclarify_reader;

drop policy if exists verdict_of_visible_run on pgclarify.verdict;
create policy verdict_of_visible_run on pgclarify.verdict for select to pgclarify_reader using (
    exists (select from pgclarify.run where run.run_id = verdict.run_id)
    and not exists (
        select from pgclarify_private.withheld_candidate as withheld
        where withheld.run_id = verdict.run_id and withheld.rank = verdict.rank
    )
);
comment on policy verdict_of_visible_run on pgclarify.verdict is
'Roles that see the run, except rows of documents that they may no longer read.';
grant select on pgclarify.verdict to pgclarify_reader;

drop policy if exists interpretation_of_visible_run on pgclarify.interpretation;
create policy interpretation_of_visible_run on pgclarify.interpretation for select to pgclarify_reader using (
    exists (select from pgclarify.run where run.run_id = interpretation.run_id)
    and not exists (
        select from pgclarify_private.withheld_entry as withheld
        where withheld.kind = 'interpretation'
            and withheld.run_id = interpretation.run_id
            and withheld.ordinal = interpretation.ordinal
    )
);
comment on policy interpretation_of_visible_run on pgclarify.interpretation is
'Roles that see the run, except rows of documents that they may no longer read.';
grant select on pgclarify.interpretation to pgclarify_reader;

drop policy if exists citation_of_visible_run on pgclarify.citation;
create policy citation_of_visible_run on pgclarify.citation for select to pgclarify_reader using (
    -- For an analyst, this avoids a check of each run.
    corpus_id = any((select pgclarify_private.my_analyzed_corpora())::bigint[])
    or exists (select from pgclarify.run where run.run_id = citation.run_id)
    and not exists (
        select from pgclarify_private.withheld_candidate as withheld
        where withheld.run_id = citation.run_id and withheld.rank = citation.candidate_rank
    )
);
comment on policy citation_of_visible_run on pgclarify.citation is
'Roles that see the run, except rows of documents that they may no longer read.';
grant select on pgclarify.citation to pgclarify_reader;

drop policy if exists citation_tally_is_visible on pgclarify_private.citation_tally;
create policy citation_tally_is_visible on pgclarify_private.citation_tally for select to pgclarify_reader using (
    pgclarify_private.is_among(requested_by, requested_by_oid, (select pgclarify_private.my_role_oids()))
    or corpus_id = any((select pgclarify_private.my_analyzed_corpora())::bigint[])
);
comment on policy citation_tally_is_visible on pgclarify_private.citation_tally is
'As for runs: the role that asked, members of that role, and the analyst of the corpus.';
grant select on pgclarify_private.citation_tally to pgclarify_reader;

drop policy if exists stage_of_visible_run on pgclarify.stage;
create policy stage_of_visible_run on pgclarify.stage for select to pgclarify_reader using (
    exists (select from pgclarify.run where run.run_id = stage.run_id)
);
comment on policy stage_of_visible_run on pgclarify.stage is 'Roles that see the run.';
grant select on pgclarify.stage to pgclarify_reader;

drop policy if exists step_of_visible_run on pgclarify.step;
create policy step_of_visible_run on pgclarify.step for select to pgclarify_reader using (
    exists (select from pgclarify.run where run.run_id = step.run_id)
    and not exists (
        select from pgclarify_private.withheld_entry as withheld
        where withheld.kind = 'step'
            and withheld.run_id = step.run_id
            and withheld.ordinal = step.ordinal
    )
);
comment on policy step_of_visible_run on pgclarify.step is
'Roles that see the run, except rows of documents that they may no longer read.';
grant select on pgclarify.step to pgclarify_reader;

drop policy if exists step_citation_of_visible_run on pgclarify.step_citation;
create policy step_citation_of_visible_run on pgclarify.step_citation for select to pgclarify_reader using (
    exists (select from pgclarify.run where run.run_id = step_citation.run_id)
    and not exists (
        select from pgclarify_private.withheld_candidate as withheld
        where withheld.run_id = step_citation.run_id and withheld.rank = step_citation.candidate_rank
    )
);
comment on policy step_citation_of_visible_run on pgclarify.step_citation is
'Roles that see the run, except rows of documents that they may no longer read.';
grant select on pgclarify.step_citation to pgclarify_reader;

drop policy if exists detection_of_visible_run on pgclarify.detection;
create policy detection_of_visible_run on pgclarify.detection for select to pgclarify_reader using (
    exists (select from pgclarify.run where run.run_id = detection.run_id)
    and not exists (
        select from pgclarify_private.withheld_entry as withheld
        where withheld.kind = 'detection'
            and withheld.run_id = detection.run_id
            and withheld.ordinal = detection.ordinal
    )
);
comment on policy detection_of_visible_run on pgclarify.detection is
'Roles that see the run, except rows with quotes of documents that they may no longer read.';
grant select on pgclarify.detection to pgclarify_reader;

drop policy if exists rewriting_of_visible_run on pgclarify.rewriting;
create policy rewriting_of_visible_run on pgclarify.rewriting for select to pgclarify_reader using (
    exists (select from pgclarify.run where run.run_id = rewriting.run_id)
);
comment on policy rewriting_of_visible_run on pgclarify.rewriting is 'Roles that see the run.';
grant select on pgclarify.rewriting to pgclarify_reader;

drop policy if exists evidence_of_visible_run on pgclarify.evidence;
create policy evidence_of_visible_run on pgclarify.evidence for select to pgclarify_reader using (
    exists (select from pgclarify.run where run.run_id = evidence.run_id)
    and not exists (
        select from pgclarify_private.withheld_candidate as withheld
        where withheld.run_id = evidence.run_id and withheld.rank = evidence.candidate_rank
    )
);
comment on policy evidence_of_visible_run on pgclarify.evidence is
'Roles that see the run, except rows of documents that they may no longer read.';
grant select on pgclarify.evidence to pgclarify_reader;

drop policy if exists clarifying_question_of_visible_run on pgclarify.clarifying_question;
create policy clarifying_question_of_visible_run on pgclarify.clarifying_question for select to pgclarify_reader using (
    exists (select from pgclarify.run where run.run_id = clarifying_question.run_id)
);
comment on policy clarifying_question_of_visible_run on pgclarify.clarifying_question is 'Roles that see the run.';
grant select on pgclarify.clarifying_question to pgclarify_reader;

drop policy if exists listed_answer_of_visible_run on pgclarify.listed_answer;
create policy listed_answer_of_visible_run on pgclarify.listed_answer for select to pgclarify_reader using (
    exists (select from pgclarify.run where run.run_id = listed_answer.run_id)
    and not exists (
        select from pgclarify_private.withheld_entry as withheld
        where withheld.kind = 'listed_answer'
            and withheld.run_id = listed_answer.run_id
            and withheld.ordinal = listed_answer.ordinal
    )
);
comment on policy listed_answer_of_visible_run on pgclarify.listed_answer is
'Roles that see the run, except rows of documents that they may no longer read.';
grant select on pgclarify.listed_answer to pgclarify_reader;

drop policy if exists estimate_of_visible_run on pgclarify.estimate;
create policy estimate_of_visible_run on pgclarify.estimate for select to pgclarify_reader using (
    exists (select from pgclarify.run where run.run_id = estimate.run_id)
);
comment on policy estimate_of_visible_run on pgclarify.estimate is 'Roles that see the run.';
grant select on pgclarify.estimate to pgclarify_reader;

drop policy if exists conversation_is_visible on pgclarify.conversation;
create policy conversation_is_visible on pgclarify.conversation for select to pgclarify_reader using (
    pgclarify_private.is_among(requested_by, requested_by_oid, (select pgclarify_private.my_role_oids()))
    or corpus_id in (
        select corpus.corpus_id from pgclarify.corpus
        where corpus.analyst = any((select pgclarify_private.my_roles())::name[])
    )
);
comment on policy conversation_is_visible on pgclarify.conversation is
'The role that asked, members of that role, and the analyst of the corpus.';
grant select on pgclarify.conversation to pgclarify_reader;

drop policy if exists turn_of_visible_conversation on pgclarify.turn;
create policy turn_of_visible_conversation on pgclarify.turn for select to pgclarify_reader using (
    exists (select from pgclarify.conversation where conversation.conversation_id = turn.conversation_id)
);
comment on policy turn_of_visible_conversation on pgclarify.turn is 'Roles that see the conversation.';
grant select on pgclarify.turn to pgclarify_reader;

drop policy if exists ambiguity_rule_is_readable on pgclarify.ambiguity_rule;
create policy ambiguity_rule_is_readable on pgclarify.ambiguity_rule for select to pgclarify_reader using (
    corpus is null or corpus in (select corpus.name from pgclarify.corpus)
);
comment on policy ambiguity_rule_is_readable on pgclarify.ambiguity_rule is
'Rules for all corpora: everyone. Rules of a corpus: roles that see it.';
grant select on pgclarify.ambiguity_rule to pgclarify_reader;

drop policy if exists trained_classifier_of_visible_corpus on pgclarify_private.trained_classifier;
create policy trained_classifier_of_visible_corpus on pgclarify_private.trained_classifier
for select to pgclarify_reader using (
    corpus_id in (select corpus.corpus_id from pgclarify.corpus)
);
comment on policy trained_classifier_of_visible_corpus on pgclarify_private.trained_classifier is
'Roles that see the corpus.';
-- Weights reveal words of the labelled questions, so only workers and roles that train can read them.
grant select (
    trained_classifier_id, corpus_id, version, trained_by, trained_at, shipped_version, examples, threshold, judges_questions,
    judges_conversations, figures, is_better, is_used
) on pgclarify_private.trained_classifier to pgclarify_reader;

drop policy if exists eval_run_is_visible on pgclarify.eval_run;
create policy eval_run_is_visible on pgclarify.eval_run for select to pgclarify_reader using (
    pgclarify_private.is_among(requested_by, requested_by_oid, (select pgclarify_private.my_role_oids()))
    or corpus_id in (
        select corpus.corpus_id from pgclarify.corpus
        where corpus.analyst = any((select pgclarify_private.my_roles())::name[])
    )
);
comment on policy eval_run_is_visible on pgclarify.eval_run is
'The role that evaluated, members of that role, and the analyst of the corpus.';
grant select on pgclarify.eval_run to pgclarify_reader;

drop policy if exists eval_case_of_visible_evaluation on pgclarify.eval_case;
create policy eval_case_of_visible_evaluation on pgclarify.eval_case for select to pgclarify_reader using (
    eval_run_id in (select eval_run.eval_run_id from pgclarify.eval_run)
);
comment on policy eval_case_of_visible_evaluation on pgclarify.eval_case is 'Roles that see the evaluation.';
grant select on pgclarify.eval_case to pgclarify_reader;

drop policy if exists eval_metric_of_visible_evaluation on pgclarify.eval_metric;
create policy eval_metric_of_visible_evaluation on pgclarify.eval_metric for select to pgclarify_reader using (
    eval_run_id in (select eval_run.eval_run_id from pgclarify.eval_run)
);
comment on policy eval_metric_of_visible_evaluation on pgclarify.eval_metric is 'Roles that see the evaluation.';
grant select on pgclarify.eval_metric to pgclarify_reader;

-- A role that may delete or update rows may also lock the whole table, and so stop all runs that read it. So only functions
-- write these tables.
revoke insert, update, delete
on pgclarify.ambiguity_rule, pgclarify.eval_run, pgclarify.eval_case, pgclarify.eval_metric
from pgclarify_user;
