-- What trigger functions on attached tables can see of our schemas.

-- Trigger functions run as role pgclarify_capture. Its only right is on schema pgclarify_capture, not even on schema pgclarify.
-- So it cannot name its own functions, and cannot give them away or move them to a schema where it could replace them.

create or replace view pgclarify_capture.change as
select change.source_id, change.relation, change.keys
from pgclarify_private.change;

comment on view pgclarify_capture.change is 'Trigger functions append to it: pgclarify_private.change.';
grant insert on pgclarify_capture.change to pgclarify_capture;

-- Transition tables have no schema. If a trigger has none, its function finds these two views, and never a table of that name
-- in the session's pg_temp.

create or replace function pgclarify_private.refuse_trigger()
returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception 'a trigger without transition tables is none of pgclarify''s'
        using errcode = 'trigger_protocol_violated',
            detail = 'It has the name of one that notes which rows of an attached table have changed.',
            hint = 'Drop it, and call pgclarify.resync.';
end
$$;

comment on function pgclarify_private.refuse_trigger() is 'Error 39P01 if a transition table is missing.';
grant execute on function pgclarify_private.refuse_trigger() to pgclarify_capture;

create or replace view pgclarify_capture.new_rows as
select
where pgclarify_private.refuse_trigger();

comment on view pgclarify_capture.new_rows is 'Found before pg_temp by a trigger that has no transition table of this name.';
grant select on pgclarify_capture.new_rows to pgclarify_capture;

create or replace view pgclarify_capture.old_rows as
select
where pgclarify_private.refuse_trigger();

comment on view pgclarify_capture.old_rows is 'Found before pg_temp by a trigger that has no transition table of this name.';
grant select on pgclarify_capture.old_rows to pgclarify_capture;
