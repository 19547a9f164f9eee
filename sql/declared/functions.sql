-- Written by `make generated` from pgclarify/declared. Do not edit.
-- What people call: wrappers, which pass on who calls.

-- Views of users call functions by their oid, so those of earlier releases stay. They leave the public schema, so that
-- each call there finds one function.
do $do$
declare
    v_earlier record;
begin
    for v_earlier in
        select listed.*
        from (
            values
            ('clarify', 'clarify_0_2_0', 'text, text, integer, interval, jsonb'),
            ('search', 'search_0_2_0', 'text, text, integer, jsonb'),
            ('investigate', 'investigate_0_2_0', 'text, text, jsonb'),
            ('clarifying_questions', 'clarifying_questions_0_2_0', 'text, text, text[], jsonb'),
            ('list_answers', 'list_answers_0_2_0', 'text, text, jsonb'),
            ('estimate', 'estimate_0_2_0', 'text[], text, integer, jsonb'),
            ('clarify_many', 'clarify_many_0_2_0', 'text[], text[], text, integer, interval, jsonb'),
            ('neighbors', 'neighbors_0_2_0', 'text, text, bigint, integer'),
            ('result', 'result_0_2_0', 'bigint'),
            ('grant_access', 'grant_access_0_2_0', 'text, name, text'),
            ('add_document', 'add_document_0_2_0', 'text, text, text, text, text, jsonb, name[]'),
            ('add_document', 'add_document_0_3_0', 'text, text, text, text, text, jsonb, name[], timestamptz')
        ) as listed (name, earlier_name, types)
        where to_regprocedure(format('pgclarify.%s(%s)', listed.name, listed.types)) is not null
    loop
        execute format(
            'alter function pgclarify.%I(%s) rename to %I', v_earlier.name, v_earlier.types, v_earlier.earlier_name
        );
        execute format(
            'alter function pgclarify.%I(%s) set schema pgclarify_private', v_earlier.earlier_name, v_earlier.types
        );
    end loop;
end
$do$;

create or replace function pgclarify.clarify(
    question text, corpus text default null, top_k integer default 20, timeout interval default '60s',
    options jsonb default '{}', filter jsonb default null, document_ids text[] default null, history text[] default '{}'
)
returns setof pgclarify.clarification
language sql volatile
set search_path = pg_catalog, pg_temp
rows 5
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral pgclarify_private.clarify(
        caller, clarify.timeout,
        jsonb_build_object(
            'question', clarify.question, 'corpus', clarify.corpus, 'top_k', clarify.top_k, 'filter', clarify.filter,
            'document_ids', clarify.document_ids, 'history', clarify.history
        ),
        clarify.options
    ) as seen;
end;

comment on function pgclarify.clarify(text, text, integer, interval, jsonb, jsonb, text[], text[]) is
'The readings of a vague question that the corpus answers, each with its answer and the documents that it cites; no row if the '
'corpus answers none. If that is unknown, a warning says why no reading was found. question: 1 to 10,000 characters. corpus: '
'its name; null means pgclarify.corpus, or the only one. top_k: passages to judge, 1 to 1000. timeout: how long to wait; null '
'waits without limit. options: method (hybrid, dense, lexical), relax (true), retrieval (fixed, adaptive), max_passages (1 to '
'1000), recall (0.5 to 0.99), reranker (signal, model, or a name), consolidation (default, conservative, hdbscan), include '
'(certain, likely, all), hdbscan (an object), singletons (keep, drop), prefer (newest), passages_per_call (1 to 100), verify '
'(checks, reader, model, none), ask_back (when_vague), threshold (0 to 1), refresh (0 to 1000000), batch (true); help says '
'when to change each. filter: only documents whose metadata fits, such as {"year": {">=": 2025}}; null means all. '
'document_ids: only these documents; null means all, an empty array none. history: earlier turns, oldest first, one element '
'for each turn; a follow-up is first made to stand alone, as rewrite does.';
grant execute on function pgclarify.clarify(text, text, integer, interval, jsonb, jsonb, text[], text[]) to pgclarify_user;

create or replace function pgclarify_private.clarify_0_2_0(
    question text, corpus text default null, top_k integer default 20, timeout interval default '60s',
    options jsonb default '{}'
)
returns setof pgclarify.clarification
language sql volatile
set search_path = pg_catalog, pg_temp
rows 5
begin atomic
    select seen.*
    from pgclarify.clarify(
        clarify_0_2_0.question, clarify_0_2_0.corpus, clarify_0_2_0.top_k, clarify_0_2_0.timeout, clarify_0_2_0.options
    ) as seen;
end;

comment on function pgclarify_private.clarify_0_2_0(text, text, integer, interval, jsonb) is
'clarify as release 0.2.0 had it, for views that use it.';
grant execute on function pgclarify_private.clarify_0_2_0(text, text, integer, interval, jsonb) to pgclarify_user;

create or replace function pgclarify.consolidate(run_id bigint, options jsonb default '{}')
returns setof pgclarify.clarification
language sql volatile
set search_path = pg_catalog, pg_temp
rows 5
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral jsonb_populate_recordset(
        null::pgclarify.clarification,
        pgclarify_private.start_and_wait(
            caller, 'consolidate', jsonb_build_object('run_id', consolidate.run_id), consolidate.options
        )
    ) as seen;
end;

comment on function pgclarify.consolidate(bigint, jsonb) is
'Cluster the verdicts of a run again, without a model call; returns rows as clarify does, in a new run. run_id: a clarify run '
'that you may see, of a corpus that you may search. options: consolidation (default, conservative, hdbscan), include (certain, '
'likely, all), embed (question_answer, question), min_cluster_size (2 to 1000), min_samples (1 to 1000), allow_single_cluster '
'(true), cluster_selection_epsilon (0 to 2), singletons (keep, drop), prefer (newest), timeout (60s); help says when to change '
'each.';
grant execute on function pgclarify.consolidate(bigint, jsonb) to pgclarify_user;

create or replace function pgclarify.search(
    question text, corpus text default null, top_k integer default 10, options jsonb default '{}', filter jsonb default null,
    document_ids text[] default null
)
returns setof pgclarify.search_result
language sql volatile
set search_path = pg_catalog, pg_temp
rows 10
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral pgclarify_private.search_corpus(
        caller,
        jsonb_build_object(
            'question', search.question, 'corpus', search.corpus, 'top_k', search.top_k, 'filter', search.filter,
            'document_ids', search.document_ids
        ),
        search.options
    ) as seen;
end;

comment on function pgclarify.search(text, text, integer, jsonb, jsonb, text[]) is
'The passages that fit a question best. Method lexical needs no worker. question: 1 to 10,000 characters. corpus: its name; '
'null means pgclarify.corpus, or the only one. top_k: how many, 1 to 1000. options: method (hybrid, dense, lexical), retrieval '
'(fixed, adaptive), reranker (signal, model, or a name), max_passages (1 to 1000), timeout (60s); help says when to change '
'each. filter: only documents whose metadata fits, such as {"year": {">=": 2025}}; null means all. document_ids: only these '
'documents; null means all, an empty array none.';
grant execute on function pgclarify.search(text, text, integer, jsonb, jsonb, text[]) to pgclarify_user;

create or replace function pgclarify_private.search_0_2_0(
    question text, corpus text default null, top_k integer default 10, options jsonb default '{}'
)
returns setof pgclarify.search_result
language sql volatile
set search_path = pg_catalog, pg_temp
rows 10
begin atomic
    select seen.*
    from pgclarify.search(search_0_2_0.question, search_0_2_0.corpus, search_0_2_0.top_k, search_0_2_0.options) as seen;
end;

comment on function pgclarify_private.search_0_2_0(text, text, integer, jsonb) is
'search as release 0.2.0 had it, for views that use it.';
grant execute on function pgclarify_private.search_0_2_0(text, text, integer, jsonb) to pgclarify_user;

create or replace function pgclarify.investigate(
    question text, corpus text default null, options jsonb default '{}', filter jsonb default null,
    document_ids text[] default null
)
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
            caller, 'investigate',
            jsonb_build_object(
                'question', investigate.question, 'corpus', investigate.corpus, 'filter', investigate.filter,
                'document_ids', investigate.document_ids
            ),
            investigate.options
        )
    ) as seen;
end;

comment on function pgclarify.investigate(text, text, jsonb, jsonb, text[]) is
'One answer to a question that may take several steps, each with its citations. One row, even if there is no answer: then '
'outcome says why. It needs a language model. question: 1 to 10,000 characters. corpus: its name; null means pgclarify.corpus, '
'or the only one. options: method (hybrid, dense, lexical), retrieval (adaptive, fixed), reranker (signal, model, or a name), '
'top_k (1 to 100; 10), max_passages (1 to 1000), max_steps (0 to 20; 4), max_calls (4 to 10000), entailment (embedding, model, '
'none, or a name), samples (2 to 20; 5), meta (true), timeout (5min); help says when to change each. filter: only documents '
'whose metadata fits, such as {"year": {">=": 2025}}; null means all. document_ids: only these documents; null means all, an '
'empty array none.';
grant execute on function pgclarify.investigate(text, text, jsonb, jsonb, text[]) to pgclarify_user;

create or replace function pgclarify_private.investigate_0_2_0(
    question text, corpus text default null, options jsonb default '{}'
)
returns setof pgclarify.investigation
language sql volatile
set search_path = pg_catalog, pg_temp
rows 1
begin atomic
    select seen.*
    from pgclarify.investigate(investigate_0_2_0.question, investigate_0_2_0.corpus, investigate_0_2_0.options) as seen;
end;

comment on function pgclarify_private.investigate_0_2_0(text, text, jsonb) is
'investigate as release 0.2.0 had it, for views that use it.';
grant execute on function pgclarify_private.investigate_0_2_0(text, text, jsonb) to pgclarify_user;

create or replace function pgclarify.detect_ambiguity(question text, history text[] default '{}', options jsonb default '{}')
returns setof pgclarify.detection
language sql volatile
set search_path = pg_catalog, pg_temp
rows 1
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral jsonb_populate_recordset(
        null::pgclarify.detection,
        pgclarify_private.start_and_wait(
            caller, 'detect_ambiguity',
            jsonb_build_object('question', detect_ambiguity.question, 'history', detect_ambiguity.history),
            detect_ambiguity.options
        )
    ) as seen;
end;

comment on function pgclarify.detect_ambiguity(text, text[], jsonb) is
'Whether a question is ambiguous, and why: one row. It needs no language model. question: 1 to 10,000 characters. history: '
'earlier turns, oldest first, one element for each turn. options: corpus, threshold (0 to 1), timeout (60s); help says when to '
'change each.';
grant execute on function pgclarify.detect_ambiguity(text, text[], jsonb) to pgclarify_user;

create or replace function pgclarify.rewrite(question text, history text[] default '{}', options jsonb default '{}')
returns setof pgclarify.rewriting
language sql volatile
set search_path = pg_catalog, pg_temp
rows 1
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral jsonb_populate_recordset(
        null::pgclarify.rewriting,
        pgclarify_private.start_and_wait(
            caller, 'rewrite', jsonb_build_object('question', rewrite.question, 'history', rewrite.history), rewrite.options
        )
    ) as seen;
end;

comment on function pgclarify.rewrite(text, text[], jsonb) is
'Rewrite a question of a conversation so that it stands alone: one row. The original question is returned unchanged, without a '
'model call, if it is clear, or if it depends on earlier turns but says enough itself; also if it cannot be rewritten '
'faithfully: reason says why. Without a language model every question is returned unchanged. question: 1 to 10,000 characters. '
'history: earlier turns, oldest first, one element for each turn; the last ten count. options: corpus, threshold (0 to 1), '
'timeout (60s); help says when to change each.';
grant execute on function pgclarify.rewrite(text, text[], jsonb) to pgclarify_user;

create or replace function pgclarify.clarifying_questions(
    question text default null, corpus text default null, history text[] default '{}', options jsonb default '{}',
    filter jsonb default null, document_ids text[] default null
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
            caller, 'clarifying_questions',
            jsonb_build_object(
                'question', clarifying_questions.question, 'corpus', clarifying_questions.corpus,
                'history', clarifying_questions.history, 'filter', clarifying_questions.filter,
                'document_ids', clarifying_questions.document_ids
            ),
            clarifying_questions.options
        )
    ) as seen;
end;

comment on function pgclarify.clarifying_questions(text, text, text[], jsonb, jsonb, text[]) is
'What to ask back about a vague question, for reply. If clarify has found readings of it in the corpus, what splits them best, '
'without a model: a row for each side, with its documents. Else questions to answer, or reformulations to choose, which are '
'checked against the corpus, by a language model. question: 1 to 10,000 characters; null with option reply, which has its own '
'question. corpus: its name; null means no corpus for questions to respond to and with check none, else pgclarify.corpus, or '
'the only one; null with option reply. history: earlier turns, oldest first; empty with option reply. options: form (split, '
'respond, select), count (1 to 10), check (drop, mark, none), method (hybrid, dense, lexical), top_k (1 to 20), reply (from '
'1), timeout (5min); help says when to change each. filter: only documents whose metadata fits, such as {"year": {">=": '
'2025}}; null means all. document_ids: only these documents; null means all, an empty array none.';
grant execute on function pgclarify.clarifying_questions(text, text, text[], jsonb, jsonb, text[]) to pgclarify_user;

create or replace function pgclarify_private.clarifying_questions_0_2_0(
    question text default null, corpus text default null, history text[] default '{}', options jsonb default '{}'
)
returns setof pgclarify.proposed_question
language sql volatile
set search_path = pg_catalog, pg_temp
rows 5
begin atomic
    select seen.*
    from pgclarify.clarifying_questions(
        clarifying_questions_0_2_0.question, clarifying_questions_0_2_0.corpus, clarifying_questions_0_2_0.history,
        clarifying_questions_0_2_0.options
    ) as seen;
end;

comment on function pgclarify_private.clarifying_questions_0_2_0(text, text, text[], jsonb) is
'clarifying_questions as release 0.2.0 had it, for views that use it.';
grant execute on function pgclarify_private.clarifying_questions_0_2_0(text, text, text[], jsonb) to pgclarify_user;

create or replace function pgclarify.reply(
    run_id bigint, reply text default null, ordinal integer default null, options jsonb default '{}'
)
returns setof pgclarify.rewriting
language sql volatile
set search_path = pg_catalog, pg_temp
rows 1
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral jsonb_populate_recordset(
        null::pgclarify.rewriting,
        pgclarify_private.start_and_wait(
            pgclarify_private.writer(caller), 'reply',
            jsonb_build_object('run_id', reply.run_id, 'reply', reply.reply, 'ordinal', reply.ordinal), reply.options
        )
    ) as seen;
end;

comment on function pgclarify.reply(bigint, text, integer, jsonb) is
'Reply to clarifying questions: in words, or by choosing a reformulation. One row: the question that is meant. For words, a '
'language model makes one question of the conversation; a choice calls no model. To ask back once more, pass the run of the '
'reply to clarifying_questions, as option reply. run_id: a run of clarifying_questions. reply: 1 to 10,000 characters. '
'ordinal: the place of the chosen reformulation, instead of a reply. options: timeout (60s); help says when to change each.';
grant execute on function pgclarify.reply(bigint, text, integer, jsonb) to pgclarify_user;

create or replace function pgclarify.list_answers(
    question text, corpus text default null, options jsonb default '{}', filter jsonb default null,
    document_ids text[] default null
)
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
            caller, 'list_answers',
            jsonb_build_object(
                'question', list_answers.question, 'corpus', list_answers.corpus, 'filter', list_answers.filter,
                'document_ids', list_answers.document_ids
            ),
            list_answers.options
        )
    ) as seen;
end;

comment on function pgclarify.list_answers(text, text, jsonb, jsonb, text[]) is
'The answers of a question that has several, each one once, with quotes: those that most documents give first. No rows if the '
'corpus has none. Passages are judged as by clarify, with the same calls. question: 1 to 10,000 characters. corpus: its name; '
'null means pgclarify.corpus, or the only one. options: method (hybrid, dense, lexical), relax (true), reranker (signal, '
'model, or a name), top_k (1 to 100; 20), max_answers (1 to 50; 10), timeout (5min); help says when to change each. filter: '
'only documents whose metadata fits, such as {"year": {">=": 2025}}; null means all. document_ids: only these documents; null '
'means all, an empty array none.';
grant execute on function pgclarify.list_answers(text, text, jsonb, jsonb, text[]) to pgclarify_user;

create or replace function pgclarify_private.list_answers_0_2_0(
    question text, corpus text default null, options jsonb default '{}'
)
returns setof pgclarify.answer
language sql volatile
set search_path = pg_catalog, pg_temp
rows 5
begin atomic
    select seen.*
    from pgclarify.list_answers(list_answers_0_2_0.question, list_answers_0_2_0.corpus, list_answers_0_2_0.options) as seen;
end;

comment on function pgclarify_private.list_answers_0_2_0(text, text, jsonb) is
'list_answers as release 0.2.0 had it, for views that use it.';
grant execute on function pgclarify_private.list_answers_0_2_0(text, text, jsonb) to pgclarify_user;

create or replace function pgclarify.estimate(
    questions text[], corpus text default null, top_k integer default 20, options jsonb default '{}', filter jsonb default null,
    document_ids text[] default null
)
returns setof pgclarify.estimate
language sql volatile
set search_path = pg_catalog, pg_temp
rows 1
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral jsonb_populate_recordset(
        null::pgclarify.estimate,
        pgclarify_private.start_and_wait(
            caller, 'estimate',
            jsonb_build_object(
                'questions', estimate.questions, 'corpus', estimate.corpus, 'top_k', estimate.top_k, 'filter', estimate.filter,
                'document_ids', estimate.document_ids
            ),
            estimate.options
        )
    ) as seen;
end;

comment on function pgclarify.estimate(text[], text, integer, jsonb, jsonb, text[]) is
'What clarify, clarify_many or submit_many of these questions would ask of the language model, which is not called: one row. '
'Questions with reusable answers, and replies that are in the ledger, cost nothing. questions: each 1 to 10,000 characters. '
'corpus: its name; null means pgclarify.corpus, or the only one. top_k: passages to judge, 1 to 1000. options: method (hybrid, '
'dense, lexical), relax (true), retrieval (fixed, adaptive), max_passages (1 to 1000), recall (0.5 to 0.99), reranker (signal, '
'model, or a name), consolidation (default, conservative, hdbscan), include (certain, likely, all), hdbscan (an object), '
'singletons (keep, drop), prefer (newest), passages_per_call (1 to 100), verify (checks, reader, model, none), ask_back '
'(when_vague), threshold (0 to 1), refresh (0 to 1000000), batch (true), timeout (60s); help says when to change each. filter: '
'only documents whose metadata fits, such as {"year": {">=": 2025}}; null means all. document_ids: only these documents; null '
'means all, an empty array none. With retrieval adaptive, verify model, ask_back or reranker, some calls are only decided '
'during a run, but calls_at_most is a limit.';
grant execute on function pgclarify.estimate(text[], text, integer, jsonb, jsonb, text[]) to pgclarify_user;

create or replace function pgclarify_private.estimate_0_2_0(
    questions text[], corpus text default null, top_k integer default 20, options jsonb default '{}'
)
returns setof pgclarify.estimate
language sql volatile
set search_path = pg_catalog, pg_temp
rows 1
begin atomic
    select seen.*
    from pgclarify.estimate(
        estimate_0_2_0.questions, estimate_0_2_0.corpus, estimate_0_2_0.top_k, estimate_0_2_0.options
    ) as seen;
end;

comment on function pgclarify_private.estimate_0_2_0(text[], text, integer, jsonb) is
'estimate as release 0.2.0 had it, for views that use it.';
grant execute on function pgclarify_private.estimate_0_2_0(text[], text, integer, jsonb) to pgclarify_user;

create or replace function pgclarify.clarify_many(
    questions text[], keys text[] default null, corpus text default null, top_k integer default 20,
    timeout interval default null, options jsonb default '{}', filter jsonb default null, document_ids text[] default null,
    filters jsonb[] default null, history text[] default '{}'
)
returns setof pgclarify.question_clarification
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral pgclarify_private.clarify_many(
        caller, clarify_many.questions, clarify_many.keys, clarify_many.timeout, clarify_many.filters,
        jsonb_build_object(
            'corpus', clarify_many.corpus, 'top_k', clarify_many.top_k, 'filter', clarify_many.filter,
            'document_ids', clarify_many.document_ids, 'history', clarify_many.history
        ),
        clarify_many.options
    ) as seen;
end;

comment on function pgclarify.clarify_many(text[], text[], text, integer, interval, jsonb, jsonb, text[], jsonb[], text[]) is
'clarify for many questions at once; equal questions are asked once. A question that the corpus does not answer has no row. A '
'question has one row with status and stop_code, and null in between, if its run failed, was cancelled, is partial without a '
'reading, or found nothing although the corpus may have an answer. questions: the questions. keys: your own key of each, '
'returned with its answer. timeout: for all together; null waits without limit. The rest as in clarify. filter: only documents '
'whose metadata fits, such as {"year": {">=": 2025}}; null means all. document_ids: only these documents; null means all, an '
'empty array none. filters: instead of filter, one for each question, null for none; equal questions with equal filters are '
'asked once. history: earlier turns, oldest first, one element for each turn; a follow-up is first made to stand alone, as '
'rewrite does.';
grant execute on function pgclarify.clarify_many(
    text[], text[], text, integer, interval, jsonb, jsonb, text[], jsonb[], text[]
) to pgclarify_user;

create or replace function pgclarify_private.clarify_many_0_2_0(
    questions text[], keys text[] default null, corpus text default null, top_k integer default 20,
    timeout interval default null, options jsonb default '{}'
)
returns setof pgclarify.question_clarification
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select seen.*
    from pgclarify.clarify_many(
        clarify_many_0_2_0.questions, clarify_many_0_2_0.keys, clarify_many_0_2_0.corpus, clarify_many_0_2_0.top_k,
        clarify_many_0_2_0.timeout, clarify_many_0_2_0.options
    ) as seen;
end;

comment on function pgclarify_private.clarify_many_0_2_0(text[], text[], text, integer, interval, jsonb) is
'clarify_many as release 0.2.0 had it, for views that use it.';
grant execute on function pgclarify_private.clarify_many_0_2_0(
    text[], text[], text, integer, interval, jsonb
) to pgclarify_user;

create or replace function pgclarify.neighbors(
    corpus text, document_id text, passage_id bigint, k integer default 10, filter jsonb default null,
    document_ids text[] default null
)
returns setof pgclarify.neighbor
language sql stable
set search_path = pg_catalog, pg_temp
rows 10
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral pgclarify_private.neighbors(
        caller, neighbors.corpus, neighbors.document_id, neighbors.passage_id, neighbors.k, neighbors.filter,
        neighbors.document_ids
    ) as seen;
end;

comment on function pgclarify.neighbors(text, text, bigint, integer, jsonb, text[]) is
'The passages nearest to a passage, nearest first, of those that you may read. corpus: its name; null means pgclarify.corpus, '
'or the only one. document_id: its document. passage_id: the passage; error 42704 if you may not read it. k: how many, 1 to '
'1000; a corpus keeps graph_degree of them (16), and passages that you may not read do not count. filter: only documents whose '
'metadata fits, such as {"year": {">=": 2025}}; null means all. document_ids: only these documents; null means all, an empty '
'array none.';
grant execute on function pgclarify.neighbors(text, text, bigint, integer, jsonb, text[]) to pgclarify_reader;

create or replace function pgclarify_private.neighbors_0_2_0(
    corpus text, document_id text, passage_id bigint, k integer default 10
)
returns setof pgclarify.neighbor
language sql stable
set search_path = pg_catalog, pg_temp
rows 10
begin atomic
    select seen.*
    from pgclarify.neighbors(
        neighbors_0_2_0.corpus, neighbors_0_2_0.document_id, neighbors_0_2_0.passage_id, neighbors_0_2_0.k
    ) as seen;
end;

comment on function pgclarify_private.neighbors_0_2_0(text, text, bigint, integer) is
'neighbors as release 0.2.0 had it, for views that use it.';
grant execute on function pgclarify_private.neighbors_0_2_0(text, text, bigint, integer) to pgclarify_reader;

create or replace function pgclarify.submit(
    operation text, question text default null, corpus text default null, options jsonb default '{}'
)
returns bigint
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.submit(
        pgclarify_private.writer(caller), submit.operation, submit.question, submit.corpus, submit.options
    )
    from pgclarify_private.caller;
end;

comment on function pgclarify.submit(text, text, text, jsonb) is
'Start an operation without waiting. Returns the run id, for wait, result and cancel. The run is part of this transaction: a '
'worker sees it once it commits. operation: clarify, consolidate, search, investigate, detect_ambiguity, rewrite, '
'clarifying_questions, reply, list_answers or estimate. question: for the operations that have one. corpus: its name; null '
'means pgclarify.corpus, or the only one. options: those of the operation, without timeout, and its further parameters, for '
'example top_k, history or run_id.';
grant execute on function pgclarify.submit(text, text, text, jsonb) to pgclarify_user;

create or replace function pgclarify.submit_many(
    operation text, questions text[], corpus text default null, options jsonb default '{}'
)
returns bigint[]
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.submit_many(
        pgclarify_private.writer(caller), submit_many.operation, submit_many.questions, submit_many.corpus, submit_many.options
    )
    from pgclarify_private.caller;
end;

comment on function pgclarify.submit_many(text, text[], text, jsonb) is
'Ask many questions without waiting. Returns the run of each, in the order of the questions; equal questions share one, and up '
'to 500 questions of detect_ambiguity do. The runs are part of this transaction: workers see them once it commits. Parameters '
'as in submit; the operation must have a question. Option filters, for operations that search: an array with a filter for each '
'question, or null.';
grant execute on function pgclarify.submit_many(text, text[], text, jsonb) to pgclarify_user;

create or replace function pgclarify.wait(run_ids bigint[], timeout interval default '60s')
returns setof pgclarify.run_outcome
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral pgclarify_private.wait(caller, wait.run_ids, wait.timeout) as seen;
end;

comment on function pgclarify.wait(bigint[], interval) is
'Wait until the runs are over or the timeout has passed, and return the state of each: interpretations = 0 means that no '
'reading was found, and stop_code says why. run_ids: from submit, committed. timeout: null means no limit. A single run that '
'was submitted alone goes before batches until this session waits for another run or ends. Cancelling this call does not '
'cancel the runs. Error PC001 if no worker has been alive for half a minute: the runs continue when one starts.';
grant execute on function pgclarify.wait(bigint[], interval) to pgclarify_user;

create or replace function pgclarify.result(run_id bigint, include text default null)
returns setof pgclarify.clarification
language sql volatile
set search_path = pg_catalog, pg_temp
rows 5
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral jsonb_populate_recordset(
        null::pgclarify.clarification, pgclarify_private.result_rows(caller, result.run_id, 'clarification', result.include)
    ) as seen;
end;

comment on function pgclarify.result(bigint, text) is
'The readings that a run found; no row if it found none (its stop_code says why). Error 55000 if it is not over, PC003 if it '
'failed or was cancelled; a warning if it is partial. run_id: from submit, or any clarification that you may see. include: '
'certain, likely or all: how sure the readings are, of those that were read; by default those that the run shows.';
grant execute on function pgclarify.result(bigint, text) to pgclarify_reader;

create or replace function pgclarify_private.result_0_2_0(run_id bigint)
returns setof pgclarify.clarification
language sql volatile
set search_path = pg_catalog, pg_temp
rows 5
begin atomic
    select seen.*
    from pgclarify.result(result_0_2_0.run_id) as seen;
end;

comment on function pgclarify_private.result_0_2_0(bigint) is
'result as release 0.2.0 had it, for views that use it.';
grant execute on function pgclarify_private.result_0_2_0(bigint) to pgclarify_reader;

create or replace function pgclarify.cancel(run_ids bigint[])
returns integer
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.cancel(pgclarify_private.writer(caller), cancel.run_ids)
    from pgclarify_private.caller;
end;

comment on function pgclarify.cancel(bigint[]) is
'Cancel runs, and return how many were not over already. All or none: it is an error if one of them is not yours. Calls in '
'flight are stopped; replies that were paid for are kept. run_ids: yours, from submit.';
grant execute on function pgclarify.cancel(bigint[]) to pgclarify_user;

create or replace function pgclarify.explain(run_id bigint, options jsonb default '{}')
returns setof text
language sql stable
set search_path = pg_catalog, pg_temp
rows 50
begin atomic
    select seen.line
    from pgclarify_private.caller
    cross join lateral pgclarify_private.explain(caller, explain.run_id, explain.options) as seen (line);
end;

comment on function pgclarify.explain(bigint, jsonb) is
'What a run did, one line in each row, as a tree: each stage with its time, calls and tokens; each passage, how it was found '
'and the verdict on it; why it stopped, and what it cost. run_id: any run that you may see, even if it is not over. options: '
'detail (passages, stages); help says when to change each.';
grant execute on function pgclarify.explain(bigint, jsonb) to pgclarify_reader;

create or replace function pgclarify.help(topic text default null)
returns table (
    name text, kind text, type text, default_value text, minimum text, maximum text, choices text[], meaning text
)
language sql stable
set search_path = pg_catalog, pg_temp
rows 40
begin atomic
    select seen.* from pgclarify_private.help(help.topic) as seen;
end;

comment on function pgclarify.help(text) is
'The functions, or the parameters and options of one. topic: name of a function; null lists all, with one sentence each. A row '
'of an option has its type, default, range or choices, and when to change it.';
grant execute on function pgclarify.help(text) to pgclarify_reader;

create or replace function pgclarify.give_feedback(
    run_id bigint, ordinal integer default null, rating text default null, comment text default null, person text default null,
    missing text default null
)
returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.give_feedback(
        pgclarify_private.writer(caller), give_feedback.run_id, give_feedback.ordinal, give_feedback.rating,
        give_feedback.comment, give_feedback.person, give_feedback.missing
    )
    from pgclarify_private.caller;
end;

comment on function pgclarify.give_feedback(bigint, integer, text, text, text, text) is
'Rate a reading of a run, or, without an ordinal, say that the right answer is missing; true if anything changed. Each role '
'and person has one rating of a reading: given again, it replaces the one before. Null removes it. View feedback shows them. '
'run_id: a run of clarify or consolidate that is over and that you may see. ordinal: the reading; null: what is missing. '
'rating: right (its answer is right), wrong (its answer is wrong) or useless (it is not wrong, but no help); null removes it. '
'comment: why, in at most 10,000 characters. person: who says so, if several people share your role, in at most 200 '
'characters; it is not checked. missing: without an ordinal: the right answer, which no reading has, in 1 to 10,000 '
'characters; null removes it.';
grant execute on function pgclarify.give_feedback(bigint, integer, text, text, text, text) to pgclarify_user;

create or replace function pgclarify.create_corpus(
    name text, embedding_model text default 'all-MiniLM-L6-v2', options jsonb default '{}'
)
returns bigint
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.create_corpus(
        pgclarify_private.writer(caller), create_corpus.name, create_corpus.embedding_model, create_corpus.options
    )
    from pgclarify_private.caller;
end;

comment on function pgclarify.create_corpus(text, text, jsonb) is
'Create a corpus and return its id. The caller owns it; grant_access adds others. name: 1 to 200 visible characters, unique. '
'embedding_model: a sentence-transformers name or a path that the workers can load; or "endpoint:" and the name of a model '
'behind their endpoint, such as endpoint:text-embedding-3-small. options: search_config (english), reader, analyst, date_key, '
'folders, passages_per_call (1 to 100); help says when to change each.';
grant execute on function pgclarify.create_corpus(text, text, jsonb) to pgclarify_user;

create or replace function pgclarify.alter_corpus(name text, options jsonb)
returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.alter_corpus(pgclarify_private.writer(caller), alter_corpus.name, alter_corpus.options)
    from pgclarify_private.caller;
end;

comment on function pgclarify.alter_corpus(text, jsonb) is
'Change a corpus; true if anything changed. Omitted options are not changed. name: a corpus that you own. options: '
'embedding_model, graph (rebuild), ambiguity_classifier (from 1), date_key, folders, passages_per_call (1 to 100); help says '
'when to change each.';
grant execute on function pgclarify.alter_corpus(text, jsonb) to pgclarify_user;

create or replace function pgclarify.drop_corpus(name text)
returns bigint
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.drop_corpus_as_caller(pgclarify_private.writer(caller), drop_corpus.name)
    from pgclarify_private.caller;
end;

comment on function pgclarify.drop_corpus(text) is
'Drop a corpus with its documents and vectors, and return its id. From the commit on, no role finds it, and its name is free; '
'workers remove its rows in the background. Runs on it stay, with their quotes; those that are not over fail. Its attached '
'tables are no longer followed. pgclarify loses the right to read those of the caller; for others, it says how to revoke it. '
'If a budget binds its owner, only a member of pgclarify_owner can drop it. name: of a corpus that you own.';
grant execute on function pgclarify.drop_corpus(text) to pgclarify_user;

create or replace function pgclarify.distribute(corpus text, options jsonb default '{}')
returns jsonb
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.distribute(pgclarify_private.writer(caller), distribute.corpus, distribute.options)
    from pgclarify_private.caller;
end;

comment on function pgclarify.distribute(text, jsonb) is
'Experimental. Distribute the passages and vectors of a corpus over the nodes of a Citus cluster, or bring them back, in this '
'transaction. Until it ends, changes of the corpus and new questions wait; a call that waits for an answer fails with 55P03 '
'after its timeout. A search that begins before its end may fail with 40001: repeat it. At its end, create_corpus, a new '
'embedding model, and queries of view pgclarify.passage wait, for every corpus. corpus: name of one that you own. options: '
'shards (0 to 1000; 8), dry_run (true); help says when to change each. Returns an object: is_distributed, is_moved (false if '
'it is there already), passages and bytes (what is moved, with its indexes), nodes (null with 0 shards), shards, ef_search '
'(the least hnsw.ef_search of pgclarify_owner on the nodes). A corpus that is already distributed is not changed, and keeps '
'its shards.';
grant execute on function pgclarify.distribute(text, jsonb) to pgclarify_user;

create or replace function pgclarify.grant_access(
    corpus text, role name, access text default 'reader', filter jsonb default null
)
returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.set_access(
        pgclarify_private.writer(caller), grant_access.corpus, grant_access.role, grant_access.access, true,
        grant_access.filter
    )
    from pgclarify_private.caller;
end;

comment on function pgclarify.grant_access(text, name, text, jsonb) is
'Let a role search a corpus, or see all runs on it; true if anything changed. It takes effect for roles that may use '
'pgclarify: a notice names the GRANT that is missing. corpus: one that you own. role: a login role or a group; pgclarify_user '
'opens the corpus to every role that may ask, and pgclarify_reader also to those that may only read. access: reader (may read '
'documents of this corpus, and ask it as a member of pgclarify_user) or analyst (sees all runs on it). filter: for a reader: '
'it finds and sees only documents whose metadata fit, such as {"tenant": "acme"}; null means all.';
grant execute on function pgclarify.grant_access(text, name, text, jsonb) to pgclarify_user;

create or replace function pgclarify_private.grant_access_0_2_0(corpus text, role name, access text default 'reader')
returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select seen.*
    from pgclarify.grant_access(grant_access_0_2_0.corpus, grant_access_0_2_0.role, grant_access_0_2_0.access) as seen;
end;

comment on function pgclarify_private.grant_access_0_2_0(text, name, text) is
'grant_access as release 0.2.0 had it, for views that use it.';
grant execute on function pgclarify_private.grant_access_0_2_0(text, name, text) to pgclarify_user;

create or replace function pgclarify.revoke_access(corpus text, role name, access text default 'reader')
returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.set_access(
        pgclarify_private.writer(caller), revoke_access.corpus, revoke_access.role, revoke_access.access, false, null
    )
    from pgclarify_private.caller;
end;

comment on function pgclarify.revoke_access(text, name, text) is
'Take back what grant_access gave; true if anything changed. A notice names the roles by whose rights the role has the access '
'still. corpus: one that you own. role: the name that was granted, even if there is no such role any more. access: reader or '
'analyst.';
grant execute on function pgclarify.revoke_access(text, name, text) to pgclarify_user;

create or replace function pgclarify.add_document(
    corpus text, document_id text, content text, title text default null, uri text default null, metadata jsonb default '{}',
    readers name[] default null, dated timestamptz default null, author text default null
)
returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.add_document(
        pgclarify_private.writer(caller), add_document.corpus, add_document.document_id, add_document.content,
        jsonb_build_object(
            'title', add_document.title, 'uri', add_document.uri, 'metadata', add_document.metadata,
            'readers', add_document.readers, 'dated', add_document.dated, 'author', add_document.author
        )
    )
    from pgclarify_private.caller;
end;

comment on function pgclarify.add_document(text, text, text, text, text, jsonb, name[], timestamptz, text) is
'Add a document, or replace its content; true if anything changed, or if it could not be indexed and is tried again. Workers '
'make it searchable (see pgclarify.corpus.pending). corpus: name of one that you own. document_id: your own id, 1 to 1000 '
'characters in at most 2600 bytes; citations return it. content: plain text or Markdown, whose headings are kept with each '
'passage, at most 10,000,000 characters. title: shown with citations, and searched; its first 1,000 characters are kept. uri: '
'address of the original, for people, at most 10,000 characters. metadata: any JSON object of at most 1,000,000 bytes. '
'readers: at most 1,000 roles that may read it; null means every reader of the corpus. dated: when it was written or '
'published, shown with citations; null takes it from the metadata, if the corpus has a date_key. author: who wrote it, shown '
'with the document; its first 1,000 characters are kept.';
grant execute on function pgclarify.add_document(
    text, text, text, text, text, jsonb, name[], timestamptz, text
) to pgclarify_user;

create or replace function pgclarify_private.add_document_0_2_0(
    corpus text, document_id text, content text, title text default null, uri text default null, metadata jsonb default '{}',
    readers name[] default null
)
returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select seen.*
    from pgclarify.add_document(
        add_document_0_2_0.corpus, add_document_0_2_0.document_id, add_document_0_2_0.content, add_document_0_2_0.title,
        add_document_0_2_0.uri, add_document_0_2_0.metadata, add_document_0_2_0.readers
    ) as seen;
end;

comment on function pgclarify_private.add_document_0_2_0(text, text, text, text, text, jsonb, name[]) is
'add_document as release 0.2.0 had it, for views that use it.';
grant execute on function pgclarify_private.add_document_0_2_0(
    text, text, text, text, text, jsonb, name[]
) to pgclarify_user;

create or replace function pgclarify_private.add_document_0_3_0(
    corpus text, document_id text, content text, title text default null, uri text default null, metadata jsonb default '{}',
    readers name[] default null, dated timestamptz default null
)
returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select seen.*
    from pgclarify.add_document(
        add_document_0_3_0.corpus, add_document_0_3_0.document_id, add_document_0_3_0.content, add_document_0_3_0.title,
        add_document_0_3_0.uri, add_document_0_3_0.metadata, add_document_0_3_0.readers, add_document_0_3_0.dated
    ) as seen;
end;

comment on function pgclarify_private.add_document_0_3_0(text, text, text, text, text, jsonb, name[], timestamptz) is
'add_document as release 0.3.0 had it, for views that use it.';
grant execute on function pgclarify_private.add_document_0_3_0(
    text, text, text, text, text, jsonb, name[], timestamptz
) to pgclarify_user;

create or replace function pgclarify.get_document(corpus text, document_id text)
returns setof pgclarify.document
language sql stable
set search_path = pg_catalog, pg_temp
rows 1
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral pgclarify_private.get_document(caller, get_document.corpus, get_document.document_id) as seen;
end;

comment on function pgclarify.get_document(text, text) is
'The row of view document with this id; none if the corpus has no such document that you may read. It uses an index, which a '
'filter of the view by id cannot. corpus: its name; null means pgclarify.corpus, or the only one. document_id: the id of the '
'document.';
grant execute on function pgclarify.get_document(text, text) to pgclarify_reader;

create or replace function pgclarify.remove_document(corpus text, document_id text)
returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.remove_document(
        pgclarify_private.writer(caller), remove_document.corpus, remove_document.document_id
    )
    from pgclarify_private.caller;
end;

comment on function pgclarify.remove_document(text, text) is
'Remove a document at once; true if there was one. Its citations keep their quotes. corpus: its name. document_id: as it was '
'added.';
grant execute on function pgclarify.remove_document(text, text) to pgclarify_user;

create or replace function pgclarify.erase_document(corpus text, document_id text)
returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.erase_document(pgclarify_private.writer(caller), erase_document.corpus, erase_document.document_id)
    from pgclarify_private.caller;
end;

comment on function pgclarify.erase_document(text, text) is
'Remove a document and erase all text that comes from it, even if it was removed before: passages, quotes, readings, answers, '
'replies of the model, and outputs in evaluations. True if the document was still there. Ids, times, tokens and costs stay. A '
'reading that also depends on other documents keeps what those give. Runs on the corpus that are not over start again. Copies '
'elsewhere, such as in backups, are not erased: see Operations, Erasing. corpus: its name; you own it. document_id: as it was '
'added.';
grant execute on function pgclarify.erase_document(text, text) to pgclarify_user;

create or replace function pgclarify.attach_table(
    corpus text, relation regclass, id_column text, content_column text, options jsonb default '{}'
)
returns bigint
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.attach_table_as_caller(
        pgclarify_private.writer(caller), attach_table.corpus, attach_table.relation, attach_table.id_column,
        attach_table.content_column, attach_table.options
    )
    from pgclarify_private.caller;
end;

comment on function pgclarify.attach_table(text, regclass, text, text, jsonb) is
'Make the rows of a table documents of a corpus, and keep them up to date; returns the id of the source. Workers load it in '
'the background (see source_status), and triggers record changes. A table that has replaced an attached one under its name '
'goes on with its documents. corpus: name of one that you own. relation: the table, which you must own, too. id_column: '
'smallint, integer, bigint, uuid, text or varchar, with a unique index. content_column: text or varchar. options: title, uri, '
'readers, dated, author, metadata, id_prefix, dry_run (true); help says when to change each.';
grant execute on function pgclarify.attach_table(text, regclass, text, text, jsonb) to pgclarify_user;

create or replace function pgclarify.resync(corpus text, relation regclass)
returns bigint
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.resync_as_caller(pgclarify_private.writer(caller), resync.corpus, resync.relation)
    from pgclarify_private.caller;
end;

comment on function pgclarify.resync(text, regclass) is
'Compare all rows of an attached table with its documents again, and correct the differences. It also restores missing '
'triggers and grants, and restarts a failed source after its cause is fixed. Returns the id of the source; source_status shows '
'how many rows were missing, different or too many. A table that has replaced the attached one under its name takes its place, '
'and goes on with its documents. corpus: name of one that you own. relation: the table.';
grant execute on function pgclarify.resync(text, regclass) to pgclarify_user;

create or replace function pgclarify.detach_table(corpus text, relation regclass, options jsonb default '{}')
returns bigint
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.detach_table_as_caller(
        pgclarify_private.writer(caller), detach_table.corpus, detach_table.relation, detach_table.options
    )
    from pgclarify_private.caller;
end;

comment on function pgclarify.detach_table(text, regclass, jsonb) is
'Stop following a table: drop its triggers, and revoke pgclarify''s rights to read it. Returns the id of the source. corpus: '
'name of one that you own. relation: the table; for a dropped one, its number from source_status.relation_oid: '
'detach_table(''kb'', 16421). options: documents (keep, remove); help says when to change each.';
grant execute on function pgclarify.detach_table(text, regclass, jsonb) to pgclarify_user;

create or replace function pgclarify.add_ambiguity_rule(
    pattern text, kind text, corpus text default null, note text default null
)
returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.add_ambiguity_rule(
        pgclarify_private.writer(caller), add_ambiguity_rule.pattern, add_ambiguity_rule.kind, add_ambiguity_rule.corpus,
        add_ambiguity_rule.note
    )
    from pgclarify_private.caller;
end;

comment on function pgclarify.add_ambiguity_rule(text, text, text, text) is
'Add a rule of ambiguity, or change kind and note of the rule with that pattern; true if anything changed. pattern: regular '
'expression (advanced, any case of letters) of 1 to 500 characters, found anywhere in a question. kind: pragmatic, syntactic '
'or lexical. corpus: one that you own; null is all questions, for members of pgclarify_owner. note: why, in 1 to 500 '
'characters.';
grant execute on function pgclarify.add_ambiguity_rule(text, text, text, text) to pgclarify_user;

create or replace function pgclarify.remove_ambiguity_rule(pattern text, corpus text default null)
returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.remove_ambiguity_rule(
        pgclarify_private.writer(caller), remove_ambiguity_rule.pattern, remove_ambiguity_rule.corpus
    )
    from pgclarify_private.caller;
end;

comment on function pgclarify.remove_ambiguity_rule(text, text) is
'Remove a rule of ambiguity; true if there was one. pattern: its pattern, as it was given. corpus: as in add_ambiguity_rule.';
grant execute on function pgclarify.remove_ambiguity_rule(text, text) to pgclarify_user;

create or replace function pgclarify.set_budget(name text, corpus text default null, options jsonb default '{}')
returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.set_budget(
        pgclarify_private.writer(caller), set_budget.name, set_budget.corpus, set_budget.options
    )
    from pgclarify_private.caller;
end;

comment on function pgclarify.set_budget(text, text, jsonb) is
'Create a budget, or change the one of that name; true if anything changed. Omitted options are not changed. A new budget '
'needs a period and a limit. name: 1 to 100 characters. corpus: one that you own; null is all corpora, for members of '
'pgclarify_owner. options: period (day, month, total), max_cost_usd (from 0), max_calls (from 0), role, binds_owner (true); '
'help says when to change each.';
grant execute on function pgclarify.set_budget(text, text, jsonb) to pgclarify_user;

create or replace function pgclarify.remove_budget(name text, corpus text default null)
returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.remove_budget(pgclarify_private.writer(caller), remove_budget.name, remove_budget.corpus)
    from pgclarify_private.caller;
end;

comment on function pgclarify.remove_budget(text, text) is
'Remove a budget; true if there was one. name: name of the budget. corpus: as in set_budget.';
grant execute on function pgclarify.remove_budget(text, text) to pgclarify_user;
