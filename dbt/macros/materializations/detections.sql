{# A table that says which questions of a relation are ambiguous, and why. No language model is called. #}

{% materialization pgclarify_detections, adapter='postgres' %}
    {% do pgclarify.check_config_names(['id', 'question', 'options', 'batch_size', 'missing_ids', 'on_failed']) %}
    {% set id = pgclarify.text_setting('id', 'search_id') %}
    {% set question = pgclarify.text_setting('question', 'query') %}
    {% set options = dict(pgclarify.mapping_setting('options', "{'threshold': 0.5}")) %}
    {% set batch_size = pgclarify.integer_setting('batch_size', 500, 1, 50000) %}
    {% set missing_ids = pgclarify.choice_setting('missing_ids', ['keep', 'delete']) %}
    {% set on_failed = pgclarify.choice_setting('on_failed', ['error', 'warn']) %}

    {% set existing_relation = load_cached_relation(this) %}
    {% set target_relation = this.incorporate(type='table') %}
    {% set is_there = existing_relation is not none and existing_relation.is_table %}
    {# dbt build --empty judges nothing, and deletes nothing. #}
    {% set is_kept = is_there and flags.EMPTY %}
    {% set is_whole = not is_kept and (not is_there or should_full_refresh()) %}
    {% set questions = pgclarify.beside(target_relation, '__pgclarify_questions') %}
    {% set judged = pgclarify.beside(target_relation, '__pgclarify_judged') %}
    {% set columns = pgclarify.detection_columns(id, question) %}

    {{ run_hooks(pre_hooks, inside_transaction=false) }}
    {{ run_hooks(pre_hooks, inside_transaction=true) }}

    {% do pgclarify.take_questions(questions, sql, id, question, columns, none if is_whole else existing_relation) %}
    {% if not is_whole and not is_kept and missing_ids == 'keep' %}
        {% do pgclarify.keep_earlier_questions(questions, existing_relation, id, question) %}
    {% endif %}
    {% do pgclarify.create_once(judged, questions, pgclarify.create_judged_sql(judged)) %}
    {% set rows = pgclarify.detection_rows(judged, questions, id, question, not is_whole) %}
    {% do pgclarify.check_contract(rows) %}
    {% if not flags.EMPTY %}
        {% do pgclarify.mark_unjudged(judged, questions, options, should_full_refresh()) %}
        {% do pgclarify.judge_all(judged, questions, options, batch_size) %}
    {% endif %}

    {% do pgclarify.hold_build(questions) %}
    {% if is_whole %}
        {% set backup_relation = pgclarify.replace_table(target_relation, existing_relation, rows) %}
    {% elif not is_kept %}
        {% set answers = "select question_key, run_id, status from " ~ judged %}
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
    {% do pgclarify.revoke_grants(judged) %}
    {% do persist_docs(target_relation, model) %}
    {% do adapter.commit() %}
    {% if backup_relation %}
        {% do drop_relation_if_exists(backup_relation) %}
    {% endif %}
    {{ run_hooks(post_hooks, inside_transaction=false) }}
    {% if not flags.EMPTY %}
        {% do pgclarify.report_judged(judged, on_failed) %}
    {% endif %}
    {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}
