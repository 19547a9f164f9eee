-- Which rows a role sees when it reads views: those run with the rights of pgclarify_views, and current_user is the role that
-- asks. These policies do not apply to functions of the owner; those have the caller's roles as an explicit predicate.

alter table pgclarify_private.corpus enable row level security;
alter table pgclarify_private.embedding_space enable row level security;
alter table pgclarify_private.document enable row level security;
alter table pgclarify_private.passage enable row level security;
alter table pgclarify_private.run enable row level security;
alter table pgclarify_private.candidate enable row level security;
alter table pgclarify_private.verdict enable row level security;
alter table pgclarify_private.interpretation enable row level security;
alter table pgclarify_private.citation enable row level security;
alter table pgclarify_private.citation_tally enable row level security;
alter table pgclarify_private.stage enable row level security;
alter table pgclarify_private.step enable row level security;
alter table pgclarify_private.detection enable row level security;
alter table pgclarify_private.rewriting enable row level security;
alter table pgclarify_private.clarifying_question enable row level security;
alter table pgclarify_private.listed_answer enable row level security;
alter table pgclarify_private.estimate enable row level security;
alter table pgclarify_private.ambiguity_rule enable row level security;
alter table pgclarify_private.trained_classifier enable row level security;
alter table pgclarify_private.eval_run enable row level security;
alter table pgclarify_private.eval_case enable row level security;

drop policy if exists corpus_is_readable on pgclarify_private.corpus;
create policy corpus_is_readable on pgclarify_private.corpus for select to pgclarify_views using (
    pgclarify_private.may_search(readers, owner, owner_oid, (select pgclarify_private.my_roles())::name[])
    or analysts && (select pgclarify_private.my_roles())::name[]
);
comment on policy corpus_is_readable on pgclarify_private.corpus is 'Roles that may search it, and its analysts.';
grant select on pgclarify_private.corpus to pgclarify_views;

drop policy if exists document_is_readable on pgclarify_private.document;
create policy document_is_readable on pgclarify_private.document for select to pgclarify_views using (
    (
        readers is null
        or readers && (select pgclarify_private.my_roles())::name[]
        or (select pgclarify_private.may_see_everything())
    )
    -- The same as visible_corpora: an analyst sees the corpus and its runs, but reads only documents that are open to it.
    and corpus_id in (
        select corpus.corpus_id from pgclarify_private.corpus
        where pgclarify_private.may_search(
            corpus.readers, corpus.owner, corpus.owner_oid, (select pgclarify_private.my_roles())::name[]
        )
    )
);
comment on policy document_is_readable on pgclarify_private.document is 'Its readers, if they may search the corpus.';
grant select on pgclarify_private.document to pgclarify_views;

drop policy if exists passage_is_readable on pgclarify_private.passage;
create policy passage_is_readable on pgclarify_private.passage for select to pgclarify_views using (
    (
        readers is null
        or readers && (select pgclarify_private.my_roles())::name[]
        or (select pgclarify_private.may_see_everything())
    )
    -- The same as visible_corpora: an analyst sees the corpus and its runs, but reads only documents that are open to it.
    and corpus_id in (
        select corpus.corpus_id from pgclarify_private.corpus
        where pgclarify_private.may_search(
            corpus.readers, corpus.owner, corpus.owner_oid, (select pgclarify_private.my_roles())::name[]
        )
    )
);
comment on policy passage_is_readable on pgclarify_private.passage is 'Its readers, if they may search the corpus.';
grant select on pgclarify_private.passage to pgclarify_views;

drop policy if exists run_is_visible on pgclarify_private.run;
create policy run_is_visible on pgclarify_private.run for select to pgclarify_views using (
    corpus_id = any(array(select analyzed.corpus_id from pgclarify_private.my_analyzed_corpus as analyzed))
    or pgclarify_private.is_among(requested_by, requested_by_oid, (select pgclarify_private.my_role_oids()))
);
comment on policy run_is_visible on pgclarify_private.run is
'The role that asked, members of that role, and the analyst of the corpus.';
grant select on pgclarify_private.run to pgclarify_views;

drop policy if exists candidate_of_visible_run on pgclarify_private.candidate;
create policy candidate_of_visible_run on pgclarify_private.candidate for select to pgclarify_views using (
    exists (select from pgclarify_private.run where run.run_id = candidate.run_id)
    and not exists (
        select from pgclarify_private.withheld_candidate as withheld
        where withheld.run_id = candidate.run_id and withheld.rank = candidate.rank
    )
);
comment on policy candidate_of_visible_run on pgclarify_private.candidate is
'Roles that see the run, except rows of documents that they may no longer read.';
grant select on pgclarify_private.candidate to pgclarify_views;

drop policy if exists verdict_of_visible_run on pgclarify_private.verdict;
create policy verdict_of_visible_run on pgclarify_private.verdict for select to pgclarify_views using (
    exists (select from pgclarify_private.run where run.run_id = verdict.run_id)
    and not exists (
        select from pgclarify_private.withheld_candidate as withheld
        where withheld.run_id = verdict.run_id and withheld.rank = verdict.rank
    )
);
comment on policy verdict_of_visible_run on pgclarify_private.verdict is
'Roles that see the run, except rows of documents that they may no longer read.';
grant select on pgclarify_private.verdict to pgclarify_views;

drop policy if exists interpretation_of_visible_run on pgclarify_private.interpretation;
create policy interpretation_of_visible_run on pgclarify_private.interpretation for select to pgclarify_views using (
    exists (select from pgclarify_private.run where run.run_id = interpretation.run_id)
    and not exists (
        select from pgclarify_private.withheld_interpretation as withheld
        where withheld.run_id = interpretation.run_id and withheld.ordinal = interpretation.ordinal
    )
);
comment on policy interpretation_of_visible_run on pgclarify_private.interpretation is
'Roles that see the run, except rows of documents that they may no longer read.';
grant select on pgclarify_private.interpretation to pgclarify_views;

drop policy if exists citation_of_visible_run on pgclarify_private.citation;
create policy citation_of_visible_run on pgclarify_private.citation for select to pgclarify_views using (
    -- For an analyst, this avoids a check of each run.
    corpus_id = any(array(select analyzed.corpus_id from pgclarify_private.my_analyzed_corpus as analyzed))
    or exists (select from pgclarify_private.run where run.run_id = citation.run_id)
    and not exists (
        select from pgclarify_private.withheld_candidate as withheld
        where withheld.run_id = citation.run_id and withheld.rank = citation.candidate_rank
    )
);
comment on policy citation_of_visible_run on pgclarify_private.citation is
'Roles that see the run, except rows of documents that they may no longer read.';
grant select on pgclarify_private.citation to pgclarify_views;

drop policy if exists citation_tally_is_visible on pgclarify_private.citation_tally;
create policy citation_tally_is_visible on pgclarify_private.citation_tally for select to pgclarify_views using (
    pgclarify_private.is_among(requested_by, requested_by_oid, (select pgclarify_private.my_role_oids()))
    or corpus_id = any(array(select analyzed.corpus_id from pgclarify_private.my_analyzed_corpus as analyzed))
);
comment on policy citation_tally_is_visible on pgclarify_private.citation_tally is
'As for runs: the role that asked, members of that role, and the analyst of the corpus.';
grant select on pgclarify_private.citation_tally to pgclarify_views;

drop policy if exists stage_of_visible_run on pgclarify_private.stage;
create policy stage_of_visible_run on pgclarify_private.stage for select to pgclarify_views using (
    exists (select from pgclarify_private.run where run.run_id = stage.run_id)
);
comment on policy stage_of_visible_run on pgclarify_private.stage is 'Roles that see the run.';
grant select on pgclarify_private.stage to pgclarify_views;

drop policy if exists step_of_visible_run on pgclarify_private.step;
create policy step_of_visible_run on pgclarify_private.step for select to pgclarify_views using (
    exists (select from pgclarify_private.run where run.run_id = step.run_id)
    and not exists (
        select from pgclarify_private.withheld_step as withheld
        where withheld.run_id = step.run_id and withheld.ordinal = step.ordinal
    )
);
comment on policy step_of_visible_run on pgclarify_private.step is
'Roles that see the run, except rows of documents that they may no longer read.';
grant select on pgclarify_private.step to pgclarify_views;

drop policy if exists detection_of_visible_run on pgclarify_private.detection;
create policy detection_of_visible_run on pgclarify_private.detection for select to pgclarify_views using (
    exists (select from pgclarify_private.run where run.run_id = detection.run_id)
);
comment on policy detection_of_visible_run on pgclarify_private.detection is 'Roles that see the run.';
grant select on pgclarify_private.detection to pgclarify_views;

drop policy if exists rewriting_of_visible_run on pgclarify_private.rewriting;
create policy rewriting_of_visible_run on pgclarify_private.rewriting for select to pgclarify_views using (
    exists (select from pgclarify_private.run where run.run_id = rewriting.run_id)
);
comment on policy rewriting_of_visible_run on pgclarify_private.rewriting is 'Roles that see the run.';
grant select on pgclarify_private.rewriting to pgclarify_views;

drop policy if exists clarifying_question_of_visible_run on pgclarify_private.clarifying_question;
create policy clarifying_question_of_visible_run on pgclarify_private.clarifying_question for select to pgclarify_views using (
    exists (select from pgclarify_private.run where run.run_id = clarifying_question.run_id)
);
comment on policy clarifying_question_of_visible_run on pgclarify_private.clarifying_question is 'Roles that see the run.';
grant select on pgclarify_private.clarifying_question to pgclarify_views;

drop policy if exists listed_answer_of_visible_run on pgclarify_private.listed_answer;
create policy listed_answer_of_visible_run on pgclarify_private.listed_answer for select to pgclarify_views using (
    exists (select from pgclarify_private.run where run.run_id = listed_answer.run_id)
    and not exists (
        select from pgclarify_private.withheld_listed_answer as withheld
        where withheld.run_id = listed_answer.run_id and withheld.ordinal = listed_answer.ordinal
    )
);
comment on policy listed_answer_of_visible_run on pgclarify_private.listed_answer is
'Roles that see the run, except rows of documents that they may no longer read.';
grant select on pgclarify_private.listed_answer to pgclarify_views;

drop policy if exists estimate_of_visible_run on pgclarify_private.estimate;
create policy estimate_of_visible_run on pgclarify_private.estimate for select to pgclarify_views using (
    exists (select from pgclarify_private.run where run.run_id = estimate.run_id)
);
comment on policy estimate_of_visible_run on pgclarify_private.estimate is 'Roles that see the run.';
grant select on pgclarify_private.estimate to pgclarify_views;

drop policy if exists ambiguity_rule_is_readable on pgclarify_private.ambiguity_rule;
create policy ambiguity_rule_is_readable on pgclarify_private.ambiguity_rule for select to pgclarify_views using (
    corpus is null or corpus in (select corpus.name from pgclarify_private.corpus)
);
comment on policy ambiguity_rule_is_readable on pgclarify_private.ambiguity_rule is
'Rules for all corpora: everyone. Rules of a corpus: roles that see it.';
grant select on pgclarify_private.ambiguity_rule to pgclarify_views;

drop policy if exists eval_run_is_visible on pgclarify_private.eval_run;
create policy eval_run_is_visible on pgclarify_private.eval_run for select to pgclarify_views using (
    pgclarify_private.is_among(requested_by, requested_by_oid, (select pgclarify_private.my_role_oids()))
    or corpus_id = any(array(select analyzed.corpus_id from pgclarify_private.my_analyzed_corpus as analyzed))
);
comment on policy eval_run_is_visible on pgclarify_private.eval_run is
'The role that evaluated, members of that role, and the analyst of the corpus.';
grant select on pgclarify_private.eval_run to pgclarify_views;

drop policy if exists eval_case_of_visible_evaluation on pgclarify_private.eval_case;
create policy eval_case_of_visible_evaluation on pgclarify_private.eval_case for select to pgclarify_views using (
    eval_run_id in (select eval_run.eval_run_id from pgclarify_private.eval_run)
);
comment on policy eval_case_of_visible_evaluation on pgclarify_private.eval_case is 'Roles that see the evaluation.';
grant select on pgclarify_private.eval_case to pgclarify_views;
