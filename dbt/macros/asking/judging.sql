{# Judges whether questions are ambiguous, in batches, each in a separate transaction. #}

{% macro detection_columns(id, question) %}
    {{ return([id, question, 'run_id', 'status', 'is_ambiguous', 'probability', 'kind', 'reasons', 'judged_at']) }}
{% endmacro %}

{% macro create_judged_sql(judged) %}
    create table {{ judged }} (
        question_key text primary key,
        question text not null,
        is_due boolean not null default true,
        judged_with jsonb,
        pending_run_id bigint,
        run_id bigint,
        status text,
        is_ambiguous boolean,
        probability real,
        kind text,
        reasons jsonb,
        judged_at timestamptz
    );
    comment on table {{ judged }} is
    'What is known about the questions of a dbt model. Dropping it costs the time to judge them again.'
{% endmacro %}

{% macro mark_unjudged(judged, questions, options, judges_anew) %}
    {{ return(adapter.dispatch('mark_unjudged', 'pgclarify')(judged, questions, options, judges_anew)) }}
{% endmacro %}

{% macro default__mark_unjudged(judged, questions, options, judges_anew) %}
    {% do pgclarify.hold_build(questions) %}
    {% do pgclarify.execute_and_commit(pgclarify.mark_unjudged_sql(judged, questions, options, judges_anew)) %}
{% endmacro %}

{% macro mark_unjudged_sql(judged, questions, options, judges_anew) %}
    delete from {{ judged }} as kept
    where not exists (select from {{ questions }} as given where given.question_key = kept.question_key);
    update {{ judged }} as kept
    set is_due = true
    where
        not kept.is_due
        and (
            {{ 'true' if judges_anew else 'false' }}
            or kept.status is distinct from 'succeeded'
            or kept.judged_with <> {{ pgclarify.jsonb(options) }}
        );
    -- A build that was stopped may have submitted them with other options.
    update {{ judged }} set is_due = true, pending_run_id = null where pending_run_id is not null;
    insert into {{ judged }} (question_key, question)
    select distinct given.question_key, given.asked
    from {{ questions }} as given
    where given.is_fit
    on conflict do nothing;
    analyze {{ judged }}
{% endmacro %}

{% macro judge_all(judged, questions, options, batch_size) %}
    {{ return(adapter.dispatch('judge_all', 'pgclarify')(judged, questions, options, batch_size)) }}
{% endmacro %}

{% macro default__judge_all(judged, questions, options, batch_size) %}
    {% set unread_sql = pgclarify.unread_runs_sql(judged) %}
    {% set progress_sql = pgclarify.progress_sql(judged, questions, unread_sql) %}
    {% set seen = pgclarify.fetch_and_commit(progress_sql) %}
    {% do pgclarify.end_if_overtaken(seen.is_this_build) %}
    {% do log(
        model.name ~ ": " ~ pgclarify.counted(seen.questions, "distinct question") ~ ", " ~ seen.due ~ " to be judged", info=true
    ) %}
    {% if seen.due and not seen.workers %}
        {% do pgclarify.end_build("no worker is running, so nothing was judged. Start one with: pgclarify worker.") %}
    {% endif %}
    {% do pgclarify.repeat_until_over(
        seen, pgclarify.submit_judging_sql(judged, options, batch_size), unread_sql,
        pgclarify.read_judging_sql(judged, options) ~ ';' ~ progress_sql, 2 * 24 * 3600
    ) %}
{% endmacro %}

{% macro unread_runs_sql(judged) %}
    select kept.pending_run_id as run_id
    from {{ judged }} as kept
    where kept.pending_run_id is not null
{%- endmacro %}

{% macro submit_judging_sql(judged, options, batch_size) %}
    with chosen as materialized (
        select due.question_key, due.question, row_number() over (order by due.question_key) as place
        from {{ judged }} as due
        where due.is_due
        order by due.question_key
        limit {{ pgclarify.room_sql(pgclarify.unread_runs_sql(judged), batch_size) }}
    ),
    submitted as materialized (
        select
            pgclarify.submit_many(
                'detect_ambiguity',
                array(select chosen.question from chosen order by chosen.place),
                options => {{ pgclarify.jsonb(options) }}
            ) as run_ids
        where exists (select from chosen)
    )
    update {{ judged }} as kept
    set
        is_due = false,
        pending_run_id = submitted.run_ids[chosen.place]
    from chosen
    cross join submitted
    where kept.question_key = chosen.question_key
{% endmacro %}

{% macro read_judging_sql(judged, options) %}
    update {{ judged }} as kept
    set
        judged_with = {{ pgclarify.jsonb(options) }},
        pending_run_id = null,
        run_id = shown.run_id,
        status = shown.status,
        is_ambiguous = shown.is_ambiguous,
        probability = shown.probability,
        kind = shown.kind,
        reasons = shown.reasons,
        judged_at = shown.judged_at
    from {{ judged }} as known
    inner join pgclarify.run as run on run.run_id = known.pending_run_id
    left join pgclarify.detection as found
        on found.run_id = known.pending_run_id and found.question = btrim(known.question, E' \t\r\n\f\x0b')
    -- If judging again has failed, the earlier verdict stays.
    cross join lateral (
        select
            known.run_id, 'earlier' as status, known.is_ambiguous, known.probability, known.kind, known.reasons,
            known.judged_at
        where run.status <> 'succeeded' and known.is_ambiguous is not null
        union all
        select
            run.run_id, run.status, found.is_ambiguous, found.probability, found.kind, found.reasons, clock_timestamp()
        where run.status = 'succeeded' or known.is_ambiguous is null
    ) as shown
    where kept.question_key = known.question_key and run.status not in ('queued', 'running')
{% endmacro %}

{% macro detection_rows(judged, questions, id, question, only_changed) %}
    {{ return(adapter.dispatch('detection_rows', 'pgclarify')(judged, questions, id, question, only_changed)) }}
{% endmacro %}

{% macro default__detection_rows(judged, questions, id, question, only_changed) %}
    select
        asked.id as {{ pgclarify.identifier(id) }},
        asked.question as {{ pgclarify.identifier(question) }},
        kept.run_id,
        kept.status,
        kept.is_ambiguous,
        kept.probability,
        kept.kind,
        kept.reasons,
        kept.judged_at
    from {{ questions }} as asked
    inner join {{ judged }} as kept on kept.question_key = asked.question_key
    {%- if only_changed %}
    where asked.is_changed
    {%- endif %}
{% endmacro %}

{% macro report_judged(judged, on_failed) %}
    {{ return(adapter.dispatch('report_judged', 'pgclarify')(judged, on_failed)) }}
{% endmacro %}

{% macro default__report_judged(judged, on_failed) %}
    {% set found = pgclarify.fetch_and_commit(
        "select count(*) as questions, count(*) filter (where is_ambiguous) as ambiguous,"
        ~ " count(*) filter (where status <> 'succeeded') as failed,"
        ~ " count(*) filter (where status = 'earlier') as earlier from " ~ judged
    ) %}
    {% do log(
        model.name ~ ": " ~ found.ambiguous ~ " of " ~ pgclarify.counted(found.questions, "question") ~ " ambiguous; "
        ~ found.failed ~ " failed", info=true
    ) %}
    {% if found.failed | int %}
        {% do pgclarify.complain(
            found.failed ~ " of " ~ pgclarify.counted(found.questions, "question") ~ " could not be judged, and " ~ found.earlier
            ~ " of these keep their earlier verdict", on_failed
        ) %}
    {% endif %}
{% endmacro %}
