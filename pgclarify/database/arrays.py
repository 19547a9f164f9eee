"""Writes arrays as text for PostgreSQL.

psycopg determines the type of every list again. For a statement with a dozen arrays, that takes most of the time.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TypeAlias

Element: TypeAlias = bool | int | float | str | bytes | datetime | None


def array_text(elements: Iterable[Element]) -> str:
    """Write an array; the statement has its type."""
    return f"{{{','.join(map(_element, elements))}}}"


def _element(value: Element) -> str:
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f'"\\\\x{value.hex()}"'
    if isinstance(value, datetime):
        return f'"{value.isoformat()}"'
    return str(value)
