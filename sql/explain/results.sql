-- explain: the results of a run, below their stages: ambiguity, rewritten questions, clarifying questions, listed answers and
-- readings.

create or replace function pgclarify_private.told_detections(run pgclarify_private.run, roles name[], detail text)
returns table (
    stages text[], place integer[], depth integer, label text, body text, figures text[]
)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- For a single question, the judgement and its reasons.
    select
        '{detection}'::text[],
        array[1],
        3,
        case when detection.is_ambiguous then 'Ambiguous' end,
        case
            when detection.is_ambiguous then detection.kind
            when detection.probability is null then 'Not judged'
            else 'Clear'
        end,
        array_remove(array['probability=' || to_char(detection.probability, 'FM0.00')], null)
    from pgclarify_private.detection
    where
        detection.run_id = (told_detections.run).run_id
        and not (told_detections.run).settings ? 'questions'
    union all
    select
        '{detection}',
        array[2, reason.ordinal::integer],
        3,
        'Because',
        format(
            '%s (%s)',
            pgclarify_private.shown(coalesce(reason.value ->> 'text', reason.value ->> 'name', 'of an unknown reason'), 200),
            pgclarify_private.shown(coalesce(reason.value ->> 'source', 'unknown'))
        ),
        null
    from pgclarify_private.detection
    cross join lateral jsonb_array_elements(
        pgclarify_private.readable_reasons(
            detection.reasons, (told_detections.run).corpus_id, told_detections.roles
        )
    ) with ordinality as reason (value, ordinal)
    where
        detection.run_id = (told_detections.run).run_id
        and not (told_detections.run).settings ? 'questions'
        and told_detections.detail = 'passages'
    union all
    -- For many questions, how many are ambiguous, and which.
    select
        '{detection}',
        array[1],
        3,
        'Ambiguous',
        format('%s of %s', count(*) filter (where detection.is_ambiguous), count(*))
        || coalesce(
            '; ' || nullif(
                concat_ws(
                    ', ',
                    nullif(count(*) filter (where detection.kind = 'pragmatic'), 0) || ' pragmatic',
                    nullif(count(*) filter (where detection.kind = 'syntactic'), 0) || ' syntactic',
                    nullif(count(*) filter (where detection.kind = 'lexical'), 0) || ' lexical'
                ),
                ''
            ),
            ''
        ),
        null
    from pgclarify_private.detection
    where
        detection.run_id = (told_detections.run).run_id
        and (told_detections.run).settings ? 'questions'
    having count(*) > 0
    union all
    select
        '{detection}',
        array[2, detection.ordinal],
        3,
        null,
        format(
            '#%s  %s  %s  %s', detection.ordinal, detection.kind, to_char(detection.probability, 'FM0.00'),
            pgclarify_private.shown(detection.question)
        ),
        null
    from pgclarify_private.detection
    where
        detection.run_id = (told_detections.run).run_id
        and (told_detections.run).settings ? 'questions'
        and detection.is_ambiguous
        and told_detections.detail = 'passages';
end;

comment on function pgclarify_private.told_detections(pgclarify_private.run, name[], text) is
'The ambiguous questions of a run, as lines for told_results.';

create or replace function pgclarify_private.told_citations(run_id bigint, roles name[])
returns table (ordinal integer, rank integer, candidate_rank integer, body text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        citation.ordinal,
        citation.rank,
        citation.candidate_rank,
        format(
            '#%s  %s: "%s"', citation.candidate_rank,
            pgclarify_private.shown_passage(
                citation.passage_id, citation.document_id, document.title, citation.heading
            ),
            pgclarify_private.shown(citation.quote)
        )
    from pgclarify_private.citation
    left join pgclarify_private.document
        on citation.corpus_id = document.corpus_id
        and citation.document_id = document.id
        and (document.readers is null or document.readers && told_citations.roles)
        and document.corpus_id in (
            select visible.corpus_id from pgclarify_private.visible_corpora(told_citations.roles) as visible
        )
    where citation.run_id = told_citations.run_id
        and citation.candidate_rank <> all(
            (select pgclarify_private.withheld_ranks(told_citations.run_id, told_citations.roles))::integer[]
        );
end;

comment on function pgclarify_private.told_citations(bigint, name[]) is
'The citations of the items that a run lists, one row each. roles: decide which titles of documents are shown.';

create or replace function pgclarify_private.told_results(
    run pgclarify_private.run, roles name[], withheld integer[], detail text
)
returns table (
    stages text[], place integer[], depth integer, label text, body text, figures text[]
)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select told.stages, told.place, told.depth, told.label, told.body, told.figures
    from pgclarify_private.told_detections(
        told_results.run, told_results.roles, told_results.detail
    ) as told
    union all
    select
        '{rewriting}',
        array[1],
        3,
        case when not compared.is_unchanged then 'Question' end,
        case
            when compared.is_unchanged then 'Unchanged'
            else pgclarify_private.shown(rewriting.rewritten, 200)
        end,
        null
    from pgclarify_private.rewriting
    -- Compared with the question that is shown. A reply rewrote another question.
    cross join lateral (
        select coalesce(rewriting.rewritten = (told_results.run).question, false) as is_unchanged
    ) as compared
    where rewriting.run_id = (told_results.run).run_id
    union all
    select '{rewriting}', array[2], 3, 'Reason', pgclarify_private.shown(rewriting.reason, 200), null
    from pgclarify_private.rewriting
    where rewriting.run_id = (told_results.run).run_id and rewriting.reason is not null
    union all
    select
        '{checking,questioning}',
        array[asked.ordinal, 1],
        3,
        null,
        format(
            '%s. %s%s', asked.ordinal, coalesce(asked.ambiguity_type || ': ', ''),
            pgclarify_private.shown(coalesce(asked.clarifying_question, asked.reformulation), 200)
        ),
        array[
            case
                when asked.is_answerable then coalesce(
                    'answered by ' || (
                        select string_agg('#' || told.candidate_rank, ' ' order by told.rank)
                        from pgclarify_private.told_citations(asked.run_id, told_results.roles) as told
                        where told.ordinal = asked.ordinal
                    ),
                    'answerable'
                )
                when not asked.is_answerable then 'no document answers it'
            end
        ]
    from pgclarify_private.clarifying_question as asked
    where asked.run_id = (told_results.run).run_id
    union all
    select
        '{checking,questioning}', array[asked.ordinal, 2], 5,
        'Reformulation', pgclarify_private.shown(asked.reformulation, 200), null
    from pgclarify_private.clarifying_question as asked
    where
        asked.run_id = (told_results.run).run_id
        and asked.clarifying_question is not null
        and asked.reformulation is not null
        and told_results.detail = 'passages'
    union all
    select
        '{checking,questioning}', array[asked.ordinal, 3], 5,
        'Reasoning', pgclarify_private.shown(asked.reasoning, 200), null
    from pgclarify_private.clarifying_question as asked
    where
        asked.run_id = (told_results.run).run_id
        and asked.reasoning is not null
        and told_results.detail = 'passages'
    union all
    select
        '{listing}',
        array[listed.ordinal, 1],
        3,
        null,
        format('%s. %s', listed.ordinal, pgclarify_private.shown(listed.answer)),
        -- A hidden citation of a lower rank may have any of the other spellings.
        case
            when withheld.first_rank is null
                then array['also ' || nullif(pgclarify_private.shown(array_to_string(listed.variants[2:], '; ')), '')]
        end
    from pgclarify_private.listed_answer as listed
    cross join lateral (
        select min(citation.rank) as first_rank
        from pgclarify_private.citation
        where citation.run_id = listed.run_id
            and citation.ordinal = listed.ordinal
            and citation.candidate_rank = any(told_results.withheld)
    ) as withheld
    where listed.run_id = (told_results.run).run_id
        -- An item whose first citation is hidden is hidden, too.
        and withheld.first_rank is distinct from 1
    union all
    select
        case when (told_results.run).operation = 'list_answers' then '{listing}' else '{checking,questioning}' end::text[],
        array[told.ordinal, 4, told.rank],
        5,
        'Proof',
        told.body,
        null
    from pgclarify_private.told_citations((told_results.run).run_id, told_results.roles) as told
    where told_results.detail = 'passages'
        and (told_results.run).operation in ('list_answers', 'clarifying_questions')
    union all
    select
        '{consolidation}',
        array[interpretation.ordinal],
        3,
        null,
        format(
            '%s. %s Answer: %s', interpretation.ordinal,
            pgclarify_private.shown(interpretation.interpretation), pgclarify_private.shown(interpretation.answer)
        ),
        array[
            'support=' || interpretation.support,
            'cohesion=' || to_char(interpretation.cohesion, 'FM0.00'),
            case when interpretation.is_contested then 'contested' end,
            'from ' || pgclarify_private.shown(cited.ranks, 60)
        ]
    from pgclarify_private.interpretation
    inner join (
        select citation.ordinal, string_agg('#' || citation.candidate_rank, ' ' order by citation.rank) as ranks
        from pgclarify_private.citation
        where
            citation.run_id = (told_results.run).run_id and citation.candidate_rank <> all(told_results.withheld)
        group by citation.ordinal
        having bool_or(citation.is_medoid)
    ) as cited on interpretation.ordinal = cited.ordinal
    where interpretation.run_id = (told_results.run).run_id;
end;

comment on function pgclarify_private.told_results(pgclarify_private.run, name[], integer[], text) is
'What a run found ambiguous, rewrote, asks back, lists or reads, one line in each row, with the stages below which it may be '
'placed, the best one first, and its place there. depth: levels below that stage. withheld: ranks of hidden candidates.';
