"""How many passages a model reads in one call: what was counted for each size, and which is the largest good one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

SIZES: Final = (1, 2, 4, 8, 16, 20)
"""Passages a call, each tried only if all smaller ones were good."""

MOST_CALLS: Final = 64
"""Calls of a trial in which all sizes are good."""

# See `flaw`.
_LEAST_FOUND_ALONE: Final = 0.5
_LEAST_FOUND: Final = 0.9
_MOST_MIXED_UP: Final = 0.05
_MOST_UNQUOTED: Final = 0.1
_MOST_INVENTED: Final = 0.25
_MOST_UNREAD: Final = 0.05


@dataclass(frozen=True, slots=True)
class Counted:
    """What the replies to all calls of one size say of their passages, against what is known of these.

    Attributes:
        size: Passages a call.
        calls: How many calls there were.
        answering: Passages that answer the question of their call.
        found: Those of them with a right answer, proven by a quote that passes the checks of verdicts.
        silent: Passages that answer nothing.
        invented: Those of them in which something was read.
        unread: Passages that no reply speaks of: it could not be read, was cut off, or the request was refused.
        readings: All readings, each once for each passage that it names.
        mixed_up: Those of them whose quote stands only in another passage of the call.
        unquoted: Those of them whose quote stands in no passage of the call.
    """

    size: int
    calls: int
    answering: int
    found: int
    silent: int
    invented: int
    unread: int
    readings: int
    mixed_up: int
    unquoted: int


def flaw(counted: Sequence[Counted]) -> str | None:
    """Say why calls of the last size are not good; None if they are.

    A trial has 20 passages that answer and at least 12 that do not for each size, so a share is known only roughly. The
    limits let a model pass that makes one mistake in a hundred, and stop one that makes one in ten:

    - Alone, half of the answers are found. A model that finds fewer shows nothing by finding as many with others.
    - At most a tenth fewer answers are found than alone: 2 of 20. Whoever asks must not get less for fewer calls.
    - At most one reading in 20 belongs to another passage, and at most one in 10 has a quote that stands nowhere. Both
      are noticed and cost nothing but another call; with more of them, there is nothing left to save. They are counted
      over all sizes up to this one, because 20 readings alone cannot tell 5 % from 10 %: one mistake in them is let
      pass, and two more in the 20 of the next size are not.
    - In at most a quarter of the passages without an answer, something is read. A check finds most of that, but of a
      model that reads an answer everywhere, what it finds alone is no measure.
    - At most one passage in 20 is left unread, as when replies are cut off, or so much input is refused.

    Args:
        counted: What was counted, by rising size; the first is one passage a call.

    Returns:
        A part of a sentence whose subject is the model.
    """
    alone, last = counted[0], counted[-1]
    # The quote of a single passage cannot stand in another one.
    joint = [one for one in counted if one.size > 1]
    mixed_up, joint_readings = sum(one.mixed_up for one in joint), sum(one.readings for one in joint)
    unquoted, readings = sum(one.unquoted for one in counted), sum(one.readings for one in counted)
    passages = last.answering + last.silent
    if last.unread > _MOST_UNREAD * passages:
        return f"leaves {last.unread} of {passages} passages unread"
    if mixed_up > _MOST_MIXED_UP * joint_readings:
        return f"takes {mixed_up} of {joint_readings} readings from another passage"
    if unquoted > _MOST_UNQUOTED * readings:
        return f"makes up {unquoted} of {readings} quotes"
    if last.invented > _MOST_INVENTED * last.silent:
        return f"reads something in {last.invented} of {last.silent} passages without an answer"
    if last.found < max(_LEAST_FOUND * alone.found, _LEAST_FOUND_ALONE * alone.answering):
        return f"finds {last.found} of {last.answering} answers"
    return None
