-- Rows of attached tables, and how they become documents. Statements on a user's table are built here, and executed by a
-- function of the table reader: see sources/table_reader.sql. source_fault has checked that there is one.

create or replace function pgclarify_private.key_type(source pgclarify_private.source)
returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select case
        when pg_attribute.atttypid in ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) then 'bigint'
        when pg_attribute.atttypid = 'uuid'::regtype then 'uuid'
        when pg_attribute.atttypid in ('text'::regtype, 'varchar'::regtype) then 'text'
    end
    from pg_catalog.pg_attribute
    where
        pg_attribute.attrelid = key_type.source.relation
        and pg_attribute.attname = key_type.source.id_column
        and not pg_attribute.attisdropped;
end;

comment on function pgclarify_private.key_type(pgclarify_private.source) is
'The type in which ids of an attached table are compared: bigint, uuid or text. Conversion to text and back does not change '
'them.';

create or replace function pgclarify_private.source_table(source pgclarify_private.source)
returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- Inheritance children are separate tables.
    select case pg_class.relkind when 'r' then 'only ' else '' end || source_table.source.relation::text
    from pg_catalog.pg_class
    where pg_class.oid = source_table.source.relation;
end;

comment on function pgclarify_private.source_table(pgclarify_private.source) is
'The quoted name from which an attached table is read.';

create or replace function pgclarify_private.row_size(source pgclarify_private.source)
returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- Both functions take the length from the TOAST pointer, without fetching the value.
    select string_agg(
        format(
            case used.use when 'content' then 'coalesce(octet_length(t.%I), 0)' else 'coalesce(pg_column_size(t.%I), 0)' end,
            used.name
        ),
        ' + '
    )
    from pgclarify_private.used_columns(row_size.source) as used;
end;

comment on function pgclarify_private.row_size(pgclarify_private.source) is
'SQL for the approximate size in bytes of a row of table t.';

create or replace function pgclarify_private.comparable_keys(keys text[], key_type text)
returns text[]
language sql stable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select coalesce(array_agg(key), '{}')
    from unnest(comparable_keys.keys) as key
    where pg_input_is_valid(key, comparable_keys.key_type);
end;

comment on function pgclarify_private.comparable_keys(text[], text) is
'Keys that a column of this type (see key_type) can hold. Other keys are from before a change of its type, and no row has '
'them.';

create or replace function pgclarify_private.select_keys(
    source pgclarify_private.source, statement text, keys text[], comparable text[], max_rows integer, max_bytes bigint
)
returns text[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_keys text[];
begin
    execute format(
        'select found.keys from pgclarify_private.%I($1, $2, $3, $4, $5) as found (keys text[])',
        pgclarify_private.table_reader_function((select_keys.source).relation)
    )
    into v_keys
    using
        select_keys.statement, select_keys.keys, select_keys.comparable, select_keys.max_rows, select_keys.max_bytes;
    return v_keys;
end
$$;

comment on function pgclarify_private.select_keys(pgclarify_private.source, text, text[], text[], integer, bigint) is
'Execute a statement on an attached table as its table reader, with the other parameters as $1 to $4. The statement returns '
'one row with an array of keys.';

create or replace function pgclarify_private.next_keys(source pgclarify_private.source, max_rows integer, max_bytes bigint)
returns text[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
-- These settings apply where the statement is planned. They force the index of the id column, even if the table has not been
-- analyzed yet.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
begin
    -- With ties: where ids are not unique over partitions, rows with one id are read together.
    return pgclarify_private.select_keys(
        next_keys.source,
        format(
            $sql$
            select coalesce(array_agg(measured.id::text), '{}')
            from (
                select
                    page.id,
                    coalesce(sum(page.size) over (order by page.id groups between unbounded preceding and 1 preceding), 0)
                    as size_before
                from (
                    select t.%1$I as id, %2$s as size
                    from %3$s as t
                    where t.%1$I is not null and %4$s
                    order by t.%1$I
                    fetch first $3 rows with ties
                ) as page
            ) as measured
            where measured.size_before < $4
            $sql$,
            next_keys.source.id_column,
            pgclarify_private.row_size(next_keys.source),
            pgclarify_private.source_table(next_keys.source),
            case
                when next_keys.source.load_cursor is null then 'true'
                else format('t.%I > $1[1]::%s', next_keys.source.id_column, pgclarify_private.key_type(next_keys.source))
            end
        ),
        array[next_keys.source.load_cursor], null, next_keys.max_rows, next_keys.max_bytes
    );
end
$$;

comment on function pgclarify_private.next_keys(pgclarify_private.source, integer, bigint) is
'Keys of the rows after load_cursor, in order: up to max_rows, of about max_bytes together, and at least one.';

create or replace function pgclarify_private.first_keys(source pgclarify_private.source, keys text[], max_bytes bigint)
returns text[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_type text := pgclarify_private.key_type(first_keys.source);
begin
    if cardinality(first_keys.keys) <= 1 then
        return first_keys.keys;
    end if;
    return pgclarify_private.select_keys(
        first_keys.source,
        format(
            $sql$
            select array_agg(measured.key)
            from (
                select
                    given.key,
                    coalesce(sum(found.size) over (order by given.place), 0) - coalesce(found.size, 0) as size_before
                from unnest($1) with ordinality as given (key, place)
                left join (
                    select t.%1$I::text as key, sum(%2$s) as size from %3$s as t where t.%1$I = any($2::%4$s[]) group by 1
                ) as found on found.key = given.key
            ) as measured
            where measured.size_before < $4
            $sql$,
            first_keys.source.id_column, pgclarify_private.row_size(first_keys.source),
            pgclarify_private.source_table(first_keys.source), v_type
        ),
        first_keys.keys, pgclarify_private.comparable_keys(first_keys.keys, v_type), null, first_keys.max_bytes
    );
end
$$;

comment on function pgclarify_private.first_keys(pgclarify_private.source, text[], bigint) is
'The first of these keys whose rows have about max_bytes together; at least one.';

create or replace function pgclarify_private.missing_keys(source pgclarify_private.source, keys text[])
returns text[]
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.select_keys(
        missing_keys.source,
        format(
            'select array(select unnest($1) except select t.%1$I::text from %2$s as t where t.%1$I = any($2::%3$s[]))',
            missing_keys.source.id_column, pgclarify_private.source_table(missing_keys.source), typed.name
        ),
        missing_keys.keys, pgclarify_private.comparable_keys(missing_keys.keys, typed.name), null, null
    )
    from (select pgclarify_private.key_type(missing_keys.source) as name) as typed;
end;

comment on function pgclarify_private.missing_keys(pgclarify_private.source, text[]) is 'Those of these keys that have no row.';

create or replace function pgclarify_private.select_rows(source pgclarify_private.source, statement text, keys text[])
returns table (key text, content text, is_too_long boolean, fields jsonb)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return query execute format(
        'select found.* from pgclarify_private.%I($1, $2, null, null, null) as found ('
        'key text, content text, is_too_long boolean, fields jsonb)',
        pgclarify_private.table_reader_function((select_rows.source).relation)
    )
    using select_rows.statement, select_rows.keys;
end
$$;

comment on function pgclarify_private.select_rows(pgclarify_private.source, text, text[]) is
'Execute a statement on an attached table as its table reader, with keys as $1. The statement returns rows with the columns '
'of this function.';

create or replace function pgclarify_private.select_fields(source pgclarify_private.source)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
begin atomic
    select
        'jsonb_build_object('
        || string_agg(format('%L, ', used.use) || case
            when used.use = 'metadata' then '(select to_jsonb(r) from (select ' || used.listed || ') as r)'
            when used.use = 'readers'
                -- A name without a role grants access to no one.
                then format(
                    'case when %1$s is not null then to_jsonb(array(select r::name from unnest(%1$s) as r'
                    ' where octet_length(r::text) between 1 and 63)) end',
                    used.listed
                )
            -- Texts are cut in document_from; one character more than the longest URI shows that it is too long.
            else format('left(%s::text, 10001)', used.listed)
        end, ', ') || ')'
    from (
        select named.use, string_agg(format('t.%I', named.name), ', ') as listed
        from pgclarify_private.used_columns(select_fields.source) as named
        where named.use not in ('id', 'content')
        group by named.use
    ) as used;
end;

comment on function pgclarify_private.select_fields(pgclarify_private.source) is
'SQL for the fields of a document in a row of table t, as an object; null if no column has one.';

create or replace function pgclarify_private.document_of_row(
    source pgclarify_private.source, key text, content text, is_too_long boolean, fields jsonb
)
returns pgclarify_private.document
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_document pgclarify_private.document := pgclarify_private.document_from(
        document_of_row.source.id_prefix || document_of_row.key,
        coalesce(document_of_row.content, ''),
        document_of_row.fields || jsonb_build_object('dated', pgclarify_private.date_in(document_of_row.fields ->> 'dated'))
    );
begin
    v_document.corpus_id := document_of_row.source.corpus_id;
    v_document.source_id := document_of_row.source.source_id;
    -- As in made_document.
    if document_of_row.is_too_long then
        v_document.error := 'its content has more than 10000000 characters';
    elsif cardinality(v_document.readers) > 1000 then
        v_document.error := 'it has more than 1000 readers';
    end if;
    if pg_column_size(v_document.metadata) > 1000000 then
        v_document.metadata := '{}';
        v_document.error := coalesce(v_document.error, 'its metadata have more than 1000000 bytes');
    end if;
    if length(v_document.uri) > 10000 then
        v_document.uri := null;
        v_document.error := coalesce(v_document.error, 'its URI has more than 10000 characters');
    end if;
    return v_document;
end
$$;

comment on function pgclarify_private.document_of_row(pgclarify_private.source, text, text, boolean, jsonb) is
'The document of a row, with an error if it cannot be indexed. fields: as in select_fields, null for none.';

create or replace function pgclarify_private.read_rows(
    source pgclarify_private.source, keys text[], out documents pgclarify_private.document[], out unfit text
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
-- The metadata of a row are the same in every session. A money column keeps lc_monetary, which gives it its currency.
set datestyle = 'ISO, MDY'
set intervalstyle = 'postgres'
set timezone = 'UTC'
set extra_float_digits = 1
set bytea_output = 'hex'
as $$
declare
    v_type text := pgclarify_private.key_type(read_rows.source);
    v_statement text := format(
        $sql$
        select
            measured.id,
            -- Fetched only once.
            case when not measured.is_too_long then concat(measured.stored) end,
            measured.is_too_long, measured.fields
        from (
            select
                t.%1$I::text as id,
                t.%2$I::text as stored,
                -- A character has up to 4 bytes; the longest values are not fetched only to be counted.
                coalesce(
                    octet_length(t.%2$I) > 10000000
                    and (octet_length(t.%2$I) > 40000000 or length(t.%2$I) > 10000000),
                    false
                ) as is_too_long,
                %3$s as fields
            from %4$s as t
            where t.%1$I = any($1::%5$s[])
            offset 0
        ) as measured
        $sql$,
        read_rows.source.id_column,
        read_rows.source.content_column,
        coalesce(pgclarify_private.select_fields(read_rows.source), '''{}''::jsonb'),
        pgclarify_private.source_table(read_rows.source),
        v_type
    );
begin
    select
        coalesce(
            array_agg(made.document) filter (
                where pgclarify_private.is_document_id((made.document).id)
                and (made.is_too_long or not pgclarify_private.is_blank((made.document).content))
            ),
            '{}'
        ),
        min(left((made.document).id, 100)) filter (where not pgclarify_private.is_document_id((made.document).id))
    into documents, unfit
    from (
        select
            found.is_too_long,
            pgclarify_private.document_of_row(
                read_rows.source, found.key, found.content, found.is_too_long, found.fields
            ) as document
        from pgclarify_private.select_rows(
            read_rows.source, v_statement, pgclarify_private.comparable_keys(read_rows.keys, v_type)
        ) as found
        -- Otherwise each use of the document makes it again.
        offset 0
    ) as made;
end
$$;

comment on function pgclarify_private.read_rows(pgclarify_private.source, text[]) is
'The documents of the current rows with these keys. A row without content, or with an empty or too long id, has no document; '
'unfit: such an id, shortened, or null.';
