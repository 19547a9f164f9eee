-- Foreign texts in errors and in explain: sanitized and shortened.

create or replace function pgclarify_private.shown(given text, most integer default 100)
returns text
language sql stable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        case
            when cut.line !~ cut.harmful then cut.line
            else (
                select
                    string_agg(
                        case
                            when spelt.letter !~ cut.harmful then spelt.letter
                            when ascii(spelt.letter) > 65535 then '\U' || lpad(to_hex(ascii(spelt.letter)), 8, '0')
                            else '\u' || lpad(to_hex(ascii(spelt.letter)), 4, '0')
                        end,
                        '' order by spelt.place
                    )
                from string_to_table(cut.line, null) with ordinality as spelt (letter, place)
            )
        end
    from (
        select
            case
                when length(one.line) > shown.most or one.is_cut then rtrim(left(one.line, shown.most - 1)) || '…'
                else one.line
            end as line,
            -- Characters that a terminal interprets; that reorder, hide or separate text; or that are invisible.
            '[\u0001-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f'
            '\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a'
            '\U000e0000-\U000e01ef]' as harmful
        -- Cut first, because a text may be very long.
        from (
            select
                btrim(regexp_replace(left(trimmed.text, 20 * shown.most), '[ \t\n\v\f\r]+', ' ', 'g')) as line,
                length(trimmed.text) > 20 * shown.most as is_cut
            -- OFFSET 0 makes the planner evaluate each step once. Else a text of 100 MB would be read a hundred times.
            from (select btrim(left(shown.given, 40 * shown.most + 10000), E' \t\n\x0b\f\r') as text offset 0) as trimmed
            offset 0
        ) as one
        offset 0
    ) as cut;
end;

comment on function pgclarify_private.shown(text, integer) is
'A foreign text on one line, cut to so many characters. Control characters, and those that reorder or hide text, are spelled '
'out as \uNNNN or \UNNNNNNNN.';
