{# Asking in batches, and waiting for the answers in short statements. #}

{# Often an earlier model of the same build has changed the documents, and answers shall have them. #}
{% macro wait_until_searchable(corpus) %}
    {% set began = modules.datetime.datetime.now() %}
    {% set state = namespace(pending=none, fell=began, told=began) %}
    {% set passes = ['first'] %}
    {% for _ in passes %}
        {% set now = modules.datetime.datetime.now() %}
        {% set seen = pgclarify.fetch_and_commit(pgclarify.pending_sql(corpus)) %}
        {# Documents that were added since wait for the next build: there may always be some. #}
        {% if seen.pending and seen.lag_seconds > (now - began).total_seconds() %}
            {% if state.pending is none or seen.pending < state.pending %}
                {% set state.pending = seen.pending %}
                {% set state.fell = now %}
            {% endif %}
            {% set text = model.name ~ ": documents of corpus " ~ corpus ~ " that are not searchable yet: " ~ seen.pending %}
            {% if not seen.workers or (now - state.fell).total_seconds() > 60 %}
                {% do exceptions.warn(text ~ ". Answers may lack them, and the next build asks again.") %}
            {% else %}
                {% if (now - state.told).total_seconds() >= 10 %}
                    {% set state.told = now %}
                    {% do log(text, info=true) %}
                {% endif %}
                {% do pgclarify.fetch_and_commit('select pg_sleep(0.2)') %}
                {% do passes.append('next') %}
            {% endif %}
        {% endif %}
    {% endfor %}
{% endmacro %}

{# pending is null if this role may not know it. #}
{% macro pending_sql(corpus) %}
    select
        asked.pending, asked.lag_seconds, (select count(*) from pgclarify.worker_status where is_alive) as workers
    from (select 1) as one
    left join pgclarify.corpus as asked on asked.corpus = {{ pgclarify.literal(corpus) }}
{% endmacro %}

{% macro ask_and_wait(runs, questions, asked_with, batch_size, timeout, has_filter) %}
    {{ return(adapter.dispatch('ask_and_wait', 'pgclarify')(
        runs, questions, asked_with, batch_size, timeout, has_filter
    )) }}
{% endmacro %}

{% macro default__ask_and_wait(runs, questions, asked_with, batch_size, timeout, has_filter) %}
    {% set unfinished_sql = pgclarify.unfinished_runs_sql(runs) %}
    {% set progress_sql = pgclarify.progress_sql(runs, questions, unfinished_sql) %}
    {% set seen = pgclarify.fetch_and_commit(progress_sql) %}
    {% do pgclarify.end_if_overtaken(seen.is_this_build) %}
    {% do log(
        model.name ~ ": " ~ pgclarify.counted(seen.questions, "distinct question") ~ ", " ~ seen.due ~ " to be asked, "
        ~ seen.unfinished ~ " under way", info=true
    ) %}
    {% set unfinished = seen.unfinished | int %}
    {% if (seen.due or unfinished) and not seen.workers %}
        {% do pgclarify.end_build(
            "no worker is running, so "
            ~ (
                "nothing was asked" if not unfinished
                else pgclarify.counted(unfinished, "question") ~ " under way not answered, and " ~ seen.due ~ " not asked"
            )
            ~ ". Start one with: pgclarify worker."
        ) %}
    {% endif %}
    {% do pgclarify.repeat_until_over(
        seen, pgclarify.submit_batch_sql(runs, asked_with, batch_size, has_filter), unfinished_sql, progress_sql, timeout
    ) %}
    {{ return(seen.at) }}
{% endmacro %}

{# A loop in Jinja, because only dbt can commit. A worker sees a run after the commit, and a build that is stopped keeps it. #}
{% macro repeat_until_over(seen, submit_sql, unfinished_sql, progress_sql, timeout) %}
    {% set began = modules.datetime.datetime.now() %}
    {% set total = (seen.due | int) + (seen.unfinished | int) %}
    {% set state = namespace(told=began) %}
    {# Each pass adds the next one, because Jinja has no while. #}
    {% set passes = ['first'] if total else [] %}
    {% for _ in passes %}
        {% do pgclarify.execute_and_commit(submit_sql) %}
        {% set left = timeout - (modules.datetime.datetime.now() - began).total_seconds() %}
        {% set now_seen = pgclarify.fetch_and_commit(pgclarify.wait_sql(unfinished_sql, left) ~ ';' ~ progress_sql) %}
        {% do pgclarify.end_if_overtaken(now_seen.is_this_build) %}
        {% set open = (now_seen.due | int) + (now_seen.unfinished | int) %}
        {% set now = modules.datetime.datetime.now() %}
        {% set elapsed = (now - began).total_seconds() %}
        {% if open and elapsed > timeout %}
            {% do pgclarify.end_build(
                open ~ " of " ~ total ~ " questions were not answered in time. Those that were asked go on: repeat this"
                ~ " build, and nothing is paid for twice."
            ) %}
        {% endif %}
        {% if not open or (now - state.told).total_seconds() >= 10 %}
            {% set state.told = now %}
            {% do log(
                model.name ~ ": " ~ (total - open) ~ " of " ~ total ~ " ended, "
                ~ pgclarify.time_told(total - open, total, elapsed), info=true
            ) %}
        {% endif %}
        {% if open %}
            {% do passes.append('next') %}
        {% endif %}
    {% endfor %}
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

{% macro wait_sql(unfinished_sql, seconds) %}
    {{ return(adapter.dispatch('wait_sql', 'pgclarify')(unfinished_sql, seconds)) }}
{% endmacro %}

{# Waits for the older half, so that the next questions are submitted while workers are busy with the other half. #}
{% macro default__wait_sql(unfinished_sql, seconds) %}
    {# More than the 30 seconds after which pgclarify.wait raises an error, because no worker is running any more. #}
    {% set longest = 40 %}
    -- A statement_timeout of the role must not end the build: this statement has a limit of its own.
    set local statement_timeout = 0;
    with unfinished as materialized (
        select distinct asked.run_id from ({{ unfinished_sql }}) as asked
    )
    select count(*)
    from pgclarify.wait(
        array(
            select unfinished.run_id
            from unfinished
            order by unfinished.run_id
            limit (select (count(*) + 1) / 2 from unfinished)
        ),
        interval '{{ [[seconds, 1] | max, longest] | min }} seconds'
    )
{%- endmacro %}

{% macro unfinished_runs_sql(runs) %}
    select run.run_id
    from {{ runs }} as kept
    inner join pgclarify.run on run.run_id = kept.run_id
    where not kept.is_due and run.status in ('queued', 'running')
{%- endmacro %}

{% macro room_sql(unfinished_sql, batch_size) -%}
    (select greatest({{ batch_size }} - count(*), 0) from ({{ unfinished_sql }}) as asked)
{%- endmacro %}

{% macro progress_sql(table, questions, unfinished_sql) %}
    {{ return(adapter.dispatch('progress_sql', 'pgclarify')(table, questions, unfinished_sql)) }}
{% endmacro %}

{% macro default__progress_sql(table, questions, unfinished_sql) %}
    select
        count(*) as questions,
        count(*) filter (where kept.is_due) as due,
        (select count(*) from ({{ unfinished_sql }}) as asked) as unfinished,
        (select count(*) from pgclarify.worker_status where is_alive) as workers,
        {{ pgclarify.is_this_build_sql(questions) | indent(8) }} as is_this_build,
        clock_timestamp()::text as at
    from {{ table }} as kept
{% endmacro %}
