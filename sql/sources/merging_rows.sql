-- Rows of an attached table become documents; a row that cannot become one does not block the others.

create or replace function pgclarify_private.first_documents(
    corpus_id bigint, id_prefix text, ids text[], max_bytes bigint
)
returns text[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return array(
        select measured.id
        from (
            select
                given.id,
                given.place,
                sum(coalesce(stored.size, 0)) over (order by given.place) - coalesce(stored.size, 0) as size_before
            from unnest(first_documents.ids) with ordinality as given (id, place)
            left join (
                -- The length is in the TOAST pointer, so the content is not fetched.
                select document.id, octet_length(document.content) as size
                from pgclarify_private.document
                where document.corpus_id = first_documents.corpus_id
                    and document.id = any(array(
                        select first_documents.id_prefix || wanted.id from unnest(first_documents.ids) as wanted (id)
                    ))
            ) as stored on stored.id = first_documents.id_prefix || given.id
        ) as measured
        where measured.size_before < first_documents.max_bytes
        order by measured.place
    );
end
$$;

comment on function pgclarify_private.first_documents(bigint, text, text[], bigint) is
'The first of these ids whose documents in a corpus have about max_bytes of content together; at least one. id_prefix is added '
'before each id. Replacing or removing a document deletes its passages, which takes longer if its stored content is longer.';

create or replace function pgclarify_private.note_unfit(source pgclarify_private.source, error text)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    update pgclarify_private.source as followed
    set error = note_unfit.error
    where followed.source_id = (note_unfit.source).source_id and followed.error is distinct from note_unfit.error;
end;

comment on function pgclarify_private.note_unfit(pgclarify_private.source, text) is
'Record that some rows of an attached table cannot be documents; it is still followed. The rows are not stored, so only the '
'next load or resync, which reads all rows, clears this.';

create or replace function pgclarify_private.merge_fit_rows(
    source pgclarify_private.source,
    keys text[],
    out added bigint,
    out changed bigint,
    out removed bigint,
    out skipped bigint
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_read record := pgclarify_private.read_rows(merge_fit_rows.source, merge_fit_rows.keys);
    v_ids text[] := array(select found.id from unnest(v_read.documents) as found);
    v_twin text := (select found.id from unnest(v_ids) as found (id) group by found.id having count(*) > 1 limit 1);
    v_merged record;
begin
    if v_twin is not null then
        raise exception 'two rows have the id "%"', left(v_twin, 100)
            using errcode = 'unique_violation', hint = 'Make ids unique over all partitions.';
    end if;
    v_merged := pgclarify_private.merge_documents(
        (merge_fit_rows.source).corpus_id,
        (merge_fit_rows.source).source_id,
        v_read.documents,
        array(
            select (merge_fit_rows.source).id_prefix || given.key
            from (select unnest(merge_fit_rows.keys)) as given (key)
            except
            select unnest(v_ids)
        )
    );
    added := v_merged.added;
    changed := v_merged.changed;
    removed := v_merged.removed;
    skipped := cardinality(merge_fit_rows.keys) - cardinality(v_ids) + cardinality(v_merged.refused);
    if cardinality(v_merged.refused) > 0 then
        perform pgclarify_private.note_unfit(
            merge_fit_rows.source,
            (
                select format(
                    'some rows cannot be documents: "%s" is a document already, and %s. Remove it, or detach that table, and '
                    'call pgclarify.resync; or attach this table with another id_prefix.',
                    left(refused.id, 100),
                    case
                        when other.source_id is null then 'was added by hand'
                        else format('comes from table %s (number %s)', other.relation_name, other.relation::oid)
                    end
                )
                from unnest(v_merged.refused[:1]) as refused (id)
                left join pgclarify_private.document
                    on document.corpus_id = (merge_fit_rows.source).corpus_id and document.id = refused.id
                left join pgclarify_private.source as other on other.source_id = document.source_id
            )
        );
    elsif v_read.unfit is not null then
        perform pgclarify_private.note_unfit(
            merge_fit_rows.source,
            format(
                'some rows cannot be documents: an id has 1 to 1000 characters, in at most 2600 bytes, and "%s" has not. '
                'Change it, and the document follows. pgclarify.resync clears this message.',
                v_read.unfit
            )
        );
    end if;
end
$$;

comment on function pgclarify_private.merge_fit_rows(pgclarify_private.source, text[]) is
'merge_rows for rows that can become documents; or an error.';

create or replace function pgclarify_private.merge_rows(
    source pgclarify_private.source,
    keys text[],
    out added bigint,
    out changed bigint,
    out removed bigint,
    out skipped bigint
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_key text := merge_rows.keys[1];
    v_many integer := cardinality(merge_rows.keys);
    v_merged record;
    v_message text;
    v_detail text;
    v_half record;
begin
    begin
        select merged.* into added, changed, removed, skipped
        from pgclarify_private.merge_fit_rows(merge_rows.source, merge_rows.keys) as merged;
        return;
    exception
        when data_exception or program_limit_exceeded or check_violation then
            if v_many = 0 then
                raise;
            end if;
            get stacked diagnostics v_message = message_text, v_detail = pg_exception_detail;
    end;
    if v_many > 1 then
        -- One row may cause the error, and must not block the others.
        v_merged := pgclarify_private.merge_rows(merge_rows.source, merge_rows.keys[:v_many / 2]);
        v_half := pgclarify_private.merge_rows(merge_rows.source, merge_rows.keys[v_many / 2 + 1:]);
        added := v_merged.added + v_half.added;
        changed := v_merged.changed + v_half.changed;
        removed := v_merged.removed + v_half.removed;
        skipped := v_merged.skipped + v_half.skipped;
        return;
    end if;
    -- Remove the old document: it is out of date, and the new row may have other readers.
    v_merged := pgclarify_private.merge_documents(
        (merge_rows.source).corpus_id,
        (merge_rows.source).source_id,
        '{}',
        array[(merge_rows.source).id_prefix || v_key]
    );
    added := 0;
    changed := 0;
    removed := v_merged.removed;
    skipped := 1;
    perform pgclarify_private.note_unfit(
        merge_rows.source,
        format(
            'some rows cannot be documents, "%s", say: %s%s. Change it, and the document follows. pgclarify.resync clears '
            'this message.',
            left(v_key, 100), v_message, coalesce(': ' || nullif(rtrim(v_detail, '.'), ''), '')
        )
    );
end
$$;

comment on function pgclarify_private.merge_rows(pgclarify_private.source, text[]) is
'Read rows of an attached table by their keys, and update their documents to match. The document of a key is removed if it '
'has no row, or a row that cannot become a document. Called with the source''s row locked. Returns how many documents were '
'added, changed and removed, and how many keys have none.';
