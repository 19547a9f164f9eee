-- Publishing what workers have embedded, together with the passages that are kept.

-- Workers copy passages into it.
grant insert on pgclarify_private.staged_passage to pgclarify_worker;

create or replace function pgclarify_private.reach_shards(corpus_id bigint)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    if pgclarify_private.is_distributed(reach_shards.corpus_id) then
        execute format('select 1 from %s limit 1', pgclarify_private.partition_name('passage', reach_shards.corpus_id));
    end if;
end
$$;

comment on function pgclarify_private.reach_shards(bigint) is
'Read from all shards of a distributed corpus. Storing a document needs them all, so if a node is down, this fails before the '
'embedding model is paid.';

create or replace function pgclarify_private.passage_hashes(corpus_id bigint, document_ids text[])
returns table (document_id text, content_hashes bytea[])
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform from pgclarify_private.living_corpus as corpus where corpus.corpus_id = passage_hashes.corpus_id for key share skip locked;
    -- It was dropped, and its partition may be, too.
    if found then
        perform pgclarify_private.reach_shards(passage_hashes.corpus_id);
        return query execute format(
            $sql$
            select passage.document_id, array_agg(passage.content_hash)
            from %s as passage
            where passage.corpus_id = $1 and passage.document_id = any($2)
            group by passage.document_id
            $sql$,
            pgclarify_private.partition_name('passage', passage_hashes.corpus_id)
        ) using passage_hashes.corpus_id, passage_hashes.document_ids;
    end if;
end
$$;

comment on function pgclarify_private.passage_hashes(bigint, text[]) is
'Hashes of the passages that documents have, each as often as it occurs; a new passage that has one of them needs no vector. '
'Fails if a node of a distributed corpus is down.';
grant execute on function pgclarify_private.passage_hashes(bigint, text[]) to pgclarify_worker;

create or replace function pgclarify_private.match_passages(corpus_id bigint, batch_id uuid, document_ids text[])
returns table (document_id text, ordinal integer, passage_id bigint, is_lost boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    -- Not a join: the number of staged rows is unknown, and a nested loop would take forever for a long document.
    return query execute format(
        $sql$
        with pooled as (
            select
                staged.document_id, staged.content_hash, staged.ordinal as place, staged.ordinal,
                null::bigint as passage_id, staged.vector is null as lacks_vector
            from pgclarify_private.staged_passage as staged
            where staged.batch_id = $2 and staged.document_id = any($3)
            union all
            select passage.document_id, passage.content_hash, passage.ordinal, null, passage.id, false
            from %s as passage
            where passage.corpus_id = $1 and passage.document_id = any($3)
        ),
        numbered as (
            select
                pooled.*,
                row_number() over (
                    partition by pooled.document_id, pooled.content_hash, pooled.ordinal is null
                    order by pooled.place, pooled.passage_id
                ) as twin
            from pooled
        )
        select
            numbered.document_id, max(numbered.ordinal), max(numbered.passage_id),
            bool_or(numbered.lacks_vector) and max(numbered.passage_id) is null
        from numbered
        group by numbered.document_id, numbered.content_hash, numbered.twin
        $sql$,
        pgclarify_private.partition_name('passage', match_passages.corpus_id)
    ) using match_passages.corpus_id, match_passages.batch_id, match_passages.document_ids;
end
$$;

comment on function pgclarify_private.match_passages(bigint, uuid, text[]) is
'What becomes of the passages of documents with a new batch. ordinal: the staged passage; null if there is none, and the old '
'passage is deleted. passage_id: the old passage with the same title, heading and text; null if it is new. Equal passages are '
'paired in their order. is_lost: it was staged without a vector, for a passage that no longer exists.';

create or replace function pgclarify_private.lock_staged(
    corpus pgclarify_private.corpus,
    worker_id bigint,
    batch_id uuid,
    embedding_space_id bigint,
    given_ids text[],
    content_hashes bytea[],
    out document_ids text[],
    out present_documents text[],
    out present_ids bigint[],
    out present_ordinals integer[]
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_lost text[];
begin
    -- A transaction that changed or removed a document since it was leased has priority, and is not waited for here.
    with locked as (
        select document.id
        from unnest(lock_staged.given_ids, lock_staged.content_hashes) as given (id, content_hash)
        inner join pgclarify_private.document
            on document.corpus_id = (lock_staged.corpus).corpus_id
            and document.id = given.id
            and document.content_hash = given.content_hash
        -- Vectors of one model must not be mixed with those of another.
        where (lock_staged.corpus).embedding_space_id = lock_staged.embedding_space_id
        for no key update of document skip locked
    )
    select coalesce(array_agg(locked.id), '{}') into document_ids
    from locked
    inner join pgclarify_private.pending_document as pending
        on pending.corpus_id = (lock_staged.corpus).corpus_id
        and pending.document_id = locked.id
        and pending.leased_by = lock_staged.worker_id;
    -- A passage that was staged without a vector needs an old passage with one. Otherwise the document is processed
    -- again.
    with matched as materialized (
        select of_batch.*
        from pgclarify_private.match_passages((lock_staged.corpus).corpus_id, lock_staged.batch_id, document_ids) as of_batch
    ),
    lost as (
        select distinct matched.document_id from matched where matched.is_lost
    )
    select
        (select coalesce(array_agg(lost.document_id), '{}') from lost),
        coalesce(array_agg(matched.document_id), '{}'),
        coalesce(array_agg(matched.passage_id), '{}'),
        coalesce(array_agg(matched.ordinal), '{}')
    into v_lost, present_documents, present_ids, present_ordinals
    from matched
    where matched.passage_id is not null and matched.document_id not in (select lost.document_id from lost);
    document_ids := array(select stored.id from unnest(document_ids) as stored (id) where stored.id <> all(v_lost));
end
$$;

comment on function pgclarify_private.lock_staged(pgclarify_private.corpus, bigint, uuid, bigint, text[], bytea[]) is
'Lock the documents of a batch that can be stored: document_ids. For their existing passages, one element each: document, '
'passage, and its new ordinal or null, as match_passages has it. Called with the corpus locked.';

create or replace function pgclarify_private.store_documents(
    worker_id bigint,
    batch_id uuid,
    corpus_id bigint,
    embedding_space_id bigint,
    document_ids text[],
    content_hashes bytea[]
)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus pgclarify_private.corpus;
    v_passages text := pgclarify_private.partition_name('passage', store_documents.corpus_id);
    v_locked record;
    -- For passages that get a vector.
    v_embedded_documents text[];
    v_embedded_ids bigint[];
    -- For lexemes that occur in more or fewer passages than before, in order.
    v_lexemes text[] := '{}';
    v_passages_added bigint[];
    v_restricted_added bigint[];
    -- For what has changed.
    v_readers name[];
    v_tally pgclarify_private.corpus_tally;
    v_unlinked bigint;
    v_lock_timeout constant text := current_setting('lock_timeout');
    v_is_counted boolean := false;
begin
    if cardinality(store_documents.document_ids) = 1 then
        -- It may be a whole book, and is embedded again if it is not stored. So this waits for a transaction that changes it:
        -- before the corpus is locked, because that transaction may lock the corpus next.
        perform from pgclarify_private.document
        where document.corpus_id = store_documents.corpus_id and document.id = store_documents.document_ids[1]
        for no key update;
    end if;
    -- If another transaction locks it for update, this fails, and the worker tries again: waiting here, with a document
    -- locked, could be a deadlock.
    select corpus.* into v_corpus
    from pgclarify_private.living_corpus as corpus where corpus.corpus_id = store_documents.corpus_id for key share nowait;
    if not found then
        -- It was dropped.
        delete from pgclarify_private.staged_passage as staged where staged.batch_id = store_documents.batch_id;
        return 0;
    end if;
    v_locked := pgclarify_private.lock_staged(
        v_corpus, store_documents.worker_id, store_documents.batch_id, store_documents.embedding_space_id,
        store_documents.document_ids, store_documents.content_hashes
    );
    if cardinality(v_locked.document_ids) > 0 then
        -- Kept passages belong to the current content from here on.
        perform pgclarify_private.copy_readers(store_documents.corpus_id, v_locked.document_ids, true);
        select
            pgclarify_private.forget_vectors(
                store_documents.corpus_id,
                coalesce(array_agg(present.document_id), '{}'),
                coalesce(array_agg(present.id), '{}')
            )
        into v_unlinked
        from unnest(v_locked.present_documents, v_locked.present_ids, v_locked.present_ordinals)
            as present (document_id, id, ordinal)
        where present.ordinal is null;
        execute format(
            $sql$
            with present as materialized (
                select * from unnest($6, $7, $8) as present (document_id, id, ordinal)
            ),
            staged as materialized (
                select
                    document.id as document_id, document.title, document.readers,
                    staged.ordinal, staged.heading, staged.content, staged.start_char, staged.end_char, staged.content_hash,
                    staged.vector,
                    coalesce(present.id, nextval('pgclarify_private.passage_id_seq')) as id,
                    present.id is not null as is_present
                from pgclarify_private.staged_passage as staged
                inner join pgclarify_private.document on document.corpus_id = $1 and document.id = staged.document_id
                left join present on present.document_id = staged.document_id and present.ordinal = staged.ordinal
                -- If the planner expects one document in a corpus, it reads the batch again for each one that it finds. The last
                -- condition leaves only those of the batch.
                where staged.batch_id = $2 and staged.document_id = any($3) and document.id = any($3)
            ),
            moved as (
                -- No index has any of these columns, so an update is cheap if the page has room.
                update %1$s as passage
                set ordinal = staged.ordinal, start_char = staged.start_char, end_char = staged.end_char
                from staged
                where staged.is_present
                    and passage.corpus_id = $1
                    and passage.document_id = staged.document_id
                    and passage.id = staged.id
                    and (passage.ordinal, passage.start_char, passage.end_char)
                    is distinct from (staged.ordinal, staged.start_char, staged.end_char)
            ),
            analyzed as materialized (
                select
                    lexed.*,
                    (
                        select coalesce(sum(coalesce(cardinality(occurrence.positions), 1)), 0)
                        from unnest(lexed.lexemes) as occurrence
                    ) as lexeme_count
                from (
                    select
                        staged.*,
                        pgclarify_private.to_lexemes(
                            $4, concat_ws(E'\n', staged.title, staged.heading, staged.content)
                        ) as lexemes
                    from staged
                    where not staged.is_present
                    -- Once for each passage, although it is used twice.
                    offset 0
                ) as lexed
            ),
            gone as materialized (
                select passage.lexemes, passage.lexeme_count, passage.readers
                from present
                inner join %1$s as passage
                    on passage.corpus_id = $1 and passage.document_id = present.document_id and passage.id = present.id
                where present.ordinal is null
            ),
            deleted as (
                delete from %1$s as passage
                using present
                where present.ordinal is null
                    and passage.corpus_id = $1
                    and passage.document_id = present.document_id
                    and passage.id = present.id
            ),
            added as (
                insert into %1$s (
                    corpus_id, document_id, id, ordinal, heading, content, start_char, end_char, content_hash, readers,
                    lexemes, lexeme_count
                )
                select
                    $1, document_id, id, ordinal, heading, content, start_char, end_char, content_hash, readers,
                    lexemes, lexeme_count
                from analyzed
            ),
            embedded as (
                insert into %2$s (embedding_space_id, document_id, passage_id, vector)
                select $5, document_id, id, vector from analyzed
            ),
            changed as materialized (
                select 1 as sign, analyzed.lexemes, analyzed.lexeme_count, analyzed.readers from analyzed
                union all
                select -1, gone.lexemes, gone.lexeme_count, gone.readers from gone
            ),
            counted as (
                select
                    occurrence.lexeme, sum(changed.sign) as passages,
                    coalesce(sum(changed.sign) filter (where changed.readers is not null), 0) as restricted_passages
                from changed
                cross join unnest(tsvector_to_array(changed.lexemes)) as occurrence (lexeme)
                group by occurrence.lexeme
                having
                    sum(changed.sign) <> 0 or sum(changed.sign) filter (where changed.readers is not null) <> 0
            )
            select
                coalesce(sum(changed.sign), 0), coalesce(sum(changed.sign) filter (where changed.readers is not null), 0),
                coalesce(sum(changed.sign * changed.lexeme_count), 0),
                coalesce(sum(changed.sign * changed.lexeme_count) filter (where changed.readers is not null), 0),
                (count(*) > count(changed.readers))::integer,
                array(select distinct unnest(changed.readers) from changed),
                (select coalesce(array_agg(document_id), '{}') from analyzed),
                (select coalesce(array_agg(id), '{}') from analyzed),
                (select coalesce(array_agg(lexeme order by lexeme), '{}') from counted),
                (select coalesce(array_agg(passages order by lexeme), '{}') from counted),
                (select coalesce(array_agg(restricted_passages order by lexeme), '{}') from counted)
            from changed
            $sql$,
            v_passages, pgclarify_private.partition_name('passage_embedding', v_corpus.embedding_space_id)
        ) into
            v_tally.passages, v_tally.restricted_passages, v_tally.lexemes, v_tally.restricted_lexemes, v_tally.revision,
            v_readers, v_embedded_documents, v_embedded_ids, v_lexemes, v_passages_added, v_restricted_added
        using
            store_documents.corpus_id, store_documents.batch_id, v_locked.document_ids, v_corpus.search_config::regconfig,
            v_corpus.embedding_space_id, v_locked.present_documents, v_locked.present_ids, v_locked.present_ordinals;
        if not pgclarify_private.is_distributed(store_documents.corpus_id) then
            insert into pgclarify_private.pending_link (embedding_space_id, document_id, passage_id)
            select v_corpus.embedding_space_id, stored.document_id, stored.passage_id
            from unnest(v_embedded_documents, v_embedded_ids) as stored (document_id, passage_id)
            order by stored.document_id, stored.passage_id
            on conflict on constraint pending_link_pk do nothing;
        end if;
        -- For the space that is being built beside the active one, if there is one.
        insert into pgclarify_private.pending_passage (embedding_space_id, document_id, passage_id)
        select space.embedding_space_id, stored.document_id, stored.passage_id
        from pgclarify_private.embedding_space as space
        cross join unnest(v_embedded_documents, v_embedded_ids) as stored (document_id, passage_id)
        where space.corpus_id = store_documents.corpus_id and space.state = 'building' and space.dimensions is not null
        order by space.embedding_space_id, stored.document_id, stored.passage_id
        on conflict on constraint pending_passage_pk do nothing;
        update pgclarify_private.document
        set indexed_at = now()
        where document.corpus_id = store_documents.corpus_id and document.id = any(v_locked.document_ids);
        delete from pgclarify_private.pending_document as pending
        where pending.corpus_id = store_documents.corpus_id and pending.document_id = any(v_locked.document_ids);
        insert into pgclarify_private.corpus_tally (
            corpus_id, passages, restricted_passages, linked, lexemes, restricted_lexemes, revision
        )
        values (
            store_documents.corpus_id, v_tally.passages, v_tally.restricted_passages, -v_unlinked, v_tally.lexemes,
            v_tally.restricted_lexemes, v_tally.revision
        );
        perform pgclarify_private.count_reader_changes(store_documents.corpus_id, v_readers, 1, 0);
        -- The embedding model works again, if it did not.
        perform pgclarify_private.note_space_error(store_documents.embedding_space_id, null);
    end if;
    -- What was not stored is free for the next worker.
    perform pgclarify_private.release_documents(
        store_documents.worker_id, null, store_documents.corpus_id, store_documents.document_ids,
        store_documents.content_hashes
    );
    delete from pgclarify_private.staged_passage as staged where staged.batch_id = store_documents.batch_id;
    -- Last, because other transactions wait for the rows of common words.
    if cardinality(v_lexemes) <= 10000 then
        begin
            perform set_config('lock_timeout', '300ms', true);
            perform pgclarify_private.count_terms(
                store_documents.corpus_id, v_lexemes, v_passages_added, v_restricted_added
            );
            perform set_config('lock_timeout', v_lock_timeout, true);
            v_is_counted := true;
        exception
            when lock_not_available then
                -- A transaction that has erased a document locks the rows of its words, and may stay open for long.
                null;
        end;
    end if;
    if not v_is_counted then
        -- Also if they are more than apply_term_changes takes at a time: for a long document it would block others for long.
        insert into pgclarify_private.term_change (corpus_id, lexeme, passages, restricted_passages)
        select store_documents.corpus_id, changed.lexeme, changed.passages, changed.restricted_passages
        from unnest(v_lexemes, v_passages_added, v_restricted_added) as changed (lexeme, passages, restricted_passages);
    end if;
    return cardinality(v_locked.document_ids);
end
$$;

comment on function pgclarify_private.store_documents(bigint, uuid, bigint, bigint, text[], bytea[]) is
'Publish a staged batch, and return how many documents were stored. Passages that only moved keep their id, vector and edges; '
'those with a new title or heading are new. All get the readers of their document. A document is skipped if it changed '
'or vanished since it was leased, if another transaction locks it, or if its staged passages lack vectors that no longer '
'exist; a single document is waited for. All are skipped if another space is active by now. Error 55P03 if another transaction '
'locks the corpus for update.';
grant execute on function pgclarify_private.store_documents(bigint, uuid, bigint, bigint, text[], bytea[]) to pgclarify_worker;
