-- Filling a space beside the active one: which passages it lacks. They are queued a thousand at a time, and workers
-- take them from the queue (embedding/vectors.sql).

create or replace function pgclarify_private.is_refused(embedding_space_id bigint)
returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select count(*) >= 100
    from (
        select
        from pgclarify_private.pending_passage as pending
        where pending.embedding_space_id = is_refused.embedding_space_id and pending.attempts >= 3
        limit 100
    ) as failed;
end;

comment on function pgclarify_private.is_refused(bigint) is
'Whether so many passages could not be embedded for a space that the model must be the cause; then no more are tried.';

create or replace function pgclarify_private.queue_more(embedding_space_id bigint, corpus_id bigint)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_size constant integer := 1000;
    v_space pgclarify_private.embedding_space;
    v_seen integer;
    v_last_document_id text;
    v_last_passage_id bigint;
begin
    -- One worker at a time moves the cursor; others try again later.
    select space.* into v_space
    from pgclarify_private.embedding_space as space
    where space.embedding_space_id = queue_more.embedding_space_id
        and space.state = 'building'
        and space.queued_document_id is not null
        and space.queued_at is null
    for no key update skip locked;
    if not found or pgclarify_private.is_refused(queue_more.embedding_space_id) then
        return false;
    end if;
    execute format(
        $sql$
        with next as materialized (
            select passage.document_id, passage.id
            from %1$s as passage
            where passage.corpus_id = $1 and (passage.document_id, passage.id) > ($2, $3)
            order by passage.document_id, passage.id
            limit $4
        ),
        queued as (
            insert into pgclarify_private.pending_passage (embedding_space_id, document_id, passage_id)
            select $5, next.document_id, next.id
            from next
            where not exists (
                select from %2$s as embedding
                where embedding.embedding_space_id = $5
                    and embedding.document_id = next.document_id
                    and embedding.passage_id = next.id
            )
            order by next.document_id, next.id
            on conflict on constraint pending_passage_pk do nothing
        )
        select
            count(*), (array_agg(document_id order by document_id desc, id desc))[1],
            (array_agg(id order by document_id desc, id desc))[1]
        from next
        $sql$,
        pgclarify_private.partition_name('passage', queue_more.corpus_id),
        pgclarify_private.partition_name('passage_embedding', queue_more.embedding_space_id)
    ) into v_seen, v_last_document_id, v_last_passage_id
    using
        queue_more.corpus_id, v_space.queued_document_id, v_space.queued_passage_id, v_size,
        queue_more.embedding_space_id;
    update pgclarify_private.embedding_space as space
    set
        queued_document_id = coalesce(v_last_document_id, space.queued_document_id),
        queued_passage_id = coalesce(v_last_passage_id, space.queued_passage_id),
        queued_passages = space.queued_passages + v_seen,
        queued_at = case when v_seen < v_size then clock_timestamp() end
    where space.embedding_space_id = queue_more.embedding_space_id;
    return v_seen > 0;
end
$$;

comment on function pgclarify_private.queue_more(bigint, bigint) is
'Put the next 1,000 passages of a corpus, by key, into pending_passage for a space that is being built, except those that '
'have a vector; false if there are no more, or another worker is doing this.';

create or replace function pgclarify_private.has_work(space pgclarify_private.embedding_space, living bigint[])
returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        (
            (has_work.space).queued_at is null
            or exists (
                select
                from pgclarify_private.pending_passage as pending
                where pending.embedding_space_id = (has_work.space).embedding_space_id
                    and pending.attempts < 3
                    and (pending.retry_at is null or pending.retry_at < now())
                    and (
                        pending.leased_until is null
                        or pending.leased_until < now()
                        or pending.leased_by <> all(has_work.living)
                    )
            )
        )
        and not pgclarify_private.is_refused((has_work.space).embedding_space_id);
end;

comment on function pgclarify_private.has_work(pgclarify_private.embedding_space, bigint[]) is
'Whether a space that is being built has passages to lease or to queue. living: keys of the live workers.';
