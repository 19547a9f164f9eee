-- What all views have in common: why text in them is wrapped, whom they belong to, and what their columns mean.
--
-- PostgreSQL may apply a comparison to a hidden row, before the policy, if the comparison is leakproof, as = and < of text are.
-- The number of rows that it removed, and the estimates of the planner, would then tell what a hidden text is. So:
--
-- * Tables are private. Views belong to pgclarify_views, which may read the tables, does not own them, and has no BYPASSRLS.
--   The policies apply to it, and current_user in them is still the role that reads the view.
-- * Text in a view is an expression that is not leakproof, which PostgreSQL computes after the policy, and for which it has no
--   statistics: text || '', jsonb #> '{}', trim_array(names, 0). Columns with a closed list of values, keys, numbers and times
--   are bare, so that filters on them use indexes. The group of a question is wrapped, too, because it is computed from text: a
--   role that asks a question would else learn whether hidden runs asked the same.

do $$
declare
    v_statement text;
begin
    for v_statement in
        select format('alter view %s owner to pgclarify_views', pg_class.oid::regclass)
        from pg_catalog.pg_class
        where
            pg_class.relkind = 'v'
            and pg_get_userbyid(pg_class.relowner) <> 'pgclarify_views'
            and (
                pg_class.relnamespace = 'pgclarify'::regnamespace
                or pg_class.oid in (
                    'pgclarify_private.asked_run'::regclass, 'pgclarify_private.seen_by_requester'::regclass,
                    'pgclarify_private.seen_stage'::regclass
                )
            )
        union all
        -- A view with the name of a table has the table's comments, unless it has its own. Views seen_<table> are alike.
        select format('comment on view %s is %L', shown.oid::regclass, obj_description(stored.oid, 'pg_class'))
        from pg_catalog.pg_class as shown
        inner join pg_catalog.pg_class as stored
            on shown.relname in (stored.relname, 'seen_' || stored.relname)
        where
            shown.relnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
            and shown.relkind = 'v'
            and obj_description(shown.oid, 'pg_class') is null
            and stored.relnamespace = 'pgclarify_private'::regnamespace
            and stored.relkind in ('r', 'p')
        union all
        select
            format(
                'comment on column %s.%I is %L',
                shown.oid::regclass, attribute.attname, col_description(stored.oid, described.attnum)
            )
        from pg_catalog.pg_class as shown
        inner join pg_catalog.pg_class as stored
            on shown.relname in (stored.relname, 'seen_' || stored.relname)
        inner join pg_catalog.pg_attribute as attribute on shown.oid = attribute.attrelid
        inner join pg_catalog.pg_attribute as described
            on stored.oid = described.attrelid and attribute.attname = described.attname
        where
            shown.relnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
            and shown.relkind = 'v'
            and col_description(shown.oid, attribute.attnum) is null
            and stored.relnamespace = 'pgclarify_private'::regnamespace
            and stored.relkind in ('r', 'p')
    loop
        execute v_statement;
    end loop;
end
$$;
