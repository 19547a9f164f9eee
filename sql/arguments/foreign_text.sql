-- Foreign texts: in one spelling where they are stored and searched; sanitized and shortened in errors and in explain.

create or replace function pgclarify_private.normalized(given text)
returns text
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
declare
    -- Soft hyphens, marks without width, and marks of direction.
    v_invisible constant text := U&'\00ad\061c\180e\200b\200e\200f\202a\202b\202c\202d\202e\2060\2061\2062\2063\2064'
        || U&'\2066\2067\2068\2069\206a\206b\206c\206d\206e\206f\feff';
    v_ligatures constant text[] := array[
        U&'\fb00', 'ff', U&'\fb01', 'fi', U&'\fb02', 'fl', U&'\fb03', 'ffi', U&'\fb04', 'ffl', U&'\fb05', 'st', U&'\fb06', 'st',
        -- For private use, in older fonts of Microsoft and Apple.
        U&'\f001', 'fi', U&'\f002', 'fl'
    ];
    v_text text := normalized.given;
begin
    if octet_length(v_text) = length(v_text) then
        return v_text;
    end if;
    if v_text ~ ('[' || v_invisible || ']') then
        v_text := translate(v_text, v_invisible, '');
    end if;
    if v_text ~ '[\uf001\uf002\ufb00-\ufb06]' then
        for v_place in 1 .. cardinality(v_ligatures) by 2 loop
            v_text := replace(v_text, v_ligatures[v_place], v_ligatures[v_place + 1]);
        end loop;
    end if;
    -- Joiners shape Arabic and Indic letters and emoji. Between the letters of other scripts they only part ligatures.
    if v_text ~ '[\u200c\u200d]' then
        v_text := regexp_replace(v_text, '([A-Za-z\u00aa-\u058f])[\u200c\u200d]+', '\1', 'g');
    end if;
    return case when v_text is nfc normalized then v_text else normalize(v_text, nfc) end;
end
$$;

comment on function pgclarify_private.normalized(text) is
'A text in composed form (NFC), without marks that nobody sees, and with ligatures as letters: as texts are stored and '
'searched. Offsets of passages and citations count in it. pgclarify.language.normalization does the same.';

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
