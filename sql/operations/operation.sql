-- Operations, as data. The parts of a single operation are in its own file.

create or replace function pgclarify_private.operations()
returns table (operation text, row_type text, result_view text, prefers_language_model boolean)
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select known.*
    from (
        values
        ('clarify', 'clarification', 'interpretation', false),
        ('consolidate', 'clarification', 'interpretation', false),
        ('search', 'search_result', 'candidate', false),
        ('investigate', 'investigation', 'investigation_step', true),
        ('detect_ambiguity', 'ambiguity', 'detection', false),
        ('rewrite', 'rewritten_question', 'rewriting', true),
        ('clarifying_questions', 'proposed_question', 'clarifying_question', true),
        ('reply', 'rewritten_question', 'rewriting', true),
        ('list_answers', 'answer', 'listed_answer', true),
        -- It calls no model, but it estimates calls of the model of its worker.
        ('estimate', 'estimation', 'estimate', true)
    ) as known (operation, row_type, result_view, prefers_language_model);
end;

comment on function pgclarify_private.operations() is
'The operations. A run of each has rows of row_type, a composite type of schema pgclarify; function rows of that type finds '
'them, and the public result_view shows them by run_id. prepare_<operation> has the arguments of an operation, and checks '
'them. '
'prefers_language_model: whether a worker with a language model is preferred for all settings.';

create or replace function pgclarify_private.new_run(
    operation text,
    corpus_id bigint,
    question text,
    settings jsonb,
    history jsonb default '[]',
    parent_run_id bigint default null
)
returns pgclarify_private.run
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run;
begin
    v_run.operation := new_run.operation;
    v_run.corpus_id := new_run.corpus_id;
    v_run.question := new_run.question;
    v_run.settings := new_run.settings;
    v_run.history := new_run.history;
    v_run.parent_run_id := new_run.parent_run_id;
    return v_run;
end
$$;

comment on function pgclarify_private.new_run(text, bigint, text, jsonb, jsonb, bigint) is
'A new run that is not entered yet, for ask and submit. settings: they may have the option timeout, which is not a setting '
'of a run.';
