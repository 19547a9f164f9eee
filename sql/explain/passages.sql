-- explain: the passages of a run.

create or replace function pgclarify_private.explained_passages(
    run_id bigint, roles name[], withheld integer[], are_shown boolean
)
returns table (
    rank integer,
    step_ordinal integer,
    origin text,
    outcome text,
    paid_ms double precision,
    body text,
    figures text[],
    reading text
)
language sql stable
set search_path = pg_catalog, pg_temp
begin atomic
    with candidate as materialized (
        select
            candidate.rank, candidate.step_ordinal, candidate.origin, candidate.score,
            candidate.via_passage_id, candidate.passage_id, candidate.document_id, candidate.heading, document.title,
            -- Passages that a budget kept from being judged are mentioned once, at the end.
            case when not refused.is_over_budget then verdict.outcome else 'not judged' end as outcome,
            case when not refused.is_over_budget then verdict.error end as error,
            verdict.interpretation, verdict.answer, verdict.reason, verdict.is_reused,
            case when not verdict.is_reused then completion.latency_ms end as paid_ms,
            completion.prompt_tokens, completion.completion_tokens
        from pgclarify_private.candidate
        left join pgclarify_private.verdict on verdict.run_id = candidate.run_id and verdict.rank = candidate.rank
        cross join lateral (select pgclarify_private.is_over_budget(verdict.error_code) as is_over_budget) as refused
        left join pgclarify_private.completion on completion.completion_id = verdict.completion_id
        left join pgclarify_private.document
            on document.corpus_id = candidate.corpus_id
            and document.id = candidate.document_id
            and (document.readers is null or document.readers && explained_passages.roles)
            and document.corpus_id in (
                select visible.corpus_id from pgclarify_private.visible_corpora(explained_passages.roles) as visible
            )
        where candidate.run_id = explained_passages.run_id and candidate.rank <> all(explained_passages.withheld)
    )
    select
        candidate.rank, candidate.step_ordinal, candidate.origin, candidate.outcome, candidate.paid_ms,
        case
            when explained_passages.are_shown then
                format(
                    '#%s  %s  %s  %s', candidate.rank,
                    candidate.origin || coalesce(' of #' || via.rank, ' of passage ' || candidate.via_passage_id, ''),
                    to_char(candidate.score, 'FM999990.0000'),
                    pgclarify_private.shown_passage(
                        candidate.passage_id, candidate.document_id, candidate.title, candidate.heading
                    )
                )
                || coalesce(': ' || candidate.outcome, '')
                || coalesce(', ' || pgclarify_private.shown(coalesce(candidate.reason, candidate.error)), '')
        end,
        case
            when not explained_passages.are_shown then null
            when candidate.is_reused then array['reused']
            else array[
                'time=' || pgclarify_private.shown_number(candidate.paid_ms) || ' ms',
                'tokens=' || pgclarify_private.shown_tokens(candidate.prompt_tokens, candidate.completion_tokens)
            ]
        end,
        case
            when explained_passages.are_shown and candidate.outcome = 'grounded' then
                format(
                    '%s Answer: %s',
                    pgclarify_private.shown(candidate.interpretation), pgclarify_private.shown(candidate.answer)
                )
        end
    from candidate
    left join (
        select candidate.step_ordinal, candidate.passage_id, min(candidate.rank) as rank
        from candidate
        group by candidate.step_ordinal, candidate.passage_id
    ) as via
        on candidate.via_passage_id = via.passage_id
        and candidate.step_ordinal is not distinct from via.step_ordinal;
end;

comment on function pgclarify_private.explained_passages(bigint, name[], integer[], boolean) is
'The passages of a run, except those of withheld ranks. roles: decide which titles of documents are shown. are_shown: whether '
'each has its own line; then body and figures are of that line, and reading is the line below it, for a passage with an '
'answer.';
