"""Whether a caller waits for the run of a task. Then the calls and jobs of the run go before those of a batch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# A context variable, so that the code between a run and the line of its endpoint needs no argument for it.
_is_waited_for: ContextVar[bool] = ContextVar("is_waited_for", default=False)


@contextmanager
def waited_for(is_waited_for: bool) -> Iterator[None]:
    """Set whether a caller waits for the work of this task in the block, and of tasks that are created in it."""
    token = _is_waited_for.set(is_waited_for)
    try:
        yield
    finally:
        _is_waited_for.reset(token)


def is_waited_for() -> bool:
    """Return whether a caller waits for the work of this task."""
    return _is_waited_for.get()
