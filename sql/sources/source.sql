-- Which tables can be attached to a corpus: every problem of a table, with its solution.

create or replace function pgclarify_private.members_of(relation oid)
returns table (relation oid, kind "char")
language sql stable strict security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- Not pg_partition_tree: it would wait for transactions that change one of them.
    with recursive member (relation) as (
        select members_of.relation
        union
        select pg_inherits.inhrelid
        from member
        inner join pg_catalog.pg_inherits on member.relation = pg_inherits.inhparent
    )
    select pg_class.oid, pg_class.relkind
    from member
    inner join pg_catalog.pg_class on member.relation = pg_class.oid;
end;

comment on function pgclarify_private.members_of(oid) is
'A table and all its partitions, of every level, each with its kind (pg_class.relkind).';

create or replace function pgclarify_private.used_columns(source pgclarify_private.source)
returns table (use text, name name)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select used.use, used.name
    from (
        values ('id', used_columns.source.id_column), ('content', used_columns.source.content_column)
    ) as used (use, name)
    union all
    select field.name, (used_columns.source.field_columns ->> field.name)::name
    from unnest(pgclarify_private.fields_in_columns()) as field (name)
    where used_columns.source.field_columns ? field.name
    union all
    select 'metadata', listed.name from unnest(used_columns.source.metadata_columns) as listed (name);
end;

comment on function pgclarify_private.used_columns(pgclarify_private.source) is
'The columns of an attached table that are read, each with its use: id, content, a field of a document, or metadata.';

create or replace function pgclarify_private.table_problems(source pgclarify_private.source)
returns table (code text, message text, detail text, hint text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_table pg_catalog.pg_class;
    v_schema name;
    v_name text := (table_problems.source).relation::text;
begin
    return query select lost.* from pgclarify_private.lost_table(table_problems.source) as lost;
    if found then
        return;
    end if;
    select pg_class.* into v_table from pg_class where pg_class.oid = (table_problems.source).relation;
    if not found then
        return query select
            'undefined_table',
            format('table "%s" does not exist', v_name),
            'No table has that number.',
            'Pass the name of a table, such as ''public.articles''.';
        return;
    end if;
    select pg_namespace.nspname into v_schema from pg_namespace where pg_namespace.oid = v_table.relnamespace;
    if v_table.relkind not in ('r', 'p') then
        return query select
            'wrong_object_type',
            format('"%s" is not a table', v_name),
            'It is neither a plain nor a partitioned table, so no trigger sees its changes.',
            'Attach the table behind it; or keep a table in step with it, and attach that.';
        return;
    end if;
    if v_schema in ('pg_catalog', 'information_schema', 'pg_toast', 'pgclarify', 'pgclarify_private') then
        return query select
            'wrong_object_type',
            format('"%s" is not a table of yours', v_name),
            format('It is part of schema %s.', v_schema),
            'Attach a table of your own.';
        return;
    end if;
    if v_table.relpersistence <> 'p' then
        return query select
            'feature_not_supported',
            format('table "%s" does not last', v_name),
            'It is temporary, and seen by its session only; or it is unlogged, and empty after a crash.',
            format('Make it a plain one: alter table %s set logged. Copy a temporary one into a plain table.', v_name);
    end if;
    if v_table.relrowsecurity then
        return query select
            'feature_not_supported',
            format('table "%s" has row-level security', v_name),
            'A worker would see some of its rows only, or none.',
            'Attach a copy that a trigger keeps in step, and say in a column of it who may read a row: options => '
            '''{"readers": "…"}''; or grant each role a filter.';
    end if;
    if v_table.relkind = 'r'
        and exists (select from pg_inherits where pg_inherits.inhparent = (table_problems.source).relation) then
        return query select
            'feature_not_supported',
            format('table "%s" has tables that inherit from it', v_name),
            'Their rows would be read, and their changes not seen.',
            'Attach each of those tables, or make it a partitioned table.';
    end if;
    if v_table.relkind = 'p'
        and exists (
            select from pgclarify_private.members_of((table_problems.source).relation) as member where member.kind = 'f'
        )
    then
        return query select
            'feature_not_supported',
            format('a partition of table "%s" is a foreign table', v_name),
            'No trigger sees its changes.',
            'Attach the other partitions, each by itself.';
    end if;
    return query select found.* from pgclarify_private.mixed_owners(table_problems.source) as found;
    return query select found.* from pgclarify_private.column_problems(table_problems.source) as found;
end
$$;

comment on function pgclarify_private.table_problems(pgclarify_private.source) is
'Every reason why a table cannot be attached, or can no longer be followed, for any caller: name of the SQLSTATE, message, '
'detail, hint. No row if there is no problem.';

create or replace function pgclarify_private.mixed_owners(source pgclarify_private.source)
returns table (code text, message text, detail text, hint text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- An index of a table also gets an index on each partition, even on those of other owners. So reading any table of a tree
    -- may run code of every owner in it, as the table reader of one of them.
    with recursive ancestor (relation) as (
        select mixed_owners.source.relation::oid
        union
        select pg_inherits.inhparent
        from ancestor
        inner join pg_catalog.pg_inherits on ancestor.relation = pg_inherits.inhrelid
    ),
    others as (
        select relative.relation, pg_class.relowner as owner
        from (
            select ancestor.relation from ancestor
            union
            select members.relation from pgclarify_private.members_of(mixed_owners.source.relation) as members
        ) as relative
        inner join pg_catalog.pg_class on relative.relation = pg_class.oid
        where
            pg_class.relowner <> (
                select attached.relowner from pg_catalog.pg_class as attached
                where attached.oid = mixed_owners.source.relation
            )
            -- As for functions: see code_problems.
            and not pg_has_role(pg_class.relowner, 'pgclarify_owner', 'member')
        order by relative.relation
        limit 1
    )
    select
        'feature_not_supported',
        format('table "%s" and its partitions have several owners', mixed_owners.source.relation::text),
        format(
            'Table "%s" belongs to %s, whose code would run when the other tables are read.',
            others.relation::regclass, pg_get_userbyid(others.owner)
        ),
        format(
            'Give them one owner: alter table %s owner to %I.',
            others.relation::regclass, pg_get_userbyid(pg_class.relowner)
        )
    from others
    cross join pg_catalog.pg_class
    where pg_class.oid = mixed_owners.source.relation;
end;

comment on function pgclarify_private.mixed_owners(pgclarify_private.source) is
'The rows of table_problems about tables of another role that the table inherits from, or that are its partitions.';

create or replace function pgclarify_private.text_of(expression text, type regtype)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
begin atomic
    select
        case
            -- Their text depends on settings of the session.
            when text_of.type in ('date'::regtype, 'timestamp'::regtype)
                then format('extract(epoch from %s)::text', text_of.expression)
            when text_of.type = 'timestamptz'::regtype
                then format('extract(epoch from %s at time zone ''UTC'')::text', text_of.expression)
            when output.provolatile = 'i' then format('%s::text', text_of.expression)
        end
    from pg_catalog.pg_type
    left join pg_catalog.pg_cast
        on pg_type.oid = pg_cast.castsource and pg_cast.casttarget = 'text'::regtype and pg_cast.castmethod = 'f'
    inner join pg_catalog.pg_proc as output on output.oid = coalesce(pg_cast.castfunc, pg_type.typoutput)
    where pg_type.oid = text_of.type;
end;

comment on function pgclarify_private.text_of(text, regtype) is
'An expression for a text of a value of this type that a generated column can have; null if its text depends on more than the '
'value.';

create or replace function pgclarify_private.new_text_column(source pgclarify_private.source, use text, attnum smallint)
returns table (name name, statements text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        free.name,
        concat_ws(
            '; ',
            format('alter table %s add column %I text', new_text_column.source.relation::text, free.name)
            || case when made.expression is null then '' else format(' generated always as (%s) stored', made.expression) end
            || case when new_text_column.use = 'id' and parts.columns is null then ' unique' else '' end,
            case
                when new_text_column.use = 'id' and parts.columns is not null then
                    format(
                        'create unique index on %s (%I, %s)', new_text_column.source.relation::text, free.name, parts.columns
                    )
            end,
            case when made.expression is null then 'and fill it by a trigger of yours' end
        )
    from pg_catalog.pg_attribute as given
    -- The expression of a virtual column, which has no value that is stored.
    left join pg_catalog.pg_attrdef
        on given.attgenerated = 'v' and given.attrelid = pg_attrdef.adrelid and given.attnum = pg_attrdef.adnum
    cross join lateral (
        select
            pgclarify_private.text_of(
                coalesce('(' || pg_get_expr(pg_attrdef.adbin, pg_attrdef.adrelid) || ')', quote_ident(given.attname)),
                given.atttypid
            ) as expression
    ) as made
    cross join lateral (
        select numbered.name
        from (
            select place, concat('document_', new_text_column.use, case when place > 1 then '_' || place end)::name as name
            from generate_series(1, 100) as place
        ) as numbered
        where
            not exists (
                select from pg_catalog.pg_attribute as other
                where other.attrelid = given.attrelid and other.attname = numbered.name
            )
        order by numbered.place
        limit 1
    ) as free
    left join lateral (
        select string_agg(quote_ident(part.attname), ', ' order by listed.place) as columns
        from pg_catalog.pg_partitioned_table
        cross join lateral unnest(pg_partitioned_table.partattrs::smallint[]) with ordinality as listed (attnum, place)
        left join pg_catalog.pg_attribute as part
            on pg_partitioned_table.partrelid = part.attrelid and listed.attnum = part.attnum
        where pg_partitioned_table.partrelid = given.attrelid
    ) as parts on true
    where given.attrelid = new_text_column.source.relation and given.attnum = new_text_column.attnum;
end;

comment on function pgclarify_private.new_text_column(pgclarify_private.source, text, smallint) is
'For a hint: statements that add a column which can be used instead of this one, as id, content, title, uri or metadata; and '
'its name.';

create or replace function pgclarify_private.column_problems(source pgclarify_private.source)
returns table (code text, message text, detail text, hint text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    with used as (
        select
            wanted.use,
            wanted.name,
            found.attnum,
            found.atttypid as type,
            found.attcollation,
            -- Indexes cannot have it.
            coalesce(found.attgenerated = 'v', false) as is_virtual,
            made.statements as way_out,
            made.name as new_name
        from pgclarify_private.used_columns(column_problems.source) as wanted
        left join pg_catalog.pg_attribute as found
            on
                found.attrelid = column_problems.source.relation
                and found.attname = wanted.name
                and found.attnum > 0
                and not found.attisdropped
        left join lateral pgclarify_private.new_text_column(column_problems.source, wanted.use, found.attnum) as made on true
    )
    select
        'undefined_column',
        format('column "%s" of table "%s" does not exist', used.name, column_problems.source.relation::text),
        format(
            'Its columns are: %s.',
            (
                select string_agg(pg_attribute.attname, ', ' order by pg_attribute.attnum)
                from pg_catalog.pg_attribute
                where
                    pg_attribute.attrelid = column_problems.source.relation
                    and pg_attribute.attnum > 0
                    and not pg_attribute.attisdropped
            )
        ),
        'Name it as it stands there: upper and lower case count. If it was dropped, detach the table and attach it again.'
    from used
    where used.attnum is null
    union all
    select
        'datatype_mismatch',
        format('column "%s" cannot be an id', used.name),
        format('It is of type %s; an id is smallint, integer, bigint, uuid, text or varchar.', format_type(used.type, null)),
        format('Make a column that can: %s; then pass id_column => %L.', used.way_out, used.new_name)
    from used
    where
        used.use = 'id'
        and used.attnum is not null
        and used.type not in (
            'int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'uuid'::regtype, 'text'::regtype, 'varchar'::regtype
        )
    union all
    select
        'feature_not_supported',
        format('column "%s" cannot be an id', used.name),
        'Its collation takes different texts for equal.',
        format('Make a column that can: %s; then pass id_column => %L.', used.way_out, used.new_name)
    from used
    inner join pg_catalog.pg_collation on used.attcollation = pg_collation.oid
    where used.use = 'id' and not pg_collation.collisdeterministic
    union all
    select
        'object_not_in_prerequisite_state',
        format('column "%s" is not unique', used.name),
        'An id needs a unique index of its own: valid, immediate, and without a condition.'
        || case when used.is_virtual then ' A virtual generated column can have no index.' else '' end,
        case
            when used.is_virtual
                then format('Make a stored column: %s; then pass id_column => %L.', used.way_out, used.new_name)
            when exists (
                select from pg_catalog.pg_partitioned_table
                where pg_partitioned_table.partrelid = column_problems.source.relation
            )
                then 'Make one on the id and the columns by which the table is partitioned; or attach each partition by itself.'
            else format(
                'Make one: create unique index concurrently on %s (%I). If two rows have one id, change that first.',
                column_problems.source.relation::text, used.name
            )
        end
    from used
    where
        used.use = 'id'
        and used.attnum is not null
        and not exists (
            select from pg_catalog.pg_index
            inner join pg_catalog.pg_class on pg_index.indrelid = pg_class.oid
            where
                pg_index.indrelid = column_problems.source.relation
                and pg_index.indisunique
                and pg_index.indisvalid
                and pg_index.indimmediate
                and pg_index.indpred is null
                and pg_index.indkey[0] = used.attnum
                -- A partitioned table can have a unique index on the id alone only if it is partitioned by the id.
                and (pg_index.indnkeyatts = 1 or pg_class.relkind = 'p')
        )
    union all
    select
        'datatype_mismatch',
        format('column "%s" cannot be the %s', used.name, used.use),
        format('It is of type %s; it has to be text or varchar.', format_type(used.type, null)),
        format('Make a column that can: %s.', used.way_out)
    from used
    where used.use not in ('id', 'readers', 'dated', 'metadata') and used.type not in ('text'::regtype, 'varchar'::regtype)
    union all
    select
        'datatype_mismatch',
        format('column "%s" cannot be the readers', used.name),
        format('It is of type %s; it has to be text[], varchar[] or name[].', format_type(used.type, null)),
        'Names of roles, as an array; null in it means every reader of the corpus.'
    from used
    where used.use = 'readers' and used.type not in ('text[]'::regtype, 'varchar[]'::regtype, 'name[]'::regtype)
    union all
    select
        'datatype_mismatch',
        format('column "%s" cannot be the date', used.name),
        format('It is of type %s; it has to be date, timestamp, timestamptz, text or varchar.', format_type(used.type, null)),
        format('Make a column that can: %s.', used.way_out)
    from used
    where
        used.use = 'dated'
        and used.type not in (
            'date'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype, 'text'::regtype, 'varchar'::regtype
        )
    union all
    select
        'datatype_mismatch',
        format('column "%s" cannot be metadata', used.name),
        format('It is of type %s, which is not one of PostgreSQL''s own.', format_type(used.type, null)),
        format('Leave it out, or make a column that can: %s.', used.way_out)
    from used
    inner join pg_catalog.pg_type on used.type = pg_type.oid
    inner join pg_catalog.pg_type as element
        on element.oid = case
            when pg_type.typsubscript = 'array_subscript_handler'::regproc then pg_type.typelem else pg_type.oid
        end
    -- The owner of another type decides how it becomes JSON, so a worker would run that owner's code. For an enum, the owner
    -- would have to create a cast.
    where
        used.use = 'metadata'
        and element.typnamespace <> 'pg_catalog'::regnamespace
        and (
            element.typtype <> 'e'
            or exists (
                select from pg_catalog.pg_cast
                where pg_cast.castsource = element.oid and pg_cast.casttarget in ('json'::regtype, 'jsonb'::regtype)
            )
        );
end;

comment on function pgclarify_private.column_problems(pgclarify_private.source) is
'The rows of table_problems about columns.';
