-- Statements on users' tables, executed as role pgclarify_table_reader. Whoever plans a query works out what is constant in
-- the expressions of the table's indexes, constraints and statistics: code of the table's owner, who can make such an index
-- between our look at the table (_code_problems) and the planning. So this role owns these functions and nothing else, and may
-- read what was attached and nothing else. It cannot even name its functions, to hand them on, since it may not use our schema.

create or replace function pgclarify._select_keys(
    statement text, keys text[], comparable text[], max_rows integer, max_bytes bigint
)
returns text[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set row_security = off
as $$
declare
    v_keys text[];
begin
    execute _select_keys.statement into v_keys
    using _select_keys.keys, _select_keys.comparable, _select_keys.max_rows, _select_keys.max_bytes;
    return v_keys;
end
$$;

comment on function pgclarify._select_keys(text, text[], text[], integer, bigint) is
'Execute a statement on a user''s table, with the other parameters as $1 to $4; it returns one row with an array of keys.';
revoke execute on function pgclarify._select_keys(text, text[], text[], integer, bigint) from public;

create or replace function pgclarify._select_rows(statement text, keys text[])
returns table (
    key text, content text, is_too_long boolean, title text, uri text, metadata jsonb, readers name[]
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set row_security = off
as $$
begin
    return query execute _select_rows.statement using _select_rows.keys;
end
$$;

comment on function pgclarify._select_rows(text, text[]) is
'Execute a statement on a user''s table, with keys as $1; it returns such rows.';
revoke execute on function pgclarify._select_rows(text, text[]) from public;

-- For this moment only: who is given a function has to be able to make one.
grant create on schema pgclarify to pgclarify_table_reader;
alter function pgclarify._select_keys(text, text[], text[], integer, bigint) owner to pgclarify_table_reader;
alter function pgclarify._select_rows(text, text[]) owner to pgclarify_table_reader;
revoke all on schema pgclarify from pgclarify_table_reader;
-- It would hold by membership, too, if what it inherits is not switched off.
grant execute on function pgclarify._select_keys(text, text[], text[], integer, bigint) to pgclarify_owner;
grant execute on function pgclarify._select_rows(text, text[]) to pgclarify_owner;
