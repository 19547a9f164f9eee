-- Spaces: a corpus with an embedding model. Workers open a space when they have loaded the model. The first space of a
-- corpus becomes active at once. Another one is filled beside it (queueing.sql, vectors.sql), and becomes active when
-- it is complete. This file has its life cycle. A row of embedding_space is in one of these states, determined by
-- `state` and some columns:
--
-- building, dimensions null: no worker has loaded its model yet; `error` says why not. Next: open_space.
-- building, queued_document_id null: opened, with partitions. New passages are queued for it, existing ones are not.
-- Next: advance_space starts to fill it, which needs a moment in which no other transaction locks the corpus.
-- building, queued_document_id not null, queued_at null: being filled. Passages up to the cursor (queued_document_id,
-- queued_passage_id), which starts at ('', 0), were queued in pending_passage; claim_passages continues there.
-- building, queued_at not null: all were queued. While pending_passage has rows of it, it is still being filled; after
-- that, it is complete. Next: switch_space, which needs such a moment, too.
-- active: searched. The first space of a corpus comes here from the first state.
-- retired, with retired_at: replaced, or given up while it was being built. Next, after a minute: drop_space.
--
-- Until paused_until of a building space, no other work starts on its corpus (is_paused): towards the end of filling
-- (pause_for_end), and while it waits for its moment.

create or replace function pgclarify_private.building_spaces()
returns table (embedding_space_id bigint, model text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select embedding_space.embedding_space_id, embedding_space.model
    from pgclarify_private.embedding_space
    inner join pgclarify_private.living_corpus as corpus on embedding_space.corpus_id = corpus.corpus_id
    where embedding_space.state = 'building' and embedding_space.dimensions is null
    order by embedding_space.embedding_space_id;
end;

comment on function pgclarify_private.building_spaces() is 'Spaces that wait for a worker to load their model.';
grant execute on function pgclarify_private.building_spaces() to pgclarify_worker;

create or replace function pgclarify_private.open_space(embedding_space_id bigint, dimensions integer)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus pgclarify_private.corpus;
    v_propagation text;
begin
    -- First the corpus, as everywhere. If it was dropped, or its model is being changed, it is skipped without
    -- waiting.
    select corpus.* into v_corpus
    from pgclarify_private.living_corpus as corpus
    where corpus.corpus_id = (
        select space.corpus_id from pgclarify_private.embedding_space as space
        where space.embedding_space_id = open_space.embedding_space_id
    )
    for no key update skip locked;
    if not found then
        return false;
    end if;
    update pgclarify_private.embedding_space as space
    set
        dimensions = open_space.dimensions,
        state = case when v_corpus.embedding_space_id is null then 'active' else 'building' end,
        error = null
    where space.embedding_space_id = open_space.embedding_space_id
        and space.state = 'building'
        and space.dimensions is null;
    if not found then
        return false;
    end if;
    v_propagation := pgclarify_private.set_ddl_propagation('on');
    perform pgclarify_private.add_partition(
        'pgclarify_private.passage_embedding', 'embedding_space_id', open_space.embedding_space_id,
        case
            when pgclarify_private.is_distributed(v_corpus.corpus_id)
                then pgclarify_private.partition_name('passage', v_corpus.corpus_id)::regclass
        end
    );
    perform pgclarify_private.add_partition(
        'pgclarify_private.neighborhood', 'embedding_space_id', open_space.embedding_space_id
    );
    -- Before there are rows, because creating it later would block writers for a long time.
    execute format(
        'create index %I on %s using hnsw ((vector::@extschema:vector@.halfvec(%s)) @extschema:vector@.halfvec_cosine_ops)'
        -- With the default of 64, searches of a million passages find .92 of the nearest instead of .98.
        ' with (ef_construction = 128)',
        format('passage_embedding_%s_vector_idx', open_space.embedding_space_id),
        pgclarify_private.partition_name('passage_embedding', open_space.embedding_space_id),
        open_space.dimensions
    );
    -- The index is over an expression.
    perform pgclarify_private.leave_out_statistics(
        pgclarify_private.partition_name('passage_embedding', open_space.embedding_space_id)::regclass,
        'pgclarify_private.passage_embedding'
    );
    perform pgclarify_private.set_ddl_propagation(v_propagation);
    if v_corpus.embedding_space_id is null then
        update pgclarify_private.corpus
        set embedding_space_id = open_space.embedding_space_id
        where corpus.corpus_id = v_corpus.corpus_id;
    end if;
    return true;
end
$$;

comment on function pgclarify_private.open_space(bigint, integer) is
'Create the partitions and the index of a space whose model was loaded, and search with it if it is the first of its corpus; '
'false if another worker did, or if another transaction locks the corpus.';
grant execute on function pgclarify_private.open_space(bigint, integer) to pgclarify_worker;

create or replace function pgclarify_private.note_space_error(embedding_space_id bigint, error text)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    update pgclarify_private.embedding_space
    set error = note_space_error.error
    where embedding_space.embedding_space_id in (
        select space.embedding_space_id
        from pgclarify_private.embedding_space as space
        where
            space.embedding_space_id = note_space_error.embedding_space_id
            and space.state <> 'retired'
            and space.error is distinct from note_space_error.error
        for no key update skip locked
    );
end;

comment on function pgclarify_private.note_space_error(bigint, text) is
'Store why a worker cannot open or fill a space, or why documents have to wait for the model of the active one: view corpus '
'shows that while any is pending. Opening the space clears it, and so does what is stored next. Null: nothing is wrong any '
'more.';
grant execute on function pgclarify_private.note_space_error(bigint, text) to pgclarify_worker;

create or replace function pgclarify_private.spaces_to_check()
returns table (embedding_space_id bigint, model text, dimensions integer)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return query
    select space.embedding_space_id, space.model, space.dimensions
    from pgclarify_private.embedding_space as space
    inner join pgclarify_private.living_corpus as corpus on space.corpus_id = corpus.corpus_id
    where
        space.state <> 'retired'
        and space.dimensions is not null
        and (
            not starts_with(space.model, 'endpoint:')
            or pgclarify_private.embedding_refusal(corpus.owner, corpus.corpus_id, space.model) is null
        )
    order by space.model, space.embedding_space_id desc
    limit 1000;
end
$$;

comment on function pgclarify_private.spaces_to_check() is
'Spaces whose models a worker compares with the stored vectors when it starts, as budgets allow: at most 1000.';
grant execute on function pgclarify_private.spaces_to_check() to pgclarify_worker;

create or replace function pgclarify_private.stored_vectors(embedding_space_id bigint, most integer)
returns table (title text, heading text, content text, vector real[])
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus_id constant bigint := (
        select space.corpus_id
        from pgclarify_private.embedding_space as space
        inner join pgclarify_private.living_corpus as corpus on space.corpus_id = corpus.corpus_id
        where
            space.embedding_space_id = stored_vectors.embedding_space_id
            and space.state <> 'retired'
            and space.dimensions is not null
    );
begin
    if v_corpus_id is null then
        return;
    end if;
    return query execute format(
        $sql$
        select document.title, stored.heading, stored.content, stored.vector
        -- Only a few rows are read.
        from (
            select
                passage.document_id, passage.heading, passage.content,
                (kept.vector::@extschema:vector@.vector)::real[] as vector
            from %s as kept
            inner join %s as passage
                on passage.corpus_id = $1 and passage.document_id = kept.document_id and passage.id = kept.passage_id
            where kept.embedding_space_id = $2
            limit 10 * $3
        ) as stored
        inner join pgclarify_private.document on document.corpus_id = $1 and document.id = stored.document_id
        -- The title of a document that waits may have changed.
        where not exists (
            select from pgclarify_private.pending_document as pending
            where pending.corpus_id = $1 and pending.document_id = stored.document_id
        )
        limit $3
        $sql$,
        pgclarify_private.partition_name('passage_embedding', stored_vectors.embedding_space_id),
        pgclarify_private.partition_name('passage', v_corpus_id)
    )
    using v_corpus_id, stored_vectors.embedding_space_id, stored_vectors.most;
end
$$;

comment on function pgclarify_private.stored_vectors(bigint, integer) is
'A few passages of a space, with their vectors.';
grant execute on function pgclarify_private.stored_vectors(bigint, integer) to pgclarify_worker;

create or replace function pgclarify_private.note_model_change(embedding_space_id bigint, error text)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    update pgclarify_private.embedding_space
    set
        changed_at = case when note_model_change.error is not null then clock_timestamp() end,
        error = note_model_change.error
    where embedding_space.embedding_space_id in (
        select space.embedding_space_id
        from pgclarify_private.embedding_space as space
        where
            space.embedding_space_id = note_model_change.embedding_space_id
            and space.state <> 'retired'
            and (space.changed_at is null) = (note_model_change.error is not null)
        for no key update
    );
end;

comment on function pgclarify_private.note_model_change(bigint, text) is
'Note whether the model of a space gives other vectors than those that are stored: error says so; null if it does not.';
grant execute on function pgclarify_private.note_model_change(bigint, text) to pgclarify_worker;

create or replace function pgclarify_private.is_paused(corpus_id bigint)
returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select exists(
        select
        from pgclarify_private.embedding_space as space
        where space.corpus_id = is_paused.corpus_id
            and space.state = 'building'
            and space.paused_until > now()
    );
end;

comment on function pgclarify_private.is_paused(bigint) is
'Whether workers must not start new work on a corpus, other than filling its next space, for a minute at most: beginning to '
'fill it, or switching to it, needs a moment in which no transaction locks the corpus. Every function that claims work on a '
'corpus checks this.';

create or replace function pgclarify_private.due_spaces()
returns table (embedding_space_id bigint)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select space.embedding_space_id
    from pgclarify_private.embedding_space as space
    inner join pgclarify_private.living_corpus as corpus on space.corpus_id = corpus.corpus_id
    where space.state = 'building'
        and space.dimensions is not null
        and (
            space.queued_document_id is null
            or space.queued_at is not null
            and not exists (
                select from pgclarify_private.pending_passage as pending
                where pending.embedding_space_id = space.embedding_space_id
            )
        )
    union all
    select space.embedding_space_id
    from pgclarify_private.embedding_space as space
    inner join pgclarify_private.living_corpus as corpus on space.corpus_id = corpus.corpus_id
    -- A transaction that read the active space just before the switch still searches the old one. A minute is longer
    -- than that takes.
    where space.state = 'retired'
        and space.retired_at < now() - interval '1 minute'
        and not pgclarify_private.is_paused(space.corpus_id);
end;

comment on function pgclarify_private.due_spaces() is
'Spaces that can take their next step: those to be filled, those that are complete, and those that no search reads any more.';
grant execute on function pgclarify_private.due_spaces() to pgclarify_worker;

create or replace function pgclarify_private.switch_space(embedding_space_id bigint, corpus_id bigint)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if exists (
            select from pgclarify_private.pending_passage as pending
            where pending.embedding_space_id = switch_space.embedding_space_id
        )
        or not exists (
            select from pgclarify_private.embedding_space as space
            where space.embedding_space_id = switch_space.embedding_space_id
                and space.state = 'building'
                and space.queued_at is not null
        )
    then
        return false;
    end if;
    update pgclarify_private.embedding_space as space
    set state = 'retired', retired_at = clock_timestamp()
    where space.corpus_id = switch_space.corpus_id and space.state = 'active';
    update pgclarify_private.embedding_space as space
    set state = 'active', error = null, paused_until = null
    where space.embedding_space_id = switch_space.embedding_space_id;
    update pgclarify_private.corpus
    set embedding_space_id = switch_space.embedding_space_id
    where corpus.corpus_id = switch_space.corpus_id;
    -- Workers can no longer store what they are embedding with the old model. These documents are claimed again.
    update pgclarify_private.pending_document as pending
    set leased_by = null, leased_until = null
    where pending.corpus_id = switch_space.corpus_id and pending.leased_by is not null;
    -- A document with an error has passages of an earlier content. Its content is indexed only after it is added again. This
    -- takes about 0.6 s for 50,000 documents, most of it for the queue's indexes and its foreign key.
    insert into pgclarify_private.pending_document (corpus_id, document_id, passages)
    select document.corpus_id, document.id, pgclarify_private.expected_passages(document.content)
    from pgclarify_private.pending_cut as cut
    inner join pgclarify_private.document on document.corpus_id = switch_space.corpus_id and document.id = cut.document_id
    where cut.embedding_space_id = switch_space.embedding_space_id and document.error is null
    on conflict on constraint pending_document_pk do nothing;
    delete from pgclarify_private.pending_cut as cut where cut.embedding_space_id = switch_space.embedding_space_id;
    -- As before, every passage has a vector; none has neighbors; and answers may differ.
    insert into pgclarify_private.corpus_tally (corpus_id, linked, revision)
    select counted.corpus_id, -counted.linked, 1
    from pgclarify_private.corpus_count as counted
    where counted.corpus_id = switch_space.corpus_id;
    perform pgclarify_private.queue_all_links(switch_space.embedding_space_id);
    return true;
end
$$;

comment on function pgclarify_private.switch_space(bigint, bigint) is
'Make a complete space the active one, and have documents indexed again whose passages are too long for its model; false if '
'it is not complete. Called with the corpus locked for update: then no transaction is storing or removing passages, or '
'building the graph.';

create or replace function pgclarify_private.drop_space(embedding_space_id bigint)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_table text;
    v_deleted bigint;
    v_left bigint := 0;
begin
    -- Transactions that remove passages from it lock it.
    perform from pgclarify_private.embedding_space as space
    where space.embedding_space_id = drop_space.embedding_space_id and space.state = 'retired'
    for update skip locked;
    if not found then
        return false;
    end if;
    -- In parts, because there may be many rows.
    foreach v_table in array array['pending_passage', 'pending_cut', 'pending_link', 'pending_unlink'] loop
        execute format(
            'delete from pgclarify_private.%1$I where ctid = any(array('
            'select ctid from pgclarify_private.%1$I where embedding_space_id = $1 limit 10000))',
            v_table
        ) using drop_space.embedding_space_id;
        get diagnostics v_deleted = row_count;
        v_left := v_left + v_deleted;
    end loop;
    if v_left = 0 then
        delete from pgclarify_private.embedding_space as space
        where space.embedding_space_id = drop_space.embedding_space_id;
    end if;
    return true;
end
$$;

comment on function pgclarify_private.drop_space(bigint) is
'Drop a space that was replaced or given up; workers drop its partitions (drop_orphan_partition). If many rows wait in it, '
'several calls are needed. False if another transaction locks it. Called with the corpus locked.';

create or replace function pgclarify_private.advance_space(embedding_space_id bigint)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_space pgclarify_private.embedding_space;
begin
    select space.* into v_space
    from pgclarify_private.embedding_space as space
    where space.embedding_space_id = advance_space.embedding_space_id;
    if v_space.state = 'retired' then
        perform from pgclarify_private.living_corpus as corpus where corpus.corpus_id = v_space.corpus_id for key share skip locked;
        if not found then
            return false;
        end if;
        return pgclarify_private.drop_space(v_space.embedding_space_id);
    end if;
    -- A transaction that stores passages locks the corpus. When there is none, all existing passages are visible, and later
    -- transactions see the space and queue their passages. So none is missed.
    perform from pgclarify_private.living_corpus as corpus where corpus.corpus_id = v_space.corpus_id for update skip locked;
    if not found then
        -- With many workers, there is never a moment in which none locks it, so they start no new work for some seconds: longer
        -- than a worker needs to store its current claims. Then there is no new pause for a while, because a long transaction of
        -- a user, which no pause ends, would stop the workers.
        update pgclarify_private.embedding_space as space
        set paused_until = now() + interval '10 seconds'
        where space.embedding_space_id in (
            select due.embedding_space_id
            from pgclarify_private.embedding_space as due
            where due.embedding_space_id = v_space.embedding_space_id
                and due.state = 'building'
                and coalesce(due.paused_until < now() - interval '1 minute', true)
                and due.embedding_space_id in (select listed.embedding_space_id from pgclarify_private.due_spaces() as listed)
            for no key update skip locked
        );
        return false;
    end if;
    if v_space.queued_document_id is not null then
        return pgclarify_private.switch_space(v_space.embedding_space_id, v_space.corpus_id);
    end if;
    update pgclarify_private.embedding_space as space
    set queued_document_id = '', queued_passage_id = 0, paused_until = null
    where space.embedding_space_id = v_space.embedding_space_id
        and space.state = 'building'
        and space.dimensions is not null
        and space.queued_document_id is null;
    return found;
end
$$;

comment on function pgclarify_private.advance_space(bigint) is
'Take the next step of a space of due_spaces; false if there is none, or it must wait.';
grant execute on function pgclarify_private.advance_space(bigint) to pgclarify_worker;
