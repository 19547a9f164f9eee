-- Which process holds a lock that this session has waited for in vain.

create or replace function pgclarify_private.wait_until(deadline timestamptz)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    -- Zero would mean: without an end.
    perform set_config(
        'lock_timeout',
        greatest(1, extract(epoch from wait_until.deadline - clock_timestamp()) * 1000)::integer::text,
        true
    );
end
$$;

comment on function pgclarify_private.wait_until(timestamptz) is
'Let later statements wait for locks until then at most. Called by a function that sets lock_timeout in its header, and so '
'restores it.';

create or replace function pgclarify_private.locking_transactions(relation regclass, place tid)
returns xid[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_xmax xid;
    v_members xid[];
begin
    execute format('select found.xmax from %s as found where found.ctid = $1', locking_transactions.relation)
    into v_xmax using locking_transactions.place;
    if not exists (select from pg_locks where pg_locks.locktype = 'transactionid' and pg_locks.transactionid = v_xmax) then
        -- Several transactions lock the row together. Those that only keep its key rarely block others.
        select coalesce(array_agg(member.xid) filter (where member.mode <> 'keysh'), array_agg(member.xid))
        into v_members
        from pg_get_multixact_members(v_xmax) as member;
    end if;
    return coalesce(v_members, array[v_xmax]);
exception
    -- It is the id of a single transaction, which has ended.
    when others then
        return array[v_xmax];
end
$$;

comment on function pgclarify_private.locking_transactions(regclass, tid) is
'The transactions that lock a row.';

create or replace function pgclarify_private.lock_holders(context text)
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set standard_conforming_strings = on
as $$
declare
    -- PostgreSQL names the row there, such as: while locking tuple (0,1) in relation "corpus".
    v_line constant text := split_part(lock_holders.context, E'\n', 1);
    v_place constant tid := substring(v_line from '\(\d+,\d+\)')::tid;
    v_relation constant regclass := (
        select pg_class.oid
        from pg_class
        where pg_class.relnamespace = 'pgclarify_private'::regnamespace
            and pg_class.relkind = 'r'
            and v_place is not null
            and v_line ~ format('\m%s\M', pg_class.relname)
        order by length(pg_class.relname) desc
        limit 1
    );
    v_transactions xid[];
    v_pids integer[];
begin
    if v_relation is not null then
        v_transactions := pgclarify_private.locking_transactions(v_relation, v_place);
        v_pids := array(
            select pg_locks.pid
            from pg_locks
            where pg_locks.locktype = 'transactionid' and pg_locks.granted and pg_locks.transactionid = any(v_transactions)
        );
    end if;
    if coalesce(cardinality(v_pids), 0) = 0 then
        -- The row was locked in a subtransaction, which has no lock of its own after its end; or the whole table is locked,
        -- or another process waits for the row.
        v_pids := array(
            select pg_locks.pid
            from pg_locks
            inner join pg_class on pg_class.oid = pg_locks.relation
            inner join pg_database on pg_database.oid = pg_locks.database
            where pg_database.datname = current_database()
                and pg_class.relnamespace = 'pgclarify_private'::regnamespace
                and pg_locks.granted
                and (
                    pg_locks.locktype = 'tuple'
                    or pg_locks.mode in ('AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock')
                    or pg_class.oid = v_relation and pg_locks.mode in ('RowShareLock', 'RowExclusiveLock')
                )
        );
    end if;
    return (
        select
            string_agg(
                concat_ws(
                    ', ',
                    format('process %s (role %s', activity.pid, coalesce(activity.usename, 'unknown')),
                    nullif(activity.application_name, ''),
                    activity.state,
                    'in a transaction since ' || to_char(activity.xact_start, 'YYYY-MM-DD HH24:MI:SS TZ')
                ) || ')',
                '; ' order by activity.pid
            )
        from (
            select * from pg_stat_activity
            where pg_stat_activity.pid = any(v_pids) and pg_stat_activity.pid <> pg_backend_pid()
            order by pg_stat_activity.pid
            limit 5
        ) as activity
    );
end
$$;

comment on function pgclarify_private.lock_holders(text) is
'The processes that hold the lock for which a statement has waited in vain, as a list for people, at most five; null if it was '
'released meanwhile. If the row was locked in a subtransaction, these are all that have locked rows of its table. context: of '
'the error.';
