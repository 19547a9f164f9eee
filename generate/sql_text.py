"""Pieces of SQL, laid out as in sql/."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

WIDTH = 128
HEAD = "-- Written by `make generated` from pgclarify/declared. Do not edit.\n"
SEARCH_PATH = "set search_path = pg_catalog, pg_temp"


def literal(value: object) -> str:
    """Return a text, a number, a boolean or None as a constant."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    escaped = _escaped(str(value))
    return f"'{escaped}'"


def _escaped(text: str) -> str:
    return text.replace("'", "''")


def long_literal(text: str, indent: str = "") -> str:
    """Return a text as a constant, in lines that PostgreSQL joins."""
    # Marks, and the blank at the end of each line but the last.
    room = WIDTH - len(indent) - 3
    lines = textwrap.wrap(_escaped(text), room, break_long_words=False, break_on_hyphens=False)
    between = f" '\n{indent}'"
    return "'" + between.join(lines) + "'"


def packed(items: Iterable[str], indent: str) -> str:
    """Return items with commas between them, in as few lines as they need."""
    lines = [""]
    for item in items:
        longer = f"{lines[-1]}, {item}" if lines[-1] else item
        if lines[-1] and ("\n" in longer or len(indent) + len(longer) > WIDTH - 1):
            lines.append(item)
        else:
            lines[-1] = longer
    return ",\n".join(indent + line for line in lines)


def comment(what: str, text: str) -> str:
    """Return the statement that comments on an object."""
    return f"comment on {what} is\n{long_literal(text)};\n"


@dataclass(frozen=True)
class Call:
    """A call, or anything else with a list in parentheses.

    Attributes:
        name: What stands before the parenthesis.
        arguments: What stands in it.
    """

    name: str
    arguments: Sequence[str | Call]

    def laid_out(self, indent: str, after: int = 0) -> str:
        """Return the call, in one line if it fits.

        Args:
            indent: The white space at the begin of the line that it begins in.
            after: How many characters of its last line stand before or after it.
        """
        short = self.short()
        if len(indent) + len(short) + after <= WIDTH:
            return short
        inner = indent + "    "
        arguments = [one.laid_out(inner, 1) if isinstance(one, Call) else one for one in self.arguments]
        return f"{self.name}(\n{packed(arguments, inner)}\n{indent})"

    def short(self) -> str:
        """Return the call in one line."""
        listed = ", ".join(one.short() if isinstance(one, Call) else one for one in self.arguments)
        return f"{self.name}({listed})"
