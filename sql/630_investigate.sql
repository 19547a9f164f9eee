-- Investigating: one answer to a question that takes several steps.

create or replace function pgclarify._investigate_options()
returns jsonb
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select '{
        "search": {"choices": ["hybrid", "dense", "lexical"], "default": "hybrid"},
        "reranker": {
            "type": "string", "longest": 500, "keywords": ["signal", "model"], "never": ["none", "embedding"],
            "default": "signal"
        },
        "top_k": {"type": "integer", "least": 1, "most": 100, "default": 10},
        "budget": {"type": "integer", "least": 1, "most": 1000, "default": 32},
        "batch": {"type": "integer", "least": 1, "most": 100, "default": 16},
        "max_steps": {"type": "integer", "least": 1, "most": 20, "default": 4},
        "max_calls": {"type": "integer", "least": 4, "most": 10000, "default": 60},
        "samples": {"type": "integer", "least": 2, "most": 50, "default": 5},
        "penalty": {"type": "boolean", "default": true},
        "reasoner": {"type": "boolean", "default": true},
        "entailment": {
            "type": "string", "longest": 500, "keywords": ["embedding", "model"], "never": ["none", "signal"],
            "default": "embedding"
        }
    }'::jsonb;
end;

comment on function pgclarify._investigate_options() is
'The options of submit_investigation, as _check_options wants them; investigate has timeout besides.';

create or replace function pgclarify._investigate_settings(options jsonb, others jsonb default '{}')
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_settings jsonb := pgclarify._check_options(
        _investigate_settings.options, pgclarify._investigate_options() || _investigate_settings.others
    );
begin
    if (v_settings ->> 'budget')::integer < (v_settings ->> 'top_k')::integer then
        perform pgclarify._raise_budget_is_short((v_settings ->> 'budget')::integer, (v_settings ->> 'top_k')::integer);
    end if;
    return v_settings;
end
$$;

comment on function pgclarify._investigate_settings(jsonb, jsonb) is
'Options of investigations, checked, as run.settings keeps them. others: options besides those of submit_investigation, as '
'_check_options wants them.';

create or replace function pgclarify._investigate(
    caller pgclarify._caller, question text, corpus text, options jsonb
)
returns setof pgclarify.investigation
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_questions text[] := pgclarify._check_questions(array[_investigate.question]);
    v_settings jsonb := pgclarify._investigate_settings(
        _investigate.options, '{"timeout": {"type": "string", "default": "5min"}}'
    );
    v_corpus pgclarify.corpus := pgclarify._find_corpus(
        pgclarify._roles_of(pgclarify._verify_caller(_investigate.caller)), _investigate.corpus
    );
    v_run_ids bigint[];
begin
    v_run_ids := pgclarify._ask(
        _investigate.caller, 'investigate', v_corpus.corpus_id, v_questions, v_settings - 'timeout',
        pgclarify._timeout(v_settings ->> 'timeout')
    );
    perform pgclarify._raise_unless_answered(seen, 'investigate') from pgclarify._current_outcomes(v_run_ids) as seen;
    return query
    select seen.* from pgclarify._current_investigations(v_run_ids, (_investigate.caller).name) as seen;
end
$$;

comment on function pgclarify._investigate(pgclarify._caller, text, text, jsonb) is 'See investigate.';
grant execute on function pgclarify._investigate(pgclarify._caller, text, text, jsonb) to pgclarify_user;

create or replace function pgclarify.investigate(question text, corpus text default null, options jsonb default '{}')
returns setof pgclarify.investigation
language plpgsql volatile
set search_path = pg_catalog, pg_temp
rows 1
as $$
begin
    return query
    select seen.*
    from pgclarify._caller
    cross join lateral pgclarify._investigate(
        _caller, investigate.question, investigate.corpus, investigate.options
    ) as seen;
end
$$;

comment on function pgclarify.investigate(text, text, jsonb) is
'One answer to a question that may take several steps, each with its citations. One row, also if there is no answer: outcome '
'says why. It needs a language model. question: 1 to 10,000 characters. corpus: its name; null means pgclarify.corpus, or the '
'only one. options: search (hybrid, dense, lexical), reranker (signal, model, or a name), top_k (passages that an answer is '
'read from, 10), budget (passages scored a step, 32), batch (16), max_steps (4), max_calls (60), samples (5), penalty '
'(true), reasoner (true), entailment (embedding, model, or a name), timeout (5min).';
grant execute on function pgclarify.investigate(text, text, jsonb) to pgclarify_user;

create or replace function pgclarify._submit_investigation(
    caller pgclarify._caller, question text, corpus text, options jsonb
)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return (
        pgclarify._submit_runs(
            _submit_investigation.caller,
            'investigate',
            pgclarify._check_questions(array[_submit_investigation.question]),
            _submit_investigation.corpus,
            pgclarify._investigate_settings(_submit_investigation.options)
        )
    )[1];
end
$$;

comment on function pgclarify._submit_investigation(pgclarify._caller, text, text, jsonb) is 'See submit_investigation.';
grant execute on function pgclarify._submit_investigation(pgclarify._caller, text, text, jsonb) to pgclarify_user;

create or replace function pgclarify.submit_investigation(
    question text, corpus text default null, options jsonb default '{}'
)
returns bigint
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify._submit_investigation(
        _caller, submit_investigation.question, submit_investigation.corpus, submit_investigation.options
    )
    from pgclarify._caller;
end;

comment on function pgclarify.submit_investigation(text, text, jsonb) is
'Have a question investigated and come back for the answer: the run id, for wait, investigation and cancel. It is part of this '
'transaction: a worker sees it once it commits. While it goes on, view investigation_step has the steps so far. Parameters as '
'in investigate; there is no option timeout.';
grant execute on function pgclarify.submit_investigation(text, text, jsonb) to pgclarify_user;

create or replace function pgclarify._investigation(caller pgclarify._caller, run_id bigint)
returns setof pgclarify.investigation
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify.run := pgclarify._answered_run(_investigation.caller, _investigation.run_id, '{investigate}');
begin
    return query
    select seen.* from pgclarify._investigations(array[v_run.run_id], (_investigation.caller).name) as seen;
end
$$;

comment on function pgclarify._investigation(pgclarify._caller, bigint) is 'See investigation.';
grant execute on function pgclarify._investigation(pgclarify._caller, bigint) to pgclarify_reader;

create or replace function pgclarify.investigation(run_id bigint)
returns setof pgclarify.investigation
language plpgsql volatile
set search_path = pg_catalog, pg_temp
rows 1
as $$
begin
    return query
    select seen.*
    from pgclarify._caller
    cross join lateral pgclarify._investigation(_caller, investigation.run_id) as seen;
end
$$;

comment on function pgclarify.investigation(bigint) is
'What an investigation came to: one row. Error 55000 if it is not over, PC003 if it failed or was cancelled; a warning if it '
'is partial. run_id: from submit_investigation, or any investigation that you may see.';
grant execute on function pgclarify.investigation(bigint) to pgclarify_reader;
