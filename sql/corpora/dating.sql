-- Dates of documents, and dates in texts.

create or replace function pgclarify_private.is_date(value jsonb)
returns boolean
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        jsonb_typeof(is_date.value) = 'string'
        and is_date.value #>> '{}' ~ '^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d(:?\d\d)?)?)?$'
        and pg_input_is_valid(is_date.value #>> '{}', 'timestamptz');
end;

comment on function pgclarify_private.is_date(jsonb) is 'Whether a value is a text with an ISO date, with or without a time.';

create or replace function pgclarify_private.is_writable_date(dated timestamptz)
returns boolean
language sql immutable parallel safe
begin atomic
    select is_writable_date.dated between '0002-01-01 00:00:00+00' and '9999-01-01 00:00:00+00';
end;

comment on function pgclarify_private.is_writable_date(timestamptz) is
'Whether every client can write a date: from the year 2 to 9998, in every time zone. Null for null.';

create or replace function pgclarify_private.date_in(value text)
returns timestamptz
language sql stable strict parallel safe
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
begin atomic
    select case when pgclarify_private.is_writable_date(found.dated) then found.dated end
    from (
        select case when pgclarify_private.is_date(to_jsonb(date_in.value)) then date_in.value::timestamptz end as dated
    ) as found;
end;

comment on function pgclarify_private.date_in(text) is
'The ISO date that a text is, with or without a time; in UTC, unless it names a time zone. Null if it is none.';

create or replace function pgclarify_private.date_in(metadata jsonb, date_key text)
returns timestamptz
language sql stable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    -- As in filters, a key with dots may also be a path.
    select pgclarify_private.date_in(
        coalesce(date_in.metadata ->> date_in.date_key, date_in.metadata #>> string_to_array(date_in.date_key, '.'))
    );
end;

comment on function pgclarify_private.date_in(jsonb, text) is
'The date that metadata have under a key; null if they have none, or for no key.';

create or replace function pgclarify_private.date_in_id(id text)
returns timestamptz
language sql stable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.date_in(format('%s-%s-%s', found.parts[1], found.parts[2], coalesce(found.parts[3], '01')))
    from regexp_matches(
        date_in_id.id,
        '(?<![0-9])((?:19|20)[0-9]{2})[-_/.](0[1-9]|1[0-2])(?:[-_/.](0[1-9]|[12][0-9]|3[01]))?(?![0-9])'
    ) as found (parts);
end;

comment on function pgclarify_private.date_in_id(text) is
'The first date in the id of a document, such as minutes/2026-04-30.md or 2026/04/agenda.pdf, which is the first day of the '
'month; null if there is none.';

create or replace function pgclarify_private.own_date(id text, metadata jsonb, date_key text)
returns timestamptz
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select case own_date.date_key
        when 'id' then pgclarify_private.date_in_id(own_date.id)
        else pgclarify_private.date_in(own_date.metadata, own_date.date_key)
    end;
end;

comment on function pgclarify_private.own_date(text, jsonb, text) is
'The date that a document has by the date_key of its corpus: in its metadata, or in its id; null for none, or for no key.';
