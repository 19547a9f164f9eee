-- How often answers were reused: callers note it, workers count it.

create or replace function pgclarify_private.note_served(answered jsonb)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if note_served.answered <> '{}'
        and pgclarify_private.is_on('pgclarify.count_questions', true)
        and not current_setting('transaction_read_only')::boolean then
        insert into pgclarify_private.served_answer (run_id)
        select noted.run_id::bigint from jsonb_each_text(note_served.answered) as noted (question, run_id);
    end if;
end
$$;

comment on function pgclarify_private.note_served(jsonb) is
'Record that runs have answered once more, for workers to count. It does nothing on a server that cannot write, such as a '
'standby, or if pgclarify.count_questions is off. answered: object of questions, each with its run.';

create or replace function pgclarify_private.count_served(most integer)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $$
declare
    v_count integer;
begin
    with noted as materialized (
        -- Many more than are counted in one call: rows of a locked run must not hide others.
        select served_answer.ctid as place, served_answer.run_id
        from pgclarify_private.served_answer
        limit 100 * count_served.most
    ),
    -- Lock in the same order as other functions, and skip locked runs: they are counted later.
    locked as materialized (
        select run.run_id
        from pgclarify_private.run
        where run.run_id in (select noted.run_id from noted)
        order by run.run_id
        limit count_served.most
        for no key update skip locked
    ),
    taken as (
        delete from pgclarify_private.served_answer
        where served_answer.ctid = any(array(
            select noted.place
            from noted
            where noted.run_id in (select locked.run_id from locked)
                or not exists (select from pgclarify_private.run where run.run_id = noted.run_id)
            limit count_served.most
        ))
        returning served_answer.run_id, served_answer.served_at
    ),
    summed as (
        select taken.run_id, count(*) as served, max(taken.served_at) as last_served_at
        from taken
        group by taken.run_id
    ),
    added as (
        update pgclarify_private.run
        set
            served = run.served + summed.served,
            last_served_at = greatest(run.last_served_at, summed.last_served_at)
        from summed
        where run.run_id = summed.run_id
    )
    select count(*) into v_count from taken;
    return v_count;
end
$$;

comment on function pgclarify_private.count_served(integer) is
'Add what note_served has recorded to the runs that answered, up to a limit; returns how many. Rows of locked runs are kept '
'for later.';
grant execute on function pgclarify_private.count_served(integer) to pgclarify_worker;
