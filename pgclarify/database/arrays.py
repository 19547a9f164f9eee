"""Writes arrays and vectors as text for PostgreSQL, in statements that are sent for every model call.

psycopg determines the type of every list again. For a statement with a dozen arrays, that takes most of the time.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from struct import pack, unpack
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

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


def vector_text(vector: NDArray[np.float32]) -> str:
    """Write a vector as the type halfvec reads it: five digits identify every half-precision number."""
    return f"[{','.join(map(_WRITTEN.__getitem__, vector.astype(np.float16).view(np.uint16).tolist()))}]"


class _Written(dict[int, str]):
    """A cache of half-precision numbers as text, by their bits: there are few, and formatting is slow."""

    def __missing__(self, bits: int) -> str:
        written = self[bits] = f"{unpack('=e', pack('=H', bits))[0]:.5g}"
        return written


_WRITTEN = _Written()
