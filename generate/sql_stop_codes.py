"""sql/declared/stop_codes.sql: the stop codes, with their meanings."""

from __future__ import annotations

from typing import Final

from generate.sql_text import HEAD, SEARCH_PATH, comment, literal, long_literal
from pgclarify.data.vocabulary import StopCode

_HEAD: Final = HEAD.replace("pgclarify/declared", "pgclarify/data/vocabulary.py")


def stop_codes() -> str:
    """Return the content of the file."""
    indent = " " * 12
    lines = ",\n".join(
        f"        (\n{indent}{literal(code)},\n{indent}{long_literal(code.meaning, indent)},\n"
        f"{indent}{long_literal(code.advice, indent)}\n        )"
        for code in StopCode
    )
    about = "All stop codes of runs: the meaning of each, as part of a sentence, and advice."
    return f"""\
{_HEAD}-- Stop codes: why a run that ended by itself has no result, or only a part of it.

create or replace function pgclarify_private.stop_codes()
returns table (stop_code text, meaning text, help text)
language sql immutable parallel safe
{SEARCH_PATH}
rows 10
begin atomic
    select known.stop_code, known.meaning, known.help
    from (
        values
{lines}
    ) as known (stop_code, meaning, help);
end;

{comment("function pgclarify_private.stop_codes()", about)}\
grant execute on function pgclarify_private.stop_codes() to pgclarify_reader;
"""
