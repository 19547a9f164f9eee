{# Replaces a table: completely by one swap, or only its changed rows. #}

{% macro replace_table(target_relation, existing_relation, select_sql) %}
    {{ return(adapter.dispatch('replace_table', 'pgclarify')(target_relation, existing_relation, select_sql)) }}
{% endmacro %}

{% macro default__replace_table(target_relation, existing_relation, select_sql) %}
    {# dbt cuts long names after 54 letters, so that two models could have the same table. #}
    {% set intermediate_relation = pgclarify.beside(target_relation, '__dbt_tmp') %}
    {% set backup_relation = pgclarify.beside(target_relation, '__dbt_backup').incorporate(
        type='table' if existing_relation is none else existing_relation.type
    ) %}
    {% do drop_relation_if_exists(load_cached_relation(intermediate_relation)) %}
    {% do drop_relation_if_exists(load_cached_relation(backup_relation)) %}
    {% call statement('main') %}
        {{ get_create_table_as_sql(false, intermediate_relation, select_sql) }}
    {% endcall %}
    {% do create_indexes(intermediate_relation) %}
    {% if existing_relation is not none %}
        {% do adapter.rename_relation(existing_relation, backup_relation) %}
    {% endif %}
    {% do adapter.rename_relation(intermediate_relation, target_relation) %}
    {{ return(backup_relation if existing_relation is not none else none) }}
{% endmacro %}

{% macro change_rows(target_relation, select_sql, questions, id, drops_missing) %}
    {{ return(adapter.dispatch('change_rows', 'pgclarify')(target_relation, select_sql, questions, id, drops_missing)) }}
{% endmacro %}

{% macro default__change_rows(target_relation, select_sql, questions, id, drops_missing) %}
    {% set column = pgclarify.identifier(id) %}
    {% call statement('pgclarify_delete') %}
        delete from {{ target_relation }} as kept
        using {{ questions }} as asked
        where kept.{{ column }} = asked.id and asked.is_changed;
        {% if drops_missing %}
        delete from {{ target_relation }} as kept
        where not exists (select from {{ questions }} as asked where asked.id = kept.{{ column }});
        {% endif %}
    {% endcall %}
    {% set columns = get_columns_in_query(select_sql) %}
    {% call statement('main') %}
        insert into {{ target_relation }}
        ({% for name in columns %}{{ pgclarify.identifier(name) }}{{ ', ' if not loop.last }}{% endfor %})
        select * from (
            {{ select_sql }}
        ) as changed
    {% endcall %}
{% endmacro %}

{% macro mark_changed(answers, questions, target_relation, id, question) %}
    {{ return(adapter.dispatch('mark_changed', 'pgclarify')(answers, questions, target_relation, id, question)) }}
{% endmacro %}

{% macro default__mark_changed(answers, questions, target_relation, id, question) %}
    {% call statement('pgclarify_mark_changed') %}
        {{ pgclarify.mark_changed_sql(answers, questions, target_relation, id, question) }}
    {% endcall %}
{% endmacro %}

{# Unfit questions stay marked, so their rows are deleted. #}
{% macro mark_changed_sql(answers, questions, target_relation, id, question) %}
    update {{ questions }} as asked
    set is_changed = compared.is_changed
    from (
        select given.id, shown.id is null as is_changed
        from {{ questions }} as given
        inner join ({{ answers }}) as kept on kept.question_key = given.question_key
        left join (
            select distinct
                {{ pgclarify.identifier(id) }} as id, {{ pgclarify.identifier(question) }} as question, run_id, status
            from {{ target_relation }}
        ) as shown
            on shown.id = given.id
            and shown.question = given.question
            and shown.run_id = kept.run_id
            and shown.status = kept.status
    ) as compared
    where compared.id = asked.id
{% endmacro %}

{% macro check_id_type(questions, existing_relation, id) %}
    {{ return(adapter.dispatch('check_id_type', 'pgclarify')(questions, existing_relation, id)) }}
{% endmacro %}

{% macro default__check_id_type(questions, existing_relation, id) %}
    {% do pgclarify.hold_build(questions) %}
    {% set found = pgclarify.fetch_and_commit("
        select
            -- A column without a length or scale takes ids of every length or scale.
            given.atttypid = shown.atttypid and shown.atttypmod in (-1, given.atttypmod) as is_same,
            format_type(given.atttypid, given.atttypmod) as given,
            format_type(shown.atttypid, shown.atttypmod) as shown
        from pg_catalog.pg_attribute as given
        cross join pg_catalog.pg_attribute as shown
        where
            given.attrelid = " ~ pgclarify.literal(questions) ~ "::regclass and given.attname = 'id'
            and shown.attrelid = " ~ pgclarify.literal(existing_relation) ~ "::regclass
            and shown.attname = " ~ pgclarify.literal(id)
    ) %}
    {% if not found.is_same %}
        {% do pgclarify.end_build(
            "column " ~ id ~ " is " ~ found.given ~ " in the SQL of the model, and " ~ found.shown ~ " in the table. Cast it"
            ~ " to that, or build the table anew with --full-refresh, which calls no model."
        ) %}
    {% endif %}
{% endmacro %}

{% macro check_schema(existing_relation, columns) %}
    {{ return(adapter.dispatch('check_schema', 'pgclarify')(existing_relation, columns)) }}
{% endmacro %}

{% macro default__check_schema(existing_relation, columns) %}
    {% set found = adapter.get_columns_in_relation(existing_relation) | map(attribute='name') | list %}
    {# Every table has columns, so an empty list means that the role may not see the table. #}
    {% if not found %}
        {% do pgclarify.end_build(
            (target.role or target.user) ~ " may not see the table that is there, " ~ existing_relation ~ ". Build it as the role that"
            ~ " owns it, or in another schema."
        ) %}
    {% endif %}
    {% if found | sort != columns | sort %}
        {% do pgclarify.end_build(
            "the table has other columns than the model: " ~ found | join(', ') ~ " instead of " ~ columns | join(', ')
            ~ ". Build it anew with --full-refresh, which calls no model."
        ) %}
    {% endif %}
{% endmacro %}

{% macro create_once(relation, questions, create_sql) %}
    {{ return(adapter.dispatch('create_once', 'pgclarify')(relation, questions, create_sql)) }}
{% endmacro %}

{% macro default__create_once(relation, questions, create_sql) %}
    {% do pgclarify.hold_build(questions) %}
    {% call statement('pgclarify_there', fetch_result=true) %}
        select
            named.oid is not null as is_there,
            has_table_privilege(named.oid, 'select') and has_table_privilege(named.oid, 'insert')
            and has_table_privilege(named.oid, 'update') and has_table_privilege(named.oid, 'delete') as is_writable
        from (select to_regclass({{ pgclarify.literal(relation) }})::oid as oid) as named
    {% endcall %}
    {% set found = load_result('pgclarify_there').table.rows[0] %}
    {% if found.is_there and not found.is_writable %}
        {% do pgclarify.end_build(
            (target.role or target.user) ~ " may not write the table that is there, " ~ relation ~ ". Build it as the role that"
            ~ " owns it, or in another schema."
        ) %}
    {% endif %}
    {% if found.is_there %}
        {% do pgclarify.commit_and_begin() %}
    {% else %}
        {% do pgclarify.execute_and_commit(create_sql) %}
    {% endif %}
{% endmacro %}

{# Until 0.3.0, it was granted like the model. But it has all questions, also those that a policy on the model hides. #}
{% macro revoke_grants(relation) %}
    {% set granted = adapter.standardize_grants_dict(run_query(get_show_grant_sql(relation))) %}
    {% set like_model = diff_of_two_dicts(granted, diff_of_two_dicts(granted, config.get('grants') or {})) %}
    {% if like_model %}
        {% do call_dcl_statements(get_dcl_statement_list(relation, like_model, get_revoke_sql)) %}
    {% endif %}
{% endmacro %}

{# Checked before any question is asked, because dbt checks it only when the table is built, after the cost. #}
{% macro check_contract(select_sql) %}
    {% set contract = config.get('contract') %}
    {% if contract and contract.enforced %}
        {% do get_assert_columns_equivalent(select_sql) %}
    {% endif %}
{% endmacro %}

{% macro is_incremental() %}
    {{ return(adapter.dispatch('is_incremental', 'pgclarify')()) }}
{% endmacro %}

{% macro default__is_incremental() %}
    {% if not execute or should_full_refresh() %}
        {{ return(false) }}
    {% endif %}
    {% if pgclarify.setting('missing_ids') == 'delete' %}
        {% do pgclarify.refuse_config(
            'missing_ids', 'delete', "All ids that pgclarify.is_incremental() leaves out would be missing, and their rows"
            ~ " deleted: leave one of the two out."
        ) %}
    {% endif %}
    {% set found = adapter.get_relation(this.database, this.schema, this.identifier) %}
    {{ return(found is not none and found.is_table) }}
{% endmacro %}
