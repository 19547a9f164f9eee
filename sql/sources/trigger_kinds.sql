-- What trigger functions on attached tables can see of our schemas, and the list of triggers.

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

create or replace function pgclarify_private.trigger_kinds()
returns table (suffix text, is_for_parts boolean, event text, firing "char")
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    -- One call for each statement, with all its rows, is many times cheaper than one call for each row. But statement triggers
    -- do not fire under logical replication, nor if the statement names another table of the same tree; row triggers do.
    select kind.suffix, kind.is_for_parts, kind.event, kind.firing
    from (
        values
        ('insert', false, 'after insert on %s referencing new table as new_rows for each statement', 'O'::"char"),
        ('update', false, 'after update on %s referencing old table as old_rows new table as new_rows for each statement', 'O'),
        ('delete', false, 'after delete on %s referencing old table as old_rows for each statement', 'O'),
        ('replica', false, 'after insert or update or delete on %s for each row', 'R'),
        ('row', true, 'after insert or update or delete on %s for each row', 'A'),
        ('truncate', null, 'after truncate on %s for each statement', 'A')
    ) as kind (suffix, is_for_parts, event, firing);
end;

comment on function pgclarify_private.trigger_kinds() is
'The triggers that an attached table may need: suffix of the name, whether it is for tables with partitions and similar '
'(null: for all), event, and in which sessions it fires (pg_trigger.tgenabled).';

create or replace function pgclarify_private.trigger_name(source_id bigint, suffix text)
returns name
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select format('pgclarify_%s_%s', trigger_name.source_id, trigger_name.suffix);
end;

comment on function pgclarify_private.trigger_name(bigint, text) is 'Name of one of the triggers of a source.';
