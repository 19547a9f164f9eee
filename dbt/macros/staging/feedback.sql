{# What people say of readings: how many are right, by week, corpus and model. #}

{% macro feedback() %}
    {{ return(adapter.dispatch('feedback', 'pgclarify')()) }}
{% endmacro %}

{% macro default__feedback() %}
    select
        date_trunc('week', given.created_at at time zone 'UTC')::date as week,
        given.corpus,
        given.model,
        count(given.rating) as rated,
        count(*) filter (where given.rating = 'right') as right_ones,
        count(*) filter (where given.rating = 'wrong') as wrong_ones,
        count(*) filter (where given.rating = 'useless') as useless_ones,
        count(given.missing) as missing_ones,
        avg((given.rating = 'right')::integer)::double precision as right_share
    from (select * from {{ source('pgclarify', 'feedback') }}) as given
    group by 1, 2, 3
{% endmacro %}
