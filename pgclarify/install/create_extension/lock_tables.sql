-- Lock all tables before one is changed. Transactions of workers take these locks in other orders, so an upgrade that waited
-- with some of them would deadlock with a busy worker. It gives them back after a moment, and tries again.

do $$
declare
    v_timeout text := current_setting('lock_timeout');
    -- Null means that it waits as long as it takes.
    v_end timestamptz := clock_timestamp() + nullif(v_timeout, '0')::interval;
    v_tables text := (
        select string_agg(pg_class.oid::regclass::text, ', only ' order by pg_class.relname)
        from pg_class
        where pg_class.relnamespace = 'pgclarify_private'::regnamespace
            and pg_class.relkind in ('r', 'p')
            and not pg_class.relispartition
            -- Those of a distributed corpus are not changed.
            and pg_class.relname !~ '^(passage|passage_embedding)_[0-9]+$'
    );
begin
    loop
        begin
            -- Shorter than the time after which PostgreSQL looks for a deadlock.
            set local lock_timeout = '200ms';
            execute format('lock table only %s in access exclusive mode', v_tables);
            exit;
        exception
            when lock_not_available or deadlock_detected then
                if clock_timestamp() > v_end then
                    raise;
                end if;
                perform pg_sleep(0.1 + 0.2 * random());
        end;
    end loop;
    perform set_config('lock_timeout', v_timeout, true);
end
$$;
