{# Names and values in the notation of SQL. #}

{% macro identifier(name) %}
    {{ return('"' ~ name | replace('"', '""') ~ '"') }}
{% endmacro %}

{% macro literal(value) %}
    {% if value is none %}
        {{ return('null') }}
    {% endif %}
    {% set text = value | string %}
    {# E'' means the same with and without standard_conforming_strings, which a database may switch off. #}
    {% set opening = "E'" if '\\' in text else "'" %}
    {{ return(opening ~ text | replace('\\', '\\\\') | replace("'", "''") ~ "'") }}
{% endmacro %}

{% macro jsonb(value) %}
    {{ return(pgclarify.literal(tojson(value)) ~ '::jsonb') }}
{% endmacro %}

{% macro beside(relation, suffix) %}
    {{ return(adapter.dispatch('beside', 'pgclarify')(relation, suffix)) }}
{% endmacro %}

{% macro default__beside(relation, suffix) %}
    {% set name = relation.identifier ~ suffix %}
    {# PostgreSQL cuts names at 63 bytes, so two long names could become equal. #}
    {% if name.encode('utf-8') | length > 63 %}
        {% set name = relation.identifier[:20] ~ '_' ~ local_md5(relation.identifier)[:16] ~ suffix %}
        {% if name.encode('utf-8') | length > 63 %}
            {% set name = local_md5(relation.identifier)[:16] ~ suffix %}
        {% endif %}
    {% endif %}
    {{ return(api.Relation.create(
        database=relation.database, schema=relation.schema, identifier=name, type='table'
    )) }}
{% endmacro %}
