-- Lock all views and tables before one is changed. Transactions of workers and callers take these locks in other orders, and a
-- call that has locked a view waits for its tables: an upgrade that waited with some of the locks would deadlock with them. It
-- gives them back after a moment, and tries again. After a second it says what it waits for.

do $$
declare
    v_timeout text := current_setting('lock_timeout');
    v_start timestamptz := clock_timestamp();
    -- Null means that it waits as long as it takes.
    v_end timestamptz := v_start + nullif(v_timeout, '0')::interval;
    v_is_said boolean := false;
    v_relations oid[] := array(
        select pg_class.oid
        from pg_class
        where pg_class.relnamespace::regnamespace::text in ('pgclarify', 'pgclarify_private')
            and pg_class.relkind in ('r', 'p', 'v')
            and not pg_class.relispartition
            -- A role with the right to create here may have relations of its own. An upgrade does not change them.
            and pg_has_role(pg_class.relowner, 'usage')
            -- Those of a distributed corpus are not changed.
            and pg_class.relname !~ '^(passage|passage_embedding)_[0-9]+$'
    );
    -- These change nothing. LOCK would also lock what a view reads, such as catalogs.
    v_views text := (
        select string_agg(
            format('alter view %s owner to %I', pg_class.oid::regclass, pg_get_userbyid(pg_class.relowner)), '; '
            order by pg_class.relname
        )
        from pg_class
        where pg_class.oid = any(v_relations) and pg_class.relkind = 'v'
    );
    v_tables text := (
        select string_agg(pg_class.oid::regclass::text, ', only ' order by pg_class.relname)
        from pg_class
        where pg_class.oid = any(v_relations) and pg_class.relkind <> 'v'
    );
begin
    loop
        begin
            -- Shorter than the time after which PostgreSQL looks for a deadlock.
            set local lock_timeout = '200ms';
            execute v_views;
            execute format('lock table only %s in access exclusive mode', v_tables);
            exit;
        exception
            when lock_not_available or deadlock_detected then
                if not v_is_said and clock_timestamp() > v_start + interval '1 second' then
                    v_is_said := true;
                    -- PostgreSQL shows no notices of a script.
                    raise info 'waiting for transactions that use pgclarify'
                        using detail = format(
                            'Their processes: %s.',
                            array_to_string(
                                array(
                                    select distinct pg_locks.pid
                                    from pg_locks
                                    where pg_locks.granted
                                        -- In a copy of this database, relations have the same numbers.
                                        and pg_locks.database = (
                                            select pg_database.oid
                                            from pg_database
                                            where pg_database.datname = current_database()
                                        )
                                        and pg_locks.relation = any(v_relations)
                                        and pg_locks.pid <> pg_backend_pid()
                                ),
                                ', '
                            )
                        ),
                        hint = 'They are in pg_stat_activity. To end one: select pg_terminate_backend(PROCESS).';
                end if;
                if clock_timestamp() > v_end then
                    raise;
                end if;
                perform pg_sleep(0.1 + 0.2 * random());
        end;
    end loop;
    perform set_config('lock_timeout', v_timeout, true);
end
$$;
