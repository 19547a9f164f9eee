-- Passages: they are deleted with their documents, and other rows with them; their readers are those of their documents.

create or replace function pgclarify_private.forget_vectors(corpus_id bigint, document_ids text[], passage_ids bigint[])
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_space_id bigint;
    v_is_active boolean;
    v_table text;
    v_deleted bigint;
    v_unlinked bigint := 0;
begin
    if cardinality(forget_vectors.passage_ids) = 0 then
        return 0;
    end if;
    for v_space_id, v_is_active in
        select space.embedding_space_id, space.embedding_space_id is not distinct from corpus.embedding_space_id
        from pgclarify_private.embedding_space as space
        inner join pgclarify_private.living_corpus as corpus on corpus.corpus_id = space.corpus_id
        where space.corpus_id = forget_vectors.corpus_id and space.dimensions is not null
        order by space.embedding_space_id
        -- So that its partitions are not dropped.
        for key share of space
    loop
        -- First the queue, then the vectors: a worker that is about to write a vector has locked the queue's row.
        delete from pgclarify_private.pending_passage as pending
        using unnest(forget_vectors.document_ids, forget_vectors.passage_ids) as gone (document_id, passage_id)
        where pending.embedding_space_id = v_space_id
            and pending.document_id = gone.document_id
            and pending.passage_id = gone.passage_id;
        delete from pgclarify_private.pending_link as pending
        using unnest(forget_vectors.document_ids, forget_vectors.passage_ids) as gone (document_id, passage_id)
        where pending.embedding_space_id = v_space_id
            and pending.document_id = gone.document_id
            and pending.passage_id = gone.passage_id;
        -- First the vectors: a worker locks the vector of each list that it writes, so no list is written after that.
        foreach v_table in array '{passage_embedding, neighborhood}'::text[] loop
            -- Partitions by name: a prepared statement on the parent would lock the partitions of every corpus.
            execute format(
                $sql$
                delete from %s as kept
                using unnest($2, $3) as gone (document_id, passage_id)
                where kept.embedding_space_id = $1
                    and kept.document_id = gone.document_id
                    and kept.passage_id = gone.passage_id
                $sql$,
                pgclarify_private.partition_name(v_table, v_space_id)
            ) using v_space_id, forget_vectors.document_ids, forget_vectors.passage_ids;
            get diagnostics v_deleted = row_count;
        end loop;
        if v_is_active then
            v_unlinked := v_unlinked + v_deleted;
        end if;
        if not pgclarify_private.is_distributed(forget_vectors.corpus_id) then
            -- Neighborhoods may still contain them. May wait for a worker that is marking one of them as done, at the end of a
            -- short transaction.
            insert into pgclarify_private.pending_unlink (embedding_space_id, passage_id)
            select v_space_id, gone.passage_id
            from unnest(forget_vectors.passage_ids) as gone (passage_id)
            order by gone.passage_id
            on conflict on constraint pending_unlink_pk do nothing;
        end if;
    end loop;
    return v_unlinked;
end
$$;

comment on function pgclarify_private.forget_vectors(bigint, text[], bigint[]) is
'Delete the vectors and neighborhoods of passages, and their rows in queues, in every space of their corpus; returns how many '
'neighborhoods the active space had. Called with the documents locked. document_ids: one for each of passage_ids.';

create or replace function pgclarify_private.delete_passages(corpus_id bigint, document_ids text[])
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_tally pgclarify_private.corpus_tally;
    v_document_ids text[];
    v_passage_ids bigint[];
    v_readers name[];
begin
    execute format(
        $sql$
        with deleted as (
            delete from %s where corpus_id = $1 and document_id = any($2)
            returning document_id, id, lexemes, lexeme_count, readers
        ),
        lost_term as (
            insert into pgclarify_private.term_change (corpus_id, lexeme, passages, restricted_passages)
            select $1, lexeme, -count(*), -count(deleted.readers)
            from deleted, unnest(tsvector_to_array(deleted.lexemes)) as lexeme
            group by lexeme
        )
        select
            -count(*), -count(readers), -coalesce(sum(lexeme_count), 0),
            -coalesce(sum(lexeme_count) filter (where readers is not null), 0), (count(*) > count(readers))::integer,
            coalesce(array_agg(document_id), '{}'), coalesce(array_agg(id), '{}'),
            array(select distinct unnest(deleted.readers) from deleted)
        from deleted
        $sql$,
        pgclarify_private.partition_name('passage', delete_passages.corpus_id)
    ) into
        v_tally.passages, v_tally.restricted_passages, v_tally.lexemes, v_tally.restricted_lexemes, v_tally.revision,
        v_document_ids, v_passage_ids, v_readers
    using delete_passages.corpus_id, delete_passages.document_ids;
    perform pgclarify_private.count_reader_changes(delete_passages.corpus_id, v_readers, 1, 0);
    v_tally.linked := -pgclarify_private.forget_vectors(delete_passages.corpus_id, v_document_ids, v_passage_ids);
    insert into pgclarify_private.corpus_tally (
        corpus_id, passages, restricted_passages, linked, lexemes, restricted_lexemes, revision
    )
    select
        delete_passages.corpus_id, v_tally.passages, v_tally.restricted_passages, v_tally.linked, v_tally.lexemes,
        v_tally.restricted_lexemes, v_tally.revision
    where v_tally.passages <> 0;
end
$$;

comment on function pgclarify_private.delete_passages(bigint, text[]) is
'Delete the passages and vectors of documents, and their part of the graph. Term counts go to term_change.';

create or replace function pgclarify_private.copy_readers(
    corpus_id bigint, document_ids text[], are_indexed boolean, hidden text[] default '{}'
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- The number of passages is unknown, and a nested loop would take forever for a long document.
set enable_nestloop = off
set jit = off
as $$
declare
    v_tally pgclarify_private.corpus_tally;
    v_readers name[];
begin
    execute format(
        $sql$
        with given as materialized (
            select
                document.id, document.readers,
                not $3 and (
                    document.error is not null
                    or exists (
                        select from pgclarify_private.pending_document as pending
                        where pending.corpus_id = $1 and pending.document_id = any($2) and pending.document_id = document.id
                    )
                ) as is_waiting,
                document.id = any($4) as is_hidden
            from pgclarify_private.document
            where document.corpus_id = $1 and document.id = any($2)
        ),
        old as materialized (
            select
                passage.document_id, passage.id, passage.lexemes, passage.lexeme_count, passage.readers as old_readers,
                given.readers as new_readers, given.is_waiting, given.is_waiting and given.is_hidden as is_hidden
            from %1$s as passage
            inner join given on given.id = passage.document_id
            where passage.corpus_id = $1
                and passage.document_id = any($2)
                and (passage.readers is distinct from given.readers or given.is_waiting and given.is_hidden)
        ),
        common as (
            select
                old.document_id, old.id, old.lexemes, old.lexeme_count, old.old_readers,
                case
                    when old.is_hidden then '{}'
                    when not old.is_waiting or old.old_readers is null then old.new_readers
                    when old.new_readers is null then old.old_readers
                    else array(
                        select listed.reader
                        from unnest(old.new_readers) as listed (reader)
                        where listed.reader = any(old.old_readers)
                    )
                end as readers
            from old
        ),
        changed as materialized (
            select common.*, (common.readers is not null)::integer - (common.old_readers is not null)::integer as restricted
            from common
            where common.readers is distinct from common.old_readers
        ),
        updated as (
            update %1$s as passage
            set readers = changed.readers
            from changed
            where passage.corpus_id = $1
                and passage.document_id = any($2)
                and passage.document_id = changed.document_id
                and passage.id = changed.id
        ),
        counted as (
            insert into pgclarify_private.term_change (corpus_id, lexeme, passages, restricted_passages)
            select $1, occurrence.lexeme, 0, sum(changed.restricted)
            from changed
            cross join unnest(tsvector_to_array(changed.lexemes)) as occurrence (lexeme)
            where changed.restricted <> 0
            group by occurrence.lexeme
            having sum(changed.restricted) <> 0
        )
        select
            coalesce(sum(changed.restricted), 0), coalesce(sum(changed.restricted * changed.lexeme_count), 0),
            coalesce(bool_or(changed.readers is null or changed.old_readers is null), false)::integer,
            array(select distinct unnest(changed.readers || changed.old_readers) from changed)
        from changed
        $sql$,
        pgclarify_private.partition_name('passage', copy_readers.corpus_id)
    ) into v_tally.restricted_passages, v_tally.restricted_lexemes, v_tally.revision, v_readers
    using copy_readers.corpus_id, copy_readers.document_ids, copy_readers.are_indexed, copy_readers.hidden;
    perform pgclarify_private.count_reader_changes(copy_readers.corpus_id, v_readers, 1, 0);
    insert into pgclarify_private.corpus_tally (corpus_id, restricted_passages, restricted_lexemes, revision)
    select copy_readers.corpus_id, v_tally.restricted_passages, v_tally.restricted_lexemes, v_tally.revision
    -- Passages get or lose readers of their own.
    where v_tally.revision <> 0;
end
$$;

comment on function pgclarify_private.copy_readers(bigint, text[], boolean, text[]) is
'Give passages the readers of their documents. Term counts go to term_change. are_indexed: false if the passages may still be '
'those of an earlier content. Then passages of pending and failed documents only lose readers, so that new readers never see '
'the earlier content; those of hidden documents, which have come into a fence, lose all: it is not known who may '
'read the earlier content. Called with the documents locked.';

create or replace function pgclarify_private.readable_passages(
    caller pgclarify_private.caller, corpus_id bigint, document_ids text[], passage_ids bigint[]
)
returns table (document_id text, passage_id bigint, heading text, content text, start_char integer)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
rows 20
as $$
declare
    v_roles constant name[] := pgclarify_private.roles_of(pgclarify_private.verify_caller(readable_passages.caller));
begin
    if not exists (
        select from pgclarify_private.visible_corpora(v_roles) as visible
        where visible.corpus_id = readable_passages.corpus_id
    ) then
        return;
    end if;
    return query execute format(
        $sql$
        -- A separate step: Citus does not join the shards of passages with tables of the coordinator.
        with found as materialized (
            select passage.document_id, passage.id, passage.heading, passage.content, passage.start_char
            from unnest($2, $3) as wanted (document_id, id)
            inner join %s as passage
                on passage.corpus_id = $1 and passage.document_id = wanted.document_id and passage.id = wanted.id
            where passage.readers is null or passage.readers && $4
        )
        select found.*
        from found
        inner join pgclarify_private.document on document.corpus_id = $1 and document.id = found.document_id
        where pgclarify_private.may_read(document, $4, $5)
        $sql$,
        pgclarify_private.passages_of(readable_passages.corpus_id)
    ) using
        readable_passages.corpus_id, readable_passages.document_ids, readable_passages.passage_ids, v_roles,
        pgclarify_private.fence_of(readable_passages.corpus_id, v_roles);
exception
    when undefined_table then
        -- The corpus has been dropped by now.
        return;
end
$$;

comment on function pgclarify_private.readable_passages(pgclarify_private.caller, bigint, text[], bigint[]) is
'Those of these passages of a corpus that the caller may read now, also where the corpus is distributed. document_ids: one for '
'each of passage_ids.';
grant execute on function
    pgclarify_private.readable_passages(pgclarify_private.caller, bigint, text[], bigint[]) to pgclarify_reader;
