-- Documents that take several steps. A worker cuts the next part, embeds its passages and stages them, each part in its
-- own transaction. When all are staged, store_documents publishes them together. Until then searches find the old
-- content. pending_document.batch_id identifies the staged parts, so that any worker can continue.

create or replace function pgclarify_private.set_aside_document(
    worker_id bigint, corpus_id bigint, document_id text, passages integer
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform from pgclarify_private.corpus where corpus.corpus_id = set_aside_document.corpus_id for key share skip locked;
    if not found then
        return;
    end if;
    update pgclarify_private.pending_document
    set is_long = true, passages = set_aside_document.passages, leased_by = null, leased_until = null
    where (pending_document.corpus_id, pending_document.document_id) in (
        select pending.corpus_id, pending.document_id
        from pgclarify_private.pending_document as pending
        where pending.corpus_id = set_aside_document.corpus_id
            and pending.document_id = set_aside_document.document_id
            and pending.leased_by = set_aside_document.worker_id
        for update skip locked
    );
end
$$;

comment on function pgclarify_private.set_aside_document(bigint, bigint, text, integer) is
'Mark a leased document that takes several steps, and release it, so that others do not wait behind it. passages: about how '
'many it will have.';
grant execute on function pgclarify_private.set_aside_document(bigint, bigint, text, integer) to pgclarify_worker;

create or replace function pgclarify_private.claim_long_document(
    worker_id bigint, lease interval, skipped_models text[], after_corpus_id bigint
)
returns table (
    corpus_id bigint,
    document_id text,
    title text,
    content text,
    content_hash bytea,
    embedding_space_id bigint,
    embedding_model text,
    dimensions integer,
    batch_id uuid,
    staged_passages integer,
    staged_chars integer
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus_id bigint;
    v_living bigint[];
    v_delayed_space_ids bigint[];
    v_pending pgclarify_private.pending_document;
begin
    -- The order makes the planner use the index of long documents, where others are not read.
    perform from pgclarify_private.pending_document as pending where pending.is_long order by pending.added_at limit 1;
    if not found then
        return;
    end if;
    v_delayed_space_ids := pgclarify_private.delay_unpaid_spaces();
    v_living := array(select living.worker_id from pgclarify_private.living_workers() as living);
    for v_corpus_id in
        select waiting.corpus_id
        from pgclarify_private.waiting_corpora(
            true, claim_long_document.skipped_models, claim_long_document.after_corpus_id, v_living, v_delayed_space_ids
        ) as waiting
    loop
        perform from pgclarify_private.corpus where corpus.corpus_id = v_corpus_id for key share skip locked;
        -- It is being dropped.
        continue when not found;
        -- Finish the oldest document before the next one starts: only as many are partly staged as there are workers.
        select pending.* into v_pending
        from pgclarify_private.pending_document as pending
        inner join pgclarify_private.document on document.corpus_id = v_corpus_id and document.id = pending.document_id
        where pending.corpus_id = v_corpus_id
            and pending.is_long
            and (pending.leased_until is null or pending.leased_until < now() or pending.leased_by <> all(v_living))
        order by pending.added_at
        limit 1
        for share of document skip locked
        for update of pending skip locked;
        continue when not found;
        -- The staging table is unlogged: after a crash of the server it is empty.
        if v_pending.batch_id is not null and v_pending.staged_passages <> (
            select count(*) from pgclarify_private.staged_passage as staged where staged.batch_id = v_pending.batch_id
        ) then
            perform pgclarify_private.restart_indexing(v_corpus_id, array[v_pending.document_id]);
        end if;
        return query
        with leased as (
            update pgclarify_private.pending_document as pending
            set leased_by = claim_long_document.worker_id, leased_until = now() + claim_long_document.lease
            where pending.corpus_id = v_corpus_id and pending.document_id = v_pending.document_id
            returning pending.document_id, pending.batch_id, pending.staged_passages, pending.staged_chars
        )
        select
            v_corpus_id, document.id, document.title, document.content, document.content_hash,
            space.embedding_space_id, space.model, space.dimensions, leased.batch_id,
            leased.staged_passages, leased.staged_chars
        from leased
        inner join pgclarify_private.document on document.corpus_id = v_corpus_id and document.id = leased.document_id
        inner join pgclarify_private.corpus on corpus.corpus_id = v_corpus_id
        inner join pgclarify_private.embedding_space as space on space.embedding_space_id = corpus.embedding_space_id;
        return;
    end loop;
end
$$;

comment on function pgclarify_private.claim_long_document(bigint, interval, text[], bigint) is
'Lease the document of one corpus that takes several steps and has waited longest, for its next step. batch_id: of its staged '
'parts, null if there are none; staged_chars: where the next part starts. The parameters are those of claim_documents.';
grant execute on function pgclarify_private.claim_long_document(bigint, interval, text[], bigint) to pgclarify_worker;

create or replace function pgclarify_private.keep_part(
    worker_id bigint,
    batch_id uuid,
    corpus_id bigint,
    document_id text,
    content_hash bytea,
    staged_before integer,
    staged_passages integer,
    staged_chars integer,
    passages_left integer
)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform from pgclarify_private.corpus where corpus.corpus_id = keep_part.corpus_id for key share skip locked;
    if not found then
        return false;
    end if;
    -- A transaction that changed or removed the document since it was leased has priority, and is not waited for.
    perform from pgclarify_private.document
    where document.corpus_id = keep_part.corpus_id
        and document.id = keep_part.document_id
        and document.content_hash = keep_part.content_hash
    for share skip locked;
    if not found then
        return false;
    end if;
    perform from pgclarify_private.pending_document as pending
    where pending.corpus_id = keep_part.corpus_id
        and pending.document_id = keep_part.document_id
        and pending.leased_by = keep_part.worker_id
        and pending.staged_passages = keep_part.staged_before
        and (pending.batch_id = keep_part.batch_id or pending.batch_id is null and keep_part.staged_before = 0)
    for update skip locked;
    if not found then
        return false;
    end if;
    update pgclarify_private.pending_document as pending
    set
        batch_id = keep_part.batch_id,
        staged_passages = keep_part.staged_passages,
        staged_chars = keep_part.staged_chars,
        passages = keep_part.passages_left,
        leased_by = null,
        leased_until = null
    where pending.corpus_id = keep_part.corpus_id and pending.document_id = keep_part.document_id;
    return true;
end
$$;

comment on function pgclarify_private.keep_part(
    bigint, uuid, bigint, text, bytea, integer, integer, integer, integer
) is
'Note that a part of a leased document was staged, and release the document until its next turn. False if this worker no '
'longer has the document, or another transaction is changing it; then the part must not stay staged. staged_before: how many '
'of its passages were staged when it was leased; staged_passages: how many are now. staged_chars: where the next part starts. '
'passages_left: about how many are left; 1 if only publishing is left.';
grant execute on function pgclarify_private.keep_part(
    bigint, uuid, bigint, text, bytea, integer, integer, integer, integer
) to pgclarify_worker;
