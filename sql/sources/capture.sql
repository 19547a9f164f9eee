-- Recording changes of an attached table: one function for each source, and the triggers that call it.

create or replace function pgclarify_private.noted_keys(rows text, id_column name, type oid)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
begin atomic
    -- The user's own statement must never fail because of us. If the column is gone, its name resolves to the outer query, with
    -- a type that no id has. Then every change counts as a change of any row, and also if the column has another type. concat
    -- uses the output function of the type; a cast could be a user's function.
    select format(
        'select concat(given.id) as key, pg_typeof(given.id) = %1$s as is_same_type'
        ' from (select null::pg_catalog.pg_snapshot as %2$I) as missing'
        ' cross join lateral (select %2$I from %3$s) as given (id)'
        ' where (given.id is not null or pg_typeof(given.id) <> %1$s)',
        coalesce(noted_keys.type, 0), noted_keys.id_column, noted_keys.rows
    );
end;

comment on function pgclarify_private.noted_keys(text, name, oid) is
'A query of the keys in a transition table, as text, and whether their column still has this type; rows without a key are '
'skipped.';

create or replace function pgclarify_private.noting(source_id bigint, one_key text, keys text)
returns text
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select format(
        $statements$
        -- Most statements change one row; that needs neither a sort nor a hash table.
        insert into pgclarify_capture.change (source_id, relation, keys)
        select %1$s, tg_relid, array[one.key] from (%2$s) as one where one.is_same_type;
        if not found then
            -- An array of 150 keys mostly fits into a row without TOAST.
            insert into pgclarify_capture.change (source_id, relation, keys)
            select %1$s, tg_relid, case when bool_and(noted.is_same_type) then array_agg(noted.key) end
            from (select listed.*, row_number() over () / 150 as place from (%3$s) as listed) as noted
            group by noted.place;
        end if;
        $statements$,
        noting.source_id,
        noting.one_key,
        noting.keys
    );
end;

comment on function pgclarify_private.noting(bigint, text, text) is
'Statements of a trigger function that record the keys of one statement, by queries as those of noted_keys. one_key: has a row '
'if the statement changed one row. keys: all of them.';

create or replace function pgclarify_private.make_capture(source_id bigint)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_source pgclarify_private.source;
    v_name name := 'capture_' || make_capture.source_id;
    v_type oid;
    v_new text;
    v_old text;
    v_body text;
    v_propagation text;
begin
    select source.* into v_source from pgclarify_private.source where source.source_id = make_capture.source_id;
    select pg_attribute.atttypid into v_type
    from pg_attribute
    where
        pg_attribute.attrelid = v_source.relation
        and pg_attribute.attname = v_source.id_column
        and not pg_attribute.attisdropped;
    v_new := pgclarify_private.noted_keys('new_rows', v_source.id_column, v_type);
    v_old := pgclarify_private.noted_keys('old_rows', v_source.id_column, v_type);
    -- Static statements take a fraction of the time of statements that are built at run time.
    v_body := format(
        $body$
-- The table may have a column of any name, and one that is gone may have that of a variable.
#variable_conflict use_column
declare
    v_is_same_type boolean := false;
    v_new text;
    v_old text;
begin
    if tg_op = 'TRUNCATE' then
        insert into pgclarify_capture.change (source_id, relation) values (%1$s, tg_relid);
    elsif tg_level = 'ROW' then
        begin
            v_is_same_type := pg_typeof(coalesce(new.%3$I, old.%3$I)) = %2$s;
            v_new := case when new.%3$I is not null then concat(new.%3$I) end;
            v_old := case when old.%3$I is not null then concat(old.%3$I) end;
        exception
            -- The column is gone, or of another type since this session read it.
            when others then
                v_is_same_type := false;
        end;
        if not v_is_same_type then
            insert into pgclarify_capture.change (source_id, relation) values (%1$s, tg_relid);
        elsif num_nonnulls(v_new, v_old) > 0 then
            insert into pgclarify_capture.change (source_id, relation, keys)
            values (%1$s, tg_relid, array_remove(array[v_new, nullif(v_old, v_new)], null));
        end if;
    elsif tg_op = 'UPDATE' then
        %4$s
    elsif tg_op = 'INSERT' then
        %5$s
    else
        %6$s
    end if;
    return null;
end
$body$,
        v_source.source_id,
        -- 0 is not a type: without the column, every change counts as a change of any row.
        coalesce(v_type, 0),
        v_source.id_column,
        pgclarify_private.noting(
            v_source.source_id,
            format(
                'select changed.* from (%s) as changed where changed.key = (select before.key from (%s) as before limit 1)'
                ' and not exists (select from new_rows offset 1)',
                v_new, v_old
            ),
            v_new || ' union ' || v_old
        ),
        pgclarify_private.noting(v_source.source_id, v_new || ' and not exists (select from new_rows offset 1)', v_new),
        pgclarify_private.noting(v_source.source_id, v_old || ' and not exists (select from old_rows offset 1)', v_old)
    );
    v_propagation := pgclarify_private.set_ddl_propagation('off');
    execute format(
        -- Only one setting: setting and restoring each one adds some microseconds to every statement of the user.
        'create or replace function pgclarify_private.%I() returns trigger language plpgsql security definer '
        'set search_path = pg_catalog, pgclarify_capture, pg_temp as %L',
        v_name, v_body
    );
    execute format(
        'comment on function pgclarify_private.%I() is %L',
        v_name, format('Notes changes of table %s for source %s.', v_source.relation_name, v_source.source_id)
    );
    if (
        select pg_proc.proowner <> 'pgclarify_capture'::regrole
        from pg_proc
        where pg_proc.pronamespace = 'pgclarify_private'::regnamespace and pg_proc.proname = v_name
    ) then
        -- The new owner must have CREATE on the function's schema, so the function moves through another schema first.
        execute format('alter function pgclarify_private.%I() set schema pgclarify_capture', v_name);
        execute format('alter function pgclarify_capture.%I() owner to pgclarify_capture', v_name);
        execute format('alter function pgclarify_capture.%I() set schema pgclarify_private', v_name);
    end if;
    perform pgclarify_private.grant_capture(v_source.source_id);
    perform pgclarify_private.set_ddl_propagation(v_propagation);
end
$$;

comment on function pgclarify_private.make_capture(bigint) is
'Create or replace the function that the triggers of a source call. It appends to change, and never fails because of the '
'table. A trigger of the owner''s that calls it for another table does no harm: follow_changes reads only rows of the attached '
'table.';

create or replace function pgclarify_private.missing_triggers(source pgclarify_private.source)
returns table (relation oid, statement text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- One call for each statement, with all its rows, is many times cheaper than one call for each row. But statement triggers
    -- do not fire under logical replication, nor if the statement names another table of the same tree; row triggers do.
    with kind (suffix, is_for_parts, event, firing) as (
        values
        ('insert', false, 'after insert on %s referencing new table as new_rows for each statement', 'O'::"char"),
        ('update', false, 'after update on %s referencing old table as old_rows new table as new_rows for each statement', 'O'),
        ('delete', false, 'after delete on %s referencing old table as old_rows for each statement', 'O'),
        ('replica', false, 'after insert or update or delete on %s for each row', 'R'),
        ('row', true, 'after insert or update or delete on %s for each row', 'A'),
        ('truncate', null, 'after truncate on %s for each statement', 'A')
    ),
    -- Whether rows of the table can change by statements on another one: it has partitions, is one, or inherits.
    tree as (
        select
            exists (select from pg_catalog.pg_inherits where pg_inherits.inhrelid = missing_triggers.source.relation)
            or pg_class.relkind = 'p' as is_part
        from pg_catalog.pg_class
        where pg_class.oid = missing_triggers.source.relation
    ),
    wanted as (
        select
            format('pgclarify_%s_%s', missing_triggers.source.source_id, kind.suffix)::name as name,
            member.relation,
            format(kind.event, member.relation::regclass) as event,
            kind.firing
        from tree
        inner join kind on tree.is_part = coalesce(kind.is_for_parts, tree.is_part)
        -- TRUNCATE of a partition fires only the partition's own trigger, and a partition does not inherit that trigger from
        -- its parent.
        inner join pgclarify_private.members_of(missing_triggers.source.relation) as member
            on
                member.relation = missing_triggers.source.relation
                or (kind.suffix = 'truncate' and member.kind = 'r')
    ),
    expected as (
        select wanted.name, wanted.relation, wanted.event, wanted.firing, pg_trigger.oid as found, pg_trigger.tgenabled
        from wanted
        left join pg_catalog.pg_trigger
            on
                pg_trigger.tgrelid = wanted.relation
                and pg_trigger.tgname = wanted.name
                and not pg_trigger.tgisinternal
    ),
    needed as (
        -- The needed triggers can change, for example when the table becomes a partition.
        select
            1 as place, pg_trigger.tgname as name, pg_trigger.tgrelid as relation,
            format('drop trigger %I on %s', pg_trigger.tgname, pg_trigger.tgrelid::regclass) as statement
        from pg_catalog.pg_trigger
        where
            pg_trigger.tgrelid = missing_triggers.source.relation
            and not pg_trigger.tgisinternal
            and pg_trigger.tgparentid = 0
            and pg_trigger.tgname like format('pgclarify\_%s\_%%', missing_triggers.source.source_id)
            and pg_trigger.tgname not in (select expected.name from expected)
        union all
        select
            2, expected.name, expected.relation,
            format(
                'create trigger %I %s execute function pgclarify_private.capture_%s()',
                expected.name, expected.event, missing_triggers.source.source_id
            )
        from expected
        where expected.found is null
        union all
        select
            3, expected.name, expected.relation,
            format(
                'alter table %s enable %strigger %I',
                expected.relation::regclass,
                case expected.firing when 'R' then 'replica ' when 'A' then 'always ' else '' end,
                expected.name
            )
        from expected
        where coalesce(expected.tgenabled, 'O') <> expected.firing
    )
    select needed.relation, needed.statement from needed order by needed.name, needed.relation, needed.place;
end;

comment on function pgclarify_private.missing_triggers(pgclarify_private.source) is
'Statements, in order, that create the missing triggers of an attached table or its partitions; none if it has them all.';

create or replace function pgclarify_private.drop_capture(source_id bigint)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- Its notices about the dropped triggers are expected.
set client_min_messages = 'warning'
as $$
begin
    execute format('drop function if exists pgclarify_private.capture_%s() cascade', drop_capture.source_id);
    delete from pgclarify_private.change where change.source_id = drop_capture.source_id;
end
$$;

comment on function pgclarify_private.drop_capture(bigint) is
'Drop the function that records the changes of a source, and its triggers, even if other roles own their tables; and delete '
'these changes.';

create or replace function pgclarify_private.drop_orphan_capture()
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- While it waits for the lock, transactions that write to the user's table wait behind it.
set lock_timeout = '500ms'
as $$
declare
    v_source_id bigint;
begin
    select named.source_id into v_source_id
    from pg_proc
    cross join lateral (select substring(pg_proc.proname from '[0-9]+$')::bigint as source_id) as named
    where
        pg_proc.pronamespace = 'pgclarify_private'::regnamespace
        and pg_proc.proname ~ '^capture_[0-9]+$'
        and not exists (
            select from pgclarify_private.source
            inner join pgclarify_private.living_corpus as corpus on source.corpus_id = corpus.corpus_id
            where source.source_id = named.source_id
        )
    -- A locked one must not block the others forever.
    order by random()
    limit 1;
    if not found then
        return null;
    end if;
    perform pgclarify_private.drop_capture(v_source_id);
    return format('pgclarify_private.capture_%s()', v_source_id);
end
$$;

comment on function pgclarify_private.drop_orphan_capture() is
'Drop one function of a dropped corpus, with its triggers, and return its name; null if there is none. Error 55P03 if '
'another transaction locks the table for longer than half a second.';
grant execute on function pgclarify_private.drop_orphan_capture() to pgclarify_worker;
