{# The run of each question: a table beside the model, by which a build continues an interrupted one. #}

{% macro create_runs_sql(runs) %}
    create table {{ runs }} (
        question_key text primary key,
        question text not null,
        filter jsonb,
        is_due boolean not null default true,
        asked_with jsonb,
        run_id bigint,
        submitted_at timestamptz,
        built_with jsonb,
        built_run_id bigint,
        built_status text,
        previous_run_id bigint,
        built_at timestamptz
    );
    comment on table {{ runs }} is
    'Which run answers which question of a dbt model. Builds go by it; without it they ask what no run serves any more.';
    comment on column {{ runs }}.question_key is 'SHA-256 of the question and its filter, as hexadecimal digits.';
    comment on column {{ runs }}.question is 'The question, without surrounding white space.';
    {{ pgclarify.comment_on_filter_sql(runs) }}
    comment on column {{ runs }}.is_due is 'True if the build that goes on has yet to ask it.';
    comment on column {{ runs }}.asked_with is
    'Corpus, top_k and options that it was last asked with, and the documents, if it is of a part of them: from documents_sql.';
    comment on column {{ runs }}.run_id is 'The run that was last asked; null if none was.';
    comment on column {{ runs }}.submitted_at is 'When that was.';
    comment on column {{ runs }}.built_with is 'What the run was asked with that the table shows.';
    comment on column {{ runs }}.built_run_id is
    'The run that the table shows; null if it shows none yet. An earlier one than run_id if that has failed or ended in part.';
    comment on column {{ runs }}.built_status is 'The status that the table shows: that of the run, or earlier.';
    comment on column {{ runs }}.previous_run_id is 'The run that it showed before the last build; null if none.';
    comment on column {{ runs }}.built_at is 'When the table was first built with it.'
{% endmacro %}

{% macro comment_on_filter_sql(runs) %}
    comment on column {{ runs }}.filter is 'Its filter, if each question has one; null for none.';
{% endmacro %}

{# The table of release 0.2.0 has no filters. #}
{% macro add_filter_sql(runs) %}
    alter table {{ runs }} add column if not exists filter jsonb;
    {{ pgclarify.comment_on_filter_sql(runs) }}
{% endmacro %}

{% macro refresh_number(runs, corpus, asks_anew) %}
    {{ return(adapter.dispatch('refresh_number', 'pgclarify')(runs, corpus, asks_anew)) }}
{% endmacro %}

{% macro default__refresh_number(runs, corpus, asks_anew) %}
    {% set found = pgclarify.fetch_and_commit(pgclarify.refresh_number_sql(runs, corpus, asks_anew)) %}
    {{ return(found.refresh | int) }}
{% endmacro %}

{% macro refresh_number_sql(runs, corpus, asks_anew) %}
    with built as (
        select coalesce((kept.built_with -> 'options' ->> 'refresh')::integer, 0) as refresh
        from {{ runs }} as kept
        where kept.built_at is not null
        order by kept.built_at desc
        limit 1
    ),
    asked as (
        select coalesce((kept.asked_with -> 'options' ->> 'refresh')::integer, 0) as refresh
        from {{ runs }} as kept
        where kept.submitted_at is not null
        order by kept.submitted_at desc
        limit 1
    )
    {% if asks_anew %}
    select
        coalesce(
            -- A build that has asked and not built was interrupted, and this build continues it.
            (select asked.refresh from asked where asked.refresh not in (0, coalesce((select built.refresh from built), 0))),
            -- A value that no run has: with a used one, earlier runs or replies would be reused.
            (
                select drawn.refresh
                from (
                    select 1 + floor(random() * 1000000)::integer as refresh from generate_series(1, 1000)
                ) as drawn
                where drawn.refresh not in (
                    select (run.settings ->> 'refresh')::integer
                    from pgclarify.run
                    inner join pgclarify.corpus on corpus.corpus_id = run.corpus_id
                    where corpus.corpus = {{ pgclarify.literal(corpus) }} and run.settings ? 'refresh'
                )
                limit 1
            )
        ) as refresh
    {% else %}
    select coalesce((select built.refresh from built), 0) as refresh
    {% endif %}
{% endmacro %}

{# A change of metadata is no new revision of the corpus, but documents enter and leave a part of it: that of a filter, or of
a role whose grant has one, which sees no counts. #}
{% macro documents_sql(corpus, has_filter) %}
    select
        case when {{ has_filter }} or asked.documents is null then (
            select sum(hashtextextended(document.id || extract(epoch from document.updated_at), 0)::numeric)::text
            from pgclarify.document
            where document.corpus_id = asked.corpus_id
        ) end as documents
    from (select 1) as one
    left join pgclarify.corpus as asked on asked.corpus = {{ pgclarify.literal(corpus) }}
{% endmacro %}

{% macro mark_due(runs, questions, asked_with, max_staleness, keeps_unanswered, has_filter) %}
    {{ return(adapter.dispatch('mark_due', 'pgclarify')(
        runs, questions, asked_with, max_staleness, keeps_unanswered, has_filter
    )) }}
{% endmacro %}

{% macro default__mark_due(runs, questions, asked_with, max_staleness, keeps_unanswered, has_filter) %}
    {% do pgclarify.hold_build(questions) %}
    {% do pgclarify.execute_and_commit(
        pgclarify.mark_due_sql(runs, questions, asked_with, max_staleness, keeps_unanswered, has_filter)
    ) %}
{% endmacro %}

{% macro mark_due_sql(runs, questions, asked_with, max_staleness, keeps_unanswered, has_filter) %}
    {%- if has_filter %}
    {{ pgclarify.add_filter_sql(runs) }}
    {%- endif %}
    delete from {{ runs }} as kept
    where
        not exists (select from {{ questions }} as given where given.question_key = kept.question_key)
        {%- if keeps_unanswered %}
        -- A question without an answer has no row, and must still be counted.
        and not (
            coalesce(kept.built_status = 'succeeded', false)
            and not exists (select from pgclarify.interpretation as found where found.run_id = kept.built_run_id)
        )
        {%- endif %};
    insert into {{ runs }} (question_key, question{{ ', filter' if has_filter }})
    select distinct given.question_key, given.asked{{ ', given.filter' if has_filter }}
    from {{ questions }} as given
    where given.is_fit
    on conflict do nothing;
    analyze {{ runs }};
    update {{ runs }} as kept
    set is_due = not stands.is_good
    from (
        select
            known.question_key,
            coalesce(
                known.asked_with - 'documents' = {{ pgclarify.jsonb(asked_with) }} - 'documents'
                -- The corpus may have been dropped, and another one created with its name.
                and run.corpus_id = corpus.corpus_id
                and (
                    run.status in ('queued', 'running')
                    or run.status = 'succeeded' and (
                        -- The revision counts only documents that this role may read.
                        run.corpus_revision = corpus.revision
                        and known.asked_with -> 'documents'
                            is not distinct from {{ pgclarify.jsonb(asked_with) }} -> 'documents'
                        {%- if max_staleness %}
                        -- Each reading is still visible, and each document that it cites still has the quote.
                        or run.finished_at > now() - interval '{{ max_staleness }} seconds'
                        and run.interpretations = (
                            select count(*)
                            from pgclarify.interpretation as found
                            where found.run_id = run.run_id
                                and not exists (
                                    select
                                    from pgclarify.citation as cited
                                    where cited.run_id = found.run_id
                                        and cited.ordinal = found.ordinal
                                        and not cited.is_current
                                )
                        )
                        {%- endif %}
                    )
                ),
                false
            )
            -- Questions that the SQL of the model no longer has are not asked.
            or not exists (select from {{ questions }} as given where given.question_key = known.question_key) as is_good
        from {{ runs }} as known
        left join pgclarify.run on known.run_id = run.run_id
        left join pgclarify.corpus on corpus.corpus = {{ pgclarify.literal(asked_with.corpus) }}
    ) as stands
    where stands.question_key = kept.question_key and kept.is_due <> (not stands.is_good)
{% endmacro %}

{# One statement creates the runs and stores their ids, so that neither exists without the other. #}
{% macro submit_batch_sql(runs, asked_with, batch_size, has_filter) %}
    {# It is not in asked_with: the answers are the same, so a build without it must not ask again. #}
    {% set options = dict(asked_with.options, batch=true) if pgclarify.asks_in_batch() else asked_with.options %}
    with chosen as materialized (
        select
            due.question_key, due.question, {{ 'due.filter, ' if has_filter }}
            row_number() over (order by due.question_key) as place
        from {{ runs }} as due
        where due.is_due
        order by due.question_key
        limit {{ pgclarify.room_sql(pgclarify.unfinished_runs_sql(runs), batch_size) }}
    ),
    submitted as materialized (
        select pgclarify.submit_many(
            'clarify',
            array(select chosen.question from chosen order by chosen.place),
            corpus => {{ pgclarify.literal(asked_with.corpus) }},
            options => jsonb_build_object('top_k', {{ asked_with.top_k }}) || {{ pgclarify.jsonb(options) }}::jsonb
            {%- if has_filter %}
            || jsonb_build_object('filters', (select jsonb_agg(chosen.filter order by chosen.place) from chosen))
            {%- endif %}
        ) as run_ids
        where exists (select from chosen)
    )
    update {{ runs }} as kept
    set
        is_due = false,
        asked_with = {{ pgclarify.jsonb(asked_with) }},
        run_id = entered.run_id,
        submitted_at = now()
    from submitted
    cross join lateral unnest(submitted.run_ids) with ordinality as entered (run_id, place)
    inner join chosen on chosen.place = entered.place
    where kept.question_key = chosen.question_key
{% endmacro %}

{% macro note_built(runs, corpus) %}
    {{ return(adapter.dispatch('note_built', 'pgclarify')(runs, corpus)) }}
{% endmacro %}

{% macro default__note_built(runs, corpus) %}
    {% call statement('pgclarify_note_built') %}
        {{ pgclarify.note_built_sql(runs, corpus) }};
        -- Without statistics of built_run_id, the planner would compare every search with every reading.
        analyze {{ runs }};
    {% endcall %}
{% endmacro %}

{% macro note_built_sql(runs, corpus) %}
    update {{ runs }} as kept
    set
        previous_run_id = kept.built_run_id,
        built_run_id = shown.run_id,
        built_with = shown.asked_with,
        built_status = shown.status,
        built_at = case
            when (kept.built_run_id, kept.built_with) is distinct from (shown.run_id, shown.asked_with) then now()
            else kept.built_at
        end
    from (
        select
            known.question_key,
            coalesce(earlier.run_id, known.run_id) as run_id,
            case when earlier.run_id is null then known.asked_with else known.built_with end as asked_with,
            case when earlier.run_id is null then asked.status else 'earlier' end as status
        from {{ runs }} as known
        left join pgclarify.run as asked on asked.run_id = known.run_id
        left join pgclarify.corpus on corpus.corpus = {{ pgclarify.literal(corpus) }}
        -- If asking again has failed, or has only a partial result, the earlier answer stays.
        left join pgclarify.run as earlier
            on earlier.run_id = known.built_run_id
            and earlier.corpus_id = corpus.corpus_id
            and (
                earlier.status in ('succeeded', 'partial') and asked.status not in ('succeeded', 'partial')
                or earlier.status = 'succeeded' and asked.status = 'partial' and (
                    earlier.corpus_revision = asked.corpus_revision
                    or not exists (select from pgclarify.interpretation as found where found.run_id = asked.run_id)
                )
            )
    ) as shown
    where
        shown.question_key = kept.question_key
        and (kept.previous_run_id, kept.built_run_id, kept.built_with, kept.built_status)
        is distinct from (kept.built_run_id, shown.run_id, shown.asked_with, shown.status)
{% endmacro %}
