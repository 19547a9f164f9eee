-- Before an update: note the internal routines, each with the place of its row in the catalog, which a replacement changes.

select set_config('pgclarify.routines', coalesce(string_agg(pg_proc.oid || pg_proc.ctid::text, ' '), ''), true)
from pg_proc
where pg_proc.pronamespace = 'pgclarify_private'::regnamespace
    and pg_proc.proname !~ '^(capture_[0-9]+|read_[0-9]+_[0-9a-f]{8})$'
    and pg_get_userbyid(pg_proc.proowner) <> 'pgclarify_role_maker';
