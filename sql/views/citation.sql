-- The citations of all operations. Text is wrapped: see views/wrapping.sql.

create or replace view pgclarify.citation as
select
    cited.run_id,
    run.operation,
    cited.ordinal,
    cited.rank,
    cited.candidate_rank,
    cited.is_medoid,
    cited.corpus_id,
    run.corpus_name || '' as corpus,
    cited.document_id || '' as document_id,
    found.title || '' as title,
    pgclarify_private.page_link(found.uri, found.place) || '' as uri,
    cited.passage_id,
    cited.heading || '' as heading,
    cited.quote || '' as quote,
    coalesce(found.start_char, cited.start_char) as start_char,
    coalesce(found.start_char + length(cited.quote), cited.end_char) as end_char,
    found.start_char is not null as is_current,
    run.question || '' as question,
    interpretation.interpretation || '' as interpretation,
    coalesce(interpretation.answer, step.answer, listed_answer.answer) || '' as answer,
    (run.requested_by || '')::name as requested_by,
    run.created_at,
    found.updated_at as document_updated_at,
    found.dated,
    found.place
from pgclarify_private.run
inner join pgclarify_private.citation as cited on run.run_id = cited.run_id
-- A run has rows in one of these. As left joins, a query that only counts citations can skip them.
left join pgclarify_private.interpretation
    on cited.run_id = interpretation.run_id and cited.ordinal = interpretation.ordinal
left join pgclarify_private.step on cited.run_id = step.run_id and cited.ordinal = step.ordinal
left join pgclarify_private.listed_answer
    on cited.run_id = listed_answer.run_id and cited.ordinal = listed_answer.ordinal
-- The aggregate tells the planner that there is at most one row, so a query that only counts citations can skip it.
left join lateral (
    select
        min(document.title) as title,
        min(document.uri) as uri,
        min(document.updated_at) as updated_at,
        min(document.dated) as dated,
        min(pgclarify_private.quote_position(document.content, cited.quote, cited.start_char)) as start_char,
        min(
            pgclarify_private.place_at(
                document.places, pgclarify_private.quote_position(document.content, cited.quote, cited.start_char)
            )
        ) as place
    from pgclarify_private.document
    where document.corpus_id = cited.corpus_id and document.id = cited.document_id
) as found on true
where cited.is_shown;

comment on view pgclarify.citation is
'The citations of interpretations, steps of investigations, clarifying questions and listed answers, joined with their '
'documents. A citation belongs to the row with its run_id and ordinal in the view of the operation.';
comment on column pgclarify.citation.operation is 'Operation of the run, as in run.';
comment on column pgclarify.citation.corpus is 'The corpus''s name when it was asked.';
comment on column pgclarify.citation.title is 'Its current title; null if it has none or was removed.';
comment on column pgclarify.citation.uri is
'Its address, for people, with #page=7 for a page of a PDF file; null if it has none or was removed.';
comment on column pgclarify.citation.start_char is
'Offset of the quote in the current document, from 0; its former offset if the quote is gone.';
comment on column pgclarify.citation.end_char is 'Offset after the quote, likewise.';
comment on column pgclarify.citation.is_current is 'True if the document still has the quote.';
comment on column pgclarify.citation.question is 'The question of the run.';
comment on column pgclarify.citation.interpretation is 'The reading; null if no interpretation cites.';
comment on column pgclarify.citation.answer is
'The answer of the interpretation, of the step, or of the list; null for a clarifying question.';
comment on column pgclarify.citation.requested_by is 'Role that asked.';
comment on column pgclarify.citation.created_at is 'When it was asked.';
comment on column pgclarify.citation.document_updated_at is
'When the document last changed; null if it was removed, or you may not read it.';
comment on column pgclarify.citation.dated is
'The date of the document; null if it is unknown, the document was removed, or you may not read it.';
comment on column pgclarify.citation.place is
'Where in the document it is, such as "page 7" or "sheet Prices, row 12"; null if its file has no places, or the quote is '
'gone.';
grant select on pgclarify.citation to pgclarify_reader;
