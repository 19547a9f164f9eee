-- One document by its id. View document cannot use the index for that, because its ids are wrapped (views/wrapping.sql).

create or replace function pgclarify_private.get_document(
    caller pgclarify_private.caller, corpus text, document_id text
)
returns setof pgclarify.document
language plpgsql stable rows 1 security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_roles name[] := pgclarify_private.roles_of(pgclarify_private.verify_caller(get_document.caller));
    v_corpus pgclarify_private.corpus := pgclarify_private.find_corpus(v_roles, get_document.corpus);
    v_id constant text := pgclarify_private.existing_id(v_corpus.corpus_id, get_document.document_id);
    v_cited record;
begin
    select
        sum(citation_tally.citations) as citations,
        sum(citation_tally.runs) as runs,
        max(citation_tally.last_cited_at) as last_cited_at
    into v_cited
    from pgclarify_private.citation_tally
    where
        citation_tally.corpus_id = v_corpus.corpus_id
        and citation_tally.document_id = v_id
        -- As in policy citation_tally_is_visible.
        and pgclarify_private.may_see_all(
            citation_tally.requested_by, citation_tally.requested_by_oid, v_corpus.analysts, v_roles
        );
    return query
    select (made.seen).*
    from (
        select
            pgclarify_private.document_row(
                document, coalesce(v_cited.citations, 0)::bigint, coalesce(v_cited.runs, 0)::bigint, v_cited.last_cited_at
            ) as seen
        from pgclarify_private.document
        where
            document.corpus_id = v_corpus.corpus_id
            and document.id = v_id
            and pgclarify_private.may_read(
                document, v_roles, pgclarify_private.fence_of(v_corpus.corpus_id, v_roles)
            )
        offset 0
    ) as made;
end
$$;

comment on function pgclarify_private.get_document(pgclarify_private.caller, text, text) is
'The row of get_document for a caller.';
grant execute on function pgclarify_private.get_document(pgclarify_private.caller, text, text) to pgclarify_reader;

create or replace function pgclarify_private.unread_kinds(caller pgclarify_private.caller)
returns table (corpus text, kind text, documents bigint, number numeric)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_roles name[] := pgclarify_private.roles_of(pgclarify_private.verify_caller(unread_kinds.caller));
begin
    return query
    select visible.name, unread.kind, count(*), sum(unread.number::numeric)
    from pgclarify_private.visible_corpora(v_roles) as visible
    inner join pgclarify_private.document on visible.corpus_id = document.corpus_id
    cross join jsonb_each_text(document.unread) as unread (kind, number)
    where
        document.unread is not null
        and pgclarify_private.may_read(
            document, v_roles, pgclarify_private.fence_of(visible.corpus_id, v_roles)
        )
    group by visible.name, unread.kind
    order by visible.name, count(*) desc, unread.kind;
end
$$;

comment on function pgclarify_private.unread_kinds(pgclarify_private.caller) is
'What files of each corpus have and their documents do not, by kind: in how many documents that the caller may read, and how '
'many times.';
grant execute on function pgclarify_private.unread_kinds(pgclarify_private.caller) to pgclarify_reader;
