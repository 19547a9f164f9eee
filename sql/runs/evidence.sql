-- Evidence: the citations of listed entries (clarifying questions, answers), for roles that may see the run.

create or replace view pgclarify.evidence_citation as
select
    evidence.run_id,
    evidence.ordinal,
    evidence.rank,
    evidence.document_id || '' as document_id,
    found.title || '' as title,
    found.uri || '' as uri,
    evidence.passage_id,
    evidence.heading || '' as heading,
    evidence.quote || '' as quote,
    coalesce(found.start_char, evidence.start_char) as start_char,
    coalesce(found.start_char + length(evidence.quote), evidence.end_char) as end_char,
    found.start_char is not null as is_current
from pgclarify_private.evidence
-- The aggregate tells the planner that there is at most one row, so a query that only counts citations can skip it.
left join lateral (
    select
        min(document.title) as title,
        min(document.uri) as uri,
        min(pgclarify_private.quote_position(document.content, evidence.quote, evidence.start_char)) as start_char
    from pgclarify_private.document
    where document.corpus_id = evidence.corpus_id and document.id = evidence.document_id
) as found on true;

comment on view pgclarify.evidence_citation is
'The citations of each entry of a run''s list (a clarifying question, an answer), joined with their documents.';
comment on column pgclarify.evidence_citation.run_id is 'The run.';
comment on column pgclarify.evidence_citation.ordinal is 'The entry''s place in the run''s list, from 1.';
comment on column pgclarify.evidence_citation.rank is 'Place among its citations, from 1.';
comment on column pgclarify.evidence_citation.document_id is 'The document.';
comment on column pgclarify.evidence_citation.title is 'Its current title; null if it has none or was removed.';
comment on column pgclarify.evidence_citation.uri is 'Its address, for people; null if it has none or was removed.';
comment on column pgclarify.evidence_citation.passage_id is 'The passage.';
comment on column pgclarify.evidence_citation.heading is 'Headings above the passage when it was cited.';
comment on column pgclarify.evidence_citation.quote is 'The words that are cited, verbatim.';
comment on column pgclarify.evidence_citation.start_char is
'Offset of the quote in the current document, from 0; its former offset if the quote is gone.';
comment on column pgclarify.evidence_citation.end_char is 'Offset after the quote, likewise.';
comment on column pgclarify.evidence_citation.is_current is 'True if the document still has the quote.';
grant select on pgclarify.evidence_citation to pgclarify_reader;
