-- The basis of the views of questions: their runs, and what the roles that asked see of a corpus now.

create or replace function pgclarify_private.requester_revision(caller pgclarify_private.caller, run_id bigint)
returns bigint
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_roles name[] := pgclarify_private.roles_of(pgclarify_private.verify_caller(requester_revision.caller));
    v_run pgclarify_private.run;
    v_requester_roles name[];
begin
    select run.* into v_run from pgclarify_private.run where run.run_id = requester_revision.run_id;
    v_requester_roles := pgclarify_private.roles_of(v_run.requested_by, v_run.requested_by_oid);
    return (
        select seen.revision
        from pgclarify_private.visible_corpora(v_requester_roles) as visible
        cross join lateral pgclarify_private.seen_revision(visible.corpus_id, v_requester_roles) as seen
        where
            visible.corpus_id = v_run.corpus_id
            and pgclarify_private.may_see_all(v_run.requested_by, v_run.requested_by_oid, visible.analysts, v_roles)
    );
end
$$;

comment on function pgclarify_private.requester_revision(pgclarify_private.caller, bigint) is
'The revision of a run''s corpus that the role of the run sees now, for roles that see its runs; null if that role may not '
'search the corpus, or was dropped.';
grant execute on function pgclarify_private.requester_revision(pgclarify_private.caller, bigint) to pgclarify_reader;

create or replace view pgclarify_private.asked_run as
select
    run.run_id,
    run.question_group_id,
    run.corpus_id,
    run.corpus_name,
    run.requested_by,
    run.status,
    run.interpretations,
    run.corpus_revision,
    run.created_at,
    run.served,
    run.last_served_at,
    run.served + run.is_counted::integer as times_asked,
    run.requested_by_oid,
    run.stop_code
from pgclarify_private.run
where
    pgclarify_private.is_shown_as_question(run.operation)
    and run.question_group_id is not null
    -- An evaluation's run is not a user's question, but it may have been reused for one.
    and (run.is_counted or run.served > 0);

comment on view pgclarify_private.asked_run is
'Runs of clarify that have a group and that a user asked: the runs of the views of questions.';
comment on column pgclarify_private.asked_run.times_asked is
'How often its question was asked: once, if it counts, and as often as it was reused.';
grant select on pgclarify_private.asked_run to pgclarify_views;

create or replace view pgclarify_private.seen_by_requester as
with seen as materialized (
    select
        run.corpus_id,
        run.requested_by,
        run.requested_by_oid,
        -- Any of these runs is good enough.
        pgclarify_private.requester_revision(
            (select signed from pgclarify_private.caller as signed), max(run.run_id)
        ) as revision
    from pgclarify_private.asked_run as run
    group by run.corpus_id, run.requested_by, run.requested_by_oid
)
-- Materialized: computed once, for every plan.
select
    seen.corpus_id,
    seen.requested_by,
    seen.requested_by_oid,
    seen.revision
from seen;

comment on view pgclarify_private.seen_by_requester is
'What the roles that asked see of a corpus now: a row for each corpus and role. Computing it takes a millisecond, so views '
'read it here instead of once for each question.';
comment on column pgclarify_private.seen_by_requester.corpus_id is 'The corpus; null if it was dropped.';
comment on column pgclarify_private.seen_by_requester.requested_by is 'Role that asked.';
comment on column pgclarify_private.seen_by_requester.requested_by_oid is 'Its oid.';
comment on column pgclarify_private.seen_by_requester.revision is
'The revision that it sees now; null if it may not search the corpus, or was dropped.';
grant select on pgclarify_private.seen_by_requester to pgclarify_views;
