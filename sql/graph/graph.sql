-- The neighborhood graph: what waits for its neighbors. Workers link it (graph/linking.sql).
--
-- Four functions queue. queue_links and queue_unlinks are for whoever stores and removes passages: he holds their documents,
-- so that nobody he would wait for is removing them. queue_all_links is for who wants a whole space linked, in any number of
-- passages. queue_links_again (graph/lists.sql) is for who links, holds lists, and must wait for nobody.

create or replace function pgclarify_private.queue_links(embedding_space_id bigint, document_ids text[], passage_ids bigint[])
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    insert into pgclarify_private.pending_link (embedding_space_id, document_id, passage_id)
    select queue_links.embedding_space_id, stored.document_id, stored.passage_id
    from unnest(queue_links.document_ids, queue_links.passage_ids) as stored (document_id, passage_id)
    order by stored.document_id, stored.passage_id
    on conflict on constraint pending_link_pk do nothing;
end;

comment on function pgclarify_private.queue_links(bigint, text[], bigint[]) is
'Note that the neighbors of these passages of a space are to be found: they are new or have another vector. Called with their '
'documents locked, so that no transaction is removing their rows in the queue, for which it would wait.';

create or replace function pgclarify_private.queue_unlinks(embedding_space_id bigint, passage_ids bigint[])
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    insert into pgclarify_private.pending_unlink (embedding_space_id, passage_id)
    select queue_unlinks.embedding_space_id, passage_id
    from unnest(queue_unlinks.passage_ids) as passage_id
    order by passage_id
    on conflict on constraint pending_unlink_pk do nothing;
end;

comment on function pgclarify_private.queue_unlinks(bigint, bigint[]) is
'Note that these passages of a space are gone or have another vector, while neighborhoods may still name them. Waits for a '
'worker that is writing that one of them is done with, which is at the end of a short transaction.';

create or replace function pgclarify_private.queue_all_links(embedding_space_id bigint)
returns bigint
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    update pgclarify.embedding_space
    set
        linking_document_id = '', linking_passage_id = 0, linking_passages = greatest(counted.embedded, 0),
        -- Lists that it is making may be older than what is asked for.
        linking_worker_id = null
    from pgclarify_private.corpus_count as counted
    where embedding_space.embedding_space_id = queue_all_links.embedding_space_id
        and counted.corpus_id = embedding_space.corpus_id
    returning embedding_space.linking_passages;
end;

comment on function pgclarify_private.queue_all_links(bigint) is
'Have workers find the neighbors of every passage that a space holds now, and return how many that are. Takes no time: no row '
'is queued, they walk through the space by key. Waits for a worker that is linking the space. Called with the corpus locked.';

create or replace function pgclarify_private.free_waiting(
    embedding_space_id bigint,
    max_passages bigint,
    out document_ids text[],
    out passage_ids bigint[],
    out gone_document_ids text[],
    out gone_passage_ids bigint[]
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_last pgclarify_private.pending_link;
    v_waiting record;
    v_looked_at record;
begin
    document_ids := '{}';
    passage_ids := '{}';
    gone_document_ids := '{}';
    gone_passage_ids := '{}';
    v_last.added_at := '-infinity';
    v_last.document_id := '';
    v_last.passage_id := 0;
    begin
        loop
            select
                array_agg(free.document_id order by free.added_at, free.document_id, free.passage_id) as document_ids,
                array_agg(free.passage_id order by free.added_at, free.document_id, free.passage_id) as passage_ids,
                max(free.added_at) as last_added_at,
                count(*) as passages
            into v_waiting
            from (
                select pending.document_id, pending.passage_id, pending.added_at
                from pgclarify_private.pending_link as pending
                where pending.embedding_space_id = free_waiting.embedding_space_id
                    and (pending.added_at, pending.document_id, pending.passage_id)
                    > (v_last.added_at, v_last.document_id, v_last.passage_id)
                order by pending.added_at, pending.document_id, pending.passage_id
                limit free_waiting.max_passages
                for update skip locked
            ) as free;
            exit when v_waiting.passages = 0;
            -- Whoever removes a passage that was queued after he looked at the queue holds its vector alone.
            execute format(
                $sql$
                with waiting as materialized (
                    select * from unnest($2, $3) with ordinality as waiting (document_id, passage_id, place)
                ),
                known as materialized (
                    select waiting.place
                    from waiting
                    inner join %1$s as embedding
                        on embedding.embedding_space_id = $1
                        and embedding.document_id = waiting.document_id
                        and embedding.passage_id = waiting.passage_id
                ),
                free as materialized (
                    select waiting.place
                    from waiting
                    inner join %1$s as embedding
                        on embedding.embedding_space_id = $1
                        and embedding.document_id = waiting.document_id
                        and embedding.passage_id = waiting.passage_id
                    for key share of embedding skip locked
                )
                select
                    array_agg(waiting.document_id order by waiting.place) filter (where is_free) as document_ids,
                    array_agg(waiting.passage_id order by waiting.place) filter (where is_free) as passage_ids,
                    array_agg(waiting.document_id) filter (where is_gone) as gone_document_ids,
                    array_agg(waiting.passage_id) filter (where is_gone) as gone_passage_ids
                from waiting
                cross join lateral (
                    select
                        waiting.place in (select free.place from free) as is_free,
                        waiting.place not in (select known.place from known) as is_gone
                ) as seen
                $sql$,
                pgclarify_private.partition_name('passage_embedding', free_waiting.embedding_space_id)
            ) into v_looked_at
            using free_waiting.embedding_space_id, v_waiting.document_ids, v_waiting.passage_ids;
            -- Null adds nothing to an array.
            document_ids := document_ids || v_looked_at.document_ids;
            passage_ids := passage_ids || v_looked_at.passage_ids;
            gone_document_ids := gone_document_ids || v_looked_at.gone_document_ids;
            gone_passage_ids := gone_passage_ids || v_looked_at.gone_passage_ids;
            exit when v_waiting.passages < free_waiting.max_passages
                or cardinality(passage_ids) >= free_waiting.max_passages;
            v_last.added_at := v_waiting.last_added_at;
            v_last.document_id := v_waiting.document_ids[v_waiting.passages];
            v_last.passage_id := v_waiting.passage_ids[v_waiting.passages];
        end loop;
        -- Lets go of the locks, which would make users wait for the search; the variables stay as they are.
        raise exception 'looked at' using errcode = 'PC099';
    exception
        when sqlstate 'PC099' then null;
    end;
    document_ids := document_ids[:free_waiting.max_passages];
    passage_ids := passage_ids[:free_waiting.max_passages];
end
$$;

comment on function pgclarify_private.free_waiting(bigint, bigint) is
'Up to max_passages of a space that have waited longest to be linked and that nobody is removing; and those met on the way '
'that are gone. Holds nothing afterwards: one that somebody begins to remove meanwhile must be skipped once more.';

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
'Take these passages out of the queue of those to be linked, but for rows that somebody holds; returns how many.';

create or replace function pgclarify_private.linkable_spaces()
returns table (embedding_space_id bigint, corpus_id bigint)
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- A step for each space that has something in a queue, not for each row of it.
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
        select space.embedding_space_id from pgclarify.embedding_space as space where space.linking_document_id is not null
    )
    select space.embedding_space_id, space.corpus_id
    from waiting
    inner join pgclarify.embedding_space as space on space.embedding_space_id = waiting.embedding_space_id
    where space.state = 'active'
        and not pgclarify_private.is_paused(space.corpus_id)
        -- What is being loaded comes first, but not forever: whoever loads for a day can explore the graph meanwhile.
        -- A minute lets a load of some thousand passages end first, and then all of them be linked by one walk.
        and (
            space.linking_document_id is not null
            or not exists (select from pgclarify_private.pending_document as pending where pending.corpus_id = space.corpus_id)
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
'Active spaces with something to link or unlink, in no order, so that a large one does not hold up the others. One that is '
'being loaded is left for as long as nothing has waited for a minute and nobody wants it built; and one that is paused, too.';
