-- Reading results, for the role that asked, members of that role, and the corpus's analyst.

create or replace function pgclarify_private.visible_run(caller pgclarify_private.caller, run_id bigint)
returns pgclarify_private.run
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_roles name[] := pgclarify_private.roles_of(pgclarify_private.verify_caller(visible_run.caller));
    v_run pgclarify_private.run;
begin
    select run.* into v_run
    from pgclarify_private.run
    left join pgclarify_private.living_corpus as corpus on corpus.corpus_id = run.corpus_id
    where run.run_id = visible_run.run_id
        and (pgclarify_private.belongs_to(run.requested_by, run.requested_by_oid, v_roles) or corpus.analysts && v_roles);
    if not found then
        raise exception 'run % does not exist', coalesce(visible_run.run_id::text, 'null')
            using errcode = 'undefined_object',
                detail = 'No run of that number is visible to you.',
                hint = case
                    when current_setting('transaction_isolation') in ('repeatable read', 'serializable') then
                        'This transaction sees runs only as they were when it began: if the run is newer, end it first.'
                    else 'List yours with: select * from pgclarify.run order by run_id desc limit 10.'
                end;
    end if;
    return v_run;
end
$$;

comment on function pgclarify_private.visible_run(pgclarify_private.caller, bigint) is
'The run, if the caller may see it; error 42704 otherwise, as if there were none.';

create or replace function pgclarify_private.reading_hint(operation text, run_id bigint)
returns text
language sql stable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        case known.row_type
            when 'clarification' then format('Read it with: select * from pgclarify.result(%s).', reading_hint.run_id)
            else
                format(
                    'Read it with: select * from pgclarify.%s where run_id = %s.', known.result_view, reading_hint.run_id
                )
        end
    from pgclarify_private.operations() as known
    where known.operation = reading_hint.operation;
end;

comment on function pgclarify_private.reading_hint(text, bigint) is
'How to read the result of a run of an operation, for a HINT.';

create or replace function pgclarify_private.result_rows(
    caller pgclarify_private.caller, run_id bigint, row_type text, include text default null
)
returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run constant pgclarify_private.run := pgclarify_private.visible_run(result_rows.caller, result_rows.run_id);
begin
    if not exists (
        select from pgclarify_private.operations() as known
        where known.operation = v_run.operation and known.row_type = result_rows.row_type
    ) then
        raise exception 'run % has no rows of type %', v_run.run_id, pgclarify_private.shown(result_rows.row_type)
            using errcode = 'object_not_in_prerequisite_state',
                detail = format('Its operation is %s.', v_run.operation),
                hint = pgclarify_private.reading_hint(v_run.operation, v_run.run_id);
    end if;
    perform pgclarify_private.check_options(
        jsonb_build_object('include', result_rows.include),
        jsonb_build_object('include', pgclarify_private.options_of('consolidate') -> 'include')
    );
    perform pgclarify_private.raise_unless_succeeded(seen)
    from pgclarify_private.run_outcome_rows(array[v_run.run_id], null) as seen;
    return pgclarify_private.rows_in_json(
        result_rows.row_type, array[v_run.run_id], (result_rows.caller).name,
        case when pgclarify_private.finds_readings(v_run.operation) then result_rows.include end
    );
end
$$;

comment on function pgclarify_private.result_rows(pgclarify_private.caller, bigint, text, text) is
'The rows of a run as a JSON array, if the caller may see it. Errors and warnings are those of raise_unless_succeeded; error '
'55000 if its operation returns rows of another type. include: as in clarification_rows; other operations than those with '
'readings ignore it.';
grant execute on function pgclarify_private.result_rows(pgclarify_private.caller, bigint, text, text) to pgclarify_reader;

create or replace function pgclarify_private.cited(run_ids bigint[], roles name[])
returns table (
    run_id bigint,
    ordinal integer,
    is_withheld boolean,
    has_withheld boolean,
    document_ids text[],
    citations jsonb,
    dated timestamptz
)
language sql stable security definer
set search_path = pg_catalog, pg_temp
-- Dates in citations are the same in every session.
set timezone = 'UTC'
begin atomic
    select
        shown.run_id,
        shown.ordinal,
        bool_or(shown.is_closed and shown.is_decisive),
        bool_or(shown.is_closed),
        coalesce(
            array_agg(shown.document_id order by shown.rank) filter (where shown.is_first and not shown.is_closed), '{}'
        ),
        coalesce(
            jsonb_agg(
                jsonb_build_object(
                    'run_id', shown.run_id,
                    'rank', shown.rank,
                    'document_id', shown.document_id,
                    'title', document.title,
                    'uri', pgclarify_private.page_link(document.uri, found.place),
                    'passage_id', shown.passage_id,
                    'heading', shown.heading,
                    'quote', shown.quote,
                    'start_char', coalesce(found.start_char, shown.start_char),
                    'end_char', coalesce(found.start_char + length(shown.quote), shown.end_char),
                    'is_current', found.start_char is not null,
                    'dated', document.dated,
                    'place', found.place
                ) || shown.subject
                order by shown.rank
            ) filter (where not shown.is_closed),
            '[]'
        ),
        max(document.dated)
    from (
        select
            citation.*,
            row_number() over (
                partition by citation.run_id, citation.ordinal, citation.document_id, citation.is_closed
                order by citation.rank
            ) = 1 as is_first
        from (
            select
                citation.*,
                citation.candidate_rank = any(run.withheld_ranks) as is_closed,
                run.fence,
                coalesce(citation.is_medoid, step.run_id is not null or citation.rank = 1) as is_decisive,
                jsonb_strip_nulls(
                    jsonb_build_object(
                        'ordinal', citation.ordinal, 'interpretation', interpretation.interpretation,
                        'answer', coalesce(interpretation.answer, step.answer), 'is_medoid', citation.is_medoid
                    )
                ) as subject
            from (
                select
                    asked.run_id, pgclarify_private.withheld_ranks(asked.run_id, cited.roles) as withheld_ranks,
                    pgclarify_private.fence_of(asked.corpus_id, cited.roles) as fence
                from (
                    select run.run_id, run.corpus_id
                    from pgclarify_private.run
                    where run.run_id = any(cited.run_ids)
                ) as asked
                -- OFFSET 0 makes the planner evaluate this once for each run, not for each citation.
                offset 0
            ) as run
            inner join pgclarify_private.citation on run.run_id = citation.run_id
            -- A run has rows in one of these at most.
            left join pgclarify_private.interpretation
                on citation.run_id = interpretation.run_id and citation.ordinal = interpretation.ordinal
            left join pgclarify_private.step on citation.run_id = step.run_id and citation.ordinal = step.ordinal
        ) as citation
    ) as shown
    left join lateral (
        select document.title, document.uri, document.content, document.dated, document.places
        from pgclarify_private.document
        where
            document.corpus_id = shown.corpus_id
            and document.id = shown.document_id
            and pgclarify_private.may_read(document, cited.roles, shown.fence)
            and exists (
                select from pgclarify_private.visible_corpora(cited.roles) as visible
                where visible.corpus_id = document.corpus_id
            )
        -- LIMIT makes the planner use the key, even if it expects many cited documents.
        limit 1
    ) as document on true
    cross join lateral (
        select quoted.start_char, pgclarify_private.place_at(document.places, quoted.start_char) as place
        from (
            select pgclarify_private.quote_position(document.content, shown.quote, shown.start_char) as start_char
            -- OFFSET 0 makes the planner evaluate it once, although it is used several times.
            offset 0
        ) as quoted
        offset 0
    ) as found
    group by shown.run_id, shown.ordinal;
end;

comment on function pgclarify_private.cited(bigint[], name[]) is
'Citations of interpretations, steps and listed entries of runs, a row for each of these, if roles may read them. '
'is_withheld: whether the decisive citation is from a document that is closed to these roles. It is the medoid of an '
'interpretation, any citation of a step, and the first citation of an entry. has_withheld: whether any citation is. '
'document_ids: distinct, best first. citations: objects with columns of view citation. Quotes of removed documents are kept. '
'dated: the newest date of the documents.';

create or replace function pgclarify_private.run_outcome_rows(run_ids bigint[], requester name)
returns setof pgclarify.run_outcome
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        run.run_id,
        run.status,
        run.error,
        run.interpretations,
        run.stop_reason,
        run.cost_usd,
        run.stop_code,
        run.error_code
    from unnest(run_outcome_rows.run_ids) with ordinality as asked (run_id, ordinal)
    inner join pgclarify_private.run on asked.run_id = run.run_id
    order by asked.ordinal;
end;

comment on function pgclarify_private.run_outcome_rows(bigint[], name) is
'States of runs, in the order of run_ids. It does not check who may see the runs: the requester makes no difference.';

create or replace function pgclarify_private.raise_unless_succeeded(run_outcome pgclarify.run_outcome)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run_id constant bigint := raise_unless_succeeded.run_outcome.run_id;
    v_stop_code constant text := raise_unless_succeeded.run_outcome.stop_code;
    v_meaning text;
    v_help text;
begin
    if v_stop_code is not null then
        select known.meaning, known.help into v_meaning, v_help
        from pgclarify_private.stop_codes() as known
        where known.stop_code = v_stop_code;
    end if;
    case raise_unless_succeeded.run_outcome.status
        when 'failed' then
            raise exception 'run % failed', v_run_id
                using errcode = 'PC003',
                    table = 'run', column = 'run_id', datatype = v_run_id::text,
                    detail = raise_unless_succeeded.run_outcome.error,
                    hint = 'Fix the cause and ask again; replies that were paid for are kept.';
        when 'cancelled' then
            raise exception 'run % was cancelled', v_run_id
                using errcode = 'PC003',
                    table = 'run', column = 'run_id', datatype = v_run_id::text,
                    hint = 'Ask again; what was paid for is kept.';
        when 'queued', 'running' then
            raise exception 'run % is still %', v_run_id, raise_unless_succeeded.run_outcome.status
                using errcode = 'object_not_in_prerequisite_state',
                    hint = format('Wait for it with: select * from pgclarify.wait(array[%s]).', v_run_id) || case
                        -- Here wait may already return another status.
                        when pgclarify_private.has_frozen_snapshot() then
                            ' Then begin the transaction anew: it sees runs only as they were when it began, and a standby may '
                            'be behind.'
                        else ''
                    end;
        when 'partial' then
            raise warning 'run % is partial: %',
                v_run_id,
                coalesce(pgclarify_private.shown(raise_unless_succeeded.run_outcome.stop_reason, 200), v_meaning)
                using errcode = case when v_stop_code = 'budget' then 'PC007' else '01000' end,
                    table = 'run', column = 'run_id', datatype = v_run_id::text,
                    detail = 'What it found is valid, but there may be more. If you ask again, only the missing calls cost.',
                    hint = case
                        when v_stop_code = 'budget' then 'See: select * from pgclarify.budget.'
                        else format('See: select pgclarify.explain(%s).', v_run_id)
                    end;
        else
            -- An empty result would not show that the corpus may still have an answer.
            if v_stop_code in ('no_language_model', 'language', 'threshold', 'unproven', 'no_passage') then
                raise warning 'run % found nothing: %', v_run_id, v_meaning
                    using table = 'run', column = 'run_id', datatype = v_run_id::text,
                        detail = format('Its stop_code is %s: the corpus may still have an answer.', v_stop_code),
                        hint = format(
                            '%s See the closest passages: select pgclarify.explain(%s).', v_help, v_run_id
                        );
            end if;
    end case;
end
$$;

comment on function pgclarify_private.raise_unless_succeeded(pgclarify.run_outcome) is
'Error PC003 for a failed or cancelled run, 55000 for one that is not over. A warning for a partial run, and for one that '
'found nothing although the corpus may have an answer.';

create or replace function pgclarify_private.warn_of_partial(run_ids bigint[])
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_some record;
begin
    for v_some in
        select
            outcome.status, count(*) as runs, min(outcome.run_id) as example,
            outcome.stop_code is not distinct from 'budget' as is_over_budget,
            -- The most frequent reason.
            mode() within group (order by coalesce(outcome.error, outcome.stop_reason, known.meaning)) as reason,
            mode() within group (order by known.help) as help
        from pgclarify_private.current_outcomes(warn_of_partial.run_ids) as outcome
        left join pgclarify_private.stop_codes() as known using (stop_code)
        where
            outcome.status in ('failed', 'partial')
            or outcome.stop_code in ('no_language_model', 'language', 'threshold', 'unproven', 'no_passage')
        group by outcome.status, is_over_budget
        order by outcome.status, is_over_budget
    loop
        raise warning '% of % questions %: %',
            v_some.runs, cardinality(warn_of_partial.run_ids),
            case v_some.status when 'failed' then 'failed' when 'partial' then 'are partial' else 'found nothing' end,
            pgclarify_private.shown(v_some.reason, 200)
            using errcode = case when v_some.is_over_budget then 'PC007' else '01000' end,
                detail = case v_some.status
                    when 'failed' then 'Their rows have status failed and no reading.'
                    when 'partial' then 'Their rows have status partial. If you ask again, only the missing calls cost.'
                    else 'Each of their rows has a stop_code and no reading. The corpus may still have answers.'
                end,
                hint = concat_ws(
                    ' ', v_some.help, format('See, for one: select pgclarify.explain(%s).', v_some.example)
                );
    end loop;
end
$$;

comment on function pgclarify_private.warn_of_partial(bigint[]) is
'One warning for all failed runs of a call, one for those that a budget cut off, one for other partial runs, each counted as '
'often as it was asked, and one for runs that found nothing although the corpus may have an answer; no warning if there are '
'no such runs.';
