-- Citus copies what a statement of DDL makes to its nodes, and connects to them as the role that the statement runs as. Our own
-- roles may not log in there, and the nodes need nothing of what is made at run time.

create or replace function pgclarify_private.set_ddl_propagation(setting text)
returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_before text := current_setting('citus.enable_ddl_propagation', true);
begin
    if v_before <> set_ddl_propagation.setting then
        perform set_config('citus.enable_ddl_propagation', set_ddl_propagation.setting, true);
    end if;
    return v_before;
end
$$;

comment on function pgclarify_private.set_ddl_propagation(text) is
'Set whether Citus copies what is made to its nodes, until the transaction ends, and return what was set before. Does nothing '
'and returns null where the server has no Citus.';
