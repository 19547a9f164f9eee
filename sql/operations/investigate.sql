-- Investigating: one answer to a question that takes several steps.

create or replace function pgclarify_private.investigate_options()
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

comment on function pgclarify_private.investigate_options() is
'The options of submit_investigation, as check_options wants them; investigate has timeout besides.';

create or replace function pgclarify_private.investigate_settings(options jsonb, others jsonb default '{}')
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_settings jsonb := pgclarify_private.check_options(
        investigate_settings.options, pgclarify_private.investigate_options() || investigate_settings.others
    );
begin
    if (v_settings ->> 'budget')::integer < (v_settings ->> 'top_k')::integer then
        perform pgclarify_private.raise_budget_is_short((v_settings ->> 'budget')::integer, (v_settings ->> 'top_k')::integer);
    end if;
    return v_settings;
end
$$;

comment on function pgclarify_private.investigate_settings(jsonb, jsonb) is
'Options of investigations, checked, as run.settings keeps them. others: options besides those of submit_investigation, as '
'check_options wants them.';

create or replace function pgclarify_private.investigate(
    caller pgclarify_private.caller, question text, corpus text, options jsonb
)
returns setof pgclarify.investigation
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_questions text[] := pgclarify_private.check_questions(array[investigate.question]);
    v_settings jsonb := pgclarify_private.investigate_settings(
        investigate.options, '{"timeout": {"type": "string", "default": "5min"}}'
    );
    v_corpus pgclarify.corpus := pgclarify_private.find_corpus(
        pgclarify_private.roles_of(pgclarify_private.verify_caller(investigate.caller)), investigate.corpus
    );
    v_run_ids bigint[];
begin
    v_run_ids := pgclarify_private.ask(
        investigate.caller, 'investigate', v_corpus.corpus_id, v_questions, v_settings - 'timeout',
        pgclarify_private.timeout(v_settings ->> 'timeout')
    );
    perform pgclarify_private.raise_unless_answered(seen, 'investigate')
    from pgclarify_private.current_outcomes(v_run_ids) as seen;
    return query
    select seen.* from pgclarify_private.current_investigations(v_run_ids, (investigate.caller).name) as seen;
end
$$;

comment on function pgclarify_private.investigate(pgclarify_private.caller, text, text, jsonb) is 'See investigate.';
grant execute on function pgclarify_private.investigate(pgclarify_private.caller, text, text, jsonb) to pgclarify_user;

create or replace function pgclarify.investigate(question text, corpus text default null, options jsonb default '{}')
returns setof pgclarify.investigation
language plpgsql volatile
set search_path = pg_catalog, pg_temp
rows 1
as $$
begin
    return query
    select seen.*
    from pgclarify_private.caller
    cross join lateral pgclarify_private.investigate(
        caller, investigate.question, investigate.corpus, investigate.options
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

create or replace function pgclarify_private.submit_investigation(
    caller pgclarify_private.caller, question text, corpus text, options jsonb
)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return (
        pgclarify_private.submit_runs(
            submit_investigation.caller,
            'investigate',
            pgclarify_private.check_questions(array[submit_investigation.question]),
            submit_investigation.corpus,
            pgclarify_private.investigate_settings(submit_investigation.options)
        )
    )[1];
end
$$;

comment on function pgclarify_private.submit_investigation(pgclarify_private.caller, text, text, jsonb) is
'See submit_investigation.';
grant execute on function pgclarify_private.submit_investigation(pgclarify_private.caller, text, text, jsonb) to pgclarify_user;

create or replace function pgclarify.submit_investigation(
    question text, corpus text default null, options jsonb default '{}'
)
returns bigint
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.submit_investigation(
        caller, submit_investigation.question, submit_investigation.corpus, submit_investigation.options
    )
    from pgclarify_private.caller;
end;

comment on function pgclarify.submit_investigation(text, text, jsonb) is
'Have a question investigated and come back for the answer: the run id, for wait, investigation and cancel. It is part of this '
'transaction: a worker sees it once it commits. While it goes on, view investigation_step has the steps so far. Parameters as '
'in investigate; there is no option timeout.';
grant execute on function pgclarify.submit_investigation(text, text, jsonb) to pgclarify_user;

create or replace function pgclarify_private.investigation(caller pgclarify_private.caller, run_id bigint)
returns setof pgclarify.investigation
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify.run := pgclarify_private.answered_run(investigation.caller, investigation.run_id, '{investigate}');
begin
    return query
    select seen.* from pgclarify_private.investigations(array[v_run.run_id], (investigation.caller).name) as seen;
end
$$;

comment on function pgclarify_private.investigation(pgclarify_private.caller, bigint) is 'See investigation.';
grant execute on function pgclarify_private.investigation(pgclarify_private.caller, bigint) to pgclarify_reader;

create or replace function pgclarify.investigation(run_id bigint)
returns setof pgclarify.investigation
language plpgsql volatile
set search_path = pg_catalog, pg_temp
rows 1
as $$
begin
    return query
    select seen.*
    from pgclarify_private.caller
    cross join lateral pgclarify_private.investigation(caller, investigation.run_id) as seen;
end
$$;

comment on function pgclarify.investigation(bigint) is
'What an investigation came to: one row. Error 55000 if it is not over, PC003 if it failed or was cancelled; a warning if it '
'is partial. run_id: from submit_investigation, or any investigation that you may see.';
grant execute on function pgclarify.investigation(bigint) to pgclarify_reader;
