-- Detecting ambiguous questions.

create or replace view pgclarify.detection as
select
    detection.run_id,
    run.operation,
    run.corpus_name || '' as corpus,
    detection.ordinal,
    detection.question || '' as question,
    detection.is_ambiguous,
    detection.probability,
    detection.kind,
    detection.reasons #> '{}' as reasons,
    detection.classifier_version || '' as classifier_version,
    run.finished_at
from pgclarify_private.detection
inner join pgclarify_private.run on detection.run_id = run.run_id;

comment on view pgclarify.detection is
'Questions with their judgement, ambiguous or clear, and the reasons: from detect_ambiguity, rewrite, and clarify with option '
'ask_back.';
comment on column pgclarify.detection.operation is
'detect_ambiguity, rewrite or clarify.';
comment on column pgclarify.detection.corpus is
'The corpus''s name at the time of the question; null without a corpus.';
comment on column pgclarify.detection.finished_at is 'When the run ended; null before.';
grant select on pgclarify.detection to pgclarify_reader;

create or replace function pgclarify_private.rows(row_type pgclarify.detection, run_ids bigint[], requester name)
returns setof pgclarify.detection
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        detection.run_id, run.operation, run.corpus_name, detection.ordinal, detection.question, detection.is_ambiguous,
        detection.probability, detection.kind,
        detection.reasons,
        detection.classifier_version, run.finished_at
    from pgclarify_private.detection
    inner join pgclarify_private.run on detection.run_id = run.run_id
    where detection.run_id = any(rows.run_ids)
    order by detection.run_id, detection.ordinal;
end;

comment on function pgclarify_private.rows(pgclarify.detection, bigint[], name) is
'Results of runs of detect_ambiguity. It does not check who may see them.';

create or replace function pgclarify.detect_ambiguity(
    question text, history text[] default '{}', options jsonb default '{}'
)
returns setof pgclarify.detection
language sql volatile
set search_path = pg_catalog, pg_temp
rows 1
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral jsonb_populate_recordset(
        null::pgclarify.detection,
        pgclarify_private.start_and_wait(
            caller,
            'detect_ambiguity',
            jsonb_build_object('question', detect_ambiguity.question, 'history', detect_ambiguity.history),
            detect_ambiguity.options
        )
    ) as seen;
end;

comment on function pgclarify.detect_ambiguity(text, text[], jsonb) is
'Whether a question is ambiguous, and why: one row. It needs no language model. question: 1 to 10,000 characters. history: '
'earlier turns, oldest first, one element for each turn. options: threshold (a question is ambiguous if its probability is at '
'least this, 0 to 1; the classifier''s own), corpus (uses its rules and its classifier), timeout (60s).';
grant execute on function pgclarify.detect_ambiguity(text, text[], jsonb) to pgclarify_user;
