-- After an update: drop the internal routines that this version does not have. All in one statement, because they may depend on
-- each other. Public ones stay, because users' objects may depend on them.

do $$
declare
    v_left_over text := (
        select string_agg(pg_proc.oid::regprocedure::text, ', ')
        from pg_proc
        where
            pg_proc.pronamespace = 'pgclarify_private'::regnamespace
            and (
                pg_proc.oid || pg_proc.ctid::text = any(string_to_array(current_setting('pgclarify.routines'), ' '))
                or pg_proc.proname ~ '^replaced_[0-9]+$'
            )
    );
begin
    if v_left_over is not null then
        execute 'drop routine ' || v_left_over;
    end if;
end
$$;
