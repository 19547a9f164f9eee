"""Plans the calls about the passages of a question: which of them are read in one call."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from pgclarify.data.documents import Passage

# A caller who waits gets so many joint calls at once, because one long reply takes longer than several shorter ones.
_CALLS_AT_ONCE: Final = 3
# Most bytes of the passages of a joint call: some 8,000 tokens of English, and not more of Chinese, which has more
# tokens for as many characters. A longer passage is asked about alone.
_MOST_BYTES: Final = 32_000


@dataclass(frozen=True, slots=True)
class Plan:
    """The calls about the passages of a question, by their places.

    Attributes:
        alone: The passages that are asked about alone.
        together: The passages of each joint call, two or more.
    """

    alone: Sequence[int]
    together: Sequence[Sequence[int]]

    @property
    def calls(self) -> int:
        """How many calls there are, if joint replies leave nothing open."""
        return len(self.alone) + len(self.together)

    @property
    def calls_at_most(self) -> int:
        """How many there are if each passage of a joint call is asked about alone, too."""
        return self.calls + sum(map(len, self.together))


def plan(
    passages: Sequence[Passage],
    most: int,
    *,
    is_urgent: bool,
    known: Collection[int] = (),
    left_alone: Collection[int] = (),
) -> Plan:
    """Plan the calls about the passages of a question.

    Args:
        passages: By rank.
        most: As in `dealt`.
        is_urgent: As in `dealt`.
        known: Places of passages of which a joint reply has said something. They cost no call.
        left_alone: Places of other passages that are asked about alone, in any case: an earlier release did, and the
            ledger has the reply; or a joint reply left them open.
    """
    done = {*known, *left_alone}
    # All passages are dealt, so that each attempt at a run makes the same calls: a call in flight is waited for, and
    # not made again.
    groups = [[place for place in group if place not in done] for group in dealt(passages, most, is_urgent=is_urgent)]
    return Plan(
        [*left_alone, *(group[0] for group in groups if len(group) == 1)],
        [group for group in groups if len(group) > 1],
    )


def dealt(passages: Sequence[Passage], most: int, *, is_urgent: bool) -> list[list[int]]:
    """Put passages into calls.

    Args:
        passages: By rank.
        most: Most passages of a call.
        is_urgent: Whether a caller waits. Then there are three calls or more, if that leaves two passages for each,
            and the best passages are spread over them, because these have the long replies. Otherwise there are as few
            calls as possible, filled by rank.

    Returns:
        The places of the passages of each call, in order.
    """
    calls = ceil(len(passages) / most)
    if is_urgent:
        calls = max(calls, min(_CALLS_AT_ONCE, len(passages) // 2))
        groups = [[*range(first, len(passages), calls)] for first in range(calls)]
    else:
        groups = [[*range(start, min(start + most, len(passages)))] for start in range(0, len(passages), most)]
    return [part for group in groups for part in _cut(group, passages)]


def _cut(group: Sequence[int], passages: Sequence[Passage]) -> list[list[int]]:
    """Divide a group whose passages are too long for one call."""
    parts: list[list[int]] = [[]]
    size = 0
    for place in group:
        added = len(passages[place].content.encode("utf-8", "surrogatepass"))
        if parts[-1] and size + added > _MOST_BYTES:
            parts.append([])
            size = 0
        parts[-1].append(place)
        size += added
    return [part for part in parts if part]
