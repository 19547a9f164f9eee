-- Checks of running runs for the functions that workers call: the run is still in the attempt that the worker names, and its
-- corpus can still be searched. An attempt loses its run when the run is cancelled or another worker takes it over. Then every
-- write of that attempt is error PC006.

create or replace function pgclarify_private.raise_run_is_lost(run_id bigint)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception 'run % is no longer carried out here', raise_run_is_lost.run_id
        using errcode = 'PC006',
            detail = 'It was cancelled, or another worker has taken it over.',
            hint = 'Stop working on it.';
end
$$;

comment on function pgclarify_private.raise_run_is_lost(bigint) is 'Error PC006.';

create or replace function pgclarify_private.lock_run(run_id bigint, attempt integer)
returns pgclarify_private.run
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run;
begin
    select run.* into v_run
    from pgclarify_private.run
    where run.run_id = lock_run.run_id and run.attempt = lock_run.attempt and run.status = 'running'
    for no key update;
    if not found then
        perform pgclarify_private.raise_run_is_lost(lock_run.run_id);
    end if;
    return v_run;
end
$$;

comment on function pgclarify_private.lock_run(bigint, integer) is
'Lock a run that is executed in this attempt, or error PC006.';

create or replace function pgclarify_private.check_searchable(run pgclarify_private.run)
returns pgclarify_private.run
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if not exists (
        select from pgclarify_private.living_corpus as corpus where corpus.corpus_id = (check_searchable.run).corpus_id
    ) then
        raise exception 'the corpus of run % was dropped', (check_searchable.run).run_id
            using errcode = 'undefined_object', hint = 'End the run as failed.';
    end if;
    if not exists (
        select
        from pgclarify_private.visible_corpora(
            pgclarify_private.roles_of((check_searchable.run).requested_by, (check_searchable.run).requested_by_oid)
        ) as visible
        where visible.corpus_id = (check_searchable.run).corpus_id
    ) then
        raise exception 'the role that asked may not search the corpus any more'
            using errcode = 'insufficient_privilege',
                detail = format(
                    'Run %s was asked by role %s.', (check_searchable.run).run_id, (check_searchable.run).requested_by
                ),
                hint = 'End the run as failed.';
    end if;
    return check_searchable.run;
end
$$;

comment on function pgclarify_private.check_searchable(pgclarify_private.run) is
'The run. Error 42704 if its corpus was dropped, 42501 if the role that asked may not search it any more. The current roles '
'decide what a run reads, not the roles at its start.';

create or replace function pgclarify_private.running_attempt(run_id bigint, attempt integer)
returns pgclarify_private.run
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run;
begin
    select run.* into v_run
    from pgclarify_private.run
    where run.run_id = running_attempt.run_id and run.attempt = running_attempt.attempt and run.status = 'running';
    if not found then
        perform pgclarify_private.raise_run_is_lost(running_attempt.run_id);
    end if;
    return v_run;
end
$$;

comment on function pgclarify_private.running_attempt(bigint, integer) is
'A run that is executed in this attempt, or error PC006. It is for functions that write nothing: a row lock would be a write.';

create or replace function pgclarify_private.lost_runs(run_ids bigint[], attempts integer[])
returns integer[]
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select coalesce(array_agg(given.ordinal::integer), '{}')
    from unnest(lost_runs.run_ids, lost_runs.attempts) with ordinality as given (run_id, attempt, ordinal)
    where not exists (
        select
        from pgclarify_private.run
        where run.run_id = given.run_id and run.attempt = given.attempt and run.status not in ('queued', 'cancelled')
    );
end;

comment on function pgclarify_private.lost_runs(bigint[], integer[]) is
'Positions of the given runs, from 1, that were cancelled or are executed in another attempt. A run that its attempt has '
'ended is not lost: its worker may not know yet.';
grant execute on function pgclarify_private.lost_runs(bigint[], integer[]) to pgclarify_worker;
