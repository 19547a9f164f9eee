-- Runs: how they are entered, and when an earlier run answers instead of a new one.

create or replace function pgclarify_private.reuse_key(
    operation text, corpus_id bigint, question text, settings jsonb, requester name, roles name[]
)
returns bytea
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select sha256(
        convert_to(
            jsonb_build_array(
                reuse_key.operation,
                reuse_key.corpus_id,
                reuse_key.question,
                -- A batch gives the same answer. Runs of 0.3.0 have no option relax.
                reuse_key.settings
                - case when reuse_key.settings -> 'relax' = 'false' then '{batch,relax}' else '{batch}' end::text[],
                reuse_key.requester,
                -- A superuser has every role. With a list of them, every new or dropped role would prevent reuse, although a
                -- superuser sees the same rows.
                case
                    when exists (
                        select from pg_catalog.pg_roles where pg_roles.rolname = reuse_key.requester and pg_roles.rolsuper
                    ) then to_jsonb('superuser'::text)
                    else to_jsonb(reuse_key.roles)
                end
            )::text,
            'UTF8'
        )
    );
end;

comment on function pgclarify_private.reuse_key(text, bigint, text, jsonb, name, name[]) is
'Values that two runs must share for one to answer for the other; besides, corpus revision, model and prompts must be equal. '
'For a superuser, the key says only that it is one, instead of its roles.';

create or replace function pgclarify_private.is_on(parameter text, by_default boolean)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    -- A setting that was local to a past transaction is empty.
    v_given constant text := nullif(btrim(current_setting(is_on.parameter, true)), '');
begin
    return coalesce(v_given::boolean, is_on.by_default);
exception
    when invalid_text_representation then
        raise exception 'parameter "%" has a wrong value', is_on.parameter
            using errcode = 'invalid_parameter_value',
                column = is_on.parameter,
                detail = format('It is "%s".', pgclarify_private.shown(v_given)),
                hint = format('Set it to on or off, or reset it, which is %s.', case when is_on.by_default then 'on' else 'off' end);
end
$$;

comment on function pgclarify_private.is_on(text, boolean) is
'Whether a parameter of this session is on; error 22023 for a wrong value. by_default: the result if it is not set.';

create or replace function pgclarify_private.find_reusable_runs(
    corpus_id bigint, operation text, questions text[], settings jsonb, requester name, roles name[]
)
returns table (question text, run_id bigint)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- Materialized: reading locks and sessions is most of the cost.
    with serving as materialized (
        select present.model, present.prompt_version, present.version from pgclarify_private.serving_workers() as present
    ),
    in_service as (
        -- Workers that serve; if there is none, the last one that did.
        select serving.model, serving.prompt_version, serving.version from serving
        union
        (
            select worker.model, worker.prompt_version, worker.version
            from pgclarify_private.worker
            where worker.is_serving and not exists (select from serving)
            order by worker.seen_at desc, worker.worker_id desc
            limit 1
        )
    ),
    seen as materialized (
        select revised.*, pgclarify_private.fence_of(find_reusable_runs.corpus_id, find_reusable_runs.roles) as fence
        from pgclarify_private.seen_revision(find_reusable_runs.corpus_id, find_reusable_runs.roles) as revised
    )
    select asked.question, answered.run_id
    from unnest(find_reusable_runs.questions) as asked (question)
    cross join seen
    -- OFFSET 0 makes the planner evaluate the key once for each question, even if it reads all runs.
    cross join lateral (
        select pgclarify_private.reuse_key(
            find_reusable_runs.operation,
            find_reusable_runs.corpus_id,
            asked.question,
            find_reusable_runs.settings,
            find_reusable_runs.requester,
            find_reusable_runs.roles
        ) as reuse_key
        offset 0
    ) as keyed
    cross join lateral (
        select run.run_id
        from pgclarify_private.run
        -- Another version may answer differently, for example because it groups readings differently.
        inner join pgclarify_private.worker as answering on run.worker_id = answering.worker_id
        where
            run.reuse_key = keyed.reuse_key
            -- A dropped role may have had the same name.
            and run.requested_by_oid = pgclarify_private.role_oid(find_reusable_runs.requester)
            and run.status = 'succeeded'
            and run.corpus_revision = seen.revision
            -- Links are computed after a revision, and change what a run finds.
            and (
                run.graph_revision = seen.graph_revision
                or find_reusable_runs.settings ->> 'retrieval' is distinct from 'adaptive'
            )
            -- Rules of ambiguity and trained classifiers may change while the corpus does not, and the calls that are paid for
            -- change with every call.
            and pgclarify_private.reuses_runs(find_reusable_runs.operation)
            and not find_reusable_runs.settings ? 'ask_back'
            -- A change of metadata or of a date is no new revision, but may change what fits a filter or a fence, and what is
            -- newest.
            and not find_reusable_runs.settings ?| '{filter,prefer}'
            and seen.fence is null
            and exists (
                select
                from in_service
                where
                    in_service.model = run.model
                    and in_service.prompt_version = run.prompt_version
                    and in_service.version = answering.version
            )
        order by run.run_id desc
        limit 1
    ) as answered;
end;

comment on function pgclarify_private.find_reusable_runs(bigint, text, text[], jsonb, name, name[]) is
'Runs that have answered these questions for this role with these roles, at the current revision, and with the model, '
'prompts and version of the live workers. None without a corpus, and none if rules of ambiguity and a classifier were used, '
'because nothing shows whether these are unchanged.';

create or replace function pgclarify_private.count_questions(operation text, settings jsonb, question text)
returns integer
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    -- This counts strings without parsing: every question must be entered and shown, even invalid JSON.
    select (octet_length(unescaped.line) - octet_length(replace(unescaped.line, '"', ''))) / 2
    from (
        select
            case
                when strpos(count_questions.question, '\') = 0 then count_questions.question
                else replace(replace(count_questions.question, '\\', ''), '\"', '')
            end collate "C" as line
    ) as unescaped
    where
        pgclarify_private.takes_many(count_questions.operation) and count_questions.settings ? 'questions'
        and starts_with(count_questions.question, '[');
end;

comment on function pgclarify_private.count_questions(text, jsonb, text) is
'How many questions a run has that is for many: its question is a JSON array of them. Null for other runs.';

create or replace function pgclarify_private.current_traceparent()
returns text
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        coalesce(
            substring(
                current_setting('pgclarify.traceparent', true)
                from '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$'
            ),
            -- Only in a comment at the end, because a question may have such words, too.
            substring(
                right(current_query(), 1000)
                from '/[*][^*]*traceparent=''([0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2})''[^*]*[*]/[;[:space:]]*$'
            )
        );
end;

comment on function pgclarify_private.current_traceparent() is
'The span that asks: parameter pgclarify.traceparent, else a comment at the end of the statement, as SQLCommenter writes it; '
'null if there is none, or if it has another form.';

create or replace function pgclarify_private.enter_runs(
    requester name,
    login name,
    roles name[],
    operation text,
    corpus_id bigint,
    questions text[],
    settings jsonb,
    parent_run_id bigint,
    call_id uuid
)
returns bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_priority constant integer := case
        when cardinality(enter_runs.questions) > 1 then 0
        -- One run of many questions keeps a worker as busy as many runs.
        when pgclarify_private.count_questions(enter_runs.operation, enter_runs.settings, enter_runs.questions[1]) > 1 then 0
        -- A call that waits for one answer goes first: a person is waiting, and a batch has many questions.
        when enter_runs.call_id is not null then pgclarify_private.waited_for_priority()
        -- It also goes before one submitted question, because a program may submit any number of them one by one.
        else pgclarify_private.single_priority()
    end;
    v_run_ids bigint[];
begin
    if enter_runs.settings ? 'document_ids' then
        -- A list that is used again is not pruned.
        insert into pgclarify_private.document_set (hash, document_ids)
        values (
            decode(enter_runs.settings ->> 'document_set', 'hex'),
            array(select jsonb_array_elements_text(enter_runs.settings -> 'document_ids'))
        )
        on conflict on constraint document_set_pk do update set used_at = now();
    end if;
    with entered as (
        insert into pgclarify_private.run
        (
            operation, corpus_id, corpus_name, question, settings, parent_run_id, requested_by, requested_by_oid,
            reuse_key, call_id, is_counted, priority, login, traceparent
        )
        select
            enter_runs.operation, corpus.corpus_id, corpus.name, asked.question, given.settings, enter_runs.parent_run_id,
            enter_runs.requester,
            pgclarify_private.role_oid(enter_runs.requester),
            pgclarify_private.reuse_key(
                enter_runs.operation, corpus.corpus_id, asked.question, given.settings, enter_runs.requester,
                enter_runs.roles
            ),
            enter_runs.call_id, pgclarify_private.is_on('pgclarify.count_questions', true), v_priority,
            -- In a query of its own, so that it is read once and not for each question.
            enter_runs.login, (select pgclarify_private.current_traceparent())
        from (
            select
                entered.ordinal,
                case when own.has_filter then entered.question::jsonb ->> 0 else entered.question end as question,
                case
                    when own.has_filter then coalesce(pgclarify_private.check_filter(nullif(entered.question::jsonb -> 1, 'null')), '{}')
                    else '{}'
                end as settings
            from unnest(enter_runs.questions) with ordinality as entered (question, ordinal)
            cross join (select enter_runs.settings ? 'filters' as has_filter) as own
        ) as asked
        left join pgclarify_private.living_corpus as corpus on corpus.corpus_id = enter_runs.corpus_id
        cross join lateral (
            select
                -- Counted once here, instead of each time that the run is shown.
                pgclarify_private.without_ids(enter_runs.settings) || asked.settings || jsonb_strip_nulls(
                    jsonb_build_object('questions', pgclarify_private.count_questions(
                        enter_runs.operation, enter_runs.settings, asked.question
                    ))
                ) as settings
        ) as given
        -- Enter nothing if the corpus was dropped meanwhile.
        where enter_runs.corpus_id is null or corpus.corpus_id is not null
        order by asked.ordinal
        returning run.run_id
    )
    select array_agg(entered.run_id order by entered.run_id) into v_run_ids from entered;
    perform pgclarify_private.notify_workers();
    return v_run_ids;
end
$$;

comment on function pgclarify_private.enter_runs(name, name, name[], text, bigint, text[], jsonb, bigint, uuid) is
'Enter one queued run for each question, and return their ids in the order of the questions. login: login role of the '
'requester, for budgets. corpus_id: null for a question without a corpus. For many questions of detect_ambiguity, it adds the '
'number of "questions" to the settings.';
