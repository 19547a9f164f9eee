-- Filling a space beside the one that is searched: what workers have embedded, or could not.

create or replace function pgclarify._store_vectors(
    worker_id bigint,
    embedding_space_id bigint,
    document_ids text[],
    passage_ids bigint[],
    content_hashes bytea[],
    are_cut_off boolean[],
    vectors @extschema:vector@.halfvec[]
)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_space pgclarify.embedding_space;
    v_stored integer;
begin
    select space.* into v_space
    from pgclarify.embedding_space as space
    where space.embedding_space_id = _store_vectors.embedding_space_id and space.state = 'building';
    if not found then
        return 0;
    end if;
    perform from pgclarify.corpus where corpus.corpus_id = v_space.corpus_id for key share skip locked;
    if not found then
        return 0;
    end if;
    -- So that its partition stays.
    perform from pgclarify.embedding_space as space
    where space.embedding_space_id = v_space.embedding_space_id and space.state = 'building'
    for key share skip locked;
    if not found then
        return 0;
    end if;
    execute format(
        $sql$
        with held as (
            select given.*
            from unnest($3, $4, $5, $6, $7) as given (document_id, passage_id, content_hash, is_cut_off, vector)
            inner join pgclarify.pending_passage as pending
                on pending.embedding_space_id = $1
                and pending.document_id = given.document_id
                and pending.passage_id = given.passage_id
                and pending.leased_by = $2
            -- Whoever is changing or removing it now holds its document, wins, and is not waited for.
            inner join pgclarify.document on document.corpus_id = $8 and document.id = given.document_id
            inner join %1$s as passage
                on passage.corpus_id = $8
                and passage.document_id = given.document_id
                and passage.id = given.passage_id
                and passage.content_hash = given.content_hash
            order by given.document_id, given.passage_id
            for update of pending skip locked
            for share of document skip locked
            for share of passage skip locked
        ),
        embedded as (
            insert into %2$s (embedding_space_id, document_id, passage_id, vector)
            select $1, held.document_id, held.passage_id, held.vector from held
            on conflict (embedding_space_id, document_id, passage_id) do update set vector = excluded.vector
        ),
        cut_off as (
            insert into pgclarify.pending_cut (embedding_space_id, document_id)
            select distinct $1, held.document_id from held where held.is_cut_off order by held.document_id
            on conflict on constraint pending_cut_pk do nothing
        ),
        done as (
            delete from pgclarify.pending_passage as pending
            using held
            where pending.embedding_space_id = $1
                and pending.document_id = held.document_id
                and pending.passage_id = held.passage_id
            returning 1
        )
        select count(*) from done
        $sql$,
        pgclarify._partition_name('passage', v_space.corpus_id),
        pgclarify._partition_name('passage_embedding', v_space.embedding_space_id)
    ) into v_stored
    using
        v_space.embedding_space_id, _store_vectors.worker_id, _store_vectors.document_ids, _store_vectors.passage_ids,
        _store_vectors.content_hashes, _store_vectors.are_cut_off, _store_vectors.vectors, v_space.corpus_id;
    -- What was not stored is free for the next one.
    if v_stored < cardinality(_store_vectors.passage_ids) then
        perform pgclarify._release_passages(_store_vectors.worker_id);
    end if;
    return v_stored;
end
$$;

comment on function pgclarify._store_vectors(
    bigint, bigint, text[], bigint[], bytea[], boolean[], @extschema:vector@.halfvec[]
) is
'Write vectors of leased passages into a space that is being built, and return how many were stored: all but those that '
'vanished, that somebody is removing, or that another worker has taken over. are_cut_off: whether the passage is longer than '
'the model reads.';
grant execute on function pgclarify._store_vectors(
    bigint, bigint, text[], bigint[], bytea[], boolean[], @extschema:vector@.halfvec[]
) to pgclarify_worker;

create or replace function pgclarify._fail_passage(
    worker_id bigint, embedding_space_id bigint, document_id text, passage_id bigint, error text, pause interval
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_attempts integer;
begin
    perform from pgclarify.corpus
    where corpus.corpus_id = (
        select space.corpus_id from pgclarify.embedding_space as space
        where space.embedding_space_id = _fail_passage.embedding_space_id
    )
    for key share skip locked;
    if not found then
        return;
    end if;
    update pgclarify.pending_passage as pending
    set
        attempts = pending.attempts + 1,
        retry_at = clock_timestamp() + _fail_passage.pause,
        leased_by = null,
        leased_until = null
    where pending.embedding_space_id = _fail_passage.embedding_space_id
        and pending.document_id = _fail_passage.document_id
        and pending.passage_id = _fail_passage.passage_id
        and pending.leased_by = _fail_passage.worker_id
    returning pending.attempts into v_attempts;
    if v_attempts >= 3 then
        -- Which one it is, only the log of the worker says: not everyone who sees this may read the document.
        update pgclarify.embedding_space as space
        set error = 'passages cannot be embedded: ' || _fail_passage.error
        where space.embedding_space_id = _fail_passage.embedding_space_id and space.state = 'building';
    end if;
end
$$;

comment on function pgclarify._fail_passage(bigint, bigint, text, bigint, text, interval) is
'Note that a leased passage could not be embedded. The third time it is left, and embedding_space.error says why its space is '
'not switched to. pause: until it is tried again.';
grant execute on function pgclarify._fail_passage(bigint, bigint, text, bigint, text, interval) to pgclarify_worker;
