-- Runs that are carried out, as what workers call finds them: in the attempt that they name, and searchable still.

create or replace function pgclarify._raise_run_is_lost(run_id bigint)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception 'run % is no longer carried out here', _raise_run_is_lost.run_id
        using errcode = 'PC006',
            detail = 'It was cancelled, or another worker has taken it over.',
            hint = 'Stop working on it.';
end
$$;

comment on function pgclarify._raise_run_is_lost(bigint) is 'Error PC006.';

create or replace function pgclarify._hold_run(run_id bigint, attempt integer)
returns pgclarify.run
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify.run;
begin
    select run.* into v_run
    from pgclarify.run
    where run.run_id = _hold_run.run_id and run.attempt = _hold_run.attempt and run.status = 'running'
    for no key update;
    if not found then
        perform pgclarify._raise_run_is_lost(_hold_run.run_id);
    end if;
    return v_run;
end
$$;

comment on function pgclarify._hold_run(bigint, integer) is 'Lock a run that is carried out in this attempt, or error PC006.';

create or replace function pgclarify._check_searchable(run pgclarify.run)
returns void
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if (_check_searchable.run).corpus_id is null then
        raise exception 'the corpus of run % was dropped', (_check_searchable.run).run_id
            using errcode = 'undefined_object', hint = 'End the run as failed.';
    end if;
    if not exists (
        select
        from pgclarify._visible_corpora(
            pgclarify._roles_of((_check_searchable.run).requested_by, (_check_searchable.run).requested_by_oid)
        ) as visible
        where visible.corpus_id = (_check_searchable.run).corpus_id
    ) then
        raise exception 'the role that asked may not search the corpus any more'
            using errcode = 'insufficient_privilege',
                detail = format(
                    'Run %s was asked by role %s.', (_check_searchable.run).run_id, (_check_searchable.run).requested_by
                ),
                hint = 'End the run as failed.';
    end if;
end
$$;

comment on function pgclarify._check_searchable(pgclarify.run) is
'Error 42704 if the corpus of a run was dropped, 42501 if who asked may not search it any more. What a run looks at is looked '
'at with the roles of that moment, and not of its start.';

create or replace function pgclarify._hold_searchable_run(run_id bigint, attempt integer)
returns pgclarify.run
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify.run := pgclarify._hold_run(_hold_searchable_run.run_id, _hold_searchable_run.attempt);
begin
    perform pgclarify._check_searchable(v_run);
    return v_run;
end
$$;

comment on function pgclarify._hold_searchable_run(bigint, integer) is
'Lock a run as _hold_run does, or an error of _check_searchable.';

create or replace function pgclarify._run_in_hand(run_id bigint, attempt integer)
returns pgclarify.run
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify.run;
begin
    select run.* into v_run
    from pgclarify.run
    where run.run_id = _run_in_hand.run_id and run.attempt = _run_in_hand.attempt and run.status = 'running';
    if not found then
        perform pgclarify._raise_run_is_lost(_run_in_hand.run_id);
    end if;
    return v_run;
end
$$;

comment on function pgclarify._run_in_hand(bigint, integer) is
'A run that is carried out in this attempt, or error PC006. For what writes nothing: a lock would have to be written.';

create or replace function pgclarify._searchable_run(run_id bigint, attempt integer)
returns pgclarify.run
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify.run := pgclarify._run_in_hand(_searchable_run.run_id, _searchable_run.attempt);
begin
    perform pgclarify._check_searchable(v_run);
    return v_run;
end
$$;

comment on function pgclarify._searchable_run(bigint, integer) is
'A run as of _run_in_hand, or an error of _check_searchable.';

create or replace function pgclarify._lost_runs(run_ids bigint[], attempts integer[])
returns integer[]
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select coalesce(array_agg(given.ordinal::integer), '{}')
    from unnest(_lost_runs.run_ids, _lost_runs.attempts) with ordinality as given (run_id, attempt, ordinal)
    where not exists (
        select
        from pgclarify.run
        where run.run_id = given.run_id and run.attempt = given.attempt and run.status = 'running'
    );
end;

comment on function pgclarify._lost_runs(bigint[], integer[]) is
'Which of the given runs, counted from 1, are no longer carried out in the given attempts.';
grant execute on function pgclarify._lost_runs(bigint[], integer[]) to pgclarify_worker;
