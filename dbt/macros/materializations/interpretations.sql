{# A table with the interpretations of the questions of a relation. #}

{% materialization pgclarify_interpretations, adapter='postgres' %}
    {% do pgclarify.check_config_names([
        'id', 'question', 'corpus', 'top_k', 'options', 'batch_size', 'timeout', 'refresh_completions',
        'include_unanswered', 'missing_ids', 'on_failed', 'max_staleness', 'filter',
    ]) %}
    {% set id = pgclarify.text_setting('id', 'search_id') %}
    {% set question = pgclarify.text_setting('question', 'query') %}
    {% set filter = none if pgclarify.setting('filter') is none else pgclarify.text_setting('filter', 'tenant_filter') %}
    {% set has_filter = filter is not none %}
    {% set asked_with = {
        'corpus': pgclarify.text_setting('corpus', 'insurance'),
        'top_k': pgclarify.integer_setting('top_k', 20, 1, 1000),
        'options': dict(pgclarify.mapping_setting('options', "{'method': 'hybrid'}")),
    } %}
    {# A batch of the endpoint may take a day, so the questions are not asked one part after the other. #}
    {% set batch_size = pgclarify.integer_setting(
        'batch_size', 10000 if pgclarify.asks_in_batch() else 500, 1, 10000
    ) %}
    {% set timeout = pgclarify.seconds_setting('timeout', '2d') %}
    {% set max_staleness = pgclarify.seconds_setting('max_staleness') %}
    {% set refreshes = pgclarify.boolean_setting('refresh_completions', false) %}
    {% set include_unanswered = pgclarify.boolean_setting('include_unanswered', true) %}
    {% set missing_ids = pgclarify.choice_setting('missing_ids', ['keep', 'delete']) %}
    {% set on_failed = pgclarify.choice_setting('on_failed', ['error', 'warn']) %}
    {% if refreshes and 'refresh' in asked_with.options %}
        {% do pgclarify.refuse_config(
            'refresh_completions', true, "It chooses the number of option refresh itself: leave one of them out."
        ) %}
    {% endif %}

    {% set existing_relation = load_cached_relation(this) %}
    {% set target_relation = this.incorporate(type='table') %}
    {% set is_there = existing_relation is not none and existing_relation.is_table %}
    {# dbt build --empty asks nothing, and deletes nothing. #}
    {% set is_kept = is_there and flags.EMPTY %}
    {% set is_whole = not is_kept and (not is_there or should_full_refresh()) %}
    {% set questions = pgclarify.beside(target_relation, '__pgclarify_questions') %}
    {% set runs = pgclarify.beside(target_relation, '__pgclarify_runs') %}
    {% set columns = pgclarify.interpretation_columns(id, question, filter) %}

    {{ run_hooks(pre_hooks, inside_transaction=false) }}
    {{ run_hooks(pre_hooks, inside_transaction=true) }}

    {% do pgclarify.take_questions(
        questions, sql, id, question, columns, none if is_whole else existing_relation, filter
    ) %}
    {% if not is_whole and not is_kept and missing_ids == 'keep' %}
        {% do pgclarify.keep_earlier_questions(questions, existing_relation, id, question, filter) %}
    {% endif %}
    {% do pgclarify.create_once(runs, questions, pgclarify.create_runs_sql(runs)) %}
    {% set rows = pgclarify.interpretation_rows(
        runs, questions, id, question, include_unanswered, not is_whole, filter
    ) %}
    {% do pgclarify.check_contract(rows) %}
    {% if not flags.EMPTY %}
        {% do pgclarify.wait_until_searchable(asked_with.corpus) %}
        {% set documents = pgclarify.fetch_and_commit(pgclarify.documents_sql(asked_with.corpus, has_filter)).documents %}
        {% if documents is not none %}
            {% do asked_with.update({'documents': documents}) %}
        {% endif %}
        {% if 'refresh' not in asked_with.options %}
            {% set refresh = pgclarify.refresh_number(runs, asked_with.corpus, refreshes and should_full_refresh()) %}
            {% if refresh %}
                {% do asked_with.options.update({'refresh': refresh}) %}
            {% endif %}
        {% endif %}
        {% do pgclarify.mark_due(
            runs, questions, asked_with, max_staleness,
            missing_ids == 'keep' and not is_whole and not include_unanswered, has_filter
        ) %}
        {% set began_at = pgclarify.ask_and_wait(runs, questions, asked_with, batch_size, timeout, has_filter) %}
    {% endif %}

    {% do pgclarify.hold_build(questions) %}
    {% if not flags.EMPTY %}
        {% do pgclarify.note_built(runs, asked_with.corpus) %}
    {% endif %}
    {% if is_whole %}
        {% set backup_relation = pgclarify.replace_table(target_relation, existing_relation, rows) %}
    {% elif not is_kept %}
        {% set answers = "select question_key, built_run_id as run_id, built_status as status from " ~ runs %}
        {% do pgclarify.mark_changed(answers, questions, target_relation, id, question) %}
        {% do pgclarify.change_rows(target_relation, rows, questions, id, missing_ids == 'delete') %}
    {% else %}
        {# dbt requires a statement of this name. #}
        {% call statement('main') %}select{% endcall %}
    {% endif %}
    {% call statement('pgclarify_end') %}drop table {{ questions }}{% endcall %}
    {{ run_hooks(post_hooks, inside_transaction=true) }}
    {% do apply_grants(
        target_relation, config.get('grants'), should_revoke=should_revoke(existing_relation, is_whole)
    ) %}
    {% do pgclarify.revoke_grants(runs) %}
    {% do persist_docs(target_relation, model) %}
    {% do adapter.commit() %}
    {% if backup_relation %}
        {% do drop_relation_if_exists(backup_relation) %}
    {% endif %}
    {{ run_hooks(post_hooks, inside_transaction=false) }}
    {% if not flags.EMPTY %}
        {% do pgclarify.report_outcomes(runs, began_at, on_failed) %}
    {% endif %}
    {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}
