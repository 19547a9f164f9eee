-- Help in SQL: functions, their parameters and their options, from what checks them.

create or replace function pgclarify_private.option_meanings()
returns jsonb
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select '{
        "ambiguity_classifier": "Version that eval train-ambiguity has made; null: the shipped classifier.",
        "analyst": "Role that sees all runs on the corpus.",
        "ask_back": "With when_vague, a clear question is answered in one pass, and only a vague one is clarified.",
        "batch": "Use true with submit or dbt for answers within a day at half the price, if the endpoint has a batch API.",
        "binds_owner": "Whether the budget also binds members of pgclarify_owner.",
        "check": "Use mark to keep reformulations that no document answers, none to skip the check.",
        "consolidation": "How readings are grouped; conservative shows only those that are likely right, hdbscan groups by density.",
        "corpus": "Corpus whose rules, classifier and readings count.",
        "count": "How many questions or reformulations are proposed.",
        "detail": "How much is shown; stages is the shortest.",
        "documents": "Use remove to remove the documents of the table, too.",
        "dry_run": "Use true to see what would be done, and change nothing.",
        "embedding_model": "Another model; the corpus is searched with the present one until all passages are embedded.",
        "entailment": "How sampled answers are compared, if the default joins different ones; none samples none, for fewer calls.",
        "form": "Use select for reformulations to choose from instead of questions to answer.",
        "graph": "Use rebuild to find the neighbors of all passages anew.",
        "id_prefix": "Text before each id, if ids of several tables would be equal.",
        "max_answers": "Most answers; raise it if the list ends with stop_code limit.",
        "max_calls": "Most calls of the model, of a run or of a budget; raise it if runs end early.",
        "max_cost_usd": "Most US dollars in the period; null: no such limit.",
        "max_passages": "Most passages that are judged or scored; raise it to find more, lower it to pay less.",
        "max_steps": "Most sub-questions of an investigation; 0 or 1 does not split the question.",
        "metadata": "Columns that are kept as metadata.",
        "method": "How the first passages are found; use lexical for exact words and identifiers, dense for meaning.",
        "period": "Time after which the budget starts anew.",
        "reader": "Role that may search the corpus; without it only its owner.",
        "readers": "Column with the roles that may read the document.",
        "refresh": "A new number asks the model again, although the answer is paid for.",
        "reply": "Run of a reply, to ask back once more about the question that it made.",
        "reranker": "Scores passages once more by a model; use it if the right passages are found, but ranked too low.",
        "retrieval": "Use adaptive if the best passages are near others: neighbors of what was found are looked at, too.",
        "role": "Role that the budget is for; null: everyone.",
        "search_config": "Text search configuration for the language of the documents.",
        "shards": "How many parts the passages are distributed to, some per node; 0 brings them back to this server.",
        "singletons": "Use drop to hide readings that only one document supports.",
        "threshold": "A question is vague if its probability is at least this; raise it to ask back less often.",
        "timeout": "How long to wait; the run goes on afterwards.",
        "title": "Column with the title.",
        "top_k": "How many passages are read; raise it to miss less, lower it to pay less.",
        "uri": "Column with the address.",
        "verify": "Use reader for fewer wrong readings of a small model, model for fewer at more calls, none to require only the quote."
    }'::jsonb;
end;

comment on function pgclarify_private.option_meanings() is 'When to change each option: one sentence by name.';

create or replace function pgclarify_private.help_functions()
returns table (name text, meaning text, comment text, oid oid)
language sql stable
set search_path = pg_catalog, pg_temp
begin atomic
    select
        pg_proc.proname::text, substring(described.comment from '^((?:(?![.;] |: ).)*)'), described.comment, pg_proc.oid
    from pg_catalog.pg_proc
    cross join lateral (select obj_description(pg_proc.oid, 'pg_proc') as comment) as described
    where pg_proc.pronamespace = 'pgclarify'::regnamespace;
end;

comment on function pgclarify_private.help_functions() is 'The public functions, with the first sentence of their comments.';

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
        select known.name, 'function', null, null, null, null, null::text[], known.meaning
        from pgclarify_private.help_functions() as known
        order by known.name;
        return;
    end if;
    if not exists (select from pgclarify_private.help_functions() as known where known.name = help.topic) then
        raise exception 'there is no function "%"', pgclarify_private.shown(help.topic)
            using errcode = 'invalid_parameter_value',
                column = 'topic',
                hint = coalesce(
                    'Did you mean "' || pgclarify_private.nearest_name(
                        help.topic, array(select known.name from pgclarify_private.help_functions() as known)
                    ) || '"?',
                    'List the functions with: select * from pgclarify.help().'
                );
    end if;
    return query
    select
        parameter.name, 'parameter', format_type(parameter.type, null),
        pg_get_function_arg_default(known.oid, parameter.ordinal::integer), null, null, null::text[],
        rtrim(substring(known.comment from '(?:^|[.;] )' || parameter.name || ': ((?:(?![.;] [a-z_]+: ).)*)'), '.')
    from pgclarify_private.help_functions() as known
    inner join pg_catalog.pg_proc on pg_proc.oid = known.oid
    cross join lateral unnest(pg_proc.proargnames, pg_proc.proargtypes::oid[]) with ordinality
        as parameter (name, type, ordinal)
    where known.name = help.topic and parameter.ordinal <= pg_proc.pronargs and parameter.name <> 'options'
    order by parameter.ordinal;
    return query
    select
        option.key, 'option', coalesce(option.value ->> 'type', 'string'), option.value ->> 'default',
        option.value ->> 'least', option.value ->> 'most',
        case
            when option.value ? 'choices' then array(select jsonb_array_elements_text(option.value -> 'choices'))
        end,
        pgclarify_private.option_meanings() ->> option.key
    from jsonb_each(pgclarify_private.options_of(help.topic)) as option
    order by option.key;
end
$$;

comment on function pgclarify_private.help(text) is 'See help.';
grant execute on function pgclarify_private.help(text) to pgclarify_reader;

create or replace function pgclarify.help(topic text default null)
returns table (
    name text, kind text, type text, default_value text, minimum text, maximum text, choices text[], meaning text
)
language sql stable
set search_path = pg_catalog, pg_temp
rows 40
begin atomic
    select seen.* from pgclarify_private.help(help.topic) as seen;
end;

comment on function pgclarify.help(text) is
'The functions, or the parameters and options of one. topic: name of a function; null lists all, with one sentence each. A '
'row of an option has its type, default, range or choices, and when to change it.';
grant execute on function pgclarify.help(text) to pgclarify_reader;
