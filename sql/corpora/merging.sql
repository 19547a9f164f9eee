-- Changes documents to what a person or the row of an attached table specifies.

create or replace function pgclarify_private.is_left(source_id bigint)
returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select count(*) > 0
    from pgclarify_private.source
    where source.source_id = is_left.source_id and source.state in ('detached', 'removing');
end;

comment on function pgclarify_private.is_left(bigint) is
'True if an attached table is no longer followed, so that its documents may be changed directly. False for null.';

create or replace function pgclarify_private.may_replace(source_id bigint, origin text, new_origin text)
returns boolean
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        coalesce(may_replace.new_origin, '') = ''
        or may_replace.source_id is null and may_replace.origin = may_replace.new_origin;
end;

comment on function pgclarify_private.may_replace(bigint, text, text) is
'True if the document of a file, new_origin, may replace a document with this source_id and origin: if that is from the same '
'file. Always true for a document without a file, because its id was given explicitly.';

create or replace function pgclarify_private.folder_rules(listed jsonb)
returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
declare
    v_rules jsonb := '{}';
    v_rule text;
    v_parts text[];
begin
    if jsonb_typeof(folder_rules.listed) is distinct from 'array' then
        return null;
    end if;
    for v_rule in select one.value from jsonb_array_elements_text(folder_rules.listed) as one loop
        v_parts := regexp_match(v_rule, '^/?([^:]*[^:/])/?:\s*([^=]*[^=\s])\s*=\s*(.*\S)\s*$');
        if v_parts is null then
            raise exception 'option "folders" has a wrong value'
                using errcode = 'invalid_parameter_value',
                    column = 'folders',
                    detail = format('It has "%s".', pgclarify_private.shown(v_rule)),
                    hint = 'Write "FOLDER: KEY=VALUE", such as "archive: status=historical".';
        end if;
        v_rules := jsonb_set(
            v_rules,
            array[v_parts[1]],
            coalesce(v_rules -> v_parts[1], '{}') || jsonb_build_object(v_parts[2], v_parts[3])
        );
    end loop;
    return nullif(v_rules, '{}');
end
$$;

comment on function pgclarify_private.folder_rules(jsonb) is
'The rules of option "folders": the metadata of each folder; null for none. Or error 22023.';

create or replace function pgclarify_private.by_rules(
    document pgclarify_private.document, date_key text, folders jsonb
)
returns pgclarify_private.document
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    -- With the folders of an archive.
    v_path constant text := '/' || translate((by_rules.document).id, '!', '/');
    v_rule record;
begin
    for v_rule in select * from jsonb_each(by_rules.folders) as one (folder, metadata) loop
        if strpos(v_path, '/' || v_rule.folder || '/') > 0 then
            document.metadata := v_rule.metadata || document.metadata;
        end if;
    end loop;
    document.dated := coalesce(
        document.dated, pgclarify_private.own_date(document.id, document.metadata, by_rules.date_key)
    );
    return document;
end
$$;

comment on function pgclarify_private.by_rules(pgclarify_private.document, text, jsonb) is
'A document with what the rules of its corpus say: metadata of its folders that it does not have itself, and its date.';

create or replace function pgclarify_private.put_documents(
    corpus_id bigint,
    source_id bigint,
    documents pgclarify_private.document[],
    out added bigint,
    out changed bigint,
    out refused text[],
    out unindexable text[]
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- A plan for a wrong number of documents (one or a thousand) would compare each with each.
set enable_nestloop = off
set jit = off
as $$
declare
    v_left pgclarify_private.document[] := put_documents.documents;
    v_ids text[];
    v_kept text[];
    v_changed text[];
    v_reread text[];
    v_hidden text[];
    v_pending text[];
    v_failed text[];
    v_restricted bigint := 0;
    v_date_key text;
    v_folders jsonb;
    -- The origin of each document of a file, by its id.
    v_origins jsonb := (
        select coalesce(jsonb_object_agg(given.id, given.origin), '{}')
        from unnest(put_documents.documents) as given
        where given.origin <> ''
    );
begin
    added := 0;
    changed := 0;
    refused := '{}';
    unindexable := '{}';
    perform pgclarify_private.note_roles(
        array(select distinct unnest(given.readers) from unnest(v_left) as given where given.readers is not null)
    );
    select corpus.date_key, corpus.folders into v_date_key, v_folders
    from pgclarify_private.living_corpus as corpus
    where corpus.corpus_id = put_documents.corpus_id;
    if coalesce(v_date_key, v_folders::text) is not null then
        v_left := array(select pgclarify_private.by_rules(given, v_date_key, v_folders) from unnest(v_left) as given);
    end if;
    while cardinality(v_left) > 0 loop
        -- New documents. In the order of ids, as below, because two transactions that write the same ones would deadlock
        -- otherwise.
        select
            coalesce(array_agg(inserted.id), '{}'),
            coalesce(array_agg(inserted.id order by inserted.id) filter (where inserted.error is null), '{}'),
            v_restricted + count(inserted.readers)
        into v_kept, v_pending, v_restricted
        from pgclarify_private.insert_documents(put_documents.corpus_id, put_documents.source_id, v_left) as inserted;
        insert into pgclarify_private.pending_document (corpus_id, document_id, passages)
        select put_documents.corpus_id, given.id, pgclarify_private.expected_passages(given.content)
        from unnest(v_left) as given
        inner join unnest(v_pending) as new (id) on new.id = given.id
        order by given.id;
        added := added + cardinality(v_kept);
        exit when cardinality(v_kept) = cardinality(v_left);

        -- Existing documents, except those of other sources.
        v_ids := array(
            select given.id from unnest(v_left) as given
            except
            select new.id from unnest(v_kept) as new (id)
        );
        with locked as materialized (
            select
                document.id, document.content_hash, document.error, document.metadata, document.readers,
                document.source_id, pgclarify_private.other_facts(document) as facts
            from pgclarify_private.document
            where document.corpus_id = put_documents.corpus_id
                and document.id = any(v_ids)
                and (
                    document.source_id is not distinct from put_documents.source_id
                    or pgclarify_private.is_left(document.source_id)
                )
                -- Not a join: after waiting for a lock, PostgreSQL checks only this condition for the new version of
                -- the row.
                and pgclarify_private.may_replace(document.source_id, document.origin, v_origins ->> document.id)
            order by document.id
            for no key update
        ),
        compared as (
            select
                locked.id, given.error,
                locked.readers is distinct from given.readers as is_reread,
                case
                    when locked.metadata <> given.metadata and (
                        locked.content_hash <> given.content_hash
                        or locked.error is not null
                        or exists (
                            select from pgclarify_private.pending_document as pending
                            where pending.corpus_id = put_documents.corpus_id and pending.document_id = locked.id
                        )
                    )
                        then pgclarify_private.enters_fence(put_documents.corpus_id, locked.metadata, given.metadata)
                    else false
                end as is_hidden,
                (given.readers is not null)::integer - (locked.readers is not null)::integer as restricted,
                -- A document that could not be indexed is tried again.
                locked.content_hash <> given.content_hash or locked.error is distinct from given.error as is_new_content,
                locked.source_id is distinct from put_documents.source_id
                or locked.facts <> pgclarify_private.other_facts(given) as is_other
            from locked
            inner join unnest(v_left) as given on locked.id = given.id
        )
        select
            v_kept || coalesce(array_agg(compared.id), '{}'),
            coalesce(array_agg(compared.id) filter (where compared.is_new_content or compared.is_other), '{}'),
            coalesce(array_agg(compared.id) filter (where compared.is_reread or compared.is_hidden), '{}'),
            coalesce(array_agg(compared.id) filter (where compared.is_hidden), '{}'),
            coalesce(
                array_agg(compared.id order by compared.id)
                filter (where compared.is_new_content and compared.error is null),
                '{}'
            ),
            coalesce(array_agg(compared.id) filter (where compared.is_new_content and compared.error is not null), '{}'),
            v_restricted + coalesce(sum(compared.restricted), 0)
        into v_kept, v_changed, v_reread, v_hidden, v_pending, v_failed, v_restricted
        from compared;

        if cardinality(v_changed) > 0 then
            perform pgclarify_private.update_documents(
                put_documents.corpus_id, put_documents.source_id, v_changed, v_left
            );
            changed := changed + cardinality(v_changed);
            -- A worker that is indexing the old content cannot store it, because of the hash.
            insert into pgclarify_private.pending_document (corpus_id, document_id, passages)
            select put_documents.corpus_id, given.id, pgclarify_private.expected_passages(given.content)
            from unnest(v_left) as given
            inner join unnest(v_pending) as new (id) on new.id = given.id
            order by given.id
            on conflict on constraint pending_document_pk do update
            set leased_by = null, leased_until = null, passages = excluded.passages;
        end if;
        if cardinality(v_reread) > 0 then
            -- After the queue was filled: new readers do not find passages of an earlier content.
            perform pgclarify_private.copy_readers(put_documents.corpus_id, v_reread, false, v_hidden);
        end if;
        -- A new origin is not a change of the document.
        update pgclarify_private.document
        set origin = given.origin
        from unnest(v_left) as given
        where document.corpus_id = put_documents.corpus_id
            and document.id = any(v_kept)
            and document.id = given.id
            and document.origin is distinct from given.origin;
        if cardinality(v_failed) > 0 then
            -- A document that cannot be indexed is not found by its old content.
            delete from pgclarify_private.pending_document as pending
            where pending.corpus_id = put_documents.corpus_id and pending.document_id = any(v_failed);
            unindexable := unindexable || v_failed;
        end if;

        exit when cardinality(v_kept) = cardinality(v_left);
        -- A document that is neither new nor ours belongs to another source, or was removed between the two statements.
        select
            refused || coalesce(array_agg(given.id) filter (where others.id is not null), '{}'),
            coalesce(array_agg(given) filter (where others.id is null), '{}')
        into refused, v_left
        from unnest(v_left) as given
        left join unnest(v_kept) as kept (id) on given.id = kept.id
        left join pgclarify_private.document as others
            on others.corpus_id = put_documents.corpus_id
            and others.id = any(v_ids)
            and others.id = given.id
            and (
                others.source_id is distinct from put_documents.source_id
                and not pgclarify_private.is_left(others.source_id)
                or not pgclarify_private.may_replace(others.source_id, others.origin, given.origin)
            )
        where kept.id is null;
    end loop;
    if added > 0 or v_restricted <> 0 then
        insert into pgclarify_private.corpus_tally (corpus_id, documents, restricted_documents)
        values (put_documents.corpus_id, added, v_restricted);
    end if;
end
$$;

comment on function pgclarify_private.put_documents(bigint, bigint, pgclarify_private.document[]) is
'The part of merge_documents that adds and changes. unindexable: documents that can no longer be indexed, whose passages must '
'be removed.';

create or replace function pgclarify_private.merge_documents(
    corpus_id bigint,
    source_id bigint,
    documents pgclarify_private.document[],
    gone text[],
    out added bigint,
    out changed bigint,
    out removed bigint,
    out refused text[]
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_put record;
    v_kept text[];
    v_gone text[];
    v_restricted bigint;
begin
    if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
        -- An older snapshot does not show what workers have stored since then, so these passages would stay.
        raise exception 'documents cannot be changed in a % transaction', current_setting('transaction_isolation')
            using errcode = 'feature_not_supported',
                detail = 'It would not see passages that workers have stored since it began.',
                hint = 'Begin the transaction with: begin isolation level read committed.';
    end if;
    v_put := pgclarify_private.put_documents(merge_documents.corpus_id, merge_documents.source_id, merge_documents.documents);
    added := v_put.added;
    changed := v_put.changed;
    removed := 0;
    refused := v_put.refused;
    v_gone := v_put.unindexable;

    if cardinality(merge_documents.gone) > 0 then
        with locked as (
            select document.id, document.readers
            from pgclarify_private.document
            where document.corpus_id = merge_documents.corpus_id
                and document.id = any(merge_documents.gone)
                and (
                    document.source_id is not distinct from merge_documents.source_id
                    -- A direct change also removes documents of tables that are no longer followed.
                    or merge_documents.source_id is null and pgclarify_private.is_left(document.source_id)
                )
            order by document.id
            for update
        )
        select coalesce(array_agg(locked.id), '{}'), count(locked.readers) into v_kept, v_restricted from locked;
        delete from pgclarify_private.document
        where document.corpus_id = merge_documents.corpus_id and document.id = any(v_kept);
        delete from pgclarify_private.pending_document as pending
        where pending.corpus_id = merge_documents.corpus_id and pending.document_id = any(v_kept);
        removed := cardinality(v_kept);
        v_gone := v_gone || v_kept;
        insert into pgclarify_private.corpus_tally (corpus_id, documents, restricted_documents)
        select merge_documents.corpus_id, -removed, -v_restricted
        where removed > 0;
    end if;
    if cardinality(v_gone) > 0 then
        perform pgclarify_private.delete_passages(merge_documents.corpus_id, v_gone);
    end if;
end
$$;

comment on function pgclarify_private.merge_documents(bigint, bigint, pgclarify_private.document[], text[]) is
'Change documents of a corpus to the given ones, and remove those in the list of removals; returns how many were added, '
'changed and removed, and ids that belong to other sources and were not changed. Called with the corpus locked. source_id: '
'the attached table of the rows; null for direct changes. documents: without created_at and the like, each id once; with an '
'error if it cannot be indexed; with the origin of a file if it may only replace a document of that file.';
