{# The config of a model, checked before anything is asked or paid for. #}

{% macro setting(name, default=none) %}
    {% set given = config.get(name) %}
    {% if given is none %}
        {% set given = (config.get('meta') or {}).get(name) %}
    {% endif %}
    {{ return(default if given is none else given) }}
{% endmacro %}

{% macro refuse_config(name, given, advice) %}
    {% do exceptions.raise_compiler_error(
        model.name ~ ": config " ~ name ~ " has a wrong value: " ~ given ~ ". " ~ advice
    ) %}
{% endmacro %}

{% macro text_setting(name, example) %}
    {% set given = pgclarify.setting(name) %}
    {% if given is not string or not (given | trim) %}
        {% do pgclarify.refuse_config(name, given, "Write, for example, " ~ name ~ "='" ~ example ~ "'.") %}
    {% endif %}
    {{ return(given) }}
{% endmacro %}

{% macro integer_setting(name, default, least, most) %}
    {% set given = pgclarify.setting(name, default) %}
    {% if given is boolean or given is not integer or given < least or given > most %}
        {% do pgclarify.refuse_config(name, given, "Write a whole number from " ~ least ~ " to " ~ most ~ ".") %}
    {% endif %}
    {{ return(given) }}
{% endmacro %}

{% macro boolean_setting(name, default) %}
    {% set given = pgclarify.setting(name, default) %}
    {% if given is not boolean %}
        {% do pgclarify.refuse_config(name, given, "Write true or false.") %}
    {% endif %}
    {{ return(given) }}
{% endmacro %}

{% macro choice_setting(name, choices) %}
    {% set given = pgclarify.setting(name, choices[0]) %}
    {% if given not in choices %}
        {% do pgclarify.refuse_config(name, given, "Write one of: " ~ choices | join(', ') ~ ".") %}
    {% endif %}
    {{ return(given) }}
{% endmacro %}

{% macro mapping_setting(name, example) %}
    {% set given = pgclarify.setting(name, {}) %}
    {% if given is not mapping %}
        {% do pgclarify.refuse_config(name, given, "Write a mapping, such as " ~ name ~ "=" ~ example ~ ".") %}
    {% endif %}
    {{ return(given) }}
{% endmacro %}

{% macro seconds_setting(name, default=none) %}
    {% set given = pgclarify.setting(name, default) %}
    {% if given is none %}
        {{ return(none) }}
    {% endif %}
    {% set parts = modules.re.match('^([1-9][0-9]{0,8}) ?(s|min|h|d)$', given | string) %}
    {% if parts is none %}
        {% do pgclarify.refuse_config(name, given, "Write a number with s, min, h or d, such as " ~ name ~ "='2h'.") %}
    {% endif %}
    {% set units = {'s': 1, 'min': 60, 'h': 3600, 'd': 86400} %}
    {{ return((parts.group(1) | int) * units[parts.group(2)]) }}
{% endmacro %}

{# A variable, because one build may be for the night and the next one for now. #}
{% macro asks_in_batch() %}
    {% set given = var('pgclarify_batch', false) | string | lower %}
    {% if given not in ('true', 'false') %}
        {% do exceptions.raise_compiler_error(
            "variable pgclarify_batch has a wrong value: " ~ given ~ ". Write true or false."
        ) %}
    {% endif %}
    {{ return(given == 'true') }}
{% endmacro %}

{% macro check_columns(sql, names, reserved) %}
    {% call statement('pgclarify_columns', fetch_result=true) %}
        {{ get_empty_subquery_sql(sql, config.get('sql_header')) }}
    {% endcall %}
    {% set known = load_result('pgclarify_columns').table.columns | map(attribute='name') | list %}
    {% for config_name, name in names.items() %}
        {% if name not in known %}
            {% do pgclarify.refuse_config(
                config_name, name, "The SQL of the model has these columns: " ~ known | join(', ') ~ "."
            ) %}
        {% endif %}
        {% if name in reserved %}
            {% do pgclarify.refuse_config(
                config_name, name, "The table has a column of that name already: give yours another one, with as."
            ) %}
        {% endif %}
    {% endfor %}
    {% if names.id == names.question %}
        {% do pgclarify.refuse_config('question', names.question, "It is the id. Name two columns.") %}
    {% endif %}
    {% set left_out = known | reject('in', names.values()) | list %}
    {% if left_out %}
        {% do log(
            model.name ~ ": columns that the table does not have: " ~ left_out | join(', ') ~ ". Join them by " ~ names.id
            ~ ".", info=true
        ) %}
    {% endif %}
{% endmacro %}
