-- What workers do to make documents searchable: lease them, and say which cannot be. Storing is in 225_storing.sql.

create or replace function pgclarify._claim_documents(
    worker_id bigint, max_documents integer, max_chars bigint, lease interval, skipped_models text[]
)
returns table (
    corpus_id bigint,
    document_id text,
    title text,
    content text,
    content_hash bytea,
    was_indexed boolean,
    embedding_space_id bigint,
    embedding_model text,
    dimensions integer
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- They hold where a statement is planned: what waits is read in its order, and no further than it is taken.
-- One probe of an index a document, whatever is known of so lively a table.
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
    v_corpus_id bigint;
    v_living bigint[];
begin
    if not exists (select from pgclarify.pending_document) then
        return;
    end if;
    v_living := array(select living.worker_id from pgclarify._living_workers() as living);
    -- One corpus at a time, the one that has waited longest; spaces that are not open yet wait. Where all that waits is
    -- locked by somebody's transaction, the next corpus has its turn.
    for v_corpus_id in
        select corpus.corpus_id
        from pgclarify.corpus
        inner join pgclarify.embedding_space as space on space.embedding_space_id = corpus.embedding_space_id
        cross join lateral (
            select pending.added_at
            from pgclarify.pending_document as pending
            where pending.corpus_id = corpus.corpus_id
                and (pending.leased_until is null or pending.leased_until < now() or pending.leased_by <> all(v_living))
            order by pending.added_at
            limit 1
        ) as oldest
        where space.model <> all(_claim_documents.skipped_models)
            and not pgclarify._is_paused(corpus.corpus_id)
            -- The space of another model is all but complete, and is waited for (_hold_ingestion).
            and not exists (
                select from pgclarify.embedding_space as next
                where next.corpus_id = corpus.corpus_id
                    and next.state = 'building'
                    and next.ingestion_held_until > now()
            )
        order by oldest.added_at
        -- So many are hardly ever all locked, and a call stays short if they are.
        limit 100
    loop
        perform from pgclarify.corpus where corpus.corpus_id = v_corpus_id for key share skip locked;
        -- It is being dropped.
        continue when not found;
        return query
        with locked as materialized (
            select pending.document_id, pending.added_at
            from pgclarify.pending_document as pending
            inner join pgclarify.document
                on document.corpus_id = v_corpus_id and document.id = pending.document_id
            where pending.corpus_id = v_corpus_id
                and (pending.leased_until is null or pending.leased_until < now() or pending.leased_by <> all(v_living))
            order by pending.added_at
            limit _claim_documents.max_documents
            -- What somebody is changing now could not be stored, and does not count: others wait behind it.
            for share of document skip locked
            for update of pending skip locked
        ),
        readable as (
            select locked.document_id, locked.added_at, length(document.content) as chars
            from locked
            inner join pgclarify.document
                on document.corpus_id = v_corpus_id and document.id = locked.document_id
        ),
        measured as (
            select
                readable.document_id,
                sum(readable.chars) over (order by readable.added_at, readable.document_id) - readable.chars
                as chars_before
            from readable
        ),
        leased as (
            update pgclarify.pending_document as pending
            set leased_by = _claim_documents.worker_id, leased_until = now() + _claim_documents.lease
            from measured
            where pending.corpus_id = v_corpus_id
                and pending.document_id = measured.document_id
                and measured.chars_before < _claim_documents.max_chars
            returning pending.document_id
        ),
        -- Sorted apart, or all documents would be read in order.
        taken as materialized (
            select
                document.id, document.title, document.content, document.content_hash,
                document.indexed_at is not null as was_indexed, space.embedding_space_id, space.model, space.dimensions
            from leased
            inner join pgclarify.document on document.corpus_id = v_corpus_id and document.id = leased.document_id
            inner join pgclarify.corpus on corpus.corpus_id = v_corpus_id
            inner join pgclarify.embedding_space as space on space.embedding_space_id = corpus.embedding_space_id
        )
        select
            v_corpus_id, taken.id, taken.title, taken.content, taken.content_hash, taken.was_indexed,
            taken.embedding_space_id, taken.model, taken.dimensions
        from taken
        order by taken.id;
        if found then
            return;
        end if;
    end loop;
end
$$;

comment on function pgclarify._claim_documents(bigint, integer, bigint, interval, text[]) is
'Lease up to max_documents pending documents of one corpus, of about max_chars characters together, at least one. Leases of '
'dead workers and those that have run out are taken over. skipped_models: embedding models that the worker has not; corpora '
'of theirs are left to others.';
grant execute on function pgclarify._claim_documents(bigint, integer, bigint, interval, text[]) to pgclarify_worker;

create or replace function pgclarify._release_documents(worker_id bigint)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    update pgclarify.pending_document
    set leased_by = null, leased_until = null
    where (pending_document.corpus_id, pending_document.document_id) in (
        select pending.corpus_id, pending.document_id
        from pgclarify.pending_document as pending
        where pending.leased_by = _release_documents.worker_id
        for update skip locked
    );
    return (
        select count(*) from pgclarify.pending_document as pending
        where pending.leased_by = _release_documents.worker_id
    );
end
$$;

comment on function pgclarify._release_documents(bigint) is
'Give back what a worker has leased, and return how many leases it keeps because somebody holds the rows.';
grant execute on function pgclarify._release_documents(bigint) to pgclarify_worker;

create or replace function pgclarify._fail_document(
    worker_id bigint, corpus_id bigint, document_id text, content_hash bytea, error text
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_had_failed boolean;
begin
    -- The corpus first, as everywhere; if it has been or is being dropped, so is the document.
    perform from pgclarify.corpus where corpus.corpus_id = _fail_document.corpus_id for key share skip locked;
    if not found then
        return;
    end if;
    select document.error is not null into v_had_failed
    from pgclarify.document
    where document.corpus_id = _fail_document.corpus_id
        and document.id = _fail_document.document_id
        and document.content_hash = _fail_document.content_hash
    for no key update skip locked;
    if not found then
        return;
    end if;
    delete from pgclarify.pending_document as pending
    where pending.corpus_id = _fail_document.corpus_id
        and pending.document_id = _fail_document.document_id
        and pending.leased_by = _fail_document.worker_id;
    if not found then
        return;
    end if;
    update pgclarify.document
    set error = _fail_document.error
    where document.corpus_id = _fail_document.corpus_id and document.id = _fail_document.document_id;
    insert into pgclarify.corpus_tally (corpus_id, pending, failed)
    values (_fail_document.corpus_id, -1, (not v_had_failed)::integer);
end
$$;

comment on function pgclarify._fail_document(bigint, bigint, text, bytea, text) is
'Mark a leased document as one that cannot be indexed. Passages of its earlier content stay.';
grant execute on function pgclarify._fail_document(bigint, bigint, text, bytea, text) to pgclarify_worker;
