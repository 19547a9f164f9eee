"""What a client does, told without doing it.

Each call of the client is a *script*: a generator that yields statements and pauses, is sent the rows, and returns what
the caller gets. It knows nothing of connections, so the client that blocks and the one that is awaited carry out the
same scripts, and a test plays the server.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeAlias, TypeVar

from pgclarify.client.records import Row
from pgclarify.errors import InputError

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
Rows: TypeAlias = Sequence[Row]


# In SQL these options are text, of which none says so.
_WITHOUT_END = "36500 days"


@dataclass(frozen=True, slots=True)
class Statement:
    """A named statement to send; its rows come back."""

    name: str
    parameters: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing to do for so long; no rows come back."""

    seconds: float


Script: TypeAlias = Generator[Statement | Pause, Rows, T]
# One that also yields what the caller is to have at once.
Stream: TypeAlias = Generator[Statement | Pause | T, Rows, None]


class Session:
    """What scripts know of the client that carries them out.

    Attributes:
        corpus: Name of the corpus that calls mean when they name none; None leaves it to the server.
    """

    def __init__(self, corpus: str | None = None) -> None:
        self.corpus = corpus

    @property
    def is_in_transaction(self) -> bool:
        """True if the statement before this one has left a transaction open."""
        return False


def described(call: F, script: Callable[..., Any], returns: str = "{}") -> F:
    """Give a client's method the name, the docstring and the parameters of its script.

    Args:
        call: The method.
        script: The script that it carries out.
        returns: What it returns, with {} for what the script returns or yields.
    """
    functools.update_wrapper(call, script)
    signature = inspect.signature(script)
    _, _, told = str(signature.return_annotation).partition("[")
    signature = signature.replace(return_annotation=returns.format(told.removesuffix("]")))
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def listed(texts: Sequence[str]) -> list[str]:
    """Several texts as SQL wants them.

    Raises:
        InputError: If it is one text, whose characters nobody means.
    """
    if isinstance(texts, str):
        raise InputError(
            "several texts are expected, not one",
            detail=f"It is {texts[:100]!r}.",
            hint="Pass a list, of one if need be.",
        )
    return list(texts)


def interval(timeout: float | None) -> timedelta | None:
    """A timeout in seconds as SQL wants it; None stays None.

    Raises:
        InputError: If it is no length of time.
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
    """Give options with a timeout among them, as an interval in words; None is longer than anybody waits.

    Raises:
        InputError: If it is no length of time.
    """
    limit = interval(timeout)
    # Left out, it would be the server's default.
    words = _WITHOUT_END if limit is None else f"{limit.total_seconds():f} seconds"
    return {**options, "timeout": words}


def to_json(value: Mapping[str, object], what: str) -> str:
    """Render a JSON object.

    Raises:
        InputError: If there is something in it that JSON does not know.
    """
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} cannot be written as JSON", detail=f"{error}.") from error


def pace(elapsed: float) -> Pause:
    """How long to wait before looking again: a small part of what it has taken so far."""
    return Pause(min(0.25, max(0.02, elapsed / 20)))
