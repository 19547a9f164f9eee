-- Written by `make generated` from pgclarify/declared. Do not edit.
-- Documents, as people read them. Text is wrapped: see views/wrapping.sql.

create or replace view pgclarify.document as
select
    document.corpus_id,
    document.id || '' as id,
    document.content || '' as content,
    document.title || '' as title,
    document.uri || '' as uri,
    document.metadata #> '{}' as metadata,
    trim_array(document.readers, 0) as readers,
    document.error || '' as error,
    document.has_failed,
    document.created_at,
    document.updated_at,
    document.indexed_at,
    document.source_id,
    document.origin || '' as origin,
    coalesce(cited.citations, 0)::bigint as citations,
    coalesce(cited.runs, 0)::bigint as cited_runs,
    cited.last_cited_at,
    document.dated,
    document.places #> '{}' as places,
    document.unread #> '{}' as unread,
    document.author || '' as author
from pgclarify_private.document
-- A query that does not read these columns skips the join. For a constant corpus_id, the planner replaces the first
-- condition; the condition with "+ 0" then still shows it that there is at most one row.
left join (
    select
        citation_tally.corpus_id,
        citation_tally.document_id,
        sum(citation_tally.citations) as citations,
        sum(citation_tally.runs) as runs,
        max(citation_tally.last_cited_at) as last_cited_at
    from pgclarify_private.citation_tally
    group by citation_tally.corpus_id, citation_tally.document_id
) as cited
    on document.corpus_id = cited.corpus_id
        and document.corpus_id + 0 = cited.corpus_id
        and document.id = cited.document_id;

comment on column pgclarify.document.citations is
'How often runs that you may see cited it: for interpretations, in steps of investigations, and for listed answers. '
'Workers count after a run has ended; deleted runs still count.';
comment on column pgclarify.document.cited_runs is 'In how many runs.';
comment on column pgclarify.document.last_cited_at is 'When the last of them ended; null if it was never cited.';

grant select on pgclarify.document to pgclarify_reader;

create or replace function pgclarify_private.document_row(
    document pgclarify_private.document, citations bigint, cited_runs bigint, last_cited_at timestamptz
)
returns pgclarify.document
language sql stable
begin atomic
    select row(
        (document_row.document).corpus_id,
        (document_row.document).id,
        (document_row.document).content,
        (document_row.document).title,
        (document_row.document).uri,
        (document_row.document).metadata,
        (document_row.document).readers,
        (document_row.document).error,
        (document_row.document).has_failed,
        (document_row.document).created_at,
        (document_row.document).updated_at,
        (document_row.document).indexed_at,
        (document_row.document).source_id,
        (document_row.document).origin,
        document_row.citations,
        document_row.cited_runs,
        document_row.last_cited_at,
        (document_row.document).dated,
        (document_row.document).places,
        (document_row.document).unread,
        (document_row.document).author
    )::pgclarify.document;
end;

comment on function pgclarify_private.document_row(pgclarify_private.document, bigint, bigint, timestamptz) is
'The row of view document. It sets no search_path, so that the planner can inline it.';
