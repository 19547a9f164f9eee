"""Makes records of the rows that the server sends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

Row: TypeAlias = Mapping[str, Any]
R = TypeVar("R")
_Reader: TypeAlias = Callable[[Any], Any]


def record(kind: type[R], row: Row) -> R:
    """Make a record from the columns of a row that it has fields for.

    Args:
        kind: A dataclass. The types of its fields say how their values are read: a code from its text, a decimal from a
            number of JSON, a time from a text of JSON, records from objects.
        row: The row. Other columns are ignored, so that a newer server may send more. A missing column has the default.
    """
    # mypy does not take a class for hashable.
    readers = _readers(kind)  # type: ignore[arg-type]
    return kind(
        **{
            name: value if (read := readers[name]) is None else read(value)
            for name, value in row.items()
            if name in readers
        }
    )


@cache
def _readers(kind: type) -> Mapping[str, _Reader | None]:
    return {name: _reader(hint) for name, hint in get_type_hints(kind).items()}


def _reader(hint: Any) -> _Reader | None:  # noqa: ANN401 - a type
    """Return what makes a value of this type from that of a row; None if the row has it already."""
    if get_origin(hint) is UnionType:
        (some,) = (option for option in get_args(hint) if option is not NoneType)
        read = _reader(some)
        return None if read is None else partial(_optional, read)
    if get_origin(hint) is tuple:
        read = _reader(get_args(hint)[0])
        return tuple if read is None else partial(_each, read)
    if isinstance(hint, type) and is_dataclass(hint):
        return partial(record, hint)
    if hint is Decimal:
        return lambda number: Decimal(str(number))
    if hint is datetime:
        return lambda time: time if isinstance(time, datetime) else datetime.fromisoformat(time)
    return partial(_word, hint) if issubclass(hint, StrEnum) else None


def _word(vocabulary: type[StrEnum], word: str) -> str:
    """Return a word of a vocabulary; just its text if a newer server has added it."""
    try:
        return vocabulary(word)
    except ValueError:
        return word


def _optional(read: _Reader, value: Any) -> Any:  # noqa: ANN401 - whatever it reads
    return None if value is None else read(value)


def _each(read: _Reader, values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(map(read, values))
