-- The neighborhood graph: the queues of passages to link. Workers link them (graph/linking.sql).
--
-- Transactions that store or remove passages add to the queues (store_documents, forget_vectors). They have locked the
-- documents, so no other transaction can be removing the same passages. queue_all_links is for linking a whole space of any
-- size. queue_links_again (graph/lists.sql) is called while linking, with locks on lists, so it must not wait for any
-- transaction.

create or replace function pgclarify_private.queue_all_links(embedding_space_id bigint)
returns bigint
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    update pgclarify_private.embedding_space
    set
        linking_document_id = '', linking_passage_id = 0, linking_passages = greatest(counted.passages, 0),
        -- Lists that it is building may be older than this request.
        linking_worker_id = null
    from pgclarify_private.corpus_count as counted
    where embedding_space.embedding_space_id = queue_all_links.embedding_space_id
        and counted.corpus_id = embedding_space.corpus_id
    returning embedding_space.linking_passages;
end;

comment on function pgclarify_private.queue_all_links(bigint) is
'Have workers find the neighbors of every current passage of a space, and return the number of passages. This is fast, '
'because no row is queued: workers walk through the space by key. May wait for a worker that is linking the space. Called '
'with the corpus locked.';

create or replace function pgclarify_private.forget_waiting(
    embedding_space_id bigint, document_ids text[], passage_ids bigint[]
)
returns bigint
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    with free as materialized (
        select waiting.document_id, waiting.passage_id
        from pgclarify_private.pending_link as waiting
        inner join unnest(forget_waiting.document_ids, forget_waiting.passage_ids) as forgotten (document_id, passage_id)
            on forgotten.document_id = waiting.document_id and forgotten.passage_id = waiting.passage_id
        where waiting.embedding_space_id = forget_waiting.embedding_space_id
        for update of waiting skip locked
    ),
    deleted as (
        delete from pgclarify_private.pending_link as pending
        using free
        where pending.embedding_space_id = forget_waiting.embedding_space_id
            and pending.document_id = free.document_id
            and pending.passage_id = free.passage_id
        returning 1
    )
    select count(*) from deleted;
end;

comment on function pgclarify_private.forget_waiting(bigint, text[], bigint[]) is
'Remove passages from the queue of those to link, except locked rows; returns how many.';

create or replace function pgclarify_private.linkable_spaces()
returns table (embedding_space_id bigint, corpus_id bigint)
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- One step for each space with entries in a queue, not for each entry.
    with recursive link as (
        (select pending.embedding_space_id from pgclarify_private.pending_link as pending order by 1 limit 1)
        union all
        select (
            select pending.embedding_space_id
            from pgclarify_private.pending_link as pending
            where pending.embedding_space_id > link.embedding_space_id
            order by pending.embedding_space_id
            limit 1
        )
        from link
        where link.embedding_space_id is not null
    ),
    unlink as (
        (select pending.embedding_space_id from pgclarify_private.pending_unlink as pending order by 1 limit 1)
        union all
        select (
            select pending.embedding_space_id
            from pgclarify_private.pending_unlink as pending
            where pending.embedding_space_id > unlink.embedding_space_id
            order by pending.embedding_space_id
            limit 1
        )
        from unlink
        where unlink.embedding_space_id is not null
    ),
    waiting as (
        select link.embedding_space_id from link
        union
        select unlink.embedding_space_id from unlink
        union
        select space.embedding_space_id
        from pgclarify_private.embedding_space as space
        where space.linking_document_id is not null
    )
    select space.embedding_space_id, space.corpus_id
    from waiting
    inner join pgclarify_private.embedding_space as space on space.embedding_space_id = waiting.embedding_space_id
    inner join pgclarify_private.living_corpus as corpus on space.corpus_id = corpus.corpus_id
    where space.state = 'active'
        and not pgclarify_private.is_paused(space.corpus_id)
        -- Linking its passages would fail in every round, and the worker would not reach the spaces behind it.
        and not pgclarify_private.is_distributed(space.corpus_id)
        -- Loading has priority, but not forever: during a load of a day, the graph must become usable. After a minute,
        -- a load of some thousand passages has ended, and one walk links them all.
        and (
            space.linking_document_id is not null
            -- The order makes the planner use an index. Otherwise a plan may read the whole queue of another corpus.
            or (
                select true
                from pgclarify_private.pending_document as pending
                where pending.corpus_id = space.corpus_id
                order by pending.is_long
                limit 1
            ) is null
            or least(
                (
                    select min(pending.added_at) from pgclarify_private.pending_link as pending
                    where pending.embedding_space_id = space.embedding_space_id
                ),
                (
                    select min(pending.added_at) from pgclarify_private.pending_unlink as pending
                    where pending.embedding_space_id = space.embedding_space_id
                )
            ) < now() - interval '60 seconds'
        )
    order by random();
end;

comment on function pgclarify_private.linkable_spaces() is
'Active spaces with something to link or unlink, in no order, so that a large one does not block the others. A space that is '
'being loaded is skipped until something has waited for a minute, unless a rebuild was requested. A paused one is skipped, '
'and so is one of a distributed corpus.';
