-- The vector of a question. It must be from the model that its corpus is searched with.

create or replace function pgclarify_private.active_space(corpus_id bigint, embedding_model text)
returns pgclarify_private.embedding_space
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_space pgclarify_private.embedding_space;
begin
    select space.* into v_space
    from pgclarify_private.living_corpus as corpus
    inner join pgclarify_private.embedding_space as space on space.embedding_space_id = corpus.embedding_space_id
    where corpus.corpus_id = active_space.corpus_id;
    if v_space.model <> active_space.embedding_model then
        raise exception 'the corpus has another embedding model by now'
            using errcode = 'serialization_failure',
                detail = format('The run was started with %s.', active_space.embedding_model),
                hint = 'Start the run again.';
    end if;
    return v_space;
end
$$;

comment on function pgclarify_private.active_space(bigint, text) is
'The space that a corpus is searched in, null if there is none yet, or error 40001 if it has another model than the given '
'one. Stable: it has the same snapshot as the search in the same statement.';

create or replace function pgclarify_private.query_vector(
    corpus_id bigint, embedding_model text, query_vector @extschema:vector@.halfvec
)
returns @extschema:vector@.halfvec
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_space pgclarify_private.embedding_space;
begin
    if query_vector.query_vector is null then
        return null;
    end if;
    v_space := pgclarify_private.active_space(query_vector.corpus_id, query_vector.embedding_model);
    if @extschema:vector@.vector_dims(query_vector.query_vector) <> v_space.dimensions then
        raise exception 'the question has a vector of the wrong length'
            using errcode = 'data_exception',
                detail = format(
                    'It has %s dimensions; the corpus has %s.',
                    @extschema:vector@.vector_dims(query_vector.query_vector), v_space.dimensions
                ),
                hint = 'The worker must load the model of the corpus; see pgclarify.corpus.';
    end if;
    return query_vector.query_vector;
end
$$;

comment on function pgclarify_private.query_vector(bigint, text, @extschema:vector@.halfvec) is
'The vector of a question, or error 40001 if the corpus is no longer searched with its model, 22000 if it has another '
'length. Stable, as active_space is.';
