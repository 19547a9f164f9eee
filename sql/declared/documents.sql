-- Written by `make generated` from pgclarify/declared. Do not edit.
-- Documents by their fields: made, stored, compared and filtered.

create or replace function pgclarify_private.document_from(id text, content text, fields jsonb)
returns pgclarify_private.document
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_document pgclarify_private.document;
begin
    v_document.id := document_from.id;
    v_document.content := pgclarify_private.normalized(document_from.content);
    v_document.title := left(pgclarify_private.normalized(document_from.fields ->> 'title'), 1000);
    v_document.uri := document_from.fields ->> 'uri';
    v_document.metadata := coalesce(nullif(document_from.fields -> 'metadata', 'null'), '{}');
    v_document.readers := pgclarify_private.names_in(document_from.fields -> 'readers');
    v_document.dated := (document_from.fields ->> 'dated')::timestamptz;
    v_document.author := left(pgclarify_private.normalized(document_from.fields ->> 'author'), 1000);
    v_document.content_hash := pgclarify_private.content_hash(v_document.title, v_document.content);
    return v_document;
end
$$;

comment on function pgclarify_private.document_from(text, text, jsonb) is
'A document as statements, loads and rows give it, with its fields as an object.';

create or replace function pgclarify_private.insert_documents(
    corpus_id bigint, source_id bigint, documents pgclarify_private.document[]
)
returns table (id text, error text, readers name[])
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    -- In the order of ids, because two transactions that write the same ones would deadlock otherwise.
    return query
    insert into pgclarify_private.document as stored (
        corpus_id, source_id, id, content, content_hash, error, origin, places, unread, title, uri, metadata, readers, dated,
        author
    )
    select
        insert_documents.corpus_id, insert_documents.source_id, given.id, given.content, given.content_hash, given.error,
        given.origin, given.places, given.unread, given.title, given.uri, given.metadata, given.readers, given.dated,
        given.author
    from unnest(insert_documents.documents) as given
    order by given.id
    on conflict on constraint document_pk do nothing
    returning stored.id, stored.error, stored.readers;
end
$$;

comment on function pgclarify_private.insert_documents(bigint, bigint, pgclarify_private.document[]) is
'Add documents that are new, and return them.';

create or replace function pgclarify_private.update_documents(
    corpus_id bigint, source_id bigint, ids text[], documents pgclarify_private.document[]
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    update pgclarify_private.document as stored
    set
        source_id = update_documents.source_id,
        updated_at = now(),
        content = given.content,
        content_hash = given.content_hash,
        error = given.error,
        origin = given.origin,
        places = given.places,
        unread = given.unread,
        title = given.title,
        uri = given.uri,
        metadata = given.metadata,
        readers = given.readers,
        dated = given.dated,
        author = given.author
    from unnest(update_documents.documents) as given
    where
        stored.corpus_id = update_documents.corpus_id
        and stored.id = any(update_documents.ids)
        and stored.id = given.id;
end
$$;

comment on function pgclarify_private.update_documents(bigint, bigint, text[], pgclarify_private.document[]) is
'Change documents to the given ones.';

create or replace function pgclarify_private.other_facts(document pgclarify_private.document)
returns jsonb
language sql stable parallel safe
begin atomic
    select jsonb_build_object(
        'places', (other_facts.document).places,
        'unread', (other_facts.document).unread,
        'uri', (other_facts.document).uri,
        'metadata', (other_facts.document).metadata,
        'readers', (other_facts.document).readers,
        'dated', (other_facts.document).dated,
        'author', (other_facts.document).author
    );
end;

comment on function pgclarify_private.other_facts(pgclarify_private.document) is
'What may differ between two documents of one content_hash. It sets no search_path, so that the planner can inline it.';

create or replace function pgclarify_private.document_facts(document pgclarify_private.document)
returns jsonb
language sql immutable parallel safe
begin atomic
    select jsonb_build_object(
        'metadata', (document_facts.document).metadata,
        'id', (document_facts.document).id,
        'title', (document_facts.document).title,
        'uri', (document_facts.document).uri,
        'origin', (document_facts.document).origin,
        'author', (document_facts.document).author,
        'dated', extract(epoch from (document_facts.document).dated - '1970-01-01T00:00:00Z'::timestamptz),
        'created_at', extract(epoch from (document_facts.document).created_at - '1970-01-01T00:00:00Z'::timestamptz),
        'updated_at', extract(epoch from (document_facts.document).updated_at - '1970-01-01T00:00:00Z'::timestamptz)
    );
end;

comment on function pgclarify_private.document_facts(pgclarify_private.document) is
'What a filter may compare. It sets no search_path, so that the planner can inline it.';

create or replace function pgclarify_private.filter_columns()
returns text[]
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select '{id, title, uri, origin, dated, created_at, updated_at, author}'::text[];
end;

comment on function pgclarify_private.filter_columns() is
'The keys of filters that are columns of a document.';

create or replace function pgclarify_private.fields_in_columns()
returns text[]
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select '{title, uri, readers, dated, author}'::text[];
end;

comment on function pgclarify_private.fields_in_columns() is
'The fields of a document for which attach_table can name a column.';
