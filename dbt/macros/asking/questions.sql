{# The questions of a model: its SQL is evaluated once, into a table beside it that exists during the build. #}

{# Columns are checked before and after the SQL of the model is evaluated, and before any question is asked. #}
{% macro take_questions(questions, sql, id, question, columns, kept_relation, filter=none) %}
    {% set names = {'id': id, 'question': question} %}
    {% if filter is not none %}
        {% do names.update({'filter': filter}) %}
    {% endif %}
    {% do pgclarify.check_columns(sql, names, columns[names | length:]) %}
    {% if kept_relation is not none %}
        {% do pgclarify.check_schema(kept_relation, columns) %}
    {% endif %}
    {% do pgclarify.keep_questions(questions, sql, id, question, filter) %}
    {% if kept_relation is not none %}
        {% do pgclarify.check_id_type(questions, kept_relation, id) %}
    {% endif %}
{% endmacro %}

{% macro keep_questions(questions, sql, id, question, filter) %}
    {{ return(adapter.dispatch('keep_questions', 'pgclarify')(questions, sql, id, question, filter)) }}
{% endmacro %}

{% macro default__keep_questions(questions, sql, id, question, filter) %}
    {# No temporary table: each step commits, and behind a pooler the next step may be in another session. #}
    {% do pgclarify.execute_and_commit(
        pgclarify.create_questions_sql(questions, sql, id, question, filter)
    ) %}
    {% do pgclarify.hold_build(questions) %}
    {% set counted = pgclarify.fetch_and_commit(pgclarify.count_questions_sql(questions)) %}
    {% set name = model.name %}
    {% if counted.without_id | int %}
        {% do pgclarify.end_build(
            "questions without an id, where " ~ id ~ " is null: " ~ counted.without_id ~ ". Leave such rows out with"
            ~ " where, or give them ids."
        ) %}
    {% endif %}
    {% if counted.repeated_ids | int %}
        {% do pgclarify.end_build(
            "rows that repeat the id of another row, such as " ~ id ~ " = " ~ counted.repeated_id ~ ": "
            ~ counted.repeated_ids ~ ". Select each id once, with distinct on, say."
        ) %}
    {% endif %}
    {% if counted.blank | int %}
        {% do exceptions.warn(name ~ ": rows left out, since their question is null or blank: " ~ counted.blank) %}
    {% endif %}
    {% if counted.too_long | int %}
        {% do exceptions.warn(
            name ~ ": rows left out, since their question has more than 10,000 characters: " ~ counted.too_long
        ) %}
    {% endif %}
    {% do pgclarify.hold_build(questions) %}
    {% do pgclarify.execute_and_commit(pgclarify.leave_out_sql(questions)) %}
{% endmacro %}

{% macro create_questions_sql(questions, sql, id, question, filter) %}
    {{ pgclarify.lock_out_sql(questions) }};
    drop table if exists {{ questions }};
    {{ config.get('sql_header') or '' }}
    create unlogged table {{ questions }} as
    select
        given.id, given.question, trimmed.question as asked, given.filter,
        case when fitting.is_fit then {{ pgclarify.question_key('trimmed.question', 'given.filter') }} end as question_key,
        fitting.is_fit,
        true as is_given,
        true as is_changed
    from (
        select
            {{ pgclarify.identifier(id) }} as id, {{ pgclarify.identifier(question) }}::text as question,
            {{ pgclarify.filter_expression(filter) }} as filter
        from (
            {{ sql }}
        ) as model
    ) as given
    cross join lateral (select {{ pgclarify.trimmed('given.question') }} as question) as trimmed
    cross join lateral (
        select coalesce(length(trimmed.question) between 1 and 10000, false) as is_fit
    ) as fitting;
    comment on table {{ questions }} is
    'Questions of a build of dbt that goes on, or was cut off; the next one drops it. Invocation: {{ invocation_id }}'
{% endmacro %}

{# Unfit questions are kept if only they have their id, so that rows of an earlier build with this id are deleted. #}
{% macro leave_out_sql(questions) %}
    {% if flags.EMPTY %}
    truncate {{ questions }};
    {% endif %}
    delete from {{ questions }} where not is_fit and id is null;
    delete from {{ questions }} as unfit
    using {{ questions }} as given
    where not unfit.is_fit and given.is_fit and given.id = unfit.id;
    analyze {{ questions }}
{% endmacro %}

{% macro count_questions_sql(questions) %}
    select
        count(*) filter (where is_fit and id is null) as without_id,
        count(id) filter (where is_fit) - count(distinct id) filter (where is_fit) as repeated_ids,
        (
            select min(repeated.id)
            from (
                select given.id::text as id
                from {{ questions }} as given
                where given.is_fit
                group by given.id
                having count(*) > 1
            ) as repeated
        ) as repeated_id,
        count(*) filter (where coalesce(asked, '') = '') as blank,
        count(*) filter (where length(asked) > 10000) as too_long
    from {{ questions }}
{% endmacro %}

{% macro keep_earlier_questions(questions, existing_relation, id, question, filter=none) %}
    {{ return(adapter.dispatch('keep_earlier_questions', 'pgclarify')(
        questions, existing_relation, id, question, filter
    )) }}
{% endmacro %}

{% macro default__keep_earlier_questions(questions, existing_relation, id, question, filter) %}
    {% do pgclarify.hold_build(questions) %}
    {% do pgclarify.execute_and_commit(
        pgclarify.add_earlier_questions_sql(questions, existing_relation, id, question, filter)
    ) %}
{% endmacro %}

{% macro add_earlier_questions_sql(questions, existing_relation, id, question, filter) %}
    insert into {{ questions }} (id, question, asked, filter, question_key, is_fit, is_given, is_changed)
    select distinct on (kept.id)
        kept.id, kept.question, {{ pgclarify.trimmed('kept.question') }}, kept.filter,
        {{ pgclarify.question_key(pgclarify.trimmed('kept.question'), 'kept.filter') }}, true, false, false
    from (
        select
            {{ pgclarify.identifier(id) }} as id, {{ pgclarify.identifier(question) }} as question,
            {{ pgclarify.filter_expression(filter) }} as filter
        from {{ existing_relation }}
    ) as kept
    where not exists (select from {{ questions }} as given where given.id = kept.id)
    order by kept.id;
    analyze {{ questions }}
{% endmacro %}

{# Trimmed as pgclarify trims questions, so that the same questions count as equal. #}
{% macro trimmed(expression) %}btrim({{ expression }}, E' \t\r\n\f\x0b'){% endmacro %}

{# A question without a filter has the key that earlier releases gave it. #}
{% macro question_key(question, filter) -%}
    encode(sha256(convert_to({{ question }} || coalesce(chr(1) || {{ filter }}::text, ''), 'UTF8')), 'hex')
{%- endmacro %}

{# A text that is no JSON becomes a JSON string, which is refused as a filter with an error that says what a filter is. #}
{% macro filter_expression(filter) -%}
    {%- if filter is none -%}
        null::jsonb
    {%- else -%}
        {%- set text = pgclarify.identifier(filter) ~ '::text' -%}
        case when pg_input_is_valid({{ text }}, 'jsonb') then {{ text }}::jsonb else to_jsonb({{ text }}) end
    {%- endif -%}
{%- endmacro %}
