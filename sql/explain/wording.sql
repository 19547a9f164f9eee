-- explain: formats of questions, durations, figures and passages.

create or replace function pgclarify_private.asked(question text, settings jsonb)
returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        coalesce(
            (asked.settings ->> 'questions')
            || case when asked.settings -> 'questions' = '1' then ' question' else ' questions' end,
            asked.question
        );
end;

comment on function pgclarify_private.asked(text, jsonb) is
'The question of a run, for people; for many questions of detect_ambiguity, and for estimate, their number.';
grant execute on function pgclarify_private.asked(text, jsonb) to pgclarify_reader;

create or replace function pgclarify_private.shown_number(given double precision)
returns text
language sql stable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select to_char(shown_number.given, case when abs(shown_number.given) < 9.95 then 'FM0.0' else 'FM999,999,999,990' end);
end;

comment on function pgclarify_private.shown_number(double precision) is 'Milliseconds: one decimal below ten, else none.';

create or replace function pgclarify_private.shown_tokens(prompt_tokens bigint, completion_tokens bigint)
returns text
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        to_char(shown_tokens.prompt_tokens, 'FM999,999,999,990') || '+'
        || to_char(shown_tokens.completion_tokens, 'FM999,999,999,990')
    where shown_tokens.prompt_tokens + shown_tokens.completion_tokens > 0;
end;

comment on function pgclarify_private.shown_tokens(bigint, bigint) is
'Tokens of input and output, such as 2,480+310; null if there are none.';

create or replace function pgclarify_private.shown_figures(
    start_ms double precision,
    end_ms double precision,
    share double precision,
    rows bigint,
    calls bigint,
    reused_calls bigint,
    prompt_tokens bigint,
    completion_tokens bigint
)
returns text[]
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        array[
            'time=' || pgclarify_private.shown_number(shown_figures.start_ms) || '..'
            || pgclarify_private.shown_number(shown_figures.end_ms) || ' ms',
            round(100 * shown_figures.share) || '%',
            'rows=' || shown_figures.rows,
            'calls=' || nullif(shown_figures.calls, 0),
            'reused=' || nullif(shown_figures.reused_calls, 0),
            'tokens=' || pgclarify_private.shown_tokens(shown_figures.prompt_tokens, shown_figures.completion_tokens)
        ];
end;

comment on function pgclarify_private.shown_figures(
    double precision, double precision, double precision, bigint, bigint, bigint, bigint, bigint
) is 'The figures of a stage or a step, in order; null for each that is not known, or zero.';

create or replace function pgclarify_private.title_of_passage(title text, heading text)
returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        nullif(
            concat_ws(
                ' > ',
                -- Many documents begin with their title.
                case
                    when
                        title_of_passage.heading = title_of_passage.title
                        or starts_with(title_of_passage.heading, title_of_passage.title || ' > ')
                        then null
                    else nullif(title_of_passage.title, '')
                end,
                nullif(title_of_passage.heading, '')
            ),
            ''
        );
end;

comment on function pgclarify_private.title_of_passage(text, text) is
'Title and headings of a passage, such as Coverage > Rental cars. A title that is also the first heading is shown once; null '
'if there is neither.';
