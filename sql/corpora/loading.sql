-- Documents of files: a file is the same document at every load, and replaces only the document of that file.

create or replace function pgclarify_private.check_load(
    caller pgclarify_private.caller, corpus text, document_ids text[], origins text[]
)
returns table (
    ordinal bigint, document_id text, is_taken boolean, taken_from text, relation text
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
-- A new table has no statistics, and a nested loop over an index with a thousand keys would be slow.
set enable_nestloop = off
set jit = off
as $$
declare
    v_corpus pgclarify_private.corpus := pgclarify_private.owned_corpus(check_load.caller, check_load.corpus);
begin
    return query
    with given as (
        select one.ordinal, pgclarify_private.id_for(v_corpus.corpus_id, one.document_id) as document_id, one.origin
        from unnest(check_load.document_ids, check_load.origins) with ordinality as one (document_id, origin, ordinal)
    ),
    known as (
        select distinct on (document.origin) document.id, document.origin
        from pgclarify_private.document
        where
            document.corpus_id = v_corpus.corpus_id
            and document.origin <> ''
            and document.origin = any(check_load.origins)
        order by document.origin, document.id
    ),
    placed as (
        select
            given.ordinal,
            given.origin,
            coalesce(
                known.id,
                case
                    when given.origin <> ''
                        then first_value(given.document_id) over (partition by given.origin order by given.ordinal)
                end,
                given.document_id
            ) as document_id,
            known.id is not null as is_known
        from given
        left join known on given.origin = known.origin
    ),
    present as (
        select document.id, document.origin, document.source_id
        from pgclarify_private.document
        where
            document.corpus_id = v_corpus.corpus_id
            and document.id = any(array(select placed.document_id from placed))
    )
    select
        placed.ordinal,
        placed.document_id,
        not placed.is_known
        and present.id is not null
        and not pgclarify_private.may_replace(present.source_id, present.origin, placed.origin),
        present.origin,
        source.relation_name
    from placed
    left join present on placed.document_id = present.id
    left join pgclarify_private.source on present.source_id = source.source_id
    order by placed.ordinal;
end
$$;

comment on function pgclarify_private.check_load(pgclarify_private.caller, text, text[], text[]) is
'Under which ids load_documents stores documents of files: the file''s id if it is known, else the first one given for it. '
'origins: null for a document without a file. is_taken: another document has that id, with the origin taken_from, or as a row '
'of the table relation.';
grant execute on function pgclarify_private.check_load(pgclarify_private.caller, text, text[], text[]) to pgclarify_user;

create or replace function pgclarify_private.refuse_origins(
    corpus text, taken text[]
)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception 'corpus "%" has documents of other sources with these ids', refuse_origins.corpus
        using errcode = 'unique_violation',
            detail = format(
                '%s%s.',
                array_to_string(refuse_origins.taken[:10], ', '),
                case
                    when cardinality(refuse_origins.taken) > 10
                        then format(' and %s more', cardinality(refuse_origins.taken) - 10)
                    else ''
                end
            ),
            hint = 'Load them under other ids, or remove those documents first.';
end
$$;

comment on function pgclarify_private.refuse_origins(text, text[]) is
'Error 23505: the ids of documents of files belong to other documents. taken: those ids.';

create or replace function pgclarify_private.with_file(document pgclarify_private.document, file jsonb)
returns pgclarify_private.document
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    document.places := nullif(file -> 'places', '[]');
    document.unread := nullif(file -> 'unread', '{}');
    return document;
end
$$;

comment on function pgclarify_private.with_file(pgclarify_private.document, jsonb) is
'A document with what the reader of its file knows of it. file: an object with places and unread, as in the table; null for a '
'document without a file.';

create or replace function pgclarify_private.place_at(places jsonb, start_char integer)
returns text
language sql stable parallel safe
begin atomic
    select
        jsonb_path_query_array(
            place_at.places, '$[*] ? (@.start_char <= $at).name', jsonb_build_object('at', place_at.start_char)
        ) ->> -1;
end;

comment on function pgclarify_private.place_at(jsonb, integer) is
'Where an offset of a document is, such as "page 7": the name of the last place that begins there or before; null if there is '
'none. It is not strict and sets no search_path, so that the planner can inline it.';
grant execute on function pgclarify_private.place_at(jsonb, integer) to pgclarify_reader;

create or replace function pgclarify_private.page_link(uri text, place text)
returns text
language sql immutable parallel safe
begin atomic
    select
        case
            when page_link.uri ~* '^https?://[^#]*\.pdf$' and page_link.place ~ '^page [0-9]+'
                then page_link.uri || '#page=' || substring(page_link.place from '[0-9]+')
            else page_link.uri
        end;
end;

comment on function pgclarify_private.page_link(text, text) is
'The address of a page of a PDF file, which browsers open there; the address as it is for another place or file. It '
'sets no search_path, so that the planner can inline it.';
grant execute on function pgclarify_private.page_link(text, text) to pgclarify_reader;

create or replace function pgclarify_private.load_documents(
    caller pgclarify_private.caller,
    corpus text,
    document_ids text[],
    contents text[],
    fields jsonb[],
    origins text[],
    files jsonb[] default null,
    out changed bigint,
    out unchanged bigint
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus pgclarify_private.corpus := pgclarify_private.owned_corpus(load_documents.caller, load_documents.corpus);
    v_ids text[];
    v_taken text[];
    v_documents pgclarify_private.document[];
    v_merged record;
begin
    if cardinality(array_remove(load_documents.origins, null)) > 0 then
        -- One load at a time: two loads that give the same new file different ids would both add it.
        perform from pgclarify_private.living_corpus as corpus where corpus.corpus_id = v_corpus.corpus_id for no key update;
    end if;
    perform pgclarify_private.lock_corpus(v_corpus.corpus_id);
    select
        coalesce(array_agg(located.document_id order by located.ordinal), '{}'),
        coalesce(array_agg(distinct located.document_id) filter (where located.is_taken), '{}')
    into v_ids, v_taken
    from pgclarify_private.check_load(
        load_documents.caller, v_corpus.name, load_documents.document_ids, load_documents.origins
    ) as located;
    v_taken := v_taken || array(
        select given.id
        from unnest(v_ids, load_documents.origins) as given (id, origin)
        group by given.id
        having count(distinct coalesce(given.origin, '')) > 1
    );
    if cardinality(v_taken) > 0 then
        perform pgclarify_private.refuse_origins(v_corpus.name, v_taken);
    end if;
    select coalesce(array_agg(made.document), '{}') into v_documents
    from (
        -- Of several documents with one id the last one counts.
        select distinct on (given.id)
            pgclarify_private.with_file(
                pgclarify_private.made_document(given.id, given.content, given.fields, given.origin), given.file
            ) as document
        from unnest(
            v_ids, load_documents.contents, load_documents.fields, load_documents.origins, load_documents.files
        ) with ordinality as given (id, content, fields, origin, file, ordinal)
        order by given.id, given.ordinal desc
    ) as made;
    v_merged := pgclarify_private.merge_documents(v_corpus.corpus_id, null, v_documents, '{}');
    if cardinality(v_merged.refused) > 0 then
        if (
            select bool_and(given.origin is null)
            from unnest(v_ids, load_documents.origins) as given (id, origin)
            where given.id = v_merged.refused[1]
        ) then
            perform pgclarify_private.refuse_by_hand(v_corpus.corpus_id, v_merged.refused[1]);
        end if;
        -- A statement added them after the check.
        perform pgclarify_private.refuse_origins(v_corpus.name, v_merged.refused);
    end if;
    changed := v_merged.added + v_merged.changed;
    unchanged := cardinality(v_documents) - changed;
end
$$;

comment on function pgclarify_private.load_documents(
    pgclarify_private.caller, text, text[], text[], jsonb[], text[], jsonb[]
) is
'add_document for many at once, element by element. fields: as in document_from. origins: the file of each, null for none. '
'files: as in with_file. If the file is known, its document is changed. Error 23505 lists ids that belong to other documents; '
'then nothing has changed. Returns how many are new or changed, and how many are unchanged.';
grant execute on function pgclarify_private.load_documents(
    pgclarify_private.caller, text, text[], text[], jsonb[], text[], jsonb[]
) to pgclarify_user;

create or replace function pgclarify_private.loaded_from(
    caller pgclarify_private.caller, corpus text, origin_prefix text, after text, max_rows integer
)
returns table (document_id text, origin text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus pgclarify_private.corpus := pgclarify_private.owned_corpus(loaded_from.caller, loaded_from.corpus);
    v_prefix text collate "C" := loaded_from.origin_prefix;
    -- The prefix ends with / or #, so the next character after that is the end of the range.
    v_end text collate "C" := left(v_prefix, -1) || chr(ascii(right(v_prefix, 1)) + 1);
begin
    return query
    select document.id, document.origin
    from pgclarify_private.document
    where document.corpus_id = v_corpus.corpus_id
        and document.origin <> ''
        and document.origin >= v_prefix
        and document.origin < v_end
        and document.origin > coalesce(loaded_from.after, '') collate "C"
    order by document.origin
    limit loaded_from.max_rows;
end
$$;

comment on function pgclarify_private.loaded_from(pgclarify_private.caller, text, text, text, integer) is
'A page of the documents of a source, by origin, for the owner of the corpus. origin_prefix: the source, with a slash for a '
'folder and # for a file with many documents. after: the last origin of the previous page; null for the first.';
grant execute on function pgclarify_private.loaded_from(pgclarify_private.caller, text, text, text, integer) to pgclarify_user;

create or replace function pgclarify_private.remove_loaded(
    caller pgclarify_private.caller, corpus text, document_ids text[], origins text[]
)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus pgclarify_private.corpus := pgclarify_private.owned_corpus(remove_loaded.caller, remove_loaded.corpus);
    v_ids text[];
begin
    perform pgclarify_private.lock_corpus(v_corpus.corpus_id);
    -- Another source may have taken over a document meanwhile.
    with locked as (
        select document.id
        from pgclarify_private.document
        where document.corpus_id = v_corpus.corpus_id
            and document.id = any(remove_loaded.document_ids)
            and document.origin <> ''
            and document.origin = any(remove_loaded.origins)
        order by document.id
        for update
    )
    select coalesce(array_agg(locked.id), '{}') into v_ids from locked;
    return (pgclarify_private.merge_documents(v_corpus.corpus_id, null, '{}', v_ids)).removed;
end
$$;

comment on function pgclarify_private.remove_loaded(pgclarify_private.caller, text, text[], text[]) is
'Remove documents if they still belong to these files, and return how many were removed. document_ids, origins: as '
'loaded_from returns them.';
grant execute on function pgclarify_private.remove_loaded(pgclarify_private.caller, text, text[], text[]) to pgclarify_user;
