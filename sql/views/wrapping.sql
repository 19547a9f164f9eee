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
        -- A view that is named after a table has the table's comments, unless it has its own.
        select
            case
                when described.attnum is null
                    then format('comment on view %s is %L', shown.oid::regclass, obj_description(stored.oid, 'pg_class'))
                else format(
                    'comment on column %s.%I is %L',
                    shown.oid::regclass, described.attname, col_description(stored.oid, described.attnum)
                )
            end
        from pg_catalog.pg_class as shown
        inner join pg_catalog.pg_class as stored
            on stored.relname = case shown.relname
                when 'evaluation' then 'eval_run'
                else regexp_replace(shown.relname, '^(seen|asked|withheld|my_analyzed|investigation|living)_|_status$', '')
            end
        cross join lateral (
            select null::smallint as attnum, null::name as attname
            where obj_description(shown.oid, 'pg_class') is null
            union all
            select own.attnum, own.attname
            from pg_catalog.pg_attribute as own
            inner join pg_catalog.pg_attribute as attribute
                on attribute.attrelid = shown.oid and attribute.attname = own.attname
            where own.attrelid = stored.oid and own.attnum > 0 and col_description(shown.oid, attribute.attnum) is null
        ) as described
        where
            shown.relnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
            and shown.relkind = 'v'
            and stored.relnamespace = 'pgclarify_private'::regnamespace
            and stored.relkind in ('r', 'p')
    loop
        execute v_statement;
    end loop;
end
$$;
