"""Whether anything was lost or paid for twice: the calls at the endpoint, compared with the tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.faults.endpoint import Call

ENDS = ("succeeded", "partial", "failed", "cancelled")


@dataclass(frozen=True)
class Stored:
    """A reply in the ledger: the number of its call, and when it was stored, as seconds since 1970."""

    serial: int
    at: float


@dataclass(frozen=True)
class Account:
    """The results of runs and calls.

    Attributes:
        states: How many runs are in which state.
        lost: Submitted runs that have no row.
        calls: Calls that the endpoint has received.
        stored: Replies in the ledger.
        paid_twice: Inputs that were sent again after their reply was stored, or whose reply was stored twice.
        in_vain: Good replies that were sent in full but are not in the ledger: a worker was killed or disconnected
            before it stored them, a run was cancelled, or earlier bytes had broken the connection. Otherwise there
            should be none.
        counted: Calls of these runs that the tables count: with a reply, or sent and never answered.
        sent_twice: Calls beyond the first one to each input.
        cut_off: Calls that ended before a good reply was sent in full.
        twice: For each input that was paid for twice: when it was asked and stored, in seconds since the first call.
    """

    states: Mapping[str, int]
    lost: int
    calls: int
    stored: int
    paid_twice: int
    in_vain: int
    counted: int
    sent_twice: int
    cut_off: int
    twice: Sequence[str] = ()

    @property
    def still_open(self) -> int:
        """Runs that have not ended."""
        return sum(count for state, count in self.states.items() if state not in ENDS)

    @property
    def retries(self) -> int:
        """Calls minus stored replies."""
        return self.calls - self.stored


def account(
    asked: Iterable[int], states: Mapping[int, str], calls: Sequence[Call], stored: Iterable[Stored], counted: int
) -> Account:
    """Compare the calls at the endpoint with the tables.

    Args:
        asked: Runs whose submission was committed.
        states: State of each run that has a row.
        calls: Calls that the endpoint has received.
        stored: Replies in the ledger. Replies to other calls are ignored.
        counted: Calls that the tables count.
    """
    asked = list(asked)
    known = {call.serial: call for call in calls}
    ours = {one.serial: one.at for one in stored if one.serial in known}
    by_key: defaultdict[bytes, list[Call]] = defaultdict(list)
    for call in calls:
        by_key[call.key].append(call)
    twice = []
    for same in by_key.values():
        times = [ours[call.serial] for call in same if call.serial in ours]
        if len(times) > 1 or any(call.arrived > at for at in times for call in same):
            asked_at = _since(same[0].arrived, [call.arrived for call in same])
            twice.append(f"asked after {asked_at} s, stored after {_since(same[0].arrived, times)} s")
    return Account(
        states=Counter(states[run_id] for run_id in asked if run_id in states),
        lost=sum(run_id not in states for run_id in asked),
        calls=len(calls),
        stored=len(ours),
        paid_twice=len(twice),
        in_vain=sum(call.is_whole and call.serial not in ours for call in calls),
        counted=counted,
        sent_twice=len(calls) - len(by_key),
        cut_off=sum(not call.is_whole for call in calls),
        twice=twice,
    )


def _since(first: float, times: Sequence[float]) -> str:
    return ", ".join(f"{at - first:.2f}" for at in times)


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Slope of the least-squares line through (x, y); 0 for fewer than two different x."""
    if not points:
        return 0.0
    mean_x, mean_y = (sum(values) / len(points) for values in zip(*points, strict=True))
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0
