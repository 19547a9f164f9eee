-- Submitting questions, and reading the answers later.

create or replace function pgclarify_private.submit(
    caller pgclarify_private.caller, operation text, question text, corpus text, options jsonb
)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run constant pgclarify_private.run := pgclarify_private.prepare_submitted(
        submit.caller, submit.operation, submit.question, submit.corpus, submit.options
    );
begin
    return (pgclarify_private.submit(submit.caller, v_run, array[v_run.question]))[1];
end
$$;

comment on function pgclarify_private.submit(pgclarify_private.caller, text, text, text, jsonb) is 'See submit.';
grant execute on function pgclarify_private.submit(pgclarify_private.caller, text, text, text, jsonb) to pgclarify_user;

create or replace function pgclarify_private.submit_together(
    caller pgclarify_private.caller, operation text, questions text[], corpus text, options jsonb
)
returns bigint[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    -- Most questions of a run: few enough that other runs get a turn, and enough that the overhead of a run is negligible.
    v_chunk constant integer := 500;
    v_distinct constant text[] := pgclarify_private.not_served(submit_together.questions, '{}');
    v_run pgclarify_private.run := pgclarify_private.prepare_submitted(
        submit_together.caller, submit_together.operation, v_distinct[1], submit_together.corpus, submit_together.options
    );
    v_run_ids bigint[];
begin
    -- enter_runs replaces it by the number of questions.
    v_run.settings := v_run.settings - 'timeout' || '{"questions": 0}';
    v_run_ids := pgclarify_private.submit(
        submit_together.caller,
        v_run,
        array(
            select jsonb_agg(given.question order by given.ordinal)::text
            from unnest(v_distinct) with ordinality as given (question, ordinal)
            group by (given.ordinal - 1) / v_chunk
            order by (given.ordinal - 1) / v_chunk
        )
    );
    return array(
        select v_run_ids[(given.ordinal - 1) / v_chunk + 1]
        from unnest(submit_together.questions) with ordinality as asked (question, ordinal)
        inner join unnest(v_distinct) with ordinality as given (question, ordinal) on asked.question = given.question
        order by asked.ordinal
    );
end
$$;

comment on function pgclarify_private.submit_together(pgclarify_private.caller, text, text[], text, jsonb) is
'Enter runs of an operation that takes many questions, each with a JSON array of up to 500 of them: the run of each question, '
'in order.';

create or replace function pgclarify_private.submit_many(
    caller pgclarify_private.caller, operation text, questions text[], corpus text, options jsonb
)
returns bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_questions constant text[] := pgclarify_private.check_questions(submit_many.questions);
    -- Only many questions can each have a filter, so no operation has this option.
    v_has_filters constant boolean := pgclarify_private.searches(submit_many.operation)
        and jsonb_typeof(submit_many.options) = 'object'
        and submit_many.options ? 'filters';
begin
    if pgclarify_private.takes_many(submit_many.operation) and not coalesce(submit_many.options ? 'history', false) then
        return pgclarify_private.submit_together(
            submit_many.caller, submit_many.operation, v_questions, submit_many.corpus, submit_many.options
        );
    end if;
    return pgclarify_private.submit(
        submit_many.caller,
        pgclarify_private.prepare_submitted(
            submit_many.caller, submit_many.operation, v_questions[1], submit_many.corpus,
            case when v_has_filters then submit_many.options - 'filters' else submit_many.options end,
            case when v_has_filters then submit_many.options -> 'filters' end
        ),
        v_questions
    );
end
$$;

comment on function pgclarify_private.submit_many(pgclarify_private.caller, text, text[], text, jsonb) is 'See submit_many.';
grant execute on function pgclarify_private.submit_many(
    pgclarify_private.caller, text, text[], text, jsonb
) to pgclarify_user;

create or replace function pgclarify_private.wait(caller pgclarify_private.caller, run_ids bigint[], timeout interval)
returns setof pgclarify.run_outcome
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_deadline timestamptz := pgclarify_private.deadline(wait.timeout);
    v_run_id bigint;
    v_uncommitted bigint;
begin
    for v_run_id in select distinct unnest(wait.run_ids) as run_id order by run_id loop
        perform pgclarify_private.visible_run(wait.caller, v_run_id);
    end loop;
    select run.run_id into v_uncommitted
    from pgclarify_private.run
    where run.run_id = any(wait.run_ids) and run.status = 'queued' and run.created_at = transaction_timestamp()
    order by run.run_id
    limit 1;
    if found then
        raise exception 'run % is not committed yet', v_uncommitted
            using errcode = 'PC004',
                detail = 'It was submitted in this transaction, so no worker sees it.',
                hint = 'Commit first, then wait.';
    end if;
    if cardinality(wait.run_ids) = 1 then
        perform pgclarify_private.watch_run(v_run_id);
    end if;
    perform pgclarify_private.await(wait.run_ids, v_deadline);
    return query
    select seen.* from pgclarify_private.current_outcomes(wait.run_ids) as seen;
end
$$;

comment on function pgclarify_private.wait(pgclarify_private.caller, bigint[], interval) is 'See wait.';
grant execute on function pgclarify_private.wait(pgclarify_private.caller, bigint[], interval) to pgclarify_user;

create or replace function pgclarify_private.cancel(caller pgclarify_private.caller, run_ids bigint[])
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_roles constant name[] := pgclarify_private.roles_of(pgclarify_private.verify_caller(cancel.caller));
    v_mine bigint[];
    v_refused_id bigint;
    v_run pgclarify_private.run;
begin
    -- Planned for each call: a kept plan may be for an empty table, and would compare each run with each.
    execute
        $sql$
        select coalesce(array_agg(run.run_id), '{}')
        from pgclarify_private.run
        where run.run_id = any($1) and pgclarify_private.belongs_to(run.requested_by, run.requested_by_oid, $2)
        $sql$
    into v_mine
    using cancel.run_ids, v_roles;
    select asked.run_id into v_refused_id
    from (
        select unnest(cancel.run_ids)
        except
        select unnest(v_mine)
    ) as asked (run_id)
    limit 1;
    if found then
        v_run := pgclarify_private.visible_run(cancel.caller, v_refused_id);
        raise exception 'permission denied for run %', v_run.run_id
            using errcode = 'insufficient_privilege',
                detail = format('It was asked by role %s.', v_run.requested_by),
                hint = 'Only members of that role may cancel it.';
    end if;
    return pgclarify_private.cancel_runs(v_mine);
end
$$;

comment on function pgclarify_private.cancel(pgclarify_private.caller, bigint[]) is 'See cancel.';
grant execute on function pgclarify_private.cancel(pgclarify_private.caller, bigint[]) to pgclarify_user;
