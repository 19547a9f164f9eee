-- The keys of this database. A dump does not hold them, so a restored database has keys of its own.
-- (a | b) - (a & b) is a xor b.

insert into pgclarify_private.caller_key (inner_pad, outer_pad)
select
    string_agg(set_byte('\x00'::bytea, 0, (key.byte | 54) - (key.byte & 54)), ''::bytea order by key.i),
    string_agg(set_byte('\x00'::bytea, 0, (key.byte | 92) - (key.byte & 92)), ''::bytea order by key.i)
from (
    select
        place.i,
        get_byte(random.bytes, place.i) as byte
    from (
        -- 122 bits of each are random. Without the offset, each use would make other ones.
        select
            sha512(
                uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
                || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
            ) as bytes
        offset 0
    ) as random
    cross join generate_series(0, 63) as place (i)
) as key;

do $$
declare
    v_password text;
begin
    -- All databases of the server share the role, so a password that it has must stay. Another one may be giving it one.
    if (select rolpassword is null from pg_authid where rolname = 'pgclarify_loopback' for update) then
        v_password := encode(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'hex');
        execute format('alter role pgclarify_loopback password %L', v_password);
    end if;
    insert into pgclarify_private.loopback (socket_dir, password)
    values (
        nullif(btrim(split_part(current_setting('unix_socket_directories'), ',', 1)), ''),
        v_password
    );
end
$$;
