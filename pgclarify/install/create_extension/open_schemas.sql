-- Let the owner's functions use the extensions, and let workers use the type of vectors. A grant to a role that has the right
-- would only show up in dumps.

do $$
declare
    v_statement text;
begin
    for v_statement in
        select format('grant usage on schema %s to %I', needed.extension_schema, needed.role)
        from (
            values
                ('@extschema:vector@', 'pgclarify_owner'),
                ('@extschema:vector@', 'pgclarify_worker'),
                ('@extschema:dblink@', 'pgclarify_owner')
        ) as needed (extension_schema, role)
        where not has_schema_privilege(needed.role, to_regnamespace(needed.extension_schema), 'usage')
    loop
        execute v_statement;
    end loop;
end
$$;
