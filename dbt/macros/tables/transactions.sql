{# Statements in separate transactions: dbt opens one for the whole model, and no transaction may wait for answers. #}

{% macro execute_and_commit(sql) %}
    {{ return(adapter.dispatch('execute_and_commit', 'pgclarify')(sql)) }}
{% endmacro %}

{% macro default__execute_and_commit(sql) %}
    {% call statement('pgclarify_execute') %}{{ sql }}{% endcall %}
    {% do pgclarify.commit_and_begin() %}
{% endmacro %}

{% macro fetch_and_commit(sql) %}
    {{ return(adapter.dispatch('fetch_and_commit', 'pgclarify')(sql)) }}
{% endmacro %}

{% macro default__fetch_and_commit(sql) %}
    {% call statement('pgclarify_fetch', fetch_result=true) %}{{ sql }}{% endcall %}
    {% do pgclarify.commit_and_begin() %}
    {{ return(load_result('pgclarify_fetch').table.rows[0]) }}
{% endmacro %}

{# psycopg2 does not notice the COMMIT that dbt sends, and so begins no other transaction. Without one, each later statement
would be committed alone: readers would see a table that is replaced in part, and no lock would be held. #}
{% macro commit_and_begin() %}
    {% do adapter.commit() %}
    {% if not target.autocommit %}
        {% call statement('pgclarify_begin') %}begin{% endcall %}
    {% endif %}
{% endmacro %}
