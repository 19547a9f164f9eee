-- Written by `make generated` from pgclarify/declared. Do not edit.
-- The operations, as data: the core asks these functions, and never for a name.

create or replace function pgclarify_private.operations()
returns table (operation text, row_type text, result_view text)
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select known.*
    from (
        values
        ('clarify', 'clarification', 'interpretation'),
        ('consolidate', 'clarification', 'interpretation'),
        ('search', 'search_result', 'candidate'),
        ('investigate', 'investigation', 'investigation_step'),
        ('detect_ambiguity', 'detection', 'detection'),
        ('rewrite', 'rewriting', 'rewriting'),
        ('clarifying_questions', 'proposed_question', 'clarifying_question'),
        ('reply', 'rewriting', 'rewriting'),
        ('list_answers', 'answer', 'listed_answer'),
        ('estimate', 'estimate', 'estimate')
    ) as known (operation, row_type, result_view);
end;

comment on function pgclarify_private.operations() is
'The operations. A run of each has rows of row_type, a type of schema pgclarify; the internal function with the name of the '
'type and _rows finds them, and the public result_view shows them by run_id.';

create or replace function pgclarify_private.searches(operation text)
returns boolean
language sql immutable parallel safe
begin atomic
    select searches.operation in ('clarify', 'search', 'investigate', 'clarifying_questions', 'list_answers', 'estimate');
end;

comment on function pgclarify_private.searches(text) is
'Whether the operation searches the passages of a corpus.';
grant execute on function pgclarify_private.searches(text) to pgclarify_reader;

create or replace function pgclarify_private.searches_for_question(operation text)
returns boolean
language sql immutable parallel safe
begin atomic
    select searches_for_question.operation in ('clarify', 'search', 'list_answers');
end;

comment on function pgclarify_private.searches_for_question(text) is
'Whether the operation searches for the question itself, and not for questions of its own.';
grant execute on function pgclarify_private.searches_for_question(text) to pgclarify_reader;

create or replace function pgclarify_private.finds_readings(operation text)
returns boolean
language sql immutable parallel safe
begin atomic
    select finds_readings.operation in ('clarify', 'consolidate');
end;

comment on function pgclarify_private.finds_readings(text) is
'Whether the operation''s results are readings: its run has interpretations, from verdicts on passages.';
grant execute on function pgclarify_private.finds_readings(text) to pgclarify_reader;

create or replace function pgclarify_private.answers_questions(operation text)
returns boolean
language sql immutable parallel safe
begin atomic
    select answers_questions.operation in ('clarify', 'consolidate', 'search', 'investigate', 'list_answers');
end;

comment on function pgclarify_private.answers_questions(text) is
'Whether the operation answers a question of a person from documents. Such questions are grouped.';
grant execute on function pgclarify_private.answers_questions(text) to pgclarify_reader;

create or replace function pgclarify_private.is_shown_as_question(operation text)
returns boolean
language sql immutable parallel safe
begin atomic
    select is_shown_as_question.operation in ('clarify');
end;

comment on function pgclarify_private.is_shown_as_question(text) is
'Whether the views of questions count its runs.';
grant execute on function pgclarify_private.is_shown_as_question(text) to pgclarify_reader;

create or replace function pgclarify_private.copies_verdicts(operation text)
returns boolean
language sql immutable parallel safe
begin atomic
    select copies_verdicts.operation in ('consolidate');
end;

comment on function pgclarify_private.copies_verdicts(text) is
'Whether the operation reads the verdicts of its parent run instead of passages.';
grant execute on function pgclarify_private.copies_verdicts(text) to pgclarify_reader;

create or replace function pgclarify_private.is_conversation(operation text)
returns boolean
language sql immutable parallel safe
begin atomic
    select is_conversation.operation in ('clarifying_questions', 'reply');
end;

comment on function pgclarify_private.is_conversation(text) is
'Whether the operation''s run has what a person said before, which only the asking role may continue.';
grant execute on function pgclarify_private.is_conversation(text) to pgclarify_reader;

create or replace function pgclarify_private.takes_many(operation text)
returns boolean
language sql immutable parallel safe
begin atomic
    select takes_many.operation in ('detect_ambiguity');
end;

comment on function pgclarify_private.takes_many(text) is
'Whether one run of it may have many questions.';
grant execute on function pgclarify_private.takes_many(text) to pgclarify_reader;

create or replace function pgclarify_private.prefers_language_model(operation text)
returns boolean
language sql immutable parallel safe
begin atomic
    select prefers_language_model.operation in (
        'investigate', 'rewrite', 'clarifying_questions', 'reply', 'list_answers', 'estimate'
    );
end;

comment on function pgclarify_private.prefers_language_model(text) is
'Whether workers with a language model are preferred, whatever the settings.';
grant execute on function pgclarify_private.prefers_language_model(text) to pgclarify_reader;

create or replace function pgclarify_private.reuses_runs(operation text)
returns boolean
language sql immutable parallel safe
begin atomic
    select reuses_runs.operation in (
        'clarify', 'consolidate', 'search', 'investigate', 'clarifying_questions', 'reply', 'list_answers'
    );
end;

comment on function pgclarify_private.reuses_runs(text) is
'Whether an earlier run with the same question and corpus has the answer.';
grant execute on function pgclarify_private.reuses_runs(text) to pgclarify_reader;

create or replace function pgclarify_private.result_count(run pgclarify_private.run)
returns bigint
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        case ($1).operation
            when 'clarify' then (
                select count(*) from pgclarify_private.interpretation as result
                where result.run_id = ($1).run_id and result.is_shown
            )
            when 'consolidate' then (
                select count(*) from pgclarify_private.interpretation as result
                where result.run_id = ($1).run_id and result.is_shown
            )
            when 'search' then (
                select count(*) from pgclarify_private.candidate as result
                where result.run_id = ($1).run_id
            )
            when 'investigate' then (
                select count(*) from pgclarify_private.step as result
                where result.run_id = ($1).run_id and result.kind = 'conclusion' and result.outcome = 'answered'
            )
            when 'clarifying_questions' then (
                select count(*) from pgclarify_private.clarifying_question as result
                where result.run_id = ($1).run_id
            )
            when 'list_answers' then (
                select count(*) from pgclarify_private.listed_answer as result
                where result.run_id = ($1).run_id
            )
        end;
end;

comment on function pgclarify_private.result_count(pgclarify_private.run) is
'How many results a run found; null for operations that do not look for answers in documents.';

create or replace function pgclarify_private.check_settings(operation text, settings jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return case check_settings.operation
        when 'clarify' then pgclarify_private.check_judging(check_settings.settings)
        when 'consolidate' then pgclarify_private.check_grouping(check_settings.settings)
        when 'search' then pgclarify_private.check_searching(check_settings.settings)
        when 'investigate' then pgclarify_private.check_investigating(check_settings.settings)
        when 'clarifying_questions' then pgclarify_private.check_asking_back(check_settings.settings)
        when 'estimate' then pgclarify_private.check_judging(check_settings.settings)
        else check_settings.settings
    end;
end
$$;

comment on function pgclarify_private.check_settings(text, jsonb) is
'Options of an operation, with top_k, as run.settings has them, and timeout: completed by defaults that depend on other '
'options; or error 22023 for options that exclude each other.';

create or replace function pgclarify_private.prepare_run(
    caller pgclarify_private.caller, run pgclarify_private.run, parameters jsonb
)
returns pgclarify_private.run
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    case (prepare_run.run).operation
        when 'clarify' then
            return pgclarify_private.prepare_clarification(prepare_run.caller, prepare_run.run, prepare_run.parameters);
        when 'consolidate' then
            return pgclarify_private.prepare_consolidation(prepare_run.caller, prepare_run.run, prepare_run.parameters);
        when 'rewrite' then
            return pgclarify_private.prepare_rewriting(prepare_run.caller, prepare_run.run, prepare_run.parameters);
        when 'clarifying_questions' then
            return pgclarify_private.prepare_clarifying_questions(prepare_run.caller, prepare_run.run, prepare_run.parameters);
        when 'reply' then
            return pgclarify_private.prepare_reply(prepare_run.caller, prepare_run.run, prepare_run.parameters);
        when 'estimate' then
            return pgclarify_private.prepare_estimate(prepare_run.caller, prepare_run.run, prepare_run.parameters);
        else
            return pgclarify_private.prepare_question(prepare_run.caller, prepare_run.run, prepare_run.parameters);
    end case;
end
$$;

comment on function pgclarify_private.prepare_run(pgclarify_private.caller, pgclarify_private.run, jsonb) is
'The run that an operation enters. run: with its operation and its settings, which are checked. parameters: those of the '
'public function, by name.';
