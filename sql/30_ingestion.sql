-- What workers do to make documents searchable: lease them, and move their passages into place.

create or replace function pgclarify._claim_documents(
    worker_id bigint, max_documents integer, max_chars bigint, lease interval, skipped_models text[]
)
returns table (
    corpus_id bigint,
    document_id text,
    title text,
    content text,
    content_hash bytea,
    embedding_model text,
    dimensions integer
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
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
        order by oldest.added_at
        limit 100
    loop
        perform from pgclarify.corpus where corpus.corpus_id = v_corpus_id for key share skip locked;
        -- It is being dropped.
        continue when not found;
        return query
        with locked as (
            select pending.document_id, pending.added_at
            from pgclarify.pending_document as pending
            where pending.corpus_id = v_corpus_id
                and (pending.leased_until is null or pending.leased_until < now() or pending.leased_by <> all(v_living))
            order by pending.added_at
            limit _claim_documents.max_documents
            for update skip locked
        ),
        readable as (
            -- What somebody is changing now could not be stored.
            select locked.document_id, locked.added_at, length(document.content) as chars
            from locked
            inner join pgclarify.document
                on document.corpus_id = v_corpus_id and document.id = locked.document_id
            for share of document skip locked
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
        )
        select
            v_corpus_id, document.id, document.title, document.content, document.content_hash, space.model,
            space.dimensions
        from leased
        inner join pgclarify.document on document.corpus_id = v_corpus_id and document.id = leased.document_id
        inner join pgclarify.corpus on corpus.corpus_id = v_corpus_id
        inner join pgclarify.embedding_space as space on space.embedding_space_id = corpus.embedding_space_id
        order by document.id;
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

create or replace function pgclarify._store_documents(
    worker_id bigint, batch_id uuid, corpus_id bigint, document_ids text[], content_hashes bytea[]
)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus pgclarify.corpus;
    v_stored text[];
    v_removed pgclarify.corpus_tally;
    v_added pgclarify.corpus_tally;
    v_cleared integer;
begin
    select corpus.* into v_corpus
    from pgclarify.corpus where corpus.corpus_id = _store_documents.corpus_id for key share skip locked;
    if not found then
        -- It has been or is being dropped.
        delete from pgclarify.staged_passage as staged where staged.batch_id = _store_documents.batch_id;
        return 0;
    end if;
    -- Whoever changed or removed a document since it was leased wins, and is not waited for.
    with held as (
        select document.id
        from unnest(_store_documents.document_ids, _store_documents.content_hashes) as given (id, content_hash)
        inner join pgclarify.document
            on document.corpus_id = _store_documents.corpus_id
            and document.id = given.id
            and document.content_hash = given.content_hash
        for no key update of document skip locked
    )
    select coalesce(array_agg(held.id), '{}') into v_stored
    from held
    inner join pgclarify.pending_document as pending
        on pending.corpus_id = _store_documents.corpus_id
        and pending.document_id = held.id
        and pending.leased_by = _store_documents.worker_id;
    if cardinality(v_stored) > 0 then
        v_removed := pgclarify._delete_passages(_store_documents.corpus_id, v_stored);
        execute format(
            $sql$
            with staged as (
                select
                    document.id as document_id, document.title, document.readers,
                    staged.ordinal, staged.heading, staged.content, staged.start_char, staged.end_char, staged.content_hash,
                    staged.vector,
                    nextval('pgclarify.passage_id_seq') as id
                from pgclarify.staged_passage as staged
                inner join pgclarify.document on document.corpus_id = $1 and document.id = staged.document_id
                where staged.batch_id = $2 and staged.document_id = any($3)
            ),
            analyzed as materialized (
                select
                    staged.*,
                    to_tsvector($4, concat_ws(E'\n', staged.title, staged.heading, staged.content)) as lexemes
                from staged
            ),
            added as (
                insert into %1$s (
                    corpus_id, document_id, id, ordinal, heading, content, start_char, end_char, content_hash, readers,
                    lexemes, lexeme_count
                )
                select
                    $1, document_id, id, ordinal, heading, content, start_char, end_char,
                    content_hash, readers, lexemes,
                    (
                        select coalesce(sum(coalesce(cardinality(occurrence.positions), 1)), 0)
                        from unnest(analyzed.lexemes) as occurrence
                    )
                from analyzed
                returning readers, lexemes, lexeme_count
            ),
            embedded as (
                insert into %2$s (embedding_space_id, document_id, passage_id, vector)
                select $5, document_id, id, vector from analyzed
            ),
            counted as (
                insert into pgclarify.term as known (corpus_id, lexeme, passages)
                select $1, lexeme, count(*)
                from added, unnest(tsvector_to_array(added.lexemes)) as lexeme
                group by lexeme
                -- In one order, or two workers that share lexemes deadlock.
                order by lexeme
                on conflict on constraint term_pk do update set passages = known.passages + excluded.passages
            )
            select count(*), count(readers), coalesce(sum(lexeme_count), 0) from added
            $sql$,
            pgclarify._partition_name('passage', _store_documents.corpus_id),
            pgclarify._partition_name('passage_embedding', v_corpus.embedding_space_id)
        ) into v_added.passages, v_added.restricted_passages, v_added.lexemes
        using
            _store_documents.corpus_id, _store_documents.batch_id, v_stored, v_corpus.search_config::regconfig,
            v_corpus.embedding_space_id;
        update pgclarify.document
        set indexed_at = now()
        where document.corpus_id = _store_documents.corpus_id and document.id = any(v_stored);
        delete from pgclarify.pending_document as pending
        where pending.corpus_id = _store_documents.corpus_id and pending.document_id = any(v_stored);
        get diagnostics v_cleared = row_count;
        insert into pgclarify.corpus_tally
        (corpus_id, pending, passages, restricted_passages, embedded, lexemes, revision)
        values (
            _store_documents.corpus_id,
            -v_cleared,
            v_removed.passages + v_added.passages,
            v_removed.restricted_passages + v_added.restricted_passages,
            v_removed.embedded + v_added.passages,
            v_removed.lexemes + v_added.lexemes,
            1
        );
    end if;
    -- What was not stored is free for the next one.
    update pgclarify.pending_document
    set leased_by = null, leased_until = null
    where pending_document.corpus_id = _store_documents.corpus_id
        and pending_document.document_id in (
            select pending.document_id
            from pgclarify.pending_document as pending
            where pending.corpus_id = _store_documents.corpus_id
                and pending.document_id = any(_store_documents.document_ids)
                and pending.leased_by = _store_documents.worker_id
            for update skip locked
        );
    delete from pgclarify.staged_passage as staged where staged.batch_id = _store_documents.batch_id;
    return cardinality(v_stored);
end
$$;

comment on function pgclarify._store_documents(bigint, uuid, bigint, text[], bytea[]) is
'Move a staged batch into place, in place of what those documents had, and return how many were stored. A document that '
'changed or vanished since it was leased is left out, and so is one that somebody''s transaction holds.';
grant execute on function pgclarify._store_documents(bigint, uuid, bigint, text[], bytea[]) to pgclarify_worker;

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

create or replace function pgclarify._apply_term_changes()
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    with taken as (
        delete from pgclarify.term_change
        where term_change.ctid = any(array(
            select change.ctid from pgclarify.term_change as change limit 10000 for update skip locked
        ))
        returning term_change.*
    )
    insert into pgclarify.term as known (corpus_id, lexeme, passages)
    select taken.corpus_id, taken.lexeme, sum(taken.passages)
    from taken
    where exists (select from pgclarify.corpus where corpus.corpus_id = taken.corpus_id)
    group by taken.corpus_id, taken.lexeme
    order by taken.corpus_id, taken.lexeme
    on conflict on constraint term_pk do update set passages = known.passages + excluded.passages;
end
$$;

comment on function pgclarify._apply_term_changes() is 'Apply up to 10,000 rows of term_change to term.';
grant execute on function pgclarify._apply_term_changes() to pgclarify_worker;
