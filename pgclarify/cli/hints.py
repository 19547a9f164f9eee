"""Hints of the server, which speak SQL, in the words of the command line."""

from __future__ import annotations

import re

_NO_CORPUS = "Pass corpus => 'name', or SET pgclarify.corpus = 'name'."
_CREATE_CORPUS = "pgclarify.create_corpus('name')"
_PARAMETER = re.compile(r"where a function has it, pass (\w+) => … beside options")
_EXPLAIN = re.compile(r"select pgclarify\.explain\((\d+)\)\.?$")
# Up to the end of its sentence. What a shell would read something into stays as it is.
_STATEMENT = re.compile(r"(?<=: )(select [^\"$`\\!]*?)(?:\.?$|(?=\. [A-Z]))")


def in_commands(hint: str | None) -> str | None:
    """The same advice as something to type here, as far as there is such a thing.

    Args:
        hint: A HINT of the server; None if there was none.
    """
    if hint is None:
        return None
    if hint == _NO_CORPUS:
        return "Name one: -c NAME"
    hint = hint.replace(_CREATE_CORPUS, "pgclarify load NAME PATH")
    hint = _PARAMETER.sub(lambda match: f"where a command has it, write --{match[1].replace('_', '-')} …", hint)
    return _STATEMENT.sub(r'pgclarify psql -c "\1"', _EXPLAIN.sub(r"pgclarify explain \1", hint))
