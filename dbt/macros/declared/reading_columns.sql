{# Written by `make generated` from pgclarify/declared. Do not edit. #}

{# Columns of a reading with its evidence, in the order of clarify. #}
{% macro reading_columns() %}
    {{ return([
        'ordinal', 'interpretation', 'answer', 'support', 'cohesion', 'document_ids', 'citations', 'is_contested', 'dated',
        'older_hidden', 'doubt', 'probability', 'level',
    ]) }}
{% endmacro %}

{# Columns of view interpretation, but the run. #}
{% macro interpretation_view_columns() %}
    {{ return([
        'ordinal', 'interpretation', 'answer', 'support', 'cohesion', 'is_contested', 'older_hidden', 'dated', 'doubt',
        'probability', 'level',
    ]) }}
{% endmacro %}
