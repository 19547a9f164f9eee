-- Where a quote is in the present content of a document. As in pgclarify/language/whole_words.py, a place that cuts a word or a
-- number does not count: "40 euros" is not in "140 euros".

create or replace function pgclarify_private.cuts_word(content text, start_char integer, end_char integer)
returns boolean
language sql immutable parallel safe
begin atomic
    -- Letters of scripts without blanks between words may be parted anywhere.
    select
        substr(cuts_word.content, cuts_word.start_char - 1, 3)
        ~ '(((?![\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])\w){2}'
        '|\d{2}|\w[-\u2010\u2011]\w|\d[.,:/\u2013]\d|[\s(][-\u2212]\d)$'
        or substr(cuts_word.content, cuts_word.end_char, 3)
        ~ '^(((?![\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])\w){2}'
        '|\d{2}|\w[-\u2010\u2011]\w|\d[.,:/\u2013]\d|\w[\u0300-\u036f])';
end;

comment on function pgclarify_private.cuts_word(text, integer, integer) is
'Whether a part of a text begins or ends inside a word or a number. It sets no search_path, so that the planner can inline it.';
grant execute on function pgclarify_private.cuts_word(text, integer, integer) to pgclarify_reader;

create or replace function pgclarify_private.find_whole_quote(content text, quote text)
returns integer
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    -- A quote that is cut at more places would take too long.
    v_most constant integer := 100;
    v_from integer := 0;
    v_found integer;
begin
    for v_try in 1 .. v_most loop
        v_found := strpos(substr(find_whole_quote.content, v_from + 1), find_whole_quote.quote);
        if v_found = 0 then
            return null;
        end if;
        v_from := v_from + v_found;
        if not pgclarify_private.cuts_word(
            find_whole_quote.content, v_from - 1, v_from - 1 + length(find_whole_quote.quote)
        ) then
            return v_from - 1;
        end if;
    end loop;
    return null;
end
$$;

comment on function pgclarify_private.find_whole_quote(text, text) is
'Offset of the first occurrence of a quote that cuts no word, from 0; null if there is none.';
grant execute on function pgclarify_private.find_whole_quote(text, text) to pgclarify_reader;

create or replace function pgclarify_private.quote_position(content text, quote text, start_char integer)
returns integer
language sql immutable parallel safe
begin atomic
    -- The quote is nearly always where it was, and then only a small part of a long document is decompressed.
    select
        case
            when
                substr(quote_position.content, quote_position.start_char + 1, length(quote_position.quote))
                = quote_position.quote
                and not pgclarify_private.cuts_word(
                    quote_position.content,
                    quote_position.start_char,
                    quote_position.start_char + length(quote_position.quote)
                )
                then quote_position.start_char
            else pgclarify_private.find_whole_quote(quote_position.content, quote_position.quote)
        end;
end;

comment on function pgclarify_private.quote_position(text, text, integer) is
'Offset of a quote in the current document, from 0: start_char if the quote is there, or its first occurrence that cuts no '
'word; null if it is gone. It is not strict and sets no search_path, so that the planner can inline it.';
grant execute on function pgclarify_private.quote_position(text, text, integer) to pgclarify_reader;
