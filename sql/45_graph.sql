-- The neighborhood graph: what waits for its neighbors, and who is near whom. Workers link it (48_linking.sql).

create or replace function pgclarify._queue_links(embedding_space_id bigint, document_ids text[], passage_ids bigint[])
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    insert into pgclarify.pending_link (embedding_space_id, document_id, passage_id)
    select _queue_links.embedding_space_id, stored.document_id, stored.passage_id
    from unnest(_queue_links.document_ids, _queue_links.passage_ids) as stored (document_id, passage_id)
    order by stored.document_id, stored.passage_id
    on conflict on constraint pending_link_pk do nothing;
end;

comment on function pgclarify._queue_links(bigint, text[], bigint[]) is
'Note that the neighbors of these passages of a space are to be found: they are new or have another vector, and no '
'neighborhood yet, or theirs lacks something.';

create or replace function pgclarify._queue_unlinks(embedding_space_id bigint, passage_ids bigint[])
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    insert into pgclarify.pending_unlink (embedding_space_id, passage_id)
    select _queue_unlinks.embedding_space_id, passage_id
    from unnest(_queue_unlinks.passage_ids) as passage_id
    order by passage_id
    on conflict on constraint pending_unlink_pk do nothing;
end;

comment on function pgclarify._queue_unlinks(bigint, bigint[]) is
'Note that these passages of a space are gone or have another vector, while neighborhoods may still name them.';

create or replace function pgclarify._queue_all_links(embedding_space_id bigint)
returns bigint
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    update pgclarify.embedding_space
    set linking_document_id = '', linking_passage_id = 0, linking_passages = greatest(counted.embedded, 0)
    from pgclarify._corpus_count as counted
    where embedding_space.embedding_space_id = _queue_all_links.embedding_space_id
        and counted.corpus_id = embedding_space.corpus_id
    returning embedding_space.linking_passages;
end;

comment on function pgclarify._queue_all_links(bigint) is
'Have workers find the neighbors of every passage that a space holds now, and return how many that are. Takes no time: they '
'walk through the space by key. Called with the corpus held.';

create or replace function pgclarify._linkable_spaces()
returns table (embedding_space_id bigint, corpus_id bigint)
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- A step for each space that has something in a queue, not for each row of it.
    with recursive link as (
        (select pending.embedding_space_id from pgclarify.pending_link as pending order by 1 limit 1)
        union all
        select (
            select pending.embedding_space_id
            from pgclarify.pending_link as pending
            where pending.embedding_space_id > link.embedding_space_id
            order by pending.embedding_space_id
            limit 1
        )
        from link
        where link.embedding_space_id is not null
    ),
    unlink as (
        (select pending.embedding_space_id from pgclarify.pending_unlink as pending order by 1 limit 1)
        union all
        select (
            select pending.embedding_space_id
            from pgclarify.pending_unlink as pending
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
        -- What is being loaded comes first, but not forever: whoever loads for a day can explore the graph meanwhile.
        and (
            space.linking_document_id is not null
            or not exists (select from pgclarify.pending_document as pending where pending.corpus_id = space.corpus_id)
            or least(
                (
                    select min(pending.added_at) from pgclarify.pending_link as pending
                    where pending.embedding_space_id = space.embedding_space_id
                ),
                (
                    select min(pending.added_at) from pgclarify.pending_unlink as pending
                    where pending.embedding_space_id = space.embedding_space_id
                )
            ) < now() - interval '60 seconds'
        )
    order by random();
end;

comment on function pgclarify._linkable_spaces() is
'Active spaces with something to link or unlink, in no order, so that a large one does not hold up the others. One that is '
'being loaded is left for as long as nothing has waited for a minute and nobody wants it built.';
