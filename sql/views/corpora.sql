-- Corpora, their documents and passages, as people read them. Text is wrapped: see views/wrapping.sql.

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
    document.unread #> '{}' as unread
from pgclarify_private.document
-- A query that does not read these columns skips the join. For a constant corpus_id, the planner replaces the first condition;
-- the condition with "+ 0" then still shows it that there is at most one row.
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
'How often runs that you may see cited it: for interpretations, in steps of investigations, and for listed answers. Workers '
'count after a run has ended; deleted runs still count.';
comment on column pgclarify.document.cited_runs is 'In how many runs.';
comment on column pgclarify.document.last_cited_at is 'When the last of them ended; null if it was never cited.';

grant select on pgclarify.document to pgclarify_reader;

create or replace view pgclarify.passage as
select
    passage.corpus_id,
    passage.document_id || '' as document_id,
    passage.id,
    passage.ordinal,
    passage.heading || '' as heading,
    passage.content || '' as content,
    passage.start_char,
    passage.end_char,
    trim_array(passage.readers, 0) as readers
from pgclarify_private.passage;

grant select on pgclarify.passage to pgclarify_reader;
