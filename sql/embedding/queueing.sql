-- Filling a space beside the active one: which passages it lacks. Workers take them from a queue (embedding/vectors.sql).

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

create or replace function pgclarify_private.queue_passages(embedding_space_id bigint, corpus_id bigint)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    update pgclarify_private.embedding_space as space
    set queued_at = clock_timestamp(), paused_until = null
    where space.embedding_space_id = queue_passages.embedding_space_id
        and space.state = 'building'
        and space.dimensions is not null
        and space.queued_at is null;
    if not found then
        return false;
    end if;
    execute format(
        $sql$
        insert into pgclarify_private.pending_passage (embedding_space_id, document_id, passage_id)
        select $1, passage.document_id, passage.id from %s as passage where passage.corpus_id = $2
        on conflict on constraint pending_passage_pk do nothing
        $sql$,
        pgclarify_private.partition_name('passage', queue_passages.corpus_id)
    ) using queue_passages.embedding_space_id, queue_passages.corpus_id;
    -- Until autovacuum does this, claims would read and sort the whole queue.
    analyze pgclarify_private.pending_passage;
    return true;
end
$$;

comment on function pgclarify_private.queue_passages(bigint, bigint) is
'Put all passages of a corpus into pending_passage for a space that is being built; false if they were put there before. '
'Called with the corpus locked for update: then no transaction is storing or removing passages, and none is missed. This takes '
'a second for about 100,000 passages.';

create or replace function pgclarify_private.has_work(embedding_space_id bigint, living bigint[])
returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        exists (
            select
            from pgclarify_private.pending_passage as pending
            where pending.embedding_space_id = has_work.embedding_space_id
                and pending.attempts < 3
                and (pending.retry_at is null or pending.retry_at < now())
                and (
                    pending.leased_until is null
                    or pending.leased_until < now()
                    or pending.leased_by <> all(has_work.living)
                )
        )
        and not pgclarify_private.is_refused(has_work.embedding_space_id);
end;

comment on function pgclarify_private.has_work(bigint, bigint[]) is
'Whether a space that is being built has passages to lease. living: keys of the live workers.';
