-- PostgreSQL shows no notices of a script. Information is always shown.

do $$
begin
    raise info 'pgclarify is installed; no worker runs yet'
        using hint = 'Start one on any machine: PGCLARIFY_DATABASE_URL=postgresql://… pgclarify worker. If this server asks '
            'local connections for no password, run pgclarify init once before that.';
    if (select password is null from pgclarify_private.loopback) then
        raise info 'this database does not know the password of role pgclarify_loopback, which was there before'
            using hint = 'Calls that wait need it if the server asks for it: PGCLARIFY_LOOPBACK_PASSWORD=… pgclarify init.';
    end if;
end
$$;
