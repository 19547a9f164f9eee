-- Evidence: what proves the entries of lists (clarifying questions, answers), for those who may see the run.

create or replace view pgclarify.evidence_citation with (security_invoker) as
select
    evidence.run_id,
    evidence.ordinal,
    evidence.rank,
    evidence.document_id,
    document.title,
    document.uri,
    evidence.passage_id,
    evidence.heading,
    evidence.quote,
    coalesce(found.start_char, evidence.start_char) as start_char,
    coalesce(found.start_char + length(evidence.quote), evidence.end_char) as end_char,
    found.start_char is not null as is_current
from pgclarify.evidence
left join pgclarify.document
    on evidence.corpus_id = document.corpus_id and evidence.document_id = document.id
cross join lateral (
    select pgclarify_private.quote_position(document.content, evidence.quote, evidence.start_char) as start_char
    -- Once, although it is named three times.
    offset 0
) as found;

comment on view pgclarify.evidence_citation is
'What is cited for each entry of a run''s list (a clarifying question, an answer), joined to the document it is from.';
comment on column pgclarify.evidence_citation.run_id is 'The run.';
comment on column pgclarify.evidence_citation.ordinal is 'The entry''s place in the run''s list, from 1.';
comment on column pgclarify.evidence_citation.rank is 'Place among its citations, from 1.';
comment on column pgclarify.evidence_citation.document_id is 'The document.';
comment on column pgclarify.evidence_citation.title is 'Its title now; null if it has none or is gone.';
comment on column pgclarify.evidence_citation.uri is 'Where a person finds it; null if nowhere or gone.';
comment on column pgclarify.evidence_citation.passage_id is 'The passage.';
comment on column pgclarify.evidence_citation.heading is 'Headings above the passage when it was cited.';
comment on column pgclarify.evidence_citation.quote is 'The words that are cited, verbatim.';
comment on column pgclarify.evidence_citation.start_char is
'Offset of the quote in the document as it is now, from 0; where it stood when it was cited, if it is gone.';
comment on column pgclarify.evidence_citation.end_char is 'Offset after the quote, likewise.';
comment on column pgclarify.evidence_citation.is_current is 'True if the quote still stands in the document.';
grant select on pgclarify.evidence_citation to pgclarify_reader;

create or replace function pgclarify_private.evidence_of(run_id bigint, ordinal integer, roles name[])
returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        coalesce(
            jsonb_agg(
                jsonb_build_object(
                    'run_id', evidence_of.run_id,
                    'ordinal', evidence_of.ordinal,
                    'rank', evidence.rank,
                    'document_id', evidence.document_id,
                    'title', document.title,
                    'uri', document.uri,
                    'passage_id', evidence.passage_id,
                    'heading', evidence.heading,
                    'quote', evidence.quote,
                    'start_char', coalesce(found.start_char, evidence.start_char),
                    'end_char', coalesce(found.start_char + length(evidence.quote), evidence.end_char),
                    'is_current', found.start_char is not null
                )
                order by evidence.rank
            ),
            '[]'
        )
    from pgclarify.evidence
    left join pgclarify.document
        on evidence.corpus_id = document.corpus_id
        and evidence.document_id = document.id
        and (document.readers is null or document.readers && evidence_of.roles)
        and document.corpus_id in (
            select visible.corpus_id from pgclarify_private.visible_corpora(evidence_of.roles) as visible
        )
    cross join lateral (
        select pgclarify_private.quote_position(document.content, evidence.quote, evidence.start_char) as start_char
        -- Once, although it is named three times.
        offset 0
    ) as found
    where evidence.run_id = evidence_of.run_id
        and evidence.ordinal = evidence_of.ordinal
        and evidence.candidate_rank <> all(
            (select pgclarify_private.withheld_ranks(evidence_of.run_id, evidence_of.roles))::integer[]
        );
end;

comment on function pgclarify_private.evidence_of(bigint, integer, name[]) is
'What is cited for an entry of a run''s list, as an array of objects with the columns of view evidence_citation. Quotes stay, '
'as in citations; of the documents, what holders of these roles may read now.';

create or replace function pgclarify_private.evidence_document_ids(run_id bigint, ordinal integer, roles name[])
returns text[]
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select coalesce(array_agg(cited.document_id order by cited.rank), '{}')
    from (
        select evidence.document_id, min(evidence.rank) as rank
        from pgclarify.evidence
        where
            evidence.run_id = evidence_document_ids.run_id
            and evidence.ordinal = evidence_document_ids.ordinal
            and evidence.candidate_rank <> all(
                (select pgclarify_private.withheld_ranks(evidence_document_ids.run_id, evidence_document_ids.roles))::integer[]
            )
        group by evidence.document_id
    ) as cited;
end;

comment on function pgclarify_private.evidence_document_ids(bigint, integer, name[]) is
'The documents of evidence_of, each once, best first.';
