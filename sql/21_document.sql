-- Documents: adding and removing them. Workers make them searchable (30_ingestion.sql).

create or replace function pgclarify._content_hash(title text, content text)
returns bytea
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select sha256(convert_to(coalesce(_content_hash.title, '') || E'\n' || _content_hash.content, 'UTF8'));
end;

comment on function pgclarify._content_hash(text, text) is 'SHA-256 of what a search can see of a document.';

create or replace function pgclarify._add_document(
    caller pgclarify._caller,
    corpus text,
    document_id text,
    content text,
    title text,
    uri text,
    metadata jsonb,
    readers name[]
)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus pgclarify.corpus := pgclarify._owned_corpus(_add_document.caller, _add_document.corpus);
    v_hash bytea;
    v_metadata jsonb := coalesce(_add_document.metadata, '{}');
    v_old pgclarify.document;
    v_is_new_content boolean := true;
    v_was_pending boolean;
begin
    if coalesce(length(_add_document.document_id), 0) not between 1 and 1000 then
        raise exception 'a document needs an id of 1 to 1000 characters'
            using errcode = 'invalid_parameter_value',
                detail = format('It has %s.', coalesce(length(_add_document.document_id), 0)),
                hint = 'Pass document_id => your table''s key, as text.';
    end if;
    if coalesce(btrim(_add_document.content, E' \t\r\n\f\v'), '') = '' then
        raise exception 'a document needs content'
            using errcode = 'invalid_parameter_value',
                detail = format('Document "%s" has only white space.', _add_document.document_id),
                hint = 'Leave empty documents out.';
    end if;
    if length(_add_document.content) > 10000000 then
        raise exception 'a document may have 10000000 characters'
            using errcode = 'program_limit_exceeded',
                detail = format('Document "%s" has %s.', _add_document.document_id, length(_add_document.content)),
                hint = 'Split it, by chapters say, and add each part under an id of its own.';
    end if;
    if jsonb_typeof(v_metadata) <> 'object' then
        raise exception 'metadata must be a JSON object'
            using errcode = 'invalid_parameter_value',
                detail = format('It is a JSON %s.', jsonb_typeof(v_metadata)),
                hint = 'Pass metadata => ''{"key": "value"}''.';
    end if;
    v_hash := pgclarify._content_hash(_add_document.title, _add_document.content);
    perform pgclarify._hold_corpus(v_corpus.corpus_id);
    loop
        insert into pgclarify.document (corpus_id, id, content, title, uri, metadata, readers, content_hash)
        values (
            v_corpus.corpus_id, _add_document.document_id, _add_document.content, _add_document.title,
            _add_document.uri, v_metadata, _add_document.readers, v_hash
        )
        on conflict on constraint document_pk do nothing;
        if found then
            insert into pgclarify.pending_document (corpus_id, document_id)
            values (v_corpus.corpus_id, _add_document.document_id);
            insert into pgclarify.corpus_tally (corpus_id, documents, pending) values (v_corpus.corpus_id, 1, 1);
            return true;
        end if;

        select document.* into v_old
        from pgclarify.document
        where document.corpus_id = v_corpus.corpus_id and document.id = _add_document.document_id
        for no key update;
        -- Otherwise somebody has removed it since, and it is a new one after all.
        exit when found;
    end loop;
    -- What could not be indexed is tried again.
    v_is_new_content := v_old.content_hash <> v_hash or v_old.error is not null;
    if not v_is_new_content
        and (v_old.uri, v_old.metadata, v_old.readers)
        is not distinct from (_add_document.uri, v_metadata, _add_document.readers) then
        return false;
    end if;
    update pgclarify.document
    set
        content = _add_document.content,
        title = _add_document.title,
        uri = _add_document.uri,
        metadata = v_metadata,
        readers = _add_document.readers,
        content_hash = v_hash,
        error = case when v_is_new_content then null else document.error end,
        updated_at = now()
    where document.corpus_id = v_corpus.corpus_id and document.id = _add_document.document_id;
    if v_is_new_content then
        insert into pgclarify.pending_document (corpus_id, document_id)
        values (v_corpus.corpus_id, _add_document.document_id)
        -- Being indexed as it was: the worker's write is refused by the hash, and the row is free again.
        on conflict on constraint pending_document_pk do update set leased_by = null, leased_until = null
        returning xmax <> 0 into v_was_pending;
        insert into pgclarify.corpus_tally (corpus_id, pending, failed)
        values (v_corpus.corpus_id, (not v_was_pending)::integer, -(v_old.error is not null)::integer);
    end if;
    -- Who may read it counts at once; the passages of the old content keep serving the new readers only.
    if v_old.readers is distinct from _add_document.readers then
        execute format(
            $sql$
            with updated as (
                update %s set readers = $3 where corpus_id = $1 and document_id = $2 returning 1
            )
            insert into pgclarify.corpus_tally (corpus_id, restricted_passages, revision)
            select $1, count(*) * $4, 1 from updated
            $sql$,
            pgclarify._partition_name('passage', v_corpus.corpus_id)
        ) using
            v_corpus.corpus_id, _add_document.document_id, _add_document.readers,
            (_add_document.readers is not null)::integer - (v_old.readers is not null)::integer;
    end if;
    return true;
end
$$;

comment on function pgclarify._add_document(
    pgclarify._caller, text, text, text, text, text, jsonb, name[]
) is 'See add_document.';
grant execute on function pgclarify._add_document(
    pgclarify._caller, text, text, text, text, text, jsonb, name[]
) to pgclarify_user;

create or replace function pgclarify.add_document(
    corpus text,
    document_id text,
    content text,
    title text default null,
    uri text default null,
    metadata jsonb default '{}',
    readers name[] default null
)
returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify._add_document(
        _caller,
        add_document.corpus,
        add_document.document_id,
        add_document.content,
        add_document.title,
        add_document.uri,
        add_document.metadata,
        add_document.readers
    )
    from pgclarify._caller;
end;

comment on function pgclarify.add_document(text, text, text, text, text, jsonb, name[]) is
'Add a document, or put new content in place of the old; true if anything changed, or if it could not be indexed and is '
'tried again. Workers make it searchable (see corpus_status.pending). corpus: its name. document_id: your own id as text. '
'content: plain text or Markdown, at most 10,000,000 characters. title, uri: shown with citations. metadata: any JSON object. '
'readers: roles that may read it; null means every reader of the corpus.';
grant execute on function pgclarify.add_document(text, text, text, text, text, jsonb, name[]) to pgclarify_user;

create or replace function pgclarify._remove_document(caller pgclarify._caller, corpus text, document_id text)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus pgclarify.corpus := pgclarify._owned_corpus(_remove_document.caller, _remove_document.corpus);
    v_was_failed boolean;
    v_was_pending boolean;
    v_tally pgclarify.corpus_tally;
begin
    perform pgclarify._hold_corpus(v_corpus.corpus_id);
    delete from pgclarify.document
    where document.corpus_id = v_corpus.corpus_id and document.id = _remove_document.document_id
    returning document.error is not null into v_was_failed;
    if not found then
        return false;
    end if;
    delete from pgclarify.pending_document
    where
        pending_document.corpus_id = v_corpus.corpus_id
        and pending_document.document_id = _remove_document.document_id;
    v_was_pending := found;
    v_tally := pgclarify._delete_passages(v_corpus.corpus_id, array[_remove_document.document_id]);
    insert into pgclarify.corpus_tally
    (corpus_id, documents, pending, failed, passages, restricted_passages, embedded, linked, lexemes, revision)
    values (
        v_corpus.corpus_id, -1, -v_was_pending::integer, -v_was_failed::integer, v_tally.passages,
        v_tally.restricted_passages, v_tally.embedded, v_tally.linked, v_tally.lexemes, 1
    );
    return true;
end
$$;

comment on function pgclarify._remove_document(pgclarify._caller, text, text) is 'See remove_document.';
grant execute on function pgclarify._remove_document(pgclarify._caller, text, text) to pgclarify_user;

create or replace function pgclarify.remove_document(corpus text, document_id text)
returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify._remove_document(_caller, remove_document.corpus, remove_document.document_id)
    from pgclarify._caller;
end;

comment on function pgclarify.remove_document(text, text) is
'Remove a document, at once; true if there was one. Citations of it keep their quote. corpus: its name. document_id: as it '
'was added.';
grant execute on function pgclarify.remove_document(text, text) to pgclarify_user;
