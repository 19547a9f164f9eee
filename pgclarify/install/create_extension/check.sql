-- Refuse a pgvector that is too old, and load it: a function may only be given a setting of pgvector once that is known.

do $$
declare
    v_version text := (select extversion from pg_extension where extname = 'vector');
begin
    if string_to_array(regexp_replace(v_version, '[^0-9.].*$', ''), '.')::integer[] < '{0,8}' then
        raise exception 'this pgvector is too old'
            using errcode = 'object_not_in_prerequisite_state',
                detail = format('It is version %s.', v_version),
                hint = 'Install pgvector 0.8 or newer, then run: alter extension vector update.';
    end if;
end
$$;
select @extschema:vector@.vector_dims('[1]'::@extschema:vector@.vector);
