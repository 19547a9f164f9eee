-- Listing answers to a question that has several.

create or replace view pgclarify.listed_answer as
select
    listed.run_id,
    run.corpus_name || '' as corpus,
    run.question || '' as question,
    listed.ordinal,
    listed.answer || '' as answer,
    trim_array(listed.variants, 0) as variants,
    (
        select count(distinct citation.document_id)
        from pgclarify_private.citation
        where citation.run_id = listed.run_id and citation.ordinal = listed.ordinal
    ) as documents,
    listed.created_at
from pgclarify_private.listed_answer as listed
inner join pgclarify_private.run on listed.run_id = run.run_id;

comment on view pgclarify.listed_answer is
'Listed answers. Their citations are in view citation. An answer with several spellings is hidden if a citation of it is; '
'list_answers shows its first spelling.';
comment on column pgclarify.listed_answer.corpus is 'The corpus''s name at the time of the question.';
comment on column pgclarify.listed_answer.question is 'The question.';
comment on column pgclarify.listed_answer.documents is 'How many documents have it, including those that you may not read.';
grant select on pgclarify.listed_answer to pgclarify_reader;

create or replace function pgclarify_private.rows(row_type pgclarify.answer, run_ids bigint[], requester name)
returns setof pgclarify.answer
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        listed.run_id,
        listed.ordinal,
        listed.answer,
        -- Which citation has which spelling is not recorded. The first citation has the first one.
        case when cited.has_withheld then listed.variants[:1] else listed.variants end,
        coalesce(cited.document_ids, '{}'),
        coalesce(cited.citations, '[]')
    from pgclarify_private.listed_answer as listed
    left join pgclarify_private.cited(rows.run_ids, pgclarify_private.roles_of(rows.requester)) as cited
        on listed.run_id = cited.run_id and listed.ordinal = cited.ordinal
    where listed.run_id = any(rows.run_ids) and cited.is_withheld is not true
    order by listed.run_id, listed.ordinal;
end;

comment on function pgclarify_private.rows(pgclarify.answer, bigint[], name) is
'Listed answers of runs. It does not check who may see the runs; documents are those that the requester may read now. If a '
'citation is withheld, the answer has only its first spelling.';

create or replace function pgclarify.list_answers(question text, corpus text default null, options jsonb default '{}')
returns setof pgclarify.answer
language sql volatile
set search_path = pg_catalog, pg_temp
rows 5
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral jsonb_populate_recordset(
        null::pgclarify.answer,
        pgclarify_private.start_and_wait(
            caller,
            'list_answers',
            jsonb_build_object('question', list_answers.question, 'corpus', list_answers.corpus),
            list_answers.options
        )
    ) as seen;
end;

comment on function pgclarify.list_answers(text, text, jsonb) is
'The answers of a question that has several, each one once, with quotes: those that most documents give first. No rows if the '
'corpus has none. Passages are judged as by clarify, with the same calls. question: 1 to 10,000 characters. corpus: its name; '
'null means pgclarify.corpus, or the only one. options: method (hybrid, dense, lexical), reranker (signal, model, or a name), '
'top_k (passages to judge, 20), max_answers (10), timeout (5min).';
grant execute on function pgclarify.list_answers(text, text, jsonb) to pgclarify_user;
