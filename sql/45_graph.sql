-- The neighborhood graph.

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
'Note that these passages of a space are new or have another vector: their neighbors are to be found.';

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
