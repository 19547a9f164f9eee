-- The queue of documents whose current content is not searchable yet: its content and its order, and what is deleted
-- with its rows.

create or replace function pgclarify_private.expected_passages(content text)
returns integer
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    -- The length in bytes is known without reading the text. An English passage has about 700.
    select 1 + octet_length(expected_passages.content) / 700;
end;

comment on function pgclarify_private.expected_passages(text) is
'About how many passages a document will have, before it is cut.';

create or replace function pgclarify_private.waiting_corpora(
    are_long boolean, skipped_models text[], after_corpus_id bigint, living bigint[], delayed_space_ids bigint[]
)
returns table (corpus_id bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return query
    select corpus.corpus_id
    from pgclarify_private.corpus
    -- A space that is not open yet has to wait.
    inner join pgclarify_private.embedding_space as space on space.embedding_space_id = corpus.embedding_space_id
    where space.model <> all(waiting_corpora.skipped_models)
        and space.embedding_space_id <> all(waiting_corpora.delayed_space_ids)
        and exists (
            select
            from pgclarify_private.pending_document as pending
            where pending.corpus_id = corpus.corpus_id
                and pending.is_long = waiting_corpora.are_long
                and (
                    pending.leased_until is null
                    or pending.leased_until < now()
                    or pending.leased_by <> all(waiting_corpora.living)
                )
        )
        and not pgclarify_private.is_paused(corpus.corpus_id)
        -- Otherwise the embeddings are paid for and cannot be stored.
        and corpus.search_config in (select pgclarify_private.search_configs())
    order by corpus.corpus_id <= waiting_corpora.after_corpus_id, corpus.corpus_id
    -- So many are rarely all locked, and the call is short if they are.
    limit 100;
end
$$;

comment on function pgclarify_private.waiting_corpora(boolean, text[], bigint, bigint[], bigint[]) is
'Corpora with documents to lease, in turns: those after the corpus of the last turn, then from the first one on. So a corpus '
'waits for one step of each of the others, however much those have. are_long: documents that take several steps, or the '
'others. living: keys of the live workers. delayed_space_ids: spaces whose corpora are skipped.';

create or replace function pgclarify_private.dequeue_documents(corpus_id bigint, document_ids text[])
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_batch_ids uuid[];
begin
    with dequeued as (
        delete from pgclarify_private.pending_document as pending
        where pending.corpus_id = dequeue_documents.corpus_id
            and pending.document_id = any(dequeue_documents.document_ids)
        returning pending.batch_id
    )
    select array_agg(dequeued.batch_id) into v_batch_ids from dequeued;
    delete from pgclarify_private.staged_passage as staged where staged.batch_id = any(v_batch_ids);
end
$$;

comment on function pgclarify_private.dequeue_documents(bigint, text[]) is
'Remove documents from the queue, with their embedded parts. Called with the documents locked.';

create or replace function pgclarify_private.restart_indexing(corpus_id bigint, document_ids text[])
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_batch_ids uuid[];
begin
    with staged as (
        select pending.batch_id
        from pgclarify_private.pending_document as pending
        where pending.corpus_id = restart_indexing.corpus_id
            and pending.document_id = any(restart_indexing.document_ids)
            and pending.batch_id is not null
        order by pending.document_id
        for update
    )
    select array_agg(staged.batch_id) into v_batch_ids from staged;
    if v_batch_ids is not null then
        delete from pgclarify_private.staged_passage as staged where staged.batch_id = any(v_batch_ids);
        update pgclarify_private.pending_document as pending
        set batch_id = null, passages = pending.passages + pending.staged_passages, staged_passages = 0, staged_chars = 0
        where pending.corpus_id = restart_indexing.corpus_id
            and pending.document_id = any(restart_indexing.document_ids)
            and pending.batch_id is not null;
    end if;
end
$$;

comment on function pgclarify_private.restart_indexing(bigint, text[]) is
'Delete the embedded parts of pending documents. Called with the documents locked, or with the corpus locked exclusively.';
