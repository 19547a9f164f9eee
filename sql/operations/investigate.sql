-- Investigating: one answer to a question that needs several steps.

create or replace function pgclarify_private.prepare_investigate(
    caller pgclarify_private.caller, question text, corpus text default null, options jsonb default '{}'
)
returns pgclarify_private.run
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_questions constant text[] := pgclarify_private.check_questions(array[prepare_investigate.question]);
    v_settings constant jsonb := pgclarify_private.check_options(
        prepare_investigate.options, pgclarify_private.options_of('investigate')
    );
    v_corpus constant pgclarify_private.corpus := pgclarify_private.find_corpus(
        pgclarify_private.roles_of(pgclarify_private.verify_caller(prepare_investigate.caller)), prepare_investigate.corpus
    );
begin
    if (v_settings ->> 'max_passages')::integer < (v_settings ->> 'top_k')::integer then
        perform pgclarify_private.raise_too_few_passages(
            (v_settings ->> 'max_passages')::integer, (v_settings ->> 'top_k')::integer
        );
    end if;
    return pgclarify_private.new_run('investigate', v_corpus.corpus_id, v_questions[1], v_settings);
end
$$;

comment on function pgclarify_private.prepare_investigate(pgclarify_private.caller, text, text, jsonb) is
'The run that investigate enters.';

create or replace function pgclarify.investigate(question text, corpus text default null, options jsonb default '{}')
returns setof pgclarify.investigation
language sql volatile
set search_path = pg_catalog, pg_temp
rows 1
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral jsonb_populate_recordset(
        null::pgclarify.investigation,
        pgclarify_private.start_and_wait(
            caller,
            'investigate',
            jsonb_build_object('question', investigate.question, 'corpus', investigate.corpus, 'options', investigate.options)
        )
    ) as seen;
end;

comment on function pgclarify.investigate(text, text, jsonb) is
'One answer to a question that may take several steps, each with its citations. One row, even if there is no answer: then '
'outcome says why. It needs a language model. question: 1 to 10,000 characters. corpus: its name; null means '
'pgclarify.corpus, or the only one. options: method (hybrid, dense, lexical), retrieval (adaptive; fixed: without neighbors '
'of passages), reranker (signal, model, or a name), top_k (passages that an answer is read from, 10), max_passages '
'(to score for each step, 32), max_steps (4; 0: the question is not split), max_calls (60), entailment (how '
'sampled answers are compared: embedding, model, or a name; none: no answers are sampled), timeout (5min).';
grant execute on function pgclarify.investigate(text, text, jsonb) to pgclarify_user;
