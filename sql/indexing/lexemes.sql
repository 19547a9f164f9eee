-- What a search by words compares: the lexemes of a passage and of a question, computed in the same way.

create or replace function pgclarify_private.with_blanks(content text)
returns text
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
declare
    -- Ideographs, hiragana, katakana, Hangul, Thai and Lao, Burmese, Khmer. Usually a change of script is also the end
    -- of a word: 犬は is two words.
    v_scripts constant text[] := array[
        '\u3005-\u3007\u3400-\u9FFF\uF900-\uFAFF\U00020000-\U0003FFFF', '\u3041-\u309F', '\u30A1-\u30FA\u30FC-\u30FF',
        '\uAC00-\uD7A3', '\u0E01-\u0EFF', '\u1000-\u109F', '\u1780-\u17FF'
    ];
    v_letter constant text := '[' || array_to_string(v_scripts, '') || ']';
    -- With the symbols of these scripts, and full-width and half-width forms. The private use area is not included,
    -- because it has the bullets of PDF and Word.
    v_wide constant text := '\u0E01-\u0EFF\u1000-\u109F\u1780-\u17FF\u3005-\u9FFF\uAC00-\uD7A3\uF900-\uFAFF\uFF01-\uFFEF'
        || '\U00020000-\U0003FFFF';
    v_content text;
begin
    if with_blanks.content !~ ('[' || v_wide || ']') then
        return with_blanks.content;
    end if;
    -- Only these characters: elsewhere ™ would become tm, and 50² 502.
    v_content := (
        select
            string_agg(
                case when part.run[1] ~ ('[' || v_wide || ']') then normalize(part.run[1], nfkc) else part.run[1] end,
                '' order by part.place
            )
        from
            regexp_matches(with_blanks.content, format('[%1$s]+|[^%1$s]+', v_wide), 'g')
            with ordinality as part (run, place)
    );
    v_content := regexp_replace(v_content, '([' || array_to_string(v_scripts, ']+|[') || ']+)', ' \1 ', 'g');
    -- ABC becomes AABBCC, and without its ends AB BC. A single letter is kept.
    v_content := regexp_replace(v_content, '(' || v_letter || ')', '\1\1', 'g');
    v_content := regexp_replace(v_content, ' (' || v_letter || ')' || v_letter || ' ', ' \1 ', 'g');
    v_content := regexp_replace(v_content, ' ' || v_letter || '(' || v_letter || '+)' || v_letter || ' ', ' \1 ', 'g');
    return regexp_replace(v_content, '(' || v_letter || v_letter || ')', '\1 ', 'g');
end
$$;

comment on function pgclarify_private.with_blanks(text) is
'Cuts each run of letters of a script without blanks between words (Chinese, Japanese, Thai, Lao, Burmese, Khmer; Korean, '
'whose words have endings) into overlapping pairs: 開館時間 becomes 開館 館時 時間. A single letter is kept. Full-width and half-width '
'forms become the usual ones; everything else is unchanged.';

create or replace function pgclarify_private.to_lexemes(search_config regconfig, content text)
returns tsvector
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        to_tsvector(
            to_lexemes.search_config,
            pgclarify_private.with_blanks(
                -- Other characters for private use are ligatures or pictures: they are not the end of a word. Those of
                -- Wingdings and other fonts of symbols are bullets.
                regexp_replace(
                    pgclarify_private.normalized(to_lexemes.content), '[\ue000-\uf01f\uf100-\uf8ff]', '', 'g'
                )
            )
        );
end;

comment on function pgclarify_private.to_lexemes(regconfig, text) is
'The lexemes of a text by a text search configuration. For text without blanks between words the lexemes are pairs of '
'letters, because PostgreSQL would make one word of a whole clause, which no question contains. The text may be stored '
'in another form than normalized gives it, by an earlier version.';
