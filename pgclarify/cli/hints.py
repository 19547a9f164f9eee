"""Hints of the server, which speak SQL, in the words of the command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psycopg.errors import Diagnostic

# Calls and statements in a hint, whatever stands around them: they are SQL, and no wording.
_CREATE_CORPUS = "pgclarify.create_corpus('name')"
_EXPLAIN = re.compile(r"select pgclarify\.explain\((\d+)\)\.?$")
# Up to the end of its sentence. What a shell would read something into stays as it is.
_STATEMENT = re.compile(r"(?<=: )(select [^\"$`\\!]*?)(?:\.?$|(?=\. [A-Z]))")


def hint_of(diagnostic: Diagnostic) -> str | None:
    """What an error or warning of the server advises, as something to type here, as far as there is such a thing.

    Args:
        diagnostic: What the server sent; its constraint_name says what docs/errors.md lists.
    """
    match diagnostic.constraint_name:
        case "corpus_is_named":
            return "Name one: -c NAME"
        case "option_is_no_parameter":
            flag = (diagnostic.column_name or "").replace("_", "-")
            return f"It is a parameter and no option: where a command has it, write --{flag} …."
    return None if diagnostic.message_hint is None else in_commands(diagnostic.message_hint)


def in_commands(hint: str) -> str:
    """A hint with commands in the place of the SQL that stands in it."""
    hint = hint.replace(_CREATE_CORPUS, "pgclarify load NAME PATH")
    return _STATEMENT.sub(r'pgclarify psql -c "\1"', _EXPLAIN.sub(r"pgclarify explain \1", hint))
