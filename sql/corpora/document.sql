-- Documents: adding and removing them. Workers make them searchable (indexing/ingestion.sql).

create or replace function pgclarify_private.content_hash(title text, content text)
returns bytea
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    -- A text has no zero byte, so one marks the end of the title.
    select sha256(
        convert_to(coalesce(content_hash.title, ''), 'UTF8')
        || '\x00'::bytea
        || convert_to(content_hash.content, 'UTF8')
    );
end;

comment on function pgclarify_private.content_hash(text, text) is 'SHA-256 of title and content, which searches use.';

create or replace function pgclarify_private.is_blank(content text)
returns boolean
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select coalesce(btrim(is_blank.content, E' \t\r\n\f\x0b'), '') = '';
end;

comment on function pgclarify_private.is_blank(text) is 'True if it is null, empty or only white space.';

create or replace function pgclarify_private.is_document_id(id text)
returns boolean
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    -- An index entry has at most 2704 bytes, with the other columns of the key.
    select coalesce(length(is_document_id.id) between 1 and 1000 and octet_length(is_document_id.id) <= 2600, false);
end;

comment on function pgclarify_private.is_document_id(text) is
'True if it can be the id of a document: 1 to 1000 characters, in at most 2600 bytes.';

create or replace function pgclarify_private.existing_id(corpus_id bigint, given text)
returns text
language sql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select document.id
    from pgclarify_private.document
    where
        document.corpus_id = existing_id.corpus_id
        and document.id = any(
            array[existing_id.given, normalize(existing_id.given, nfc), normalize(existing_id.given, nfd)]
        )
    order by document.id = existing_id.given desc, document.id = normalize(existing_id.given, nfc) desc
    limit 1;
end;

comment on function pgclarify_private.existing_id(bigint, text) is
'The id of the document that is named so, in composed or decomposed form (rows of attached tables and documents of earlier '
'versions keep the form that they have); null if there is none.';

create or replace function pgclarify_private.id_for(corpus_id bigint, given text)
returns text
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        case
            -- The usual case needs no look.
            when octet_length(id_for.given) = length(id_for.given) then id_for.given
            else coalesce(
                pgclarify_private.existing_id(id_for.corpus_id, id_for.given), normalize(id_for.given, nfc)
            )
        end;
end;

comment on function pgclarify_private.id_for(bigint, text) is
'The id under which a document is stored: that of the document which it replaces, else in composed form (NFC).';

create or replace function pgclarify_private.refuse_by_hand(corpus_id bigint, document_id text)
returns void
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception 'document "%" is a row of an attached table', pgclarify_private.shown(refuse_by_hand.document_id)
        using errcode = 'object_not_in_prerequisite_state',
            detail = coalesce(
                (
                    select format('The table is %s, and the next change of the row would bring it back.', source.relation_name)
                    from pgclarify_private.document
                    inner join pgclarify_private.source on document.source_id = source.source_id
                    where document.corpus_id = refuse_by_hand.corpus_id and document.id = refuse_by_hand.document_id
                ),
                'The table was detached meanwhile.'
            ),
            hint = 'Change or delete the row there. To erase the document, delete the row, wait until pending_changes in '
                'pgclarify.source_status is 0, then erase. Or detach the table with pgclarify.detach_table first.';
end
$$;

comment on function pgclarify_private.refuse_by_hand(bigint, text) is
'Error 55000: the document belongs to an attached table, so it must not be changed directly.';

create or replace function pgclarify_private.names_in(listed jsonb)
returns name[]
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select coalesce(array_agg(one.value::name order by one.ordinality) filter (where one.value is not null), '{}')
    from jsonb_array_elements_text(
        case jsonb_typeof(names_in.listed) when 'array' then names_in.listed else '[]' end
    ) with ordinality as one (value, ordinality)
    having jsonb_typeof(names_in.listed) = 'array';
end;

comment on function pgclarify_private.names_in(jsonb) is 'The names in an array of JSON; null if it is none.';

create or replace function pgclarify_private.made_document(document_id text, content text, fields jsonb, origin text)
returns pgclarify_private.document
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_document pgclarify_private.document := pgclarify_private.document_from(
        made_document.document_id, made_document.content, made_document.fields
    );
begin
    if not pgclarify_private.is_document_id(made_document.document_id) then
        raise exception 'a document needs an id of 1 to 1000 characters, in at most 2600 bytes'
            using errcode = 'invalid_parameter_value',
                detail = format(
                    'It has %s, in %s bytes.',
                    coalesce(length(made_document.document_id), 0),
                    coalesce(octet_length(made_document.document_id), 0)
                ),
                hint = 'Pass document_id => your table''s key, as text.';
    end if;
    if length(v_document.content) > 10000000 then
        raise exception 'a document may have at most 10,000,000 characters'
            using errcode = 'program_limit_exceeded',
                detail = format('Document "%s" has %s.', made_document.document_id, length(v_document.content)),
                hint = 'Split it, for example by chapters, and add each part under its own id.';
    end if;
    if pgclarify_private.is_blank(v_document.content) then
        raise exception 'a document needs content'
            using errcode = 'invalid_parameter_value',
                detail = format('Document "%s" has only white space.', made_document.document_id),
                hint = 'Leave empty documents out.';
    end if;
    if cardinality(v_document.readers) > 1000 then
        -- Each passage has them, too.
        raise exception 'a document may have at most 1,000 readers'
            using errcode = 'program_limit_exceeded',
                detail = format('Document "%s" has %s.', made_document.document_id, cardinality(v_document.readers)),
                hint = 'Grant these roles one group, and name the group.';
    end if;
    if jsonb_typeof(v_document.metadata) <> 'object' then
        raise exception 'metadata must be a JSON object'
            using errcode = 'invalid_parameter_value',
                detail = format('It is a JSON %s.', jsonb_typeof(v_document.metadata)),
                hint = 'Pass metadata => ''{"key": "value"}''.';
    end if;
    -- Each citation has the URI, and each page of a report or a dashboard shows it.
    if length(v_document.uri) > 10000 then
        raise exception 'a URI may have at most 10,000 characters'
            using errcode = 'program_limit_exceeded',
                detail = format('Document "%s" has one of %s.', made_document.document_id, length(v_document.uri)),
                hint = 'Leave it out, or put it into the content.';
    end if;
    if pg_column_size(v_document.metadata) > 1000000 then
        raise exception 'metadata may have at most 1,000,000 bytes'
            using errcode = 'program_limit_exceeded',
                detail = format(
                    'Document "%s" has %s.', made_document.document_id, pg_column_size(v_document.metadata)
                ),
                hint = 'Put texts into the content, where searches find them.';
    end if;
    if not pgclarify_private.is_writable_date(v_document.dated) then
        raise exception 'a document may have a date from the year 2 to 9998'
            using errcode = 'invalid_parameter_value',
                column = 'dated',
                detail = format('Document "%s" has %s.', made_document.document_id, v_document.dated),
                hint = 'Pass null if the date is unknown.';
    end if;
    v_document.origin := coalesce(made_document.origin, '');
    return v_document;
end
$$;

comment on function pgclarify_private.made_document(text, text, jsonb, text) is
'A document in the form of merge_documents, or an error that says what is wrong with it. fields: as in document_from. origin: '
'the file that it comes from; null if there is none.';

create or replace function pgclarify_private.add_document(
    caller pgclarify_private.caller, corpus text, document_id text, content text, fields jsonb
)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus pgclarify_private.corpus := pgclarify_private.owned_corpus(add_document.caller, add_document.corpus);
    v_document pgclarify_private.document := pgclarify_private.made_document(
        pgclarify_private.id_for(v_corpus.corpus_id, add_document.document_id), add_document.content, add_document.fields, null
    );
    v_merged record;
    v_missing name;
begin
    for v_missing in
        select named from unnest(v_document.readers) as named
        except
        select role.rolname from pg_roles as role
    loop
        raise notice 'no role is named "%"', v_missing
            using hint = 'Until that role exists, the name gives no role access to the document, not even to the owner of the corpus.';
    end loop;
    perform pgclarify_private.lock_corpus(v_corpus.corpus_id);
    v_merged := pgclarify_private.merge_documents(v_corpus.corpus_id, null, array[v_document], '{}');
    if cardinality(v_merged.refused) > 0 then
        perform pgclarify_private.refuse_by_hand(v_corpus.corpus_id, v_document.id);
    end if;
    return v_merged.added + v_merged.changed > 0;
end
$$;

comment on function pgclarify_private.add_document(pgclarify_private.caller, text, text, text, jsonb) is
'See add_document. fields: its other parameters.';
grant execute on function pgclarify_private.add_document(pgclarify_private.caller, text, text, text, jsonb) to pgclarify_user;

create or replace function pgclarify_private.remove_document(caller pgclarify_private.caller, corpus text, document_id text)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus pgclarify_private.corpus := pgclarify_private.owned_corpus(remove_document.caller, remove_document.corpus);
    v_id constant text := pgclarify_private.id_for(v_corpus.corpus_id, remove_document.document_id);
    v_merged record;
begin
    perform pgclarify_private.lock_corpus(v_corpus.corpus_id);
    v_merged := pgclarify_private.merge_documents(v_corpus.corpus_id, null, '{}', array[v_id]);
    if v_merged.removed = 0 and exists (
        select from pgclarify_private.document
        where document.corpus_id = v_corpus.corpus_id
            and document.id = v_id
            and document.source_id is not null
            and not pgclarify_private.is_left(document.source_id)
    ) then
        perform pgclarify_private.refuse_by_hand(v_corpus.corpus_id, v_id);
    end if;
    return v_merged.removed > 0;
end
$$;

comment on function pgclarify_private.remove_document(pgclarify_private.caller, text, text) is 'See remove_document.';
grant execute on function pgclarify_private.remove_document(pgclarify_private.caller, text, text) to pgclarify_user;
