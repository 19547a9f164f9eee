-- Help in SQL: functions, their parameters and their options.

create or replace function pgclarify_private.help(topic text)
returns table (
    name text, kind text, type text, default_value text, minimum text, maximum text, choices text[], meaning text
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
rows 40
as $$
begin
    if help.topic is null then
        return query
        select
            known.name, known.kind, known.type, known.default_value, known.minimum, known.maximum, known.choices,
            known.meaning
        from pgclarify_private.help_lines() as known
        where known.kind = 'function'
        order by known.name;
        return;
    end if;
    return query
    select
        known.name, known.kind, known.type, known.default_value, known.minimum, known.maximum, known.choices, known.meaning
    from pgclarify_private.help_lines() as known
    where help.topic = any(known.functions) and known.kind <> 'function'
    order by known.ordinal, known.name;
    if not found then
        raise exception 'there is no function "%"', pgclarify_private.shown(help.topic)
            using errcode = 'invalid_parameter_value',
                column = 'topic',
                hint = coalesce(
                    'Did you mean "' || pgclarify_private.nearest_name(
                        help.topic, array(select known.name from pgclarify_private.help_lines() as known where known.kind = 'function')
                    ) || '"?',
                    'List the functions with: select * from pgclarify.help().'
                );
    end if;
end
$$;

comment on function pgclarify_private.help(text) is 'See help.';
grant execute on function pgclarify_private.help(text) to pgclarify_reader;
