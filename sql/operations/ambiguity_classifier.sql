-- Versions of the classifier of ambiguity that were trained on labelled questions of a corpus.

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
    v_run pgclarify_private.run := pgclarify_private.check_searchable(
        pgclarify_private.running_attempt(classifier_of_run.run_id, classifier_of_run.attempt)
    );
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
    v_corpus_id bigint := (pgclarify_private.edited_corpus(classifier_in_use.caller, classifier_in_use.corpus)).corpus_id;
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
        := (pgclarify_private.edited_corpus(add_trained_classifier.caller, add_trained_classifier.corpus)).corpus_id;
    v_version integer;
begin
    -- Two callers at once would take the same number, and what one of them learned for minutes would be lost.
    perform from pgclarify_private.living_corpus as corpus where corpus.corpus_id = v_corpus_id for no key update;
    select coalesce(max(known.version), 0) + 1 into v_version
    from pgclarify_private.trained_classifier as known
    where known.corpus_id = v_corpus_id;
    insert into pgclarify_private.trained_classifier (
        corpus_id, version, shipped_version, examples, threshold, judges_questions, judges_conversations, figures, is_better,
        weights
    )
    select
        v_corpus_id, v_version, given.shipped_version, given.examples, given.threshold, given.judges_questions,
        given.judges_conversations, given.figures, given.is_better, add_trained_classifier.weights
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
        := (pgclarify_private.edited_corpus(use_ambiguity_classifier.caller, use_ambiguity_classifier.corpus)).corpus_id;
begin
    if use_ambiguity_classifier.version is not null and not exists (
        select
        from pgclarify_private.trained_classifier as trained
        where trained.corpus_id = v_corpus_id and trained.version = use_ambiguity_classifier.version
    ) then
        raise exception 'there is no version % of the classifier', use_ambiguity_classifier.version
            using errcode = 'undefined_object',
                detail = format('The corpus is "%s".', pgclarify_private.shown(use_ambiguity_classifier.corpus)),
                hint = 'pgclarify eval train-ambiguity prints the number of each version.';
    end if;
    return pgclarify_private.put_in_use(v_corpus_id, use_ambiguity_classifier.version);
end
$$;

comment on function pgclarify_private.use_ambiguity_classifier(pgclarify_private.caller, text, integer) is
'Choose the version of the classifier that judges the questions of a corpus: option ambiguity_classifier of alter_corpus. '
'version: null is the shipped classifier.';
grant execute on function
    pgclarify_private.use_ambiguity_classifier(pgclarify_private.caller, text, integer) to pgclarify_user;
