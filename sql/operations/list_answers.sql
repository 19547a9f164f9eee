-- Listing answers: those of a question that has several, one after the other.

create or replace view pgclarify.answer_list with (security_invoker) as
select
    listed.run_id,
    run.corpus_name as corpus,
    run.question,
    listed.ordinal,
    listed.answer,
    array_to_string(listed.variants, '; ') as variants,
    (
        select count(distinct evidence.document_id)
        from pgclarify.evidence
        where evidence.run_id = listed.run_id and evidence.ordinal = listed.ordinal
    ) as documents,
    listed.created_at
from pgclarify.listed_answer as listed
inner join pgclarify.run on listed.run_id = run.run_id;

comment on view pgclarify.answer_list is
'Answers that were listed, also while a run goes on. Their citations are in view evidence_citation.';
comment on column pgclarify.answer_list.run_id is 'The run.';
comment on column pgclarify.answer_list.corpus is 'The corpus''s name when it was asked.';
comment on column pgclarify.answer_list.question is 'The question.';
comment on column pgclarify.answer_list.ordinal is 'The order in which they were found, from 1.';
comment on column pgclarify.answer_list.answer is 'The answer, as it was first found.';
comment on column pgclarify.answer_list.variants is
'Spellings in which it was found, the answer itself first, with semicolons between them.';
comment on column pgclarify.answer_list.documents is 'Documents that it was found in, whoever may read them.';
comment on column pgclarify.answer_list.created_at is 'When it was found.';
grant select on pgclarify.answer_list to pgclarify_reader;

create or replace function pgclarify_private.list_answers_options()
returns jsonb
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        jsonb_build_object(
            'search', pgclarify_private.clarify_options() -> 'search',
            'reranker', pgclarify_private.clarify_options() -> 'reranker'
        )
        || '{
            "top_k": {"type": "integer", "least": 1, "most": 100, "default": 20},
            "evidence_tokens": {"type": "integer", "least": 100, "most": 100000, "default": 3000},
            "max_answers": {"type": "integer", "least": 1, "most": 50, "default": 10},
            "timeout": {"type": "string", "default": "5min"}
        }'::jsonb;
end;

comment on function pgclarify_private.list_answers_options() is 'The options of list_answers, as check_options wants them.';

create or replace function pgclarify_private.answers(run_ids bigint[], requester name)
returns setof pgclarify.answer
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    with asked as materialized (
        select pgclarify_private.roles_of(answers.requester) as roles
    )
    select
        listed.run_id,
        listed.ordinal,
        listed.answer,
        listed.variants,
        pgclarify_private.evidence_document_ids(listed.run_id, listed.ordinal, asked.roles),
        pgclarify_private.evidence_of(listed.run_id, listed.ordinal, asked.roles)
    from pgclarify.listed_answer as listed
    cross join asked
    where listed.run_id = any(answers.run_ids)
        and not exists (
            select
            from pgclarify.evidence
            where evidence.run_id = listed.run_id
                and evidence.ordinal = listed.ordinal
                and evidence.rank = 1
                and evidence.candidate_rank = any((pgclarify_private.withheld_ranks(listed.run_id, asked.roles))::integer[])
        )
    order by listed.run_id, listed.ordinal;
end;

comment on function pgclarify_private.answers(bigint[], name) is
'What runs listed, without asking who may see them; of the documents, what the requester may read now.';

create or replace function pgclarify_private.current_answers(run_ids bigint[], requester name)
returns setof pgclarify.answer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if pgclarify_private.is_out_of_sight(current_answers.run_ids) then
        return query
        select seen.*
        from jsonb_populate_recordset(
            null::pgclarify.answer,
            pgclarify_private.rows('answer', current_answers.run_ids, current_answers.requester)
        ) as seen;
    else
        return query
        select seen.* from pgclarify_private.answers(current_answers.run_ids, current_answers.requester) as seen;
    end if;
end
$$;

comment on function pgclarify_private.current_answers(bigint[], name) is
'What runs that are over listed, also those that the snapshot of this transaction is too old to see.';

create or replace function pgclarify_private.list_answers(
    caller pgclarify_private.caller, question text, corpus text, options jsonb
)
returns setof pgclarify.answer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_questions text[] := pgclarify_private.check_questions(array[list_answers.question]);
    v_settings jsonb := pgclarify_private.check_options(list_answers.options, pgclarify_private.list_answers_options());
    v_corpus pgclarify.corpus := pgclarify_private.find_corpus(
        pgclarify_private.roles_of(pgclarify_private.verify_caller(list_answers.caller)), list_answers.corpus
    );
    v_run_ids bigint[];
begin
    v_run_ids := pgclarify_private.ask(
        list_answers.caller, 'list_answers', v_corpus.corpus_id, v_questions, v_settings - 'timeout',
        pgclarify_private.timeout(v_settings ->> 'timeout')
    );
    perform pgclarify_private.raise_unless_answered(seen, 'list_answers')
    from pgclarify_private.current_outcomes(v_run_ids) as seen;
    return query
    select seen.* from pgclarify_private.current_answers(v_run_ids, (list_answers.caller).name) as seen;
end
$$;

comment on function pgclarify_private.list_answers(pgclarify_private.caller, text, text, jsonb) is 'See list_answers.';
grant execute on function pgclarify_private.list_answers(pgclarify_private.caller, text, text, jsonb) to pgclarify_user;

create or replace function pgclarify.list_answers(question text, corpus text default null, options jsonb default '{}')
returns setof pgclarify.answer
language plpgsql volatile
set search_path = pg_catalog, pg_temp
rows 5
as $$
begin
    return query
    select seen.*
    from pgclarify_private.caller
    cross join lateral pgclarify_private.list_answers(
        caller, list_answers.question, list_answers.corpus, list_answers.options
    ) as seen;
end
$$;

comment on function pgclarify.list_answers(text, text, jsonb) is
'The answers of a question that has several, one by one, each found knowing those before it and with a quote; no rows if '
'the corpus has none. It needs a language model. While it goes on, view answer_list has those found so far. question: 1 to '
'10,000 characters. corpus: its name; null means pgclarify.corpus, or the only one. options: search (hybrid, dense, lexical), '
'reranker (signal, model, or a name), top_k (passages that are found, 20), evidence_tokens (how much of them is read, 3000), '
'max_answers (10), timeout (5min).';
grant execute on function pgclarify.list_answers(text, text, jsonb) to pgclarify_user;
