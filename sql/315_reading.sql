-- Executing statements on attached tables: by the function that the reader of their owner owns, see 302_reader.sql.

create or replace function pgclarify._required_reading_function(source pgclarify.source)
returns name
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_function name := pgclarify._reading_function((_required_reading_function.source).relation);
begin
    if v_function is null then
        raise exception 'no role reads table "%"', (_required_reading_function.source).relation_name
            using errcode = 'insufficient_privilege',
                detail = 'It has none since it was attached or restored, or since its owner is another one.',
                hint = 'Call pgclarify.resync as the owner of the table.';
    end if;
    return v_function;
end
$$;

comment on function pgclarify._required_reading_function(pgclarify.source) is
'Name of the function that reads an attached table; error 42501 without one.';

create or replace function pgclarify._select_keys(
    source pgclarify.source, statement text, keys text[], comparable text[], max_rows integer, max_bytes bigint
)
returns text[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_keys text[];
begin
    execute format(
        'select found.keys from pgclarify.%I($1, $2, $3, $4, $5) as found (keys text[])',
        pgclarify._required_reading_function(_select_keys.source)
    )
    into v_keys
    using
        _select_keys.statement, _select_keys.keys, _select_keys.comparable, _select_keys.max_rows, _select_keys.max_bytes;
    return v_keys;
end
$$;

comment on function pgclarify._select_keys(pgclarify.source, text, text[], text[], integer, bigint) is
'Execute a statement on an attached table as the reader of its owner, with the other parameters as $1 to $4; it returns one '
'row with an array of keys.';

create or replace function pgclarify._select_rows(source pgclarify.source, statement text, keys text[])
returns table (
    key text, content text, is_too_long boolean, title text, uri text, metadata jsonb, readers name[]
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return query execute format(
        'select found.* from pgclarify.%I($1, $2, null, null, null) as found ('
        'key text, content text, is_too_long boolean, title text, uri text, metadata jsonb, readers name[])',
        pgclarify._required_reading_function(_select_rows.source)
    )
    using _select_rows.statement, _select_rows.keys;
end
$$;

comment on function pgclarify._select_rows(pgclarify.source, text, text[]) is
'Execute a statement on an attached table as the reader of its owner, with keys as $1; it returns such rows.';
