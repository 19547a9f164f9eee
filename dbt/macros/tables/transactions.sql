{# Statements in separate transactions: dbt opens one for the whole model, and no transaction may wait for answers. #}

{% macro execute_and_commit(sql) %}
    {{ return(adapter.dispatch('execute_and_commit', 'pgclarify')(sql)) }}
{% endmacro %}

{% macro default__execute_and_commit(sql) %}
    {% call statement('pgclarify_execute') %}{{ sql }}{% endcall %}
    {% do adapter.commit() %}
{% endmacro %}

{% macro fetch_and_commit(sql) %}
    {{ return(adapter.dispatch('fetch_and_commit', 'pgclarify')(sql)) }}
{% endmacro %}

{% macro default__fetch_and_commit(sql) %}
    {% call statement('pgclarify_fetch', fetch_result=true) %}{{ sql }}{% endcall %}
    {% do adapter.commit() %}
    {{ return(load_result('pgclarify_fetch').table.rows[0]) }}
{% endmacro %}
