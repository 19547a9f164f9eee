"""Converts the server's hints, which contain SQL, into commands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psycopg.errors import Diagnostic

# Parts of a hint that are SQL, and not wording.
_CREATE_CORPUS = "pgclarify.create_corpus('name')"
_EXPLAIN = re.compile(r"select pgclarify\.explain\((\d+)\)\.?$")
# Up to the end of its sentence. A statement with characters that a shell interprets is not converted.
_STATEMENT = re.compile(r"(?<=: )(select [^\"$`\\!]*?)(?:\.?$|(?=\. [A-Z]))")


def hint_of(diagnostic: Diagnostic) -> str | None:
    """Return the hint of an error or warning of the server, as a command if possible.

    Args:
        diagnostic: What the server sent; its constraint_name has a code that docs/errors.md lists.
    """
    match diagnostic.constraint_name:
        case "corpus_is_named":
            return "Name one: -c NAME"
        case "option_is_no_parameter":
            flag = (diagnostic.column_name or "").replace("_", "-")
            return f"It is a parameter and no option: where a command has it, write --{flag} …."
    return None if diagnostic.message_hint is None else in_commands(diagnostic.message_hint)


def in_commands(hint: str) -> str:
    """Replace the SQL in a hint by commands."""
    hint = hint.replace(_CREATE_CORPUS, "pgclarify load NAME PATH")
    return _STATEMENT.sub(r'psql "$(pgclarify dsn)" -c "\1"', _EXPLAIN.sub(r"pgclarify explain \1", hint))
