-- Citus repeats DDL statements on its nodes, and connects to them as the role that runs the statement. Most of our roles cannot
-- log in there, and of all that is created at run time, the nodes need only the tables of distributed corpora.

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
'Set whether Citus repeats DDL statements on its nodes, until the transaction ends, and return the former setting. Does '
'nothing and returns null on a server without Citus.';
