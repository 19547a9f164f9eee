"""pgclarify/client/result_records.py: the records of the rows that functions return."""

from __future__ import annotations

import re
from collections.abc import Iterator

from generate.python_text import HEAD, docstring, in_python, used
from pgclarify.data.vocabulary import Vocabulary
from pgclarify.declared.forms import Column, Rows
from pgclarify.declared.functions import RESULT_VIEWS, ROW_TYPES

TYPES = {
    "bigint": "int",
    "integer": "int",
    "boolean": "bool",
    "double precision": "float",
    "real": "float",
    "numeric": "Decimal",
    "text": "str",
    "text[]": "tuple[str, ...]",
    "timestamptz": "datetime",
}
_STANDARD = (("dataclasses", ("dataclass",)), ("datetime", ("datetime",)), ("decimal", ("Decimal",)))
_OURS = (
    ("pgclarify.client.parts", ("AmbiguityReason", "Citation", "Ending")),
    ("pgclarify.data.vocabulary", tuple(one.__name__ for one in Vocabulary.__subclasses__())),
)


def records() -> Iterator[Rows]:
    """Return the rows that have records, in the order of the file."""
    return (rows for rows in (*ROW_TYPES, *RESULT_VIEWS) if rows.record is not None)


def result_records() -> str:
    """Return the content of the file."""
    classes = "\n\n".join(map(record_class, records()))
    return f'''\
{HEAD}"""Records of the rows of functions: frozen, typed, and independent of any connection."""

from __future__ import annotations

{used(classes, _STANDARD)}
{used(classes, _OURS)}

{classes}'''


def record_class(rows: Rows) -> str:
    """Return the code of a class of records."""
    columns = rows.record_columns or rows.columns
    base = f"({rows.record_base})" if rows.record_base else ""
    about = docstring(
        in_python(rows.meaning), "    ", sections=[("Attributes", (f"{one.name}: {_meaning(one)}" for one in columns))]
    )
    fields = "".join(f"    {one.name}: {_type(one)}{_default(one)}\n" for one in columns)
    return f"@dataclass(frozen=True, slots=True)\nclass {rows.record}{base}:\n{about}\n{fields}"


def _meaning(column: Column) -> str:
    # What SQL says of the form is the type of the field.
    told = re.sub(r": array of objects with .*", ".", column.meaning) if column.type == "jsonb" else column.meaning
    return in_python(told)


def _type(column: Column) -> str:
    if column.record_type is not None:
        return column.record_type
    return TYPES[column.type] + (" | None" if column.null else "")


def _default(column: Column) -> str:
    return "" if column.default is None else f" = {column.default}"
