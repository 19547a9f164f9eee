"""Waiting for a run that the server executes within one statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pgclarify.cli import connection, terminal
from pgclarify.errors import InputError

WHAT_IS_KEPT = "Cancelled; what was paid for is kept."


@contextmanager
def waiting(what: str, told: Callable[[], str] = lambda: WHAT_IS_KEPT) -> Iterator[None]:
    """Show what is being waited for; if that is interrupted, say what happens to it.

    Args:
        what: What is happening, such as `Reading passages`.
        told: See `interruptible`.
    """
    with interruptible(told), terminal.notices().status(what):
        yield


@contextmanager
def interruptible(told: Callable[[], str] = lambda: WHAT_IS_KEPT) -> Iterator[None]:
    """Say what happens to a statement that is interrupted.

    Args:
        told: Returns the message, after the server has cancelled the run.
    """
    try:
        yield
    except KeyboardInterrupt:
        terminal.notices().print(told(), soft_wrap=True)
        raise


def read_seconds(database: connection.Database, timeout: str) -> float:
    """Return the length of an option --timeout, in seconds.

    Raises:
        InputError: If it is not an interval, or not positive.
    """
    import psycopg

    try:
        (row,) = connection.fetch(database, "cli_read_interval", interval=timeout)
    except (psycopg.errors.InvalidDatetimeFormat, psycopg.errors.DatetimeFieldOverflow) as error:
        raise no_interval(timeout) from error
    seconds = float(row["seconds"])
    if seconds <= 0:
        raise InputError("the timeout must be positive", detail=f"It is {timeout}.", hint="Pass --timeout 5min.")
    return seconds


def no_interval(timeout: str) -> InputError:
    """Make the error for a timeout that the server cannot read."""
    return InputError("the timeout is no interval", detail=f"It is {timeout!r}.", hint="Pass --timeout 90s, or 5min.")
