-- Versions of the classifier of ambiguity that were trained on labelled questions of a corpus.

create or replace view pgclarify.ambiguity_classifier as
select
    corpus.name || '' as corpus,
    trained.version,
    trained.is_used,
    trained.is_better,
    (trained.trained_by || '')::name as trained_by,
    trained.trained_at,
    trained.examples,
    (trained.figures ->> 'questions')::integer as held_examples,
    trained.judges_questions,
    trained.judges_conversations,
    trained.threshold,
    (trained.figures #>> '{f1,trained,0}')::real as f1,
    (trained.figures #>> '{f1,before,0}')::real as shipped_f1,
    (trained.figures #>> '{f1,difference,0}')::real as f1_difference,
    (trained.figures #>> '{f1,difference,1}')::real as f1_difference_low,
    (trained.figures #>> '{f1,difference,2}')::real as f1_difference_high,
    (trained.figures #>> '{auc,trained,0}')::real as auc,
    (trained.figures #>> '{auc,before,0}')::real as shipped_auc,
    (trained.figures #>> '{calibration_error,trained,0}')::real as calibration_error,
    (trained.figures #>> '{calibration_error,before,0}')::real as shipped_calibration_error,
    trained.figures #> '{}' as figures,
    trained.shipped_version || '' as shipped_version
from pgclarify_private.trained_classifier as trained
inner join pgclarify_private.corpus on trained.corpus_id = corpus.corpus_id;

comment on view pgclarify.ambiguity_classifier is
'Versions of the classifier of ambiguity that pgclarify eval train-ambiguity has trained for corpora, with figures on held-out '
'questions. Option ambiguity_classifier of alter_corpus chooses the one that judges.';
comment on column pgclarify.ambiguity_classifier.corpus is 'The corpus.';
comment on column pgclarify.ambiguity_classifier.version is 'Number of the version in its corpus, from 1.';
comment on column pgclarify.ambiguity_classifier.is_used is
'Whether it judges the questions of the corpus. If no version does, the shipped classifier judges them.';
comment on column pgclarify.ambiguity_classifier.is_better is
'Whether its F1 is higher than that of the shipped classifier: the whole 95 % interval of the difference is above 0.';
comment on column pgclarify.ambiguity_classifier.trained_by is 'Role that trained it.';
comment on column pgclarify.ambiguity_classifier.trained_at is 'When it was stored.';
comment on column pgclarify.ambiguity_classifier.examples is 'Number of distinct labelled questions that it was trained on.';
comment on column pgclarify.ambiguity_classifier.held_examples is
'Number of distinct labelled questions that were held out, and that the figures are computed on.';
comment on column pgclarify.ambiguity_classifier.judges_questions is
'Whether it judges questions without a history; otherwise the shipped classifier judges them.';
comment on column pgclarify.ambiguity_classifier.judges_conversations is
'Whether it judges questions with a history; otherwise the shipped classifier judges them.';
comment on column pgclarify.ambiguity_classifier.threshold is
'A question is ambiguous if its probability is at least this, unless a caller passes another threshold.';
comment on column pgclarify.ambiguity_classifier.f1 is 'F1 of the class ambiguous, from 0 to 1.';
comment on column pgclarify.ambiguity_classifier.shipped_f1 is 'F1 of the shipped classifier.';
comment on column pgclarify.ambiguity_classifier.f1_difference is 'f1 minus shipped_f1.';
comment on column pgclarify.ambiguity_classifier.f1_difference_low is
'Lower end of its 95 % interval, by the paired bootstrap.';
comment on column pgclarify.ambiguity_classifier.f1_difference_high is 'Upper end of its 95 % interval.';
comment on column pgclarify.ambiguity_classifier.auc is
'Probability that an ambiguous question gets a higher probability than a clear one, from 0 to 1.';
comment on column pgclarify.ambiguity_classifier.shipped_auc is 'The same of the shipped classifier.';
comment on column pgclarify.ambiguity_classifier.calibration_error is
'Difference between probabilities and real shares, in ten bins, from 0 to 1; less is better.';
comment on column pgclarify.ambiguity_classifier.shipped_calibration_error is 'The same of the shipped classifier.';
comment on column pgclarify.ambiguity_classifier.figures is
'All figures: an object with questions, ambiguous (how many of them are), and f1, precision, recall, auc and '
'calibration_error. Each of these is an object with before (the shipped classifier), trained and difference: the value and '
'the ends of its 95 % interval.';
comment on column pgclarify.ambiguity_classifier.shipped_version is
'Version of the shipped classifier that it was trained on. A worker with another version uses its shipped classifier until '
'you train again.';
grant select on pgclarify.ambiguity_classifier to pgclarify_reader;

create or replace function pgclarify_private.classifier_of_run(run_id bigint, attempt integer, known_ids bigint[])
returns table (
    trained_classifier_id bigint,
    version integer,
    shipped_version text,
    threshold real,
    judges_questions boolean,
    judges_conversations boolean,
    weights real[]
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
rows 1
as $$
declare
    v_run pgclarify_private.run := pgclarify_private.searchable_run(classifier_of_run.run_id, classifier_of_run.attempt);
begin
    return query
    select
        trained.trained_classifier_id, trained.version, trained.shipped_version, trained.threshold,
        trained.judges_questions, trained.judges_conversations,
        case when not trained.trained_classifier_id = any(classifier_of_run.known_ids) then trained.weights end
    from pgclarify_private.trained_classifier as trained
    where trained.corpus_id = v_run.corpus_id and trained.is_used;
end
$$;

comment on function pgclarify_private.classifier_of_run(bigint, integer, bigint[]) is
'The trained classifier that judges the questions of a run of a corpus; no row if the shipped one does. weights: null if its '
'id is among known_ids, because weights never change.';
grant execute on function pgclarify_private.classifier_of_run(bigint, integer, bigint[]) to pgclarify_worker;

create or replace function pgclarify_private.classifier_in_use(caller pgclarify_private.caller, corpus text)
returns setof pgclarify_private.trained_classifier
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
rows 1
as $$
declare
    v_corpus_id bigint := (pgclarify_private.classified_corpus(classifier_in_use.caller, classifier_in_use.corpus)).corpus_id;
begin
    return query
    select trained.*
    from pgclarify_private.trained_classifier as trained
    where trained.corpus_id = v_corpus_id and trained.is_used;
end
$$;

comment on function pgclarify_private.classifier_in_use(pgclarify_private.caller, text) is
'The trained classifier that judges the questions of a corpus, for roles that may train one; no row if the shipped one does.';
grant execute on function pgclarify_private.classifier_in_use(pgclarify_private.caller, text) to pgclarify_user;

create or replace function pgclarify_private.classified_corpus(caller pgclarify_private.caller, corpus text)
returns pgclarify_private.corpus
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if classified_corpus.corpus is null then
        raise exception 'a classifier is trained for one corpus'
            using errcode = 'invalid_parameter_value',
                detail = 'The parameter corpus is null.',
                hint = 'Pass corpus => ''NAME'' of a corpus that you own.';
    end if;
    return pgclarify_private.edited_corpus(classified_corpus.caller, classified_corpus.corpus);
end
$$;

comment on function pgclarify_private.classified_corpus(pgclarify_private.caller, text) is
'The corpus whose classifiers the caller edits, as in edited_corpus; error 22023 if it is null.';

create or replace function pgclarify_private.put_in_use(corpus_id bigint, version integer)
returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_before integer;
begin
    -- Lock all versions, always in the same order. Of two concurrent callers, the second one waits, and then sees the choice of
    -- the first.
    perform
    from pgclarify_private.trained_classifier as trained
    where trained.corpus_id = put_in_use.corpus_id
    order by trained.version
    for update;
    select trained.version into v_before
    from pgclarify_private.trained_classifier as trained
    where trained.corpus_id = put_in_use.corpus_id and trained.is_used;
    if v_before is not distinct from put_in_use.version then
        return false;
    end if;
    update pgclarify_private.trained_classifier as trained
    set is_used = false
    where trained.corpus_id = put_in_use.corpus_id and trained.is_used;
    update pgclarify_private.trained_classifier as trained
    set is_used = true
    where trained.corpus_id = put_in_use.corpus_id and trained.version = put_in_use.version;
    return true;
end
$$;

comment on function pgclarify_private.put_in_use(bigint, integer) is
'Let a version judge the questions of a corpus; null is the shipped classifier. True if anything changed.';

create or replace function pgclarify_private.add_trained_classifier(
    caller pgclarify_private.caller, corpus text, trained jsonb, weights real[], is_used boolean
)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus_id bigint
        := (pgclarify_private.classified_corpus(add_trained_classifier.caller, add_trained_classifier.corpus)).corpus_id;
    v_version integer;
begin
    -- Two callers at once would take the same number, and what one of them learned for minutes would be lost.
    perform from pgclarify_private.corpus where corpus.corpus_id = v_corpus_id for no key update;
    select coalesce(max(known.version), 0) + 1 into v_version
    from pgclarify_private.trained_classifier as known
    where known.corpus_id = v_corpus_id;
    insert into pgclarify_private.trained_classifier (
        corpus_id, version, trained_by, shipped_version, examples, threshold, judges_questions, judges_conversations, figures,
        is_better, weights
    )
    select
        v_corpus_id, v_version, (add_trained_classifier.caller).name, given.shipped_version, given.examples, given.threshold,
        given.judges_questions, given.judges_conversations, given.figures, given.is_better, add_trained_classifier.weights
    from jsonb_to_record(add_trained_classifier.trained) as given (
        shipped_version text, examples integer, threshold real, judges_questions boolean, judges_conversations boolean,
        figures jsonb, is_better boolean
    );
    if add_trained_classifier.is_used then
        perform pgclarify_private.put_in_use(v_corpus_id, v_version);
    end if;
    return v_version;
end
$$;

comment on function pgclarify_private.add_trained_classifier(pgclarify_private.caller, text, jsonb, real[], boolean) is
'Store a version of the classifier for a corpus that the caller owns, and return its number. trained: object with the '
'columns of trained_classifier. weights: the trained weights. is_used: whether it judges from now on.';
grant execute on function
    pgclarify_private.add_trained_classifier(pgclarify_private.caller, text, jsonb, real[], boolean) to pgclarify_user;

create or replace function pgclarify_private.use_ambiguity_classifier(
    caller pgclarify_private.caller, corpus text, version integer
)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus_id bigint
        := (pgclarify_private.classified_corpus(use_ambiguity_classifier.caller, use_ambiguity_classifier.corpus)).corpus_id;
begin
    if use_ambiguity_classifier.version is not null and not exists (
        select
        from pgclarify_private.trained_classifier as trained
        where trained.corpus_id = v_corpus_id and trained.version = use_ambiguity_classifier.version
    ) then
        raise exception 'there is no version % of the classifier', use_ambiguity_classifier.version
            using errcode = 'undefined_object',
                detail = format('The corpus is "%s".', pgclarify_private.shown(use_ambiguity_classifier.corpus)),
                hint = 'See: select corpus, version, is_used from pgclarify.ambiguity_classifier.';
    end if;
    return pgclarify_private.put_in_use(v_corpus_id, use_ambiguity_classifier.version);
end
$$;

comment on function pgclarify_private.use_ambiguity_classifier(pgclarify_private.caller, text, integer) is
'Choose the version of the classifier that judges the questions of a corpus: option ambiguity_classifier of alter_corpus. '
'version: null is the shipped classifier.';
grant execute on function
    pgclarify_private.use_ambiguity_classifier(pgclarify_private.caller, text, integer) to pgclarify_user;
