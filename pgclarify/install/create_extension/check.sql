-- Refuse another encoding than UTF8, and a pgvector that is too old. Load pgvector: a function may only be given a setting
-- of pgvector once that is known.

do $$
declare
    v_version text := (select extversion from pg_extension where extname = 'vector');
begin
    if getdatabaseencoding() <> 'UTF8' then
        raise exception 'this database does not have the encoding UTF8'
            using errcode = 'object_not_in_prerequisite_state',
                detail = format('Its encoding is %s.', getdatabaseencoding()),
                hint = 'Make another one: create database NAME encoding ''UTF8'' template template0;';
    end if;
    if string_to_array(regexp_replace(v_version, '[^0-9.].*$', ''), '.')::integer[] < '{0,8}' then
        raise exception 'this pgvector is too old'
            using errcode = 'object_not_in_prerequisite_state',
                detail = format('It is version %s.', v_version),
                hint = 'Install pgvector 0.8 or newer, then run: alter extension vector update.';
    end if;
end
$$;
select @extschema:vector@.vector_dims('[1]'::@extschema:vector@.vector);
