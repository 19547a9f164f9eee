"""Whether a caller waits for the run of a task. Then the calls and jobs of the run go before those of a batch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ClassVar, Final


class Urgency:
    """Whether a caller waits for some work. This may change while the work waits for its turn.

    Args:
        is_waited_for: Whether a caller waits for it now.
        whole: Other work that this work is a part of.

    Attributes:
        changes: How often work of this process became, or stopped being, work that a caller waits for. A line of calls
            compares it with the number that it saw last, so that it sorts its calls again only after a change.
    """

    __slots__ = ("_is_waited_for", "_needed_by")

    changes: ClassVar[int] = 0

    def __init__(self, is_waited_for: bool = False, *, whole: Urgency | None = None) -> None:
        self._is_waited_for = is_waited_for
        self._needed_by = [whole] if whole is not None else []

    @property
    def is_waited_for(self) -> bool:
        """Whether a caller waits for this work, or for other work that needs it."""
        return self._is_waited_for or any(other.is_waited_for for other in self._needed_by)

    def set(self, is_waited_for: bool) -> None:
        """Note whether a caller waits for this work now."""
        if is_waited_for != self._is_waited_for:
            self._is_waited_for = is_waited_for
            Urgency.changes += 1

    def join(self, other: Urgency) -> None:
        """Note that other work needs the result of this work."""
        if other not in self._needed_by:
            self._needed_by.append(other)
            Urgency.changes += other.is_waited_for


# The urgency of tasks that belong to no run. It never changes.
_OF_NO_RUN: Final = Urgency()
# A context variable, so that the code between a run and the line of its endpoint needs no argument for it.
_urgency: ContextVar[Urgency] = ContextVar("urgency", default=_OF_NO_RUN)


@contextmanager
def urgent(urgency: Urgency) -> Iterator[None]:
    """Set the urgency of this task in the block, and of tasks that are created in it."""
    token = _urgency.set(urgency)
    try:
        yield
    finally:
        _urgency.reset(token)


@contextmanager
def waited_for(is_waited_for: bool) -> Iterator[None]:
    """Set whether a caller waits for the work of this task in the block, and of tasks that are created in it."""
    with urgent(Urgency(is_waited_for)):
        yield


def current_urgency() -> Urgency:
    """Return the urgency of this task. Without one, no caller waits."""
    return _urgency.get()


def is_waited_for() -> bool:
    """Return whether a caller waits for the work of this task."""
    return current_urgency().is_waited_for
