-- Filling a space beside the active one: workers lease passages, and store their vectors, or an error.

create or replace function pgclarify_private.claim_passages(
    worker_id bigint, max_passages integer, lease interval, skipped_models text[], after_space_id bigint
)
returns table (
    embedding_space_id bigint,
    document_id text,
    passage_id bigint,
    title text,
    heading text,
    content text,
    embedding_model text,
    dimensions integer
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_space pgclarify_private.embedding_space;
    v_living bigint[];
    v_delayed_space_ids bigint[];
    v_document_ids text[];
    v_passage_ids bigint[];
begin
    if not exists (
        select from pgclarify_private.embedding_space as space
        where space.state = 'building' and space.queued_document_id is not null
    ) then
        return;
    end if;
    v_delayed_space_ids := pgclarify_private.delay_unpaid_spaces();
    v_living := array(select living.worker_id from pgclarify_private.living_workers() as living);
    for v_space in
        select space.*
        from pgclarify_private.embedding_space as space
        where space.state = 'building'
            and space.queued_document_id is not null
            and space.model <> all(claim_passages.skipped_models)
            and space.embedding_space_id <> all(v_delayed_space_ids)
            and space.changed_at is null
            -- Spaces that are stuck must not block the others.
            and pgclarify_private.has_work(space, v_living)
        -- In turns, so that a large corpus does not block the others.
        order by space.embedding_space_id <= claim_passages.after_space_id, space.embedding_space_id
        limit 100
    loop
        perform from pgclarify_private.living_corpus as corpus where corpus.corpus_id = v_space.corpus_id for key share skip locked;
        -- It was dropped, or is switched to.
        continue when not found;
        -- A few rounds, so that the call is short if most passages have a vector; the next call continues.
        for v_round in 1..10 loop
            with locked as (
                select pending.document_id, pending.passage_id
                from pgclarify_private.pending_passage as pending
                where pending.embedding_space_id = v_space.embedding_space_id
                    and pending.attempts < 3
                    and (pending.retry_at is null or pending.retry_at < now())
                    and (pending.leased_until is null or pending.leased_until < now() or pending.leased_by <> all(v_living))
                order by pending.document_id, pending.passage_id
                limit claim_passages.max_passages
                for update skip locked
            ),
            leased as (
                update pgclarify_private.pending_passage as pending
                set leased_by = claim_passages.worker_id, leased_until = now() + claim_passages.lease
                from locked
                where pending.embedding_space_id = v_space.embedding_space_id
                    and pending.document_id = locked.document_id
                    and pending.passage_id = locked.passage_id
                returning pending.document_id, pending.passage_id
            )
            select array_agg(leased.document_id), array_agg(leased.passage_id) into v_document_ids, v_passage_ids
            from leased;
            if v_passage_ids is null then
                exit when not pgclarify_private.queue_more(v_space.embedding_space_id, v_space.corpus_id);
                continue;
            end if;
            -- Those that were removed while they were being queued.
            execute format(
                $sql$
                delete from pgclarify_private.pending_passage as pending
                using unnest($3, $4) as leased (document_id, passage_id)
                where pending.embedding_space_id = $1
                    and pending.document_id = leased.document_id
                    and pending.passage_id = leased.passage_id
                    and not exists (
                        select from %s as passage
                        where passage.corpus_id = $2
                            and passage.document_id = leased.document_id
                            and passage.id = leased.passage_id
                    )
                $sql$,
                pgclarify_private.partition_name('passage', v_space.corpus_id)
            ) using v_space.embedding_space_id, v_space.corpus_id, v_document_ids, v_passage_ids;
            return query execute format(
                $sql$
                select
                    $1, passage.document_id, passage.id, document.title, passage.heading, passage.content, $2, $3
                from unnest($4, $5) as leased (document_id, passage_id)
                inner join %s as passage
                    on passage.corpus_id = $6
                    and passage.document_id = leased.document_id
                    and passage.id = leased.passage_id
                inner join pgclarify_private.document on document.corpus_id = $6 and document.id = leased.document_id
                order by passage.document_id, passage.id
                $sql$,
                pgclarify_private.partition_name('passage', v_space.corpus_id)
            ) using
                v_space.embedding_space_id, v_space.model, v_space.dimensions, v_document_ids, v_passage_ids,
                v_space.corpus_id;
            if found then
                perform pgclarify_private.pause_for_end(v_space.embedding_space_id);
                return;
            end if;
        end loop;
    end loop;
end
$$;

comment on function pgclarify_private.claim_passages(bigint, integer, interval, text[], bigint) is
'Lease up to max_passages pending passages of one space that is being built, and queue more if there are none. Leases of dead '
'workers, and expired leases, are taken over. skipped_models: embedding models that the worker does not have. after_space_id: '
'the space of the last call, 0 at first. Spaces are skipped if no budget allows their embeddings now.';
grant execute on function pgclarify_private.claim_passages(bigint, integer, interval, text[], bigint) to pgclarify_worker;

create or replace function pgclarify_private.pause_for_end(embedding_space_id bigint)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    update pgclarify_private.embedding_space as space
    -- A minute is longer than the last 500 take (about the claims of two workers), even on a slow machine. If it was
    -- not enough, there is another cause: then there is no such pause again for ten minutes.
    set paused_until = now() + interval '1 minute'
    where space.embedding_space_id in (
        select nearly.embedding_space_id
        from pgclarify_private.embedding_space as nearly
        where nearly.embedding_space_id = pause_for_end.embedding_space_id
            and nearly.queued_at is not null
            and nearly.error is null
            and coalesce(nearly.paused_until < now() - interval '10 minutes', true)
            and (
                select count(*) <= 500
                from (
                    select from pgclarify_private.pending_passage as pending
                    where pending.embedding_space_id = pause_for_end.embedding_space_id
                    limit 501
                ) as left_over
            )
        for no key update skip locked
    );
end;

comment on function pgclarify_private.pause_for_end(bigint) is
'Towards the end of filling a space, let other work on its corpus wait for at most a minute. Otherwise, while many workers '
'store documents, the end would never be reached.';

create or replace function pgclarify_private.release_passages(worker_id bigint)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    update pgclarify_private.pending_passage as pending
    set leased_by = null, leased_until = null
    where (pending.embedding_space_id, pending.document_id, pending.passage_id) in (
        select leased.embedding_space_id, leased.document_id, leased.passage_id
        from pgclarify_private.pending_passage as leased
        where leased.leased_by = release_passages.worker_id
        for update skip locked
    );
    return (
        select count(*) from pgclarify_private.pending_passage as pending
        where pending.leased_by = release_passages.worker_id
    );
end
$$;

comment on function pgclarify_private.release_passages(bigint) is
'Release the leases of a worker, and return how many it keeps because the rows are locked.';
grant execute on function pgclarify_private.release_passages(bigint) to pgclarify_worker;

create or replace function pgclarify_private.store_vectors(
    worker_id bigint,
    embedding_space_id bigint,
    document_ids text[],
    passage_ids bigint[],
    are_cut_off boolean[],
    vectors @extschema:vector@.halfvec[]
)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_space pgclarify_private.embedding_space;
    v_stored integer;
begin
    select space.* into v_space
    from pgclarify_private.embedding_space as space
    where space.embedding_space_id = store_vectors.embedding_space_id and space.state = 'building';
    if not found then
        return 0;
    end if;
    perform from pgclarify_private.living_corpus as corpus where corpus.corpus_id = v_space.corpus_id for key share skip locked;
    if not found then
        return 0;
    end if;
    -- So that its partition is not dropped.
    perform from pgclarify_private.embedding_space as space
    where space.embedding_space_id = v_space.embedding_space_id and space.state = 'building'
    for key share skip locked;
    if not found then
        return 0;
    end if;
    execute format(
        $sql$
        with locked as (
            select given.*
            from unnest($3, $4, $5, $6) as given (document_id, passage_id, is_cut_off, vector)
            inner join pgclarify_private.pending_passage as pending
                on pending.embedding_space_id = $1
                and pending.document_id = given.document_id
                and pending.passage_id = given.passage_id
                and pending.leased_by = $2
            -- A transaction that is changing or removing the passage locks its document, and has priority. It is not
            -- waited for.
            inner join pgclarify_private.document on document.corpus_id = $7 and document.id = given.document_id
            inner join %1$s as passage
                on passage.corpus_id = $7
                and passage.document_id = given.document_id
                and passage.id = given.passage_id
            order by given.document_id, given.passage_id
            for update of pending skip locked
            for share of document skip locked
            for share of passage skip locked
        ),
        embedded as (
            insert into %2$s (embedding_space_id, document_id, passage_id, vector)
            select $1, locked.document_id, locked.passage_id, locked.vector from locked
            on conflict (embedding_space_id, document_id, passage_id) do update set vector = excluded.vector
        ),
        cut_off as (
            insert into pgclarify_private.pending_cut (embedding_space_id, document_id)
            select distinct $1, locked.document_id from locked where locked.is_cut_off order by locked.document_id
            on conflict on constraint pending_cut_pk do nothing
        ),
        done as (
            delete from pgclarify_private.pending_passage as pending
            using locked
            where pending.embedding_space_id = $1
                and pending.document_id = locked.document_id
                and pending.passage_id = locked.passage_id
            returning 1
        )
        select count(*) from done
        $sql$,
        pgclarify_private.partition_name('passage', v_space.corpus_id),
        pgclarify_private.partition_name('passage_embedding', v_space.embedding_space_id)
    ) into v_stored
    using
        v_space.embedding_space_id, store_vectors.worker_id, store_vectors.document_ids, store_vectors.passage_ids,
        store_vectors.are_cut_off, store_vectors.vectors, v_space.corpus_id;
    if v_stored > 0 and v_space.error is not null then
        -- The worker's problem has ended, except for passages that no worker can embed.
        perform pgclarify_private.note_space_error(v_space.embedding_space_id, null)
        where not exists (
            select from pgclarify_private.pending_passage as pending
            where pending.embedding_space_id = v_space.embedding_space_id and pending.attempts >= 3
        );
    end if;
    -- What was not stored is free for the next worker. This worker may still be embedding other passages.
    if v_stored < cardinality(store_vectors.passage_ids) then
        update pgclarify_private.pending_passage as pending
        set leased_by = null, leased_until = null
        where pending.embedding_space_id = v_space.embedding_space_id
            and (pending.document_id, pending.passage_id) in (
                select leased.document_id, leased.passage_id
                from unnest(store_vectors.document_ids, store_vectors.passage_ids) as given (document_id, passage_id)
                inner join pgclarify_private.pending_passage as leased
                    on leased.embedding_space_id = v_space.embedding_space_id
                    and leased.document_id = given.document_id
                    and leased.passage_id = given.passage_id
                    and leased.leased_by = store_vectors.worker_id
                for update of leased skip locked
            );
    end if;
    return v_stored;
end
$$;

comment on function pgclarify_private.store_vectors(
    bigint, bigint, text[], bigint[], boolean[], @extschema:vector@.halfvec[]
) is
'Write vectors of leased passages into a space that is being built, and return how many were stored: all except those that '
'vanished, that another transaction is removing, or that another worker has taken over. are_cut_off: whether the passage is '
'too long for the model.';
grant execute on function pgclarify_private.store_vectors(
    bigint, bigint, text[], bigint[], boolean[], @extschema:vector@.halfvec[]
) to pgclarify_worker;

create or replace function pgclarify_private.fail_passage(
    worker_id bigint, embedding_space_id bigint, document_id text, passage_id bigint, error text, pause interval
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus_id bigint;
    v_attempts integer;
begin
    select corpus.corpus_id into v_corpus_id
    from pgclarify_private.living_corpus as corpus
    where corpus.corpus_id = (
        select space.corpus_id from pgclarify_private.embedding_space as space
        where space.embedding_space_id = fail_passage.embedding_space_id
    )
    for key share skip locked;
    if not found then
        return;
    end if;
    -- If a transaction locks the space or the passage, the passage stays leased, and is tried again later.
    perform from pgclarify_private.embedding_space as space
    where space.embedding_space_id = fail_passage.embedding_space_id
    for no key update skip locked;
    if not found then
        return;
    end if;
    -- A transaction that removes the passage locks its document. After its end, the next claim finds no passage; a passage that
    -- has failed too often is not claimed again.
    perform from pgclarify_private.pending_passage as pending
    inner join pgclarify_private.document on document.corpus_id = v_corpus_id and document.id = pending.document_id
    where pending.embedding_space_id = fail_passage.embedding_space_id
        and pending.document_id = fail_passage.document_id
        and pending.passage_id = fail_passage.passage_id
        and pending.leased_by = fail_passage.worker_id
    for update of pending skip locked
    for share of document skip locked;
    if not found then
        return;
    end if;
    update pgclarify_private.pending_passage as pending
    set
        attempts = pending.attempts + 1,
        retry_at = clock_timestamp() + fail_passage.pause,
        leased_by = null,
        leased_until = null
    where pending.embedding_space_id = fail_passage.embedding_space_id
        and pending.document_id = fail_passage.document_id
        and pending.passage_id = fail_passage.passage_id
    returning pending.attempts into v_attempts;
    if v_attempts >= 3 then
        -- Only the worker's log says which passage it is: some roles may see this error, but not the document.
        update pgclarify_private.embedding_space as space
        set error = 'passages cannot be embedded: ' || fail_passage.error
        where space.embedding_space_id = fail_passage.embedding_space_id and space.state = 'building';
    end if;
end
$$;

comment on function pgclarify_private.fail_passage(bigint, bigint, text, bigint, text, interval) is
'Note that a leased passage could not be embedded. After the third time it is skipped, and embedding_space.error says why '
'searches do not switch to its space. Nothing is noted if another transaction locks the passage or its space. pause: time '
'until the next attempt.';
grant execute on function pgclarify_private.fail_passage(bigint, bigint, text, bigint, text, interval) to pgclarify_worker;
