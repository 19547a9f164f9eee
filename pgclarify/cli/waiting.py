"""Waiting for a run that the server executes within one statement."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pgclarify.cli import terminal
from pgclarify.errors import InputError

if TYPE_CHECKING:
    from rich.status import Status

_PART = re.compile(
    r"(\d+(?:\.\d+)?)\s*(ms|s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:ours?)?|d(?:ays?)?)\b", re.IGNORECASE
)
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3_600, "d": 86_400}


@contextmanager
def waiting(what: str) -> Iterator[Status]:
    """Show what is being waited for, and what an interrupt means. Yields the line that shows it.

    Args:
        what: What is happening, such as `Reading passages`.
    """
    try:
        with terminal.notices().status(what) as status:
            yield status
    except KeyboardInterrupt:
        terminal.notices().print("Cancelled; what was paid for is kept.")
        raise


def read_seconds(timeout: str) -> float:
    """Return the length of an option --timeout, in seconds.

    Raises:
        InputError: If it is not a duration, or not positive.
    """
    parts = _PART.findall(timeout)
    is_whole = parts and not _PART.sub("", timeout).strip()
    seconds = sum(
        float(number) * _SECONDS[unit[:1] if unit[:2] != "ms" else "ms"]
        for number, unit in ((number, unit.lower()) for number, unit in parts)
    )
    if not is_whole or seconds <= 0:
        raise InputError(
            "the timeout is no duration", detail=f"It is {timeout!r}.", hint="Pass --timeout 90s, 5min or '1 hour'."
        )
    return seconds
