"""Whether somebody waits for the run that a task belongs to: its calls and jobs then go before those of a batch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Not an argument of every call: nothing between a run and the line before its endpoint has to do with it.
_is_waited_for: ContextVar[bool] = ContextVar("is_waited_for", default=False)


@contextmanager
def waited_for(is_waited_for: bool) -> Iterator[None]:
    """Say whether somebody waits for what this task does in the block, and for tasks that are made in it."""
    token = _is_waited_for.set(is_waited_for)
    try:
        yield
    finally:
        _is_waited_for.reset(token)


def is_waited_for() -> bool:
    """Tell whether somebody waits for what this task does."""
    return _is_waited_for.get()
