-- Spaces: a corpus seen through an embedding model. Workers open them once they have loaded the model.

create or replace function pgclarify._building_spaces()
returns table (embedding_space_id bigint, model text, dimensions integer)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select embedding_space.embedding_space_id, embedding_space.model, embedding_space.dimensions
    from pgclarify.embedding_space
    where embedding_space.state = 'building'
    order by embedding_space.embedding_space_id;
end;

comment on function pgclarify._building_spaces() is 'Spaces that wait for a worker to load their model.';
grant execute on function pgclarify._building_spaces() to pgclarify_worker;

create or replace function pgclarify._open_space(embedding_space_id bigint, dimensions integer)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_space pgclarify.embedding_space;
begin
    -- The corpus first, as everywhere; one that has been or is being dropped holds up nobody.
    perform from pgclarify.corpus
    where corpus.corpus_id = (
        select space.corpus_id from pgclarify.embedding_space as space
        where space.embedding_space_id = _open_space.embedding_space_id
    )
    for key share skip locked;
    if not found then
        return false;
    end if;
    select space.* into v_space
    from pgclarify.embedding_space as space
    where space.embedding_space_id = _open_space.embedding_space_id and space.state = 'building'
    for update skip locked;
    if not found then
        return false;
    end if;
    update pgclarify.embedding_space as space
    set dimensions = _open_space.dimensions, state = 'active', error = null
    where space.embedding_space_id = _open_space.embedding_space_id;
    perform pgclarify._add_partition('passage_embedding', 'embedding_space_id', _open_space.embedding_space_id);
    perform pgclarify._add_partition('neighborhood', 'embedding_space_id', _open_space.embedding_space_id);
    execute format(
        'create index %I on %s using hnsw ((vector::@extschema:vector@.halfvec(%s)) @extschema:vector@.halfvec_cosine_ops)',
        format('passage_embedding_%s_vector_idx', _open_space.embedding_space_id),
        pgclarify._partition_name('passage_embedding', _open_space.embedding_space_id),
        _open_space.dimensions
    );
    update pgclarify.corpus
    set embedding_space_id = _open_space.embedding_space_id
    where corpus.corpus_id = v_space.corpus_id;
    return true;
end
$$;

comment on function pgclarify._open_space(bigint, integer) is
'Make the partition and the index of a space whose model has been loaded, and search with it; false if another worker did, or '
'if its corpus is being dropped.';
grant execute on function pgclarify._open_space(bigint, integer) to pgclarify_worker;

create or replace function pgclarify._refuse_space(embedding_space_id bigint, error text)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    update pgclarify.embedding_space
    set error = _refuse_space.error
    where embedding_space.embedding_space_id in (
        select space.embedding_space_id
        from pgclarify.embedding_space as space
        where
            space.embedding_space_id = _refuse_space.embedding_space_id
            and space.state = 'building'
            and space.error is distinct from _refuse_space.error
        for no key update skip locked
    );
end;

comment on function pgclarify._refuse_space(bigint, text) is 'Keep why a space cannot be opened.';
grant execute on function pgclarify._refuse_space(bigint, text) to pgclarify_worker;

create or replace function pgclarify._queue_passages(corpus_id bigint, document_ids text[], passage_ids bigint[])
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    insert into pgclarify.pending_passage (embedding_space_id, document_id, passage_id)
    select space.embedding_space_id, stored.document_id, stored.passage_id
    from pgclarify.embedding_space as space
    cross join unnest(_queue_passages.document_ids, _queue_passages.passage_ids) as stored (document_id, passage_id)
    where space.corpus_id = _queue_passages.corpus_id and space.state = 'building' and space.dimensions is not null
    order by space.embedding_space_id, stored.document_id, stored.passage_id
    on conflict on constraint pending_passage_pk do nothing;
end;

comment on function pgclarify._queue_passages(bigint, text[], bigint[]) is
'Note for the space that is being built beside the active one, if there is any, that these passages are new or changed.';
