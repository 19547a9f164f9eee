-- Executing statements on attached tables, by a function of the table reader: see sources/table_reader.sql.

create or replace function pgclarify_private.required_table_reader_function(source pgclarify_private.source)
returns name
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_function name := pgclarify_private.table_reader_function((required_table_reader_function.source).relation);
begin
    if v_function is null then
        raise exception 'no role reads table "%"', (required_table_reader_function.source).relation_name
            using errcode = 'insufficient_privilege',
                detail = 'It has none since it was attached or restored, or since its owner is another one.',
                hint = 'Call pgclarify.resync as the owner of the table.';
    end if;
    return v_function;
end
$$;

comment on function pgclarify_private.required_table_reader_function(pgclarify_private.source) is
'Name of the function that reads an attached table; error 42501 without one.';

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
        pgclarify_private.required_table_reader_function(select_keys.source)
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

create or replace function pgclarify_private.select_rows(source pgclarify_private.source, statement text, keys text[])
returns table (
    key text, content text, is_too_long boolean, title text, uri text, metadata jsonb, readers name[]
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return query execute format(
        'select found.* from pgclarify_private.%I($1, $2, null, null, null) as found ('
        'key text, content text, is_too_long boolean, title text, uri text, metadata jsonb, readers name[])',
        pgclarify_private.required_table_reader_function(select_rows.source)
    )
    using select_rows.statement, select_rows.keys;
end
$$;

comment on function pgclarify_private.select_rows(pgclarify_private.source, text, text[]) is
'Execute a statement on an attached table as its table reader, with keys as $1. The statement returns rows with the columns '
'of this function.';
