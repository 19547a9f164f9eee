-- Investigating: one answer to a question that needs several steps.

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
            jsonb_build_object('question', investigate.question, 'corpus', investigate.corpus),
            investigate.options
        )
    ) as seen;
end;

comment on function pgclarify.investigate(text, text, jsonb) is
'One answer to a question that may take several steps, each with its citations. One row, even if there is no answer: then '
'outcome says why. It needs a language model. question: 1 to 10,000 characters. corpus: its name; null means '
'pgclarify.corpus, or the only one. options: method (hybrid, dense, lexical), retrieval (adaptive; fixed: without neighbors '
'of passages), reranker (signal, model, or a name), top_k (passages that an answer is read from, 10), max_passages '
'(to score for each step, 32), max_steps (4; 0 or 1: the question is not split), max_calls (60), entailment (how '
'sampled answers are compared: embedding, model, or a name; none: no answers are sampled), timeout (5min).';
grant execute on function pgclarify.investigate(text, text, jsonb) to pgclarify_user;
