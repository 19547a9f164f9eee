-- Writing budgets. Only functions write, because a role with UPDATE or DELETE rights may also lock the whole table.

create or replace function pgclarify_private.raise_binds_owner(name text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception 'budget "%" binds the owner of its corpus', pgclarify_private.shown(raise_binds_owner.name)
        using errcode = 'insufficient_privilege',
            detail = 'It was created by a member of pgclarify_owner.',
            hint = 'Ask one of them to change it, or to set its option binds_owner to false.';
end
$$;

comment on function pgclarify_private.raise_binds_owner(text) is 'Error 42501.';

create or replace function pgclarify_private.set_budget(caller pgclarify_private.caller, name text, corpus text, options jsonb)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_is_administrator constant boolean
        := 'pgclarify_owner'::name = any(pgclarify_private.roles_of(pgclarify_private.verify_caller(set_budget.caller)));
    v_corpus_id bigint := (pgclarify_private.edited_corpus(set_budget.caller, set_budget.corpus)).corpus_id;
    -- Options that are null here are missing from the result if omitted. An explicit null removes a role or a limit.
    v_settings jsonb := pgclarify_private.check_options(set_budget.options, pgclarify_private.options_of('set_budget'));
    v_known pgclarify_private.budget;
    v_budget pgclarify_private.budget;
begin
    if set_budget.name is null or length(set_budget.name) not between 1 and 100 then
        raise exception 'a budget needs a name of 1 to 100 characters'
            using errcode = 'invalid_parameter_value',
                detail = format('It has %s.', coalesce(length(set_budget.name), 0)),
                hint = 'For example, pass name => ''everyone''.';
    end if;
    if v_settings ? 'binds_owner' and not v_is_administrator then
        raise exception 'only members of pgclarify_owner can set the option binds_owner'
            using errcode = 'insufficient_privilege', hint = 'Omit this option.';
    end if;
    perform pgclarify_private.check_roles_exist(array[v_settings ->> 'role']);
    perform pgclarify_private.note_roles(array[v_settings ->> 'role']::name[]);
    select budget.* into v_known
    from pgclarify_private.budget
    where budget.name = set_budget.name and budget.corpus_id is not distinct from v_corpus_id
    for no key update;
    if v_known.binds_owner and not v_is_administrator then
        perform pgclarify_private.raise_binds_owner(set_budget.name);
    end if;
    v_budget := v_known;
    v_budget.period := coalesce(v_settings ->> 'period', v_known.period);
    v_budget.binds_owner := coalesce((v_settings ->> 'binds_owner')::boolean, v_known.binds_owner, v_is_administrator);
    if set_budget.options ? 'role' then
        v_budget.role_name := v_settings ->> 'role';
    end if;
    if set_budget.options ? 'max_cost_usd' then
        v_budget.max_cost_usd := (v_settings ->> 'max_cost_usd')::numeric;
    end if;
    if set_budget.options ? 'max_calls' then
        v_budget.max_calls := (v_settings ->> 'max_calls')::bigint;
    end if;
    if v_budget.period is null or num_nonnulls(v_budget.max_cost_usd, v_budget.max_calls) = 0 then
        raise exception 'a budget needs a period and a limit'
            using errcode = 'invalid_parameter_value',
                detail = format(
                    'Its period is %s, max_cost_usd is %s and max_calls is %s.',
                    coalesce(v_budget.period, 'null'), coalesce(v_budget.max_cost_usd::text, 'null'),
                    coalesce(v_budget.max_calls::text, 'null')
                ),
                hint = 'For example, pass options => ''{"period": "month", "max_cost_usd": 200}''.';
    end if;
    if v_known.budget_id is not null then
        update pgclarify_private.budget
        set
            period = v_budget.period,
            role_name = v_budget.role_name,
            max_cost_usd = v_budget.max_cost_usd,
            max_calls = v_budget.max_calls,
            binds_owner = v_budget.binds_owner
        where budget.budget_id = v_known.budget_id and v_budget is distinct from v_known;
        return found;
    end if;
    insert into pgclarify_private.budget (name, corpus_id, period, role_name, max_cost_usd, max_calls, binds_owner)
    values (
        set_budget.name, v_corpus_id, v_budget.period, v_budget.role_name, v_budget.max_cost_usd, v_budget.max_calls,
        v_budget.binds_owner
    )
    on conflict on constraint budget_name_key do nothing;
    if not found then
        raise exception 'budget "%" was made at the same time', pgclarify_private.shown(set_budget.name)
            using errcode = 'serialization_failure', hint = 'Set it again.';
    end if;
    return true;
end
$$;

comment on function pgclarify_private.set_budget(pgclarify_private.caller, text, text, jsonb) is 'See set_budget.';
grant execute on function pgclarify_private.set_budget(pgclarify_private.caller, text, text, jsonb) to pgclarify_user;

create or replace function pgclarify_private.remove_budget(caller pgclarify_private.caller, name text, corpus text)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_is_administrator constant boolean
        := 'pgclarify_owner'::name = any(pgclarify_private.roles_of(pgclarify_private.verify_caller(remove_budget.caller)));
    v_corpus_id bigint := (pgclarify_private.edited_corpus(remove_budget.caller, remove_budget.corpus)).corpus_id;
    v_known pgclarify_private.budget;
begin
    select budget.* into v_known
    from pgclarify_private.budget
    where budget.name = remove_budget.name and budget.corpus_id is not distinct from v_corpus_id
    for update;
    if v_known.binds_owner and not v_is_administrator then
        perform pgclarify_private.raise_binds_owner(remove_budget.name);
    end if;
    delete from pgclarify_private.budget where budget.budget_id = v_known.budget_id;
    if not found then
        raise notice 'no budget "%" of % was there',
            pgclarify_private.shown(remove_budget.name),
            coalesce(format('corpus "%s"', pgclarify_private.shown(remove_budget.corpus)), 'all corpora')
            using hint = 'A budget of a corpus is removed with the corpus: see columns name and corpus of pgclarify.budget.';
        return false;
    end if;
    return true;
end
$$;

comment on function pgclarify_private.remove_budget(pgclarify_private.caller, text, text) is 'See remove_budget.';
grant execute on function pgclarify_private.remove_budget(pgclarify_private.caller, text, text) to pgclarify_user;
