{# Config without effect, because its name is misspelled or belongs to another materialization. #}

{% macro check_config_names(settings) %}
    {% for name in ['unique_key', 'incremental_strategy', 'incremental_predicates', 'merge_update_columns'] %}
        {% if config.get(name) is not none %}
            {% do exceptions.warn(
                model.name ~ ": config " ~ name ~ " is that of incremental models, and has no effect here."
            ) %}
        {% endif %}
    {% endfor %}
    {# Without its setting, the model would be built with a default. #}
    {% for name in model.config.keys() if name not in settings %}
        {% for setting in settings if pgclarify.likeness(name, setting) >= 0.6 %}
            {% do exceptions.raise_compiler_error(
                model.name ~ ": config " ~ name ~ " has no effect. Is " ~ setting ~ " meant? The configs are: "
                ~ settings | join(', ') ~ ". Names of your own belong in meta."
            ) %}
        {% endfor %}
    {% endfor %}
    {# Projects have their own names there. #}
    {% for name in (config.get('meta') or {}).keys() if name not in settings %}
        {% for setting in settings if pgclarify.likeness(name, setting) >= 0.6 %}
            {% do exceptions.warn(
                model.name ~ ": config " ~ name ~ " in meta has no effect. Is " ~ setting ~ " meant?"
            ) %}
        {% endfor %}
    {% endfor %}
{% endmacro %}

{# Dice's coefficient over pairs of letters. It is low for two letters in the wrong order, as in fliter. #}
{% macro likeness(first, second) %}
    {% set one = first | string | lower | replace('_', '') | replace('-', '') %}
    {% set other = second | replace('_', '') %}
    {% if one | sort == other | sort %}
        {{ return(1.0) }}
    {% endif %}
    {% set shared = [] %}
    {% for place in range(one | length - 1) if one[place:place + 2] in other %}
        {% do shared.append(place) %}
    {% endfor %}
    {{ return(2.0 * (shared | length) / ([(one | length) + (other | length) - 2, 1] | max)) }}
{% endmacro %}
