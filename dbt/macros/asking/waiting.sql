{# Asking in batches, and waiting for the answers in short statements. #}

{% macro ask_and_wait(runs, questions, asked_with, batch_size, timeout) %}
    {{ return(adapter.dispatch('ask_and_wait', 'pgclarify')(runs, questions, asked_with, batch_size, timeout)) }}
{% endmacro %}

{% macro default__ask_and_wait(runs, questions, asked_with, batch_size, timeout) %}
    {% set began = modules.datetime.datetime.now() %}
    {% set seen = pgclarify.fetch_and_commit(pgclarify.progress_sql(runs, questions, none)) %}
    {% do pgclarify.end_if_overtaken(seen.is_this_build) %}
    {% set due_at_first = seen.due | int %}
    {% set open_at_first = due_at_first + (seen.unfinished | int) %}
    {% do log(
        model.name ~ ": " ~ pgclarify.counted(seen.questions, "distinct question") ~ ", " ~ due_at_first ~ " to be asked, "
        ~ seen.unfinished ~ " under way", info=true
    ) %}
    {% if open_at_first and not (seen.workers | int) %}
        {% set unfinished = seen.unfinished | int %}
        {% do pgclarify.end_build(
            "no worker is running, so "
            ~ (
                "nothing was asked" if not unfinished
                else pgclarify.counted(unfinished, "question") ~ " under way not answered, and " ~ due_at_first ~ " not asked"
            )
            ~ ". Start one with: pgclarify worker."
        ) %}
    {% endif %}
    {% set state = namespace(seen=seen, told=began, worker_seen=began) %}
    {% for _ in range(100000) %}
        {% set due = state.seen.due | int %}
        {% set unfinished = state.seen.unfinished | int %}
        {% if not due and not unfinished %}
            {% break %}
        {% endif %}
        {% if due and unfinished <= batch_size // 2 %}
            {% do pgclarify.submit_batch(runs, asked_with, batch_size - unfinished) %}
            {# Reusable answers are there at once. Then the next batch follows without a pause. #}
            {% set pause = '' %}
        {% else %}
            {# The pause is a small part of the time so far, so that answers are noticed soon and looks are few. #}
            {% set elapsed = (modules.datetime.datetime.now() - began).total_seconds() %}
            {% set pause = pgclarify.pause_sql([[elapsed / 20, 0.05] | max, 2] | min) %}
        {% endif %}
        {% set state.seen = pgclarify.fetch_and_commit(pause ~ pgclarify.progress_sql(runs, questions, seen.at)) %}
        {% do pgclarify.end_if_overtaken(state.seen.is_this_build) %}
        {% set now = modules.datetime.datetime.now() %}
        {% set elapsed = (now - began).total_seconds() %}
        {% set open = (state.seen.due | int) + (state.seen.unfinished | int) %}
        {% if state.seen.workers | int %}
            {% set state.worker_seen = now %}
        {% elif open and (now - state.worker_seen).total_seconds() > 30 %}
            {% do pgclarify.end_build(
                "no worker is running any more. Start one with: pgclarify worker. Then repeat this build: it goes on"
                ~ " where it was, and nothing is paid for twice."
            ) %}
        {% endif %}
        {% if timeout is not none and open and elapsed > timeout %}
            {% do pgclarify.end_build(
                open ~ " of " ~ open_at_first ~ " questions were not answered in time. Those that were asked go on:"
                ~ " repeat this build, and nothing is paid for twice."
            ) %}
        {% endif %}
        {% if not open or (now - state.told).total_seconds() >= 10 %}
            {% set state.told = now %}
            {% set done = open_at_first - open %}
            {% do log(
                model.name ~ ": " ~ done ~ " of " ~ open_at_first ~ " ended, "
                ~ ("model calls: " ~ state.seen.calls | int ~ ", " if state.seen.has_model else "")
                ~ pgclarify.time_told(done, open_at_first, elapsed), info=true
            ) %}
        {% endif %}
    {% endfor %}
    {# Jinja has no endless loop. #}
    {% if (state.seen.due | int) + (state.seen.unfinished | int) %}
        {% do pgclarify.end_build(
            "it has waited for " ~ ((modules.datetime.datetime.now() - began).total_seconds() / 3600) | round(1) ~ " hours,"
            ~ " and questions are still open. Repeat this build: it goes on where it was, and nothing is paid for twice."
        ) %}
    {% endif %}
    {{ return(state.seen) }}
{% endmacro %}

{% macro time_told(done, total, elapsed) %}
    {% set text = elapsed | round(1) ~ " s" %}
    {% if 0 < done < total %}
        {% set text = text ~ ", about " ~ (elapsed * (total - done) / done) | round | int ~ " s to go" %}
    {% endif %}
    {{ return(text) }}
{% endmacro %}

{% macro counted(number, thing) %}
    {{ return(number ~ " " ~ thing ~ ("" if number | int == 1 else "s")) }}
{% endmacro %}

{# Shorter than the statement_timeout of the session, if there is one. #}
{% macro pause_sql(seconds) %}
    select pg_sleep(least({{ seconds }}, nullif(setting::integer, 0) / 4000.0))
    from pg_catalog.pg_settings where name = 'statement_timeout';
{% endmacro %}

{% macro progress_sql(runs, questions, since) %}
    {{ return(adapter.dispatch('progress_sql', 'pgclarify')(runs, questions, since)) }}
{% endmacro %}

{% macro default__progress_sql(runs, questions, since) %}
    select
        count(*) as questions,
        count(*) filter (where kept.is_due) as due,
        count(*) filter (where not kept.is_due and run.status in ('queued', 'running')) as unfinished,
        coalesce(
            sum(run.completions) filter (where run.created_at >= {{ pgclarify.literal(since) }}::timestamptz), 0
        ) as calls,
        -- The extractive provider counts judgements, which cost nothing.
        coalesce(bool_or(run.model !~ '^extractive-[0-9]+$'), false) as has_model,
        (select count(*) from pgclarify.worker_status where is_alive) as workers,
        {{ pgclarify.is_this_build_sql(questions) | indent(8) }} as is_this_build,
        clock_timestamp()::text as at
    from {{ runs }} as kept
    left join pgclarify.run on kept.run_id = run.run_id
{% endmacro %}
