"""What a client does, without the I/O.

Each method of the client is a *script*: a generator that yields statements, calls of SQL functions and pauses, receives
the rows, and returns the result. It knows nothing of connections. So the blocking client and the awaited one execute
the same scripts, and a test can replace the server.
"""

from __future__ import annotations

import functools
import inspect
import json
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeAlias, TypeVar

from pgclarify.client.rows import Row
from pgclarify.errors import InputError

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
Rows: TypeAlias = Sequence[Row]


# The text for a timeout without limit: options are text, and none of these values means "never".
_WITHOUT_END = "36500 days"


@dataclass(frozen=True, slots=True)
class Statement:
    """A named statement to send; the script receives its rows."""

    name: str
    parameters: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function, by named arguments; the script receives its rows.

    Attributes:
        function: A public function or, if names_caller is true, an internal one.
        arguments: Its arguments.
        names_caller: Whether it also gets the signed name of the role that calls it.
    """

    function: str
    arguments: Mapping[str, object]
    names_caller: bool = False


@dataclass(frozen=True, slots=True)
class Pause:
    """A time to wait; the script receives no rows."""

    seconds: float


Script: TypeAlias = Generator[Statement | Call | Pause, Rows, T]
# A script that also yields results for the caller at once.
Stream: TypeAlias = Generator[Statement | Call | Pause | T, Rows, None]


class Session:
    """What scripts know of the client that executes them.

    Attributes:
        corpus: Name of the corpus for calls that name none; None lets the server choose.
        clock: Returns seconds since any fixed moment. Waits measure their time with it.
    """

    def __init__(self, corpus: str | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.corpus = corpus
        self.clock = clock

    @property
    def _is_in_transaction(self) -> bool:
        """Tell whether the previous statement left a transaction open."""
        return False


def described(call: F, script: Callable[..., Any], returns: str = "{}") -> F:
    """Give a client's method the name, the docstring and the parameters of its script.

    Args:
        call: The method.
        script: The script that it executes.
        returns: The annotation of its return value, with {} for what the script returns or yields.
    """
    functools.update_wrapper(call, script)
    signature = inspect.signature(script)
    _, _, told = str(signature.return_annotation).partition("[")
    signature = signature.replace(return_annotation=returns.format(told.removesuffix("]")))
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def only_value(rows: Rows) -> Any:  # noqa: ANN401
    """Return the value of a function that returns a single one, or of one row of a function that returns many."""
    (row,) = rows
    (value,) = row.values()
    return value


def listed(values: Iterable[T]) -> list[T]:
    """Return several values, such as questions or ids of runs, as SQL expects them.

    Raises:
        InputError: If it is a single one. A text would be read as a list of characters.
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(
            "a list is expected",
            detail=f"It is {repr(values)[:100]}.",
            hint="Pass a list, even for a single value.",
        )
    return list(values)


def interval(timeout: float | None) -> timedelta | None:
    """Return a timeout in seconds as SQL expects it; None stays None.

    Raises:
        InputError: If it is not a duration.
    """
    if timeout is None:
        return None
    try:
        return timedelta(seconds=timeout)
    except (OverflowError, TypeError, ValueError) as error:
        raise InputError(
            "timeout cannot be used",
            detail=f"It is {timeout!r}.",
            hint="Pass seconds, such as timeout=60.0, or None to wait without end.",
        ) from error


def timed(options: Mapping[str, object], timeout: float | None) -> Mapping[str, object]:
    """Return options with the timeout as an interval in words; None becomes a very long one.

    Raises:
        InputError: If it is not a duration.
    """
    limit = interval(timeout)
    # Without a timeout, the server would use its default.
    words = _WITHOUT_END if limit is None else f"{limit.total_seconds():f} seconds"
    return {**options, "timeout": words}


def to_json(value: Mapping[str, object], what: str) -> str:
    """Render a JSON object.

    Raises:
        InputError: If it contains a value that JSON cannot represent.
    """
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{what} cannot be written as JSON", detail=f"{error}.") from error


def pace(elapsed: float) -> Pause:
    """Return how long to wait before the next look: a small fraction of the time since the start."""
    return Pause(min(0.25, max(0.02, elapsed / 20)))
