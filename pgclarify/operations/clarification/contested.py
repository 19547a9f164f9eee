"""The order of readings that contest each other: the newest comes first, and older ones can be hidden."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from pgclarify.data.interpretations import Interpretation

_UNKNOWN = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Contender:
    """A reading of a run, and what decides about its order.

    Attributes:
        place: A number of its own among the readings of the run.
        rivals: Places of the readings that it contests, and that contest it.
        dated: The newest date of the documents that it cites; None if none is known.
    """

    interpretation: Interpretation
    place: int
    rivals: frozenset[int]
    dated: datetime | None


def newest_first(readings: Sequence[Contender]) -> list[Contender]:
    """Put readings that contest each other in the order of their dates, in the places that they have together.

    Args:
        readings: In order, those last that a check doubts. One may be missing that is a rival of another one.

    Returns:
        The same readings. Of a group in which each contests another one, the newest is first; among equals, and among
        those without a date, which are last, the order stays. Those that a check doubts stay behind the others.
    """
    ordered = list(readings)
    for group in _groups(readings):
        newest = sorted(
            (readings[one] for one in group),
            key=lambda one: (one.interpretation.doubt is None, one.dated or _UNKNOWN),
            reverse=True,
        )
        for one, reading in zip(group, newest, strict=True):
            ordered[one] = reading
    return ordered


def without_older(readings: Sequence[Contender]) -> list[Contender]:
    """Leave out each reading that a newer one contests, and count those left out of its group in each that stays.

    Of two readings, the newer one is known only if both have a date. One that a check doubts, hides only others that
    are doubted, too.

    Args:
        readings: As in newest_first.
    """
    known = {one.place: one for one in readings}
    hidden = {
        one.place for one in readings if any(_replaces(known[rival], one) for rival in one.rivals if rival in known)
    }
    counts = {
        readings[one].place: sum(readings[other].place in hidden for other in group)
        for group in _groups(readings)
        for one in group
    }
    return [
        replace(one, interpretation=replace(one.interpretation, older_hidden=counts.get(one.place, 0)))
        for one in readings
        if one.place not in hidden
    ]


def _replaces(one: Contender, other: Contender) -> bool:
    is_newer = one.dated is not None and other.dated is not None and one.dated > other.dated
    return is_newer and (one.interpretation.doubt is None or other.interpretation.doubt is not None)


def _groups(readings: Sequence[Contender]) -> Iterable[list[int]]:
    """Yield the groups of readings that are connected by rivals, as ascending indices; none of a single reading."""
    index = {one.place: number for number, one in enumerate(readings)}
    seen = set[int]()
    for number in range(len(readings)):
        group, waiting = set[int](), [number]
        while waiting:
            one = waiting.pop()
            if one not in seen:
                seen.add(one)
                group.add(one)
                waiting += [index[rival] for rival in readings[one].rivals if rival in index]
        if len(group) > 1:
            yield sorted(group)
