-- Views for people and dashboards: flat columns, stable names. They only read, and start nothing.

create or replace view pgclarify.interpretation_citation as
select
    citation.run_id,
    citation.ordinal,
    interpretation.interpretation || '' as interpretation,
    interpretation.answer || '' as answer,
    citation.rank,
    citation.is_medoid,
    citation.document_id || '' as document_id,
    found.title || '' as title,
    found.uri || '' as uri,
    citation.passage_id,
    citation.heading || '' as heading,
    citation.quote || '' as quote,
    coalesce(found.start_char, citation.start_char) as start_char,
    coalesce(found.start_char + length(citation.quote), citation.end_char) as end_char,
    found.start_char is not null as is_current,
    run.corpus_name || '' as corpus,
    run.question || '' as question,
    (run.requested_by || '')::name as requested_by,
    run.created_at
from pgclarify_private.run
inner join pgclarify_private.citation on run.run_id = citation.run_id
-- The row always exists. As a left join, a query that only counts citations can skip it.
left join pgclarify_private.interpretation
    on citation.run_id = interpretation.run_id and citation.ordinal = interpretation.ordinal
-- The aggregate tells the planner that there is at most one row, so a query that only counts citations can skip it.
left join lateral (
    select
        min(document.title) as title,
        min(document.uri) as uri,
        min(pgclarify_private.quote_position(document.content, citation.quote, citation.start_char)) as start_char
    from pgclarify_private.document
    where document.corpus_id = citation.corpus_id and document.id = citation.document_id
) as found on true;

comment on view pgclarify.interpretation_citation is 'The citations of each interpretation, joined with their documents.';
comment on column pgclarify.interpretation_citation.run_id is 'The run.';
comment on column pgclarify.interpretation_citation.ordinal is 'The interpretation''s place in the run, from 1.';
comment on column pgclarify.interpretation_citation.interpretation is 'The reading.';
comment on column pgclarify.interpretation_citation.answer is 'Its answer.';
comment on column pgclarify.interpretation_citation.rank is 'Place among its citations, from 1.';
comment on column pgclarify.interpretation_citation.is_medoid is 'True for the citation of the medoid.';
comment on column pgclarify.interpretation_citation.document_id is 'The document.';
comment on column pgclarify.interpretation_citation.title is 'Its current title; null if it has none or was removed.';
comment on column pgclarify.interpretation_citation.uri is 'Its address, for people; null if it has none or was removed.';
comment on column pgclarify.interpretation_citation.passage_id is 'The passage.';
comment on column pgclarify.interpretation_citation.heading is 'Headings above the passage when it was cited.';
comment on column pgclarify.interpretation_citation.quote is 'The words that are cited for the answer, verbatim.';
comment on column pgclarify.interpretation_citation.start_char is
'Offset of the quote in the current document, from 0; its former offset if the quote is gone.';
comment on column pgclarify.interpretation_citation.end_char is 'Offset after the quote, likewise.';
comment on column pgclarify.interpretation_citation.is_current is 'True if the document still has the quote.';
comment on column pgclarify.interpretation_citation.corpus is 'The corpus''s name when it was asked.';
comment on column pgclarify.interpretation_citation.question is 'The question.';
comment on column pgclarify.interpretation_citation.requested_by is 'Role that asked.';
comment on column pgclarify.interpretation_citation.created_at is 'When it was asked.';
grant select on pgclarify.interpretation_citation to pgclarify_reader;

create or replace view pgclarify.run_summary as
select
    run.run_id,
    run.operation,
    run.corpus_name || '' as corpus,
    pgclarify_private.asked(run.question, run.settings) || '' as question,
    run.status,
    run.error || '' as error,
    (run.requested_by || '')::name as requested_by,
    run.created_at,
    run.started_at,
    run.finished_at,
    case
        when run.operation in ('clarify', 'consolidate')
            -- Counted here while the run is not over, and for runs that an earlier version ended.
            then coalesce(
                run.interpretations::bigint,
                (select count(*) from pgclarify_private.interpretation where interpretation.run_id = run.run_id)
            )
    end as interpretations,
    coalesce(
        run.candidates::bigint, (select count(*) from pgclarify_private.candidate where candidate.run_id = run.run_id)
    ) as candidates,
    coalesce(
        run.verdicts::bigint, (select count(*) from pgclarify_private.verdict where verdict.run_id = run.run_id)
    ) as verdicts,
    run.completions,
    run.reused_completions,
    run.prompt_tokens,
    run.completion_tokens,
    run.model || '' as model,
    run.stop_reason || '' as stop_reason,
    run.route,
    run.saved_completions,
    run.cost_usd,
    run.served,
    run.last_served_at,
    run.question_group_id,
    run.stop_code,
    run.error_code || '' as error_code,
    run.cached_tokens
from pgclarify_private.run;

comment on view pgclarify.run_summary is 'Runs that you may see, with their results so far.';
comment on column pgclarify.run_summary.run_id is 'The run.';
comment on column pgclarify.run_summary.operation is
'clarify, consolidate, search, investigate, detect_ambiguity, rewrite, clarifying_questions, reply, '
'list_answers or estimate.';
comment on column pgclarify.run_summary.corpus is
'The corpus''s name when it was asked; null without a corpus.';
comment on column pgclarify.run_summary.question is
'The question; for many questions of detect_ambiguity, and for estimate, their number.';
comment on column pgclarify.run_summary.status is 'queued, running, succeeded, partial, failed or cancelled.';
comment on column pgclarify.run_summary.error is 'Why it failed; null unless it did.';
comment on column pgclarify.run_summary.requested_by is 'Role that asked.';
comment on column pgclarify.run_summary.created_at is 'When it was asked.';
comment on column pgclarify.run_summary.started_at is 'When a worker last started it.';
comment on column pgclarify.run_summary.finished_at is 'When it ended; null before.';
comment on column pgclarify.run_summary.interpretations is
'Number of readings; null for operations other than clarify and consolidate.';
comment on column pgclarify.run_summary.candidates is 'Passages retrieved.';
comment on column pgclarify.run_summary.verdicts is 'Passages judged so far.';
comment on column pgclarify.run_summary.completions is 'Calls it paid for; null until it has ended.';
comment on column pgclarify.run_summary.reused_completions is 'Replies it took from the ledger; null until it has ended.';
comment on column pgclarify.run_summary.prompt_tokens is 'Input tokens it paid for.';
comment on column pgclarify.run_summary.completion_tokens is 'Output tokens it paid for.';
comment on column pgclarify.run_summary.model is 'Model that judged.';
comment on column pgclarify.run_summary.stop_reason is
'Why it stopped although it could have continued; null if there was nothing to decide, or it has not ended.';
comment on column pgclarify.run_summary.route is
'With ask_back auto: answered (the question was clear, and one pass answered it) or clarified; null otherwise, and before '
'the decision.';
comment on column pgclarify.run_summary.saved_completions is
'Calls that this saved, at least; null if there was nothing to decide.';
comment on column pgclarify.run_summary.cost_usd is
'Cost in US dollars: 0 if it paid for no call; null if the cost of a call is unknown, or until it has ended.';
comment on column pgclarify.run_summary.served is
'How often it was reused to answer an equal question; counted within seconds.';
comment on column pgclarify.run_summary.last_served_at is 'When it was last reused; null if it never was.';
comment on column pgclarify.run_summary.question_group_id is
'Its group: questions of a corpus with the same meaning have the same number; null until a worker has grouped it, after its '
'end.';
comment on column pgclarify.run_summary.stop_code is
'Why it has no result, or only a part of it: not_answered, no_language_model, language, threshold, unproven, repeated, '
'no_passage, contradicted, limit, budget or failed_calls; null if its result is complete, or it has failed or is not over.';
comment on column pgclarify.run_summary.error_code is
'Why it failed, as a SQLSTATE from docs/errors.md; for a partial run, why calls failed; null otherwise.';
comment on column pgclarify.run_summary.cached_tokens is
'Those of prompt_tokens that the endpoint took from its cache, as it reports them.';
grant select on pgclarify.run_summary to pgclarify_reader;

create or replace function pgclarify_private.queue_counts()
returns table (queued bigint, running bigint, oldest_queued_at timestamptz)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        count(*) filter (where run.status = 'queued'),
        count(*) filter (where run.status = 'running'),
        min(run.created_at) filter (where run.status = 'queued')
    from pgclarify_private.run
    where run.status in ('queued', 'running');
end;

comment on function pgclarify_private.queue_counts() is 'The row of view queue_status.';
grant execute on function pgclarify_private.queue_counts() to pgclarify_reader;

create or replace view pgclarify.queue_status as
select
    counted.queued,
    counted.running,
    counted.oldest_queued_at,
    coalesce(extract(epoch from clock_timestamp() - counted.oldest_queued_at), 0)::double precision
    as oldest_queued_seconds,
    indexing.pending_documents,
    indexing.pending_passages
from pgclarify_private.queue_counts() as counted
cross join lateral (
    select
        coalesce(sum(corpus_status.pending), 0)::bigint as pending_documents,
        coalesce(sum(corpus_status.pending_passages), 0)::bigint as pending_passages
    from pgclarify.corpus_status
) as indexing;

comment on view pgclarify.queue_status is
'How much is waiting: runs of all roles, and documents of the corpora that you may search. One row.';
comment on column pgclarify.queue_status.queued is 'Runs that no worker has started.';
comment on column pgclarify.queue_status.running is 'Runs that workers are executing.';
comment on column pgclarify.queue_status.oldest_queued_at is 'When the oldest queued run was asked; null if none is queued.';
comment on column pgclarify.queue_status.oldest_queued_seconds is 'How long ago that is, in seconds; 0 if none is queued.';
comment on column pgclarify.queue_status.pending_documents is 'The sum of corpus_status.pending, as you see it.';
comment on column pgclarify.queue_status.pending_passages is 'The sum of corpus_status.pending_passages, as you see it.';
grant select on pgclarify.queue_status to pgclarify_reader;
