-- Following attached tables: their changes, their loads, and the removal of detached ones.

create or replace function pgclarify_private.waiting_sources()
returns table (source_id bigint, work text, since timestamptz)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select waiting.source_id, waiting.work, waiting.since
    from (
        -- One index probe for each source, independent of the number of changes.
        select source.source_id, source.corpus_id, 'changes' as work, first.changed_at as since
        from pgclarify_private.source
        cross join lateral (
            select change.changed_at
            from pgclarify_private.change
            where change.source_id = source.source_id
            order by change.change_id
            limit 1
        ) as first
        union all
        select
            source.source_id,
            source.corpus_id,
            case source.state when 'loading' then 'load' else 'removal' end,
            source.load_started_at
        from pgclarify_private.source
        where source.state in ('loading', 'removing')
    ) as waiting
    inner join pgclarify_private.living_corpus as corpus on waiting.corpus_id = corpus.corpus_id
    where not pgclarify_private.is_paused(waiting.corpus_id)
    order by waiting.since, waiting.source_id, waiting.work;
end;

comment on function pgclarify_private.waiting_sources() is
'Attached tables with work to do, its kind (changes, load or removal), and since when: the first change, or the start of the '
'load. Those that have waited longest come first; those of a paused or dropped corpus are skipped.';
grant execute on function pgclarify_private.waiting_sources() to pgclarify_worker;

create or replace function pgclarify_private.take_source(source_id bigint)
returns pgclarify_private.source
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_source pgclarify_private.source;
begin
    -- First the corpus, as everywhere. Locked rows are skipped.
    perform from pgclarify_private.living_corpus as corpus
    where corpus.corpus_id = (select source.corpus_id
        from pgclarify_private.source where source.source_id = take_source.source_id)
    for key share skip locked;
    if found then
        select source.* into v_source
        from pgclarify_private.source
        where source.source_id = take_source.source_id
        for no key update skip locked;
    end if;
    return v_source;
end
$$;

comment on function pgclarify_private.take_source(bigint) is
'Lock the row of an attached table, so that only one worker at a time reads the table and older rows never overwrite newer '
'ones; nulls if another transaction has locked it, or if it is gone.';

create or replace function pgclarify_private.fail_source(source_id bigint, error text)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    update pgclarify_private.source
    set state = 'failed', error = fail_source.error
    where source.source_id = fail_source.source_id;
end;

comment on function pgclarify_private.fail_source(bigint, text) is
'Stop following an attached table and store the reason. Its documents are kept. Its changes are deleted, because a resync '
'compares everything.';

create or replace function pgclarify_private.follow_changes(
    attached pgclarify_private.source, max_changes integer, max_bytes bigint
)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_source constant pgclarify_private.source := follow_changes.attached;
    v_change_ids bigint[];
    v_changed_keys text[];
    v_changed_at timestamptz;
    v_is_any boolean;
    v_keys text[];
begin
    v_change_ids := array(
        select counted.change_id
        from (
            select
                waiting.change_id,
                sum(waiting.size) over (order by waiting.change_id) - waiting.size as size_before
            from (
                select change.change_id, coalesce(cardinality(change.keys), 1) as size
                from pgclarify_private.change
                where change.source_id = v_source.source_id
                order by change.change_id
                limit follow_changes.max_changes
            ) as waiting
        ) as counted
        where counted.size_before < follow_changes.max_changes
    );
    -- With an array, because the statistics of this table are never right, and a join would compare each row with every other.
    with taken as (
        delete from pgclarify_private.change
        where change.source_id = v_source.source_id and change.change_id = any(v_change_ids)
        returning change.keys, change.relation, change.changed_at
    )
    select
        coalesce(array_agg(distinct listed.key) filter (where listed.key is not null), '{}'),
        min(taken.changed_at),
        coalesce(bool_or(taken.keys is null), false)
    into v_changed_keys, v_changed_at, v_is_any
    from taken
    -- Rows of detached partitions are not rows of the table.
    inner join pgclarify_private.members_of(v_source.relation) as members on members.relation = taken.relation
    left join lateral unnest(taken.keys) as listed (key) on true;
    v_keys := pgclarify_private.first_keys(v_source, v_changed_keys, follow_changes.max_bytes);
    v_keys := pgclarify_private.first_documents(v_source.corpus_id, v_source.id_prefix, v_keys, follow_changes.max_bytes);
    -- The other keys are read in a later batch.
    insert into pgclarify_private.change (source_id, relation, keys, changed_at)
    select v_source.source_id, v_source.relation, array_agg(rest.key), v_changed_at
    from (
        select unnest(v_changed_keys)
        except
        select unnest(v_keys)
    ) as rest (key)
    having count(*) > 0;
    if v_is_any then
        -- It was a TRUNCATE, or the id has another type now, which the capture function must know.
        perform pgclarify_private.load_anew(v_source.source_id);
    end if;
    perform pgclarify_private.merge_rows(v_source, v_keys);
    return cardinality(v_change_ids);
end
$$;

comment on function pgclarify_private.follow_changes(pgclarify_private.source, integer, bigint) is
'Take about max_changes changed keys of an attached table, with about max_bytes of rows and of documents, and update these '
'documents to match the rows; returns how many changes were taken.';

create or replace function pgclarify_private.load_source(
    attached pgclarify_private.source, max_rows integer, max_bytes bigint
)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_source constant pgclarify_private.source := load_source.attached;
    v_layout text;
    v_keys text[];
    v_ids text[];
    v_gone text[];
    v_removed text[];
    v_merged record;
begin
    if v_source.load_phase = 'rows' then
        -- Before anything is read: a partition that is added later is then seen as a difference.
        v_layout := coalesce(v_source.layout, pgclarify_private.layout_of(v_source));
        v_keys := pgclarify_private.next_keys(v_source, load_source.max_rows, load_source.max_bytes);
        v_keys := pgclarify_private.first_documents(v_source.corpus_id, v_source.id_prefix, v_keys, load_source.max_bytes);
        v_merged := pgclarify_private.merge_rows(v_source, v_keys);
        update pgclarify_private.source
        set
            layout = v_layout,
            load_phase = case when cardinality(v_keys) > 0 then 'rows' else 'documents' end,
            load_cursor = v_keys[cardinality(v_keys)],
            rows_added = source.rows_added + v_merged.added,
            rows_changed = source.rows_changed + v_merged.changed,
            rows_removed = source.rows_removed + v_merged.removed,
            rows_skipped = source.rows_skipped + v_merged.skipped
        where source.source_id = v_source.source_id;
        return cardinality(v_keys);
    end if;
    v_ids := array(
        select document.id
        from pgclarify_private.document
        where document.source_id = v_source.source_id and document.id > coalesce(v_source.load_cursor, '')
        order by document.id
        limit load_source.max_rows
    );
    v_keys := pgclarify_private.missing_keys(
        v_source,
        array(
            select substr(listed.id, length(v_source.id_prefix) + 1)
            from unnest(v_ids) as listed (id)
            where starts_with(listed.id, v_source.id_prefix)
        )
    );
    v_gone := array(
        select listed.id
        from unnest(v_ids) with ordinality as listed (id, place)
        left join unnest(v_keys) as missing (key) on listed.id = v_source.id_prefix || missing.key
        where missing.key is not null or not starts_with(listed.id, v_source.id_prefix)
        order by listed.place
    );
    v_removed := pgclarify_private.first_documents(v_source.corpus_id, '', v_gone, load_source.max_bytes);
    if cardinality(v_removed) < cardinality(v_gone) then
        -- The next batch begins with the documents that are not removed yet.
        v_ids := v_ids[:array_position(v_ids, v_removed[cardinality(v_removed)])];
    end if;
    v_merged := pgclarify_private.merge_documents(v_source.corpus_id, v_source.source_id, '{}', v_removed);
    update pgclarify_private.source
    set
        state = case when cardinality(v_ids) > 0 then 'loading' else 'following' end,
        load_phase = case when cardinality(v_ids) > 0 then 'documents' else 'rows' end,
        load_cursor = v_ids[cardinality(v_ids)],
        loaded_at = case when cardinality(v_ids) > 0 then source.loaded_at else now() end,
        rows_removed = source.rows_removed + v_merged.removed
    where source.source_id = v_source.source_id;
    return cardinality(v_ids);
end
$$;

comment on function pgclarify_private.load_source(pgclarify_private.source, integer, bigint) is
'Compare the next rows of an attached table that is being loaded, or the next of its documents, and return how many. First '
'every row becomes a document, then documents without a row are removed, then the table is followed. max_rows and max_bytes '
'limit a batch: its rows, and the documents that it replaces or removes.';

create or replace function pgclarify_private.remove_source(
    attached pgclarify_private.source, max_documents integer, max_bytes bigint
)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_source constant pgclarify_private.source := remove_source.attached;
    v_ids text[];
begin
    v_ids := array(
        select document.id
        from pgclarify_private.document
        where document.source_id = v_source.source_id
        order by document.id
        limit remove_source.max_documents
    );
    v_ids := pgclarify_private.first_documents(v_source.corpus_id, '', v_ids, remove_source.max_bytes);
    perform pgclarify_private.merge_documents(v_source.corpus_id, v_source.source_id, '{}', v_ids);
    if cardinality(v_ids) = 0 then
        delete from pgclarify_private.source where source.source_id = v_source.source_id;
    end if;
    return cardinality(v_ids);
end
$$;

comment on function pgclarify_private.remove_source(pgclarify_private.source, integer, bigint) is
'Remove the next documents of a table that was detached without keeping them, up to max_documents of about max_bytes together, '
'and, after the last one, the source; returns how many.';

create or replace function pgclarify_private.advance_source(
    source_id bigint, work text, max_rows integer, max_bytes bigint
)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- Another transaction may alter the table, or add a document with the same id. This is less than deadlock_timeout, so that our
-- transaction yields.
set lock_timeout = '500ms'
as $$
declare
    -- The lock on it stays if what follows fails.
    v_source pgclarify_private.source := pgclarify_private.take_source(advance_source.source_id);
    v_fault text;
    v_count integer;
    v_message text;
    v_detail text;
begin
    if v_source.source_id is null then
        return null;
    end if;
    if advance_source.work = 'changes' and v_source.state not in ('loading', 'following') then
        -- It is not followed, and following it again compares everything.
        delete from pgclarify_private.change
        where change.source_id = advance_source.source_id
            and change.change_id = any(array(
                select old.change_id
                from pgclarify_private.change as old
                where old.source_id = advance_source.source_id
                order by old.change_id
                limit advance_source.max_rows
                for update skip locked
            ));
        get diagnostics v_count = row_count;
        return v_count;
    end if;
    if advance_source.work = 'removal' and v_source.state = 'removing' then
        return pgclarify_private.remove_source(v_source, advance_source.max_rows, advance_source.max_bytes);
    end if;
    if advance_source.work <> 'changes' and v_source.state <> 'loading' then
        return 0;
    end if;
    v_fault := pgclarify_private.source_fault(v_source);
    if v_fault is not null then
        perform pgclarify_private.fail_source(v_source.source_id, v_fault);
        return 0;
    end if;
    if advance_source.work = 'changes' then
        return pgclarify_private.follow_changes(v_source, advance_source.max_rows, advance_source.max_bytes);
    end if;
    return pgclarify_private.load_source(v_source, advance_source.max_rows, advance_source.max_bytes);
exception
    when lock_not_available then
        return null;
    when others then
        -- Temporary errors say nothing about the table: a node of a cluster is gone; deadlocks and serialization failures;
        -- insufficient resources; the server is stopping; a full disk.
        if left(sqlstate, 2) in ('08', '40', '53', '57', '58') or v_source.state = 'removing' then
            raise;
        end if;
        get stacked diagnostics v_message = message_text, v_detail = pg_exception_detail;
        perform pgclarify_private.fail_source(v_source.source_id, pgclarify_private.failure(v_message, v_detail));
        return 0;
end
$$;

comment on function pgclarify_private.advance_source(bigint, text, integer, bigint) is
'Do one batch of the work that waits for an attached table; returns how many changes, rows or documents it had, null if '
'another transaction locks the table, the source or a document. work: as in waiting_sources. max_rows, max_bytes: limits of '
'the batch. Changes of a table that is no longer followed are deleted.';
grant execute on function pgclarify_private.advance_source(bigint, text, integer, bigint) to pgclarify_worker;
