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
            or kept.status <> 'succeeded'
            or kept.judged_with <> {{ pgclarify.jsonb(options) }}
        );
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
    {% set began = modules.datetime.datetime.now() %}
    {% set counts = pgclarify.count_judged_sql(judged, questions) %}
    {% set seen = pgclarify.fetch_and_commit(counts) %}
    {% do pgclarify.end_if_overtaken(seen.is_this_build) %}
    {% set total = seen.due | int %}
    {% do log(
        model.name ~ ": " ~ pgclarify.counted(seen.questions, "distinct question") ~ ", " ~ total ~ " to be judged", info=true
    ) %}
    {% if total and not (seen.workers | int) %}
        {% do pgclarify.end_build("no worker is running, so nothing was judged. Start one with: pgclarify worker.") %}
    {% endif %}
    {% set state = namespace(due=total, told=began) %}
    {% for _ in range(100000) %}
        {% if not state.due %}
            {% break %}
        {% endif %}
        {% do pgclarify.execute_and_commit(pgclarify.submit_judging_sql(judged, options, batch_size)) %}
        {% do pgclarify.execute_and_commit(pgclarify.wait_for_judging_sql(judged)) %}
        {% do pgclarify.execute_and_commit(pgclarify.read_judging_sql(judged, options)) %}
        {% set seen = pgclarify.fetch_and_commit(counts) %}
        {% do pgclarify.end_if_overtaken(seen.is_this_build) %}
        {% set state.due = seen.due | int %}
        {% set now = modules.datetime.datetime.now() %}
        {% if not state.due or (now - state.told).total_seconds() >= 10 %}
            {% set state.told = now %}
            {% do log(
                model.name ~ ": " ~ (total - state.due) ~ " of " ~ total ~ " judged, "
                ~ pgclarify.time_told(total - state.due, total, (now - began).total_seconds()), info=true
            ) %}
        {% endif %}
    {% endfor %}
    {# Jinja has no endless loop. #}
    {% if state.due %}
        {% do pgclarify.end_build(
            state.due ~ " questions are not judged yet. Repeat this build, which goes on where it was, with a larger"
            ~ " batch_size."
        ) %}
    {% endif %}
{% endmacro %}

{% macro count_judged_sql(judged, questions) %}
    select
        count(*) as questions,
        count(*) filter (where kept.is_due) as due,
        (select count(*) from pgclarify.worker_status where is_alive) as workers,
        {{ pgclarify.is_this_build_sql(questions) | indent(8) }} as is_this_build
    from {{ judged }} as kept
{% endmacro %}

{% macro submit_judging_sql(judged, options, batch_size) %}
    with chosen as materialized (
        select due.question_key, due.question, row_number() over (order by due.question_key) as place
        from {{ judged }} as due
        where due.is_due
        order by due.question_key
        limit {{ batch_size }}
    ),
    submitted as materialized (
        select
            pgclarify.submit_many(
                'detect_ambiguity',
                array(select chosen.question from chosen order by chosen.place),
                options => {{ pgclarify.jsonb(options) }}
            ) as run_ids
    )
    update {{ judged }} as kept
    set pending_run_id = submitted.run_ids[chosen.place]
    from chosen
    cross join submitted
    where kept.question_key = chosen.question_key
{% endmacro %}

{% macro wait_for_judging_sql(judged) %}
    select ended.run_id
    from pgclarify.wait(
        array(select distinct kept.pending_run_id from {{ judged }} as kept where kept.pending_run_id is not null), null
    ) as ended
{% endmacro %}

{% macro read_judging_sql(judged, options) %}
    update {{ judged }} as kept
    set
        is_due = false,
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
    where kept.question_key = known.question_key
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
