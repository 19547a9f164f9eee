-- Clarifying questions, or reformulations to choose from, and the passages that show that the corpus answers them.

create or replace view pgclarify.clarifying_question as
select
    listed.run_id,
    run.corpus_name || '' as corpus,
    run.question || '' as question,
    run.settings ->> 'form' as form,
    listed.ordinal,
    listed.ambiguity_type,
    listed.clarifying_question || '' as clarifying_question,
    listed.reformulation || '' as reformulation,
    listed.reasoning || '' as reasoning,
    listed.is_answerable,
    (
        select count(distinct citation.document_id)
        from pgclarify_private.citation
        where citation.run_id = listed.run_id and citation.ordinal = listed.ordinal
    ) as documents
from pgclarify_private.clarifying_question as listed
inner join pgclarify_private.run on listed.run_id = run.run_id;

comment on view pgclarify.clarifying_question is
'Clarifying questions, and reformulations to choose from. Their citations are in view citation.';
comment on column pgclarify.clarifying_question.corpus is
'The corpus''s name at the time of the question; null without a corpus.';
comment on column pgclarify.clarifying_question.question is 'The question that they are about.';
comment on column pgclarify.clarifying_question.form is
'respond (questions to answer freely) or select (reformulations to choose from).';
comment on column pgclarify.clarifying_question.documents is
'How many documents answered it, including those that you may not read.';
grant select on pgclarify.clarifying_question to pgclarify_reader;

create or replace function pgclarify_private.rows(row_type pgclarify.proposed_question, run_ids bigint[], requester name)
returns setof pgclarify.proposed_question
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        listed.run_id,
        listed.ordinal,
        listed.ambiguity_type,
        listed.clarifying_question,
        listed.reformulation,
        coalesce(cited.document_ids, '{}'),
        listed.reasoning,
        listed.is_answerable,
        coalesce(cited.citations, '[]')
    from pgclarify_private.clarifying_question as listed
    left join pgclarify_private.cited(rows.run_ids, pgclarify_private.roles_of(rows.requester)) as cited
        on listed.run_id = cited.run_id and listed.ordinal = cited.ordinal
    where listed.run_id = any(rows.run_ids)
    order by listed.run_id, listed.ordinal;
end;

comment on function pgclarify_private.rows(pgclarify.proposed_question, bigint[], name) is
'The proposed questions of runs. It does not check who may see the runs; documents are those that the requester may read now.';

create or replace function pgclarify_private.prepare_clarifying_questions(
    caller pgclarify_private.caller, run pgclarify_private.run, question text, corpus text
)
returns pgclarify_private.run
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_question constant text := prepare_clarifying_questions.question;
    v_corpus constant text := prepare_clarifying_questions.corpus;
    v_run pgclarify_private.run := prepare_clarifying_questions.run;
begin
    if v_run.settings ? 'reply' then
        if num_nonnulls(v_question, v_corpus) > 0 or v_run.settings ? 'history' then
            raise exception 'the question of a conversation is known'
                using errcode = 'invalid_parameter_value',
                    column = 'reply',
                    detail = 'Its corpus and its history are known, too.',
                    hint = 'Omit question, corpus and history, or option "reply".';
        end if;
        return pgclarify_private.prepare_next_questions(prepare_clarifying_questions.caller, v_run);
    end if;
    if v_question is null then
        raise exception 'there is no question'
            using errcode = 'invalid_parameter_value',
                hint = 'Pass a question, or option "reply" to go on from a reply.';
    end if;
    if v_corpus is not null or v_run.settings ->> 'check' <> 'none' then
        v_run.corpus_id := (
            pgclarify_private.find_corpus(
                pgclarify_private.roles_of((prepare_clarifying_questions.caller).name), v_corpus
            )
        ).corpus_id;
    end if;
    v_run.question := (pgclarify_private.check_questions(array[v_question]))[1];
    return v_run;
end
$$;

comment on function pgclarify_private.prepare_clarifying_questions(
    pgclarify_private.caller, pgclarify_private.run, text, text
) is 'The run that clarifying_questions enters. run: with its settings. question, corpus: as given, or null.';

create or replace function pgclarify.clarifying_questions(
    question text default null, corpus text default null, history text[] default '{}', options jsonb default '{}'
)
returns setof pgclarify.proposed_question
language sql volatile
set search_path = pg_catalog, pg_temp
rows 5
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral jsonb_populate_recordset(
        null::pgclarify.proposed_question,
        pgclarify_private.start_and_wait(
            caller,
            'clarifying_questions',
            jsonb_build_object(
                'question', clarifying_questions.question, 'corpus', clarifying_questions.corpus,
                'history', clarifying_questions.history
            ),
            clarifying_questions.options
        )
    ) as seen;
end;

comment on function pgclarify.clarifying_questions(text, text, text[], jsonb) is
'What to ask back about a vague question: questions to answer, or reformulations to choose, for reply. A reformulation is '
'checked against the corpus, with the documents that answer it. It needs a language model. question: 1 to 10,000 characters; '
'null with option reply, which has its own question. corpus: its name; null means no corpus for questions to respond to and '
'with check none, else pgclarify.corpus, or the only one; null with option reply. history: earlier turns, oldest first; empty '
'with option reply. options: form (respond, select), count (1 to 10; 1 to respond to, 5 to select from), check (none to '
'respond to; drop, mark or none to select from), method (hybrid, dense, lexical), top_k (passages judged for each, 4), reply '
'(a run of reply, to ask back about its question), timeout (5min).';
grant execute on function pgclarify.clarifying_questions(text, text, text[], jsonb) to pgclarify_user;
