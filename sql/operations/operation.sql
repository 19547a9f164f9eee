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
        ('detect_ambiguity', 'detection', 'detection', false),
        ('rewrite', 'rewriting', 'rewriting', true),
        ('clarifying_questions', 'proposed_question', 'clarifying_question', true),
        ('reply', 'rewriting', 'rewriting', true),
        ('list_answers', 'answer', 'listed_answer', true),
        -- It calls no model, but it estimates calls of the model of its worker.
        ('estimate', 'estimate', 'estimate', true)
    ) as known (operation, row_type, result_view, prefers_language_model);
end;

comment on function pgclarify_private.operations() is
'The operations. A run of each has rows of row_type, a type of schema pgclarify; function rows of that type finds '
'them, and the public result_view shows them by run_id. prefers_language_model: whether a worker with a language model is '
'preferred for all settings.';

create or replace function pgclarify_private.parameters_of(operation text)
returns jsonb
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_question constant jsonb := '{"question": {"type": "string"}}';
    v_corpus constant jsonb := '{"corpus": {"type": "string"}}';
    v_top_k constant jsonb := '{"top_k": {"type": "integer", "least": 1, "most": 1000}}';
    v_history constant jsonb := '{"history": {"type": "array"}}';
    v_run constant jsonb := '{"run_id": {"type": "integer", "least": 1, "most": 9223372036854775807}}';
begin
    -- In the language of procedures: a query would be planned for each call.
    return case
        when parameters_of.operation in ('clarify', 'search') then v_question || v_corpus || v_top_k
        when parameters_of.operation in ('investigate', 'list_answers') then v_question || v_corpus
        when parameters_of.operation in ('detect_ambiguity', 'rewrite') then v_question || v_history
        when parameters_of.operation = 'clarifying_questions' then v_question || v_corpus || v_history
        when parameters_of.operation = 'consolidate' then v_run
        when parameters_of.operation = 'reply' then v_run || '{
            "reply": {"type": "string"}, "ordinal": {"type": "integer", "least": 1, "most": 10}
        }'
        when parameters_of.operation = 'estimate' then v_corpus || v_top_k || '{"questions": {"type": "array"}}'
    end;
end
$$;

comment on function pgclarify_private.parameters_of(text) is
'The parameters of an operation, in the form of check_options; null if there is no such operation.';
