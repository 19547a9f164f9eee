-- Recording changes of an attached table: one function for each source, and the triggers that call it.

create or replace function pgclarify_private.capture_name(source_id bigint)
returns name
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select 'capture_' || capture_name.source_id;
end;

comment on function pgclarify_private.capture_name(bigint) is
'Name of the function, in schema pgclarify_private, that the triggers of a source call.';

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

create or replace function pgclarify_private.packed_keys(rows text, query text, is_short boolean)
returns text
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    -- Limited by rows, not by keys: an update has as many old rows as new ones.
    select format(
        case when packed_keys.is_short
            then
                'select case when (select one.is_same_type from (%2$s) as one limit 1) then array_agg(noted.key) end'
                ' from (%2$s) as noted where not exists (select from %1$s offset 3000) having count(*) > 0'
            else
                'select case when bool_and(noted.is_same_type) then array_agg(noted.key) end'
                ' from (select listed.*, row_number() over () / 3000 as place from (%2$s) as listed) as noted'
                ' group by noted.place'
        end,
        packed_keys.rows, packed_keys.query
    );
end;

comment on function pgclarify_private.packed_keys(text, text, boolean) is
'A query of arrays with up to 3,000 keys of a query of noted_keys on a transition table. An array is null if the column has '
'changed. The short form returns the keys of at most 3,000 rows, or nothing, in a third of the time.';

create or replace function pgclarify_private.noting(source_id bigint, one_key text, short text, long text)
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
            %3$s
        end if;
        if not found then
            %4$s
        end if;
        $statements$,
        noting.source_id,
        noting.one_key,
        format(insertion.template, noting.source_id, noting.short),
        format(insertion.template, noting.source_id, noting.long)
    )
    from (
        -- An array of this size mostly fits into a row without TOAST.
        select
            'insert into pgclarify_capture.change (source_id, relation, keys) '
            'select %1$s, tg_relid, packed.keys[part.first : part.first + 149] from (%2$s) as packed (keys) '
            'cross join lateral generate_series(1, coalesce(cardinality(packed.keys), 1), 150) as part (first);' as template
    ) as insertion;
end;

comment on function pgclarify_private.noting(bigint, text, text, text) is
'Statements of a trigger function that record the keys of one statement. If it changed one row, they use the key query of '
'noted_keys; otherwise first the short, then the long query of packed_keys.';

create or replace function pgclarify_private.make_capture(source_id bigint)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_source pgclarify_private.source;
    v_name name := pgclarify_private.capture_name(make_capture.source_id);
    v_type oid;
    v_triggers text;
    v_new text;
    v_new_short text;
    v_new_long text;
    v_old text;
    v_old_short text;
    v_old_long text;
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
    select
        string_agg(
            quote_literal(
                concat(
                    pgclarify_private.trigger_name(v_source.source_id, kind.suffix), ' ', kind.trigger_type, ' ',
                    kind.old_table, ',',
                    kind.new_table
                )
            ),
            ', ' order by kind.suffix
        )
    into v_triggers
    from pgclarify_private.trigger_kinds() as kind;
    v_new := pgclarify_private.noted_keys('new_rows', v_source.id_column, v_type);
    v_old := pgclarify_private.noted_keys('old_rows', v_source.id_column, v_type);
    v_new_short := pgclarify_private.packed_keys('new_rows', v_new, true);
    v_new_long := pgclarify_private.packed_keys('new_rows', v_new, false);
    v_old_short := pgclarify_private.packed_keys('old_rows', v_old, true);
    v_old_long := pgclarify_private.packed_keys('old_rows', v_old, false);
    -- Static statements take a fraction of the time of statements that are built at run time.
    v_body := format(
        $body$
-- The table may have a column of any name, and one that is gone may have that of a variable.
#variable_conflict use_column
declare
    -- A statement trigger of the table itself, with the name of ours. Whether it has transition tables shows when they are
    -- read, and a restored database has other numbers.
    v_is_known constant boolean :=
        tg_relid = %5$s and tg_level = 'STATEMENT' and tg_op <> 'TRUNCATE' and tg_name = %6$L || pg_catalog.lower(tg_op);
    v_is_ours boolean;
    v_is_same_column boolean;
begin
    if not v_is_known then
        -- Neither is found by a transaction whose snapshot is older than the trigger. Of the number of the table only a view
        -- knows, since it is another one in a restored database. A partition has its trigger from its parent; but not that of
        -- truncate, which stays on a partition that is detached.
        select
            -- As one text, which takes less time.
            concat(pg_trigger.tgname, ' ', pg_trigger.tgtype, ' ', pg_trigger.tgoldtable, ',', pg_trigger.tgnewtable) in (%4$s)
            and (pg_trigger.tgrelid = source.relation or pg_trigger.tgparentid <> 0 or pg_trigger.tgtype = 32),
            exists (
                select from pg_catalog.pg_attribute
                where
                    pg_attribute.attrelid = tg_relid
                    and pg_attribute.attname = %3$L
                    and pg_attribute.atttypid = %2$s
                    and not pg_attribute.attisdropped
            )
        into v_is_ours, v_is_same_column
        from pg_catalog.pg_trigger
        left join pgclarify_capture.source on source.source_id = %1$s
        where pg_trigger.tgrelid = tg_relid and pg_trigger.tgname = tg_name;
        if not v_is_ours then
            raise exception 'trigger "%%" is none of pgclarify''s', tg_name
                using errcode = 'trigger_protocol_violated',
                    detail = format('It is on table %%s, and notes changes for source %1$s.', tg_relid::pg_catalog.regclass),
                    hint = format('Drop it: drop trigger %%I on %%s.', tg_name, tg_relid::pg_catalog.regclass);
        end if;
        if tg_op = 'TRUNCATE' or v_is_ours is null or not v_is_same_column then
            insert into pgclarify_capture.change (source_id, relation) values (%1$s, tg_relid);
            return null;
        end if;
    end if;
    if tg_level = 'ROW' then
        if tg_op <> 'DELETE' then
            if new.%3$I is not null then
                insert into pgclarify_capture.change (source_id, relation, keys)
                values (%1$s, tg_relid, array[concat(new.%3$I)]);
            end if;
        end if;
        if tg_op = 'DELETE' or tg_op = 'UPDATE' and (new.%3$I is null or concat(new.%3$I) <> concat(old.%3$I)) then
            if old.%3$I is not null then
                insert into pgclarify_capture.change (source_id, relation, keys)
                values (%1$s, tg_relid, array[concat(old.%3$I)]);
            end if;
        end if;
    elsif tg_op = 'UPDATE' then
        %7$s
    elsif tg_op = 'INSERT' then
        %8$s
    else
        %9$s
    end if;
    return null;
end
$body$,
        v_source.source_id,
        -- 0 is not a type: without the column, every change counts as a change of any row.
        coalesce(v_type, 0),
        v_source.id_column,
        v_triggers,
        v_source.relation::oid,
        pgclarify_private.trigger_name(v_source.source_id, ''),
        pgclarify_private.noting(
            v_source.source_id,
            format(
                'select changed.* from (%s) as changed where changed.key = (select before.key from (%s) as before limit 1)'
                ' and not exists (select from new_rows offset 1)',
                v_new, v_old
            ),
            -- Old keys are mostly equal to the new ones, and then the arrays are equal, too.
            v_new_short || ' union ' || v_old_short,
            v_new_long || ' union ' || v_old_long
        ),
        pgclarify_private.noting(
            v_source.source_id, v_new || ' and not exists (select from new_rows offset 1)', v_new_short, v_new_long
        ),
        pgclarify_private.noting(
            v_source.source_id, v_old || ' and not exists (select from old_rows offset 1)', v_old_short, v_old_long
        )
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
'table. Error 39P01 for a trigger that is not one of expected_triggers.';

create or replace function pgclarify_private.expected_triggers(source pgclarify_private.source)
returns table (name name, relation oid, event text, firing "char")
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- Whether rows of the table can change by statements on another one: it has partitions, is one, or inherits.
    with tree as (
        select
            exists (select from pg_catalog.pg_inherits where pg_inherits.inhrelid = expected_triggers.source.relation)
            or pg_class.relkind = 'p' as is_part
        from pg_catalog.pg_class
        where pg_class.oid = expected_triggers.source.relation
    )
    select
        pgclarify_private.trigger_name(expected_triggers.source.source_id, kind.suffix),
        member.relation,
        format(kind.event, member.relation::regclass),
        kind.firing
    from tree
    inner join pgclarify_private.trigger_kinds() as kind on tree.is_part = coalesce(kind.is_for_parts, tree.is_part)
    -- TRUNCATE of a partition fires only the partition's own trigger, and a partition does not inherit that trigger from its
    -- parent.
    inner join pgclarify_private.members_of(expected_triggers.source.relation) as member
        on
            member.relation = expected_triggers.source.relation
            or (kind.suffix = 'truncate' and member.kind = 'r');
end;

comment on function pgclarify_private.expected_triggers(pgclarify_private.source) is
'The triggers that an attached table needs: name, table or partition, event, and in which sessions they fire '
'(pg_trigger.tgenabled).';

create or replace function pgclarify_private.missing_triggers(source pgclarify_private.source)
returns table (relation oid, statement text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    with expected as (
        select wanted.name, wanted.relation, wanted.event, wanted.firing, pg_trigger.oid as found, pg_trigger.tgenabled
        from pgclarify_private.expected_triggers(missing_triggers.source) as wanted
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
                'create trigger %I %s execute function pgclarify_private.%I()',
                expected.name, expected.event, pgclarify_private.capture_name(missing_triggers.source.source_id)
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
    execute format(
        'drop function if exists pgclarify_private.%I() cascade', pgclarify_private.capture_name(drop_capture.source_id)
    );
end
$$;

comment on function pgclarify_private.drop_capture(bigint) is
'Drop the function that records the changes of a source, and its triggers, even if other roles own their tables.';

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
        and not exists (select from pgclarify_private.source where source.source_id = named.source_id)
    -- A locked one must not block the others forever.
    order by random()
    limit 1;
    if not found then
        return null;
    end if;
    perform pgclarify_private.drop_capture(v_source_id);
    return format('pgclarify_private.%I()', pgclarify_private.capture_name(v_source_id));
end
$$;

comment on function pgclarify_private.drop_orphan_capture() is
'Drop one function of a dropped corpus, with its triggers, and return its name; null if there is none. Error 55P03 if '
'another transaction locks the table for longer than half a second.';
grant execute on function pgclarify_private.drop_orphan_capture() to pgclarify_worker;
