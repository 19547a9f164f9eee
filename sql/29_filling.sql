-- Filling a space beside the one that is searched: its passages are queued a thousand at a time, and leased (29_vectors.sql).

create or replace function pgclarify._queue_passages(corpus_id bigint, document_ids text[], passage_ids bigint[])
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    insert into pgclarify.pending_passage (embedding_space_id, document_id, passage_id)
    select space.embedding_space_id, stored.document_id, stored.passage_id
    from pgclarify.embedding_space as space
    cross join unnest(_queue_passages.document_ids, _queue_passages.passage_ids) as stored (document_id, passage_id)
    where space.corpus_id = _queue_passages.corpus_id and space.state = 'building' and space.dimensions is not null
    order by space.embedding_space_id, stored.document_id, stored.passage_id
    on conflict on constraint pending_passage_pk do nothing;
end;

comment on function pgclarify._queue_passages(bigint, text[], bigint[]) is
'Note for the space that is being built beside the active one, if there is any, that these passages are new. Called with the '
'corpus held.';

create or replace function pgclarify._queue_more(embedding_space_id bigint, corpus_id bigint)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_size constant integer := 1000;
    -- So many that cannot be embedded: it is not they, it is the model.
    v_most_failed constant integer := 100;
    v_space pgclarify.embedding_space;
    v_seen integer;
    v_last_document_id text;
    v_last_passage_id bigint;
begin
    -- One worker at a time moves the cursor; the others come back.
    select space.* into v_space
    from pgclarify.embedding_space as space
    where space.embedding_space_id = _queue_more.embedding_space_id
        and space.state = 'building'
        and space.queued_document_id is not null
        and space.queued_at is null
    for no key update skip locked;
    if not found
        or (
            select count(*) >= v_most_failed
            from pgclarify.pending_passage as pending
            where pending.embedding_space_id = _queue_more.embedding_space_id and pending.attempts >= 3
        )
    then
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
            insert into pgclarify.pending_passage (embedding_space_id, document_id, passage_id)
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
        pgclarify._partition_name('passage', _queue_more.corpus_id),
        pgclarify._partition_name('passage_embedding', _queue_more.embedding_space_id)
    ) into v_seen, v_last_document_id, v_last_passage_id
    using
        _queue_more.corpus_id, v_space.queued_document_id, v_space.queued_passage_id, v_size,
        _queue_more.embedding_space_id;
    update pgclarify.embedding_space as space
    set
        queued_document_id = coalesce(v_last_document_id, space.queued_document_id),
        queued_passage_id = coalesce(v_last_passage_id, space.queued_passage_id),
        queued_passages = space.queued_passages + v_seen,
        queued_at = case when v_seen < v_size then clock_timestamp() end
    where space.embedding_space_id = _queue_more.embedding_space_id;
    return v_seen > 0;
end
$$;

comment on function pgclarify._queue_more(bigint, bigint) is
'Put the next 1,000 passages of a corpus, by key, into pending_passage for a space that is being built, those aside that have '
'a vector; false if there are no more, or another worker is at it.';

create or replace function pgclarify._forget_gone(
    embedding_space_id bigint, corpus_id bigint, document_ids text[], passage_ids bigint[]
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    execute format(
        $sql$
        delete from pgclarify.pending_passage as pending
        using unnest($3, $4) as given (document_id, passage_id)
        where pending.embedding_space_id = $1
            and pending.document_id = given.document_id
            and pending.passage_id = given.passage_id
            and not exists (
                select from %s as passage
                where passage.corpus_id = $2
                    and passage.document_id = given.document_id
                    and passage.id = given.passage_id
            )
        $sql$,
        pgclarify._partition_name('passage', _forget_gone.corpus_id)
    ) using
        _forget_gone.embedding_space_id, _forget_gone.corpus_id, _forget_gone.document_ids, _forget_gone.passage_ids;
end
$$;

comment on function pgclarify._forget_gone(bigint, bigint, text[], bigint[]) is
'Take passages that are not there any more out of pending_passage. Called with the corpus and the rows held.';

create or replace function pgclarify._claim_passages(
    worker_id bigint, max_passages integer, lease interval, skipped_models text[]
)
returns table (
    embedding_space_id bigint,
    document_id text,
    passage_id bigint,
    title text,
    heading text,
    content text,
    content_hash bytea,
    embedding_model text,
    dimensions integer
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_space pgclarify.embedding_space;
    v_living bigint[];
    v_document_ids text[];
    v_passage_ids bigint[];
begin
    for v_space in
        select space.*
        from pgclarify.embedding_space as space
        where space.state = 'building'
            and space.queued_document_id is not null
            and space.model <> all(_claim_passages.skipped_models)
        order by space.embedding_space_id
        limit 100
    loop
        perform from pgclarify.corpus where corpus.corpus_id = v_space.corpus_id for key share skip locked;
        -- It is being dropped, or switched.
        continue when not found;
        v_living := coalesce(v_living, array(select living.worker_id from pgclarify._living_workers() as living));
        -- A few rounds, so that it stays short where most has a vector already; the next call goes on.
        for v_round in 1..10 loop
            with locked as (
                select pending.document_id, pending.passage_id
                from pgclarify.pending_passage as pending
                where pending.embedding_space_id = v_space.embedding_space_id
                    and pending.attempts < 3
                    and (pending.retry_at is null or pending.retry_at < now())
                    and (pending.leased_until is null or pending.leased_until < now() or pending.leased_by <> all(v_living))
                order by pending.document_id, pending.passage_id
                limit _claim_passages.max_passages
                for update skip locked
            ),
            leased as (
                update pgclarify.pending_passage as pending
                set leased_by = _claim_passages.worker_id, leased_until = now() + _claim_passages.lease
                from locked
                where pending.embedding_space_id = v_space.embedding_space_id
                    and pending.document_id = locked.document_id
                    and pending.passage_id = locked.passage_id
                returning pending.document_id, pending.passage_id
            )
            select array_agg(leased.document_id), array_agg(leased.passage_id) into v_document_ids, v_passage_ids
            from leased;
            if v_passage_ids is null then
                exit when not pgclarify._queue_more(v_space.embedding_space_id, v_space.corpus_id);
                continue;
            end if;
            perform pgclarify._forget_gone(
                v_space.embedding_space_id, v_space.corpus_id, v_document_ids, v_passage_ids
            );
            return query execute format(
                $sql$
                select
                    $1, passage.document_id, passage.id, document.title, passage.heading, passage.content,
                    passage.content_hash, $2, $3
                from unnest($4, $5) as leased (document_id, passage_id)
                inner join %s as passage
                    on passage.corpus_id = $6
                    and passage.document_id = leased.document_id
                    and passage.id = leased.passage_id
                inner join pgclarify.document on document.corpus_id = $6 and document.id = leased.document_id
                order by passage.document_id, passage.id
                $sql$,
                pgclarify._partition_name('passage', v_space.corpus_id)
            ) using
                v_space.embedding_space_id, v_space.model, v_space.dimensions, v_document_ids, v_passage_ids,
                v_space.corpus_id;
            if found then
                perform pgclarify._hold_ingestion(v_space.embedding_space_id);
                return;
            end if;
        end loop;
        -- What could not be embedded may have been removed since.
        select array_agg(failed.document_id), array_agg(failed.passage_id) into v_document_ids, v_passage_ids
        from (
            select pending.document_id, pending.passage_id
            from pgclarify.pending_passage as pending
            where pending.embedding_space_id = v_space.embedding_space_id and pending.attempts >= 3
            limit 1000
            for update skip locked
        ) as failed;
        if v_passage_ids is not null then
            perform pgclarify._forget_gone(
                v_space.embedding_space_id, v_space.corpus_id, v_document_ids, v_passage_ids
            );
        end if;
    end loop;
end
$$;

comment on function pgclarify._claim_passages(bigint, integer, interval, text[]) is
'Lease up to max_passages pending passages of one space that is being built, and queue more if there are none. Leases of dead '
'workers and those that have run out are taken over. skipped_models: embedding models that the worker has not.';
grant execute on function pgclarify._claim_passages(bigint, integer, interval, text[]) to pgclarify_worker;

create or replace function pgclarify._hold_ingestion(embedding_space_id bigint)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    update pgclarify.embedding_space as space
    set ingestion_held_until = now() + interval '1 minute'
    where space.embedding_space_id in (
        select nearly.embedding_space_id
        from pgclarify.embedding_space as nearly
        where nearly.embedding_space_id = _hold_ingestion.embedding_space_id
            and nearly.queued_at is not null
            and nearly.error is null
            and coalesce(nearly.ingestion_held_until < now() - interval '10 minutes', true)
            and (
                select count(*) <= 500
                from (
                    select from pgclarify.pending_passage as pending
                    where pending.embedding_space_id = _hold_ingestion.embedding_space_id
                    limit 501
                ) as left_over
            )
        for no key update skip locked
    );
end;

comment on function pgclarify._hold_ingestion(bigint) is
'Towards the end of filling a space, have new documents of its corpus wait for a minute at most: while many workers store '
'documents, the end would never come.';

create or replace function pgclarify._release_passages(worker_id bigint)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    update pgclarify.pending_passage as pending
    set leased_by = null, leased_until = null
    where (pending.embedding_space_id, pending.document_id, pending.passage_id) in (
        select leased.embedding_space_id, leased.document_id, leased.passage_id
        from pgclarify.pending_passage as leased
        where leased.leased_by = _release_passages.worker_id
        for update skip locked
    );
    return (
        select count(*) from pgclarify.pending_passage as pending
        where pending.leased_by = _release_passages.worker_id
    );
end
$$;

comment on function pgclarify._release_passages(bigint) is
'Give back what a worker has leased, and return how many leases it keeps because somebody holds the rows.';
grant execute on function pgclarify._release_passages(bigint) to pgclarify_worker;
