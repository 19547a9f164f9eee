"""Neighborhood-aware retrieval: score the neighbors of good passages, although the first ranking missed them.

docs/methods/neighborhood-aware-retrieval.md says which parts come from the paper and which are ours.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

Id = TypeVar("Id", bound=Hashable)

# The second step of a chain often shares only the first step with the question. The share was chosen on MuSiQue, where
# values from 0.1 to 0.3 help.
_LEAD_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Explored(Generic[Id]):
    """A passage that was scored.

    Attributes:
        id: The passage.
        score: The scorer's score; higher is better.
        iteration: The batch that it was in: even numbers are from the initial list, odd ones from the frontier.
    """

    id: Id
    score: float
    iteration: int


class _Lead(NamedTuple):
    """Why a passage is in the frontier. The smaller lead is the better one; no two are equal.

    Attributes:
        negated_score: Minus the score of the passage that has it as a neighbor.
        iteration: The batch of that passage.
        place: Its place among that passage's neighbors, from 0, nearest first.
        position: How many passages were issued before that passage.
    """

    negated_score: float
    iteration: int
    place: int
    position: int


class _Visit(NamedTuple, Generic[Id]):
    position: int
    iteration: int
    led_by: Id | None


class Explorer(Generic[Id]):
    """Chooses the passages to score next, and keeps the scores. It does no I/O.

    Iterations alternate. Even ones take the best passages that are left of the initial list. Odd ones take the best of
    the frontier, which has the neighbors of all passages that were scored. If a pool is empty, its turn is skipped, so
    that even and odd keep their meaning. If a pool has less than a batch, the batch is smaller. No passage is issued
    twice, even if it is in both pools.

    A passage in the frontier ranks by the best score of the passages that have it as a neighbor. Ties are broken by the
    earliest batch of those passages, then by nearness to them, then by the order in which they were issued. So the
    order in which the scores of a batch arrive has no influence on the next batch.

    Args:
        initial: The first ranking, best first. If it has an id more than once, the first place counts.
        budget: The most passages to issue, at least 1.
        batch_size: The most passages in a batch, at least 1.

    Source: SUNAR, §3.1 and Algorithm 1, lines 1-5 and 10-19, after MacAvaney et al., 2022. Observing parts of a batch,
    and breaking ties, are ours.
    """

    def __init__(self, initial: Sequence[Id], *, budget: int, batch_size: int) -> None:
        self._budget = budget
        self._batch_size = batch_size
        self._initial: OrderedDict[Id, None] = OrderedDict.fromkeys(initial)
        # The best lead to each passage of the frontier. The heap also has superseded leads, which are skipped.
        self._leads: dict[Id, _Lead] = {}
        self._heap: list[tuple[_Lead, Id, Id]] = []
        self._visits: dict[Id, _Visit[Id]] = {}
        self._scores: dict[Id, float] = {}
        self._given_back: set[Id] = set()
        self._iteration = 0

    @property
    def budget_left(self) -> int:
        """Return how many more passages may be issued, from 0."""
        return self._budget - len(self._visits) + len(self._given_back)

    def rank_anew(self, initial: Sequence[Id]) -> None:
        """Replace the rest of the initial list by another ranking.

        Args:
            initial: Best first. Passages that were issued already are skipped.
        """
        self._initial = OrderedDict.fromkeys(passage for passage in initial if passage not in self._visits)

    def next_batch(self, most: int | None = None) -> list[Id]:
        """Issue the next passages to score. Earlier ones need not be scored yet.

        Args:
            most: The most ids, at least 1; None for batch_size, which is never exceeded.

        Returns:
            At most batch_size ids, best first. Empty if the exploration is over, or if it can only go on after more
            scores are observed.
        """
        size = min(self._batch_size, self.budget_left, self._batch_size if most is None else most)
        if not size or not (self._initial or self._leads):
            return []
        if not self._pool:
            self._iteration += 1
        take = self._take_led if self._is_frontiers_turn else self._take_initial
        batch = [take() for _ in range(min(size, len(self._pool)))]
        self._iteration += 1
        return batch

    def observe(self, scores: Mapping[Id, float], neighbors: Mapping[Id, Sequence[Id]]) -> None:
        """Add the scores and neighbors of issued passages: of a batch, or of any part of one or several batches.

        Args:
            scores: The score of each passage; higher is better, infinities included.
            neighbors: The neighbors of those passages, nearest first. A passage that is missing here has none. A
                neighbor that was issued already is ignored, and so is the passage itself.

        Raises:
            ValueError: If a passage was not issued, was observed already, or was given back. Then nothing is added.
        """
        for passage in scores:
            self._check_is_out(passage)
        for passage, score in scores.items():
            self._scores[passage] = float(score)
            self._follow(passage, neighbors.get(passage, ()))

    def give_back(self, passages: Collection[Id]) -> None:
        """Return issued passages that cannot be scored, so that the budget has room for others.

        They are not issued again.

        Args:
            passages: Each at most once.

        Raises:
            ValueError: If a passage was not issued, is observed already, or was given back before.
        """
        for passage in passages:
            self._check_is_out(passage)
        self._given_back.update(passages)

    def results(self) -> list[Explored[Id]]:
        """List the observed passages.

        Returns:
            By score, then by iteration, both descending; equal scores of one batch in the order of issue. So the order
            is total, and does not depend on the order of observation.
        """
        explored = [
            Explored(passage, score, self._visits[passage].iteration) for passage, score in self._scores.items()
        ]
        return sorted(explored, key=lambda one: (-one.score, -one.iteration, self._visits[one.id].position))

    def led_by(self, passage: Id) -> Id | None:
        """Return the passage that led to an issued one: the best of those that had it as a neighbor at that time.

        Args:
            passage: A passage that was issued.

        Returns:
            The passage that led to it; None if it came from the initial list.
        """
        return self._visits[passage].led_by

    def _check_is_out(self, passage: Id) -> None:
        if passage not in self._visits:
            raise ValueError(f"{passage!r} was not handed out")
        if passage in self._scores:
            raise ValueError(f"{passage!r} was scored before")
        if passage in self._given_back:
            raise ValueError(f"{passage!r} was given back")

    @property
    def _is_frontiers_turn(self) -> bool:
        return self._iteration % 2 == 1

    @property
    def _pool(self) -> Mapping[Id, object]:
        return self._leads if self._is_frontiers_turn else self._initial

    def _take_initial(self) -> Id:
        passage, _ = self._initial.popitem(last=False)
        self._leads.pop(passage, None)
        self._visits[passage] = _Visit(len(self._visits), self._iteration, None)
        return passage

    def _take_led(self) -> Id:
        _, passage, namer = heapq.heappop(self._heap)
        while passage not in self._leads:
            _, passage, namer = heapq.heappop(self._heap)
        del self._leads[passage]
        self._initial.pop(passage, None)
        self._visits[passage] = _Visit(len(self._visits), self._iteration, namer)
        return passage

    def _follow(self, passage: Id, neighbors: Sequence[Id]) -> None:
        visit = self._visits[passage]
        for place, neighbor in enumerate(neighbors):
            if neighbor in self._visits:
                continue
            lead = _Lead(-self._scores[passage], visit.iteration, place, visit.position)
            if neighbor not in self._leads or lead < self._leads[neighbor]:
                self._leads[neighbor] = lead
                # No two leads are equal, so ids are never compared.
                heapq.heappush(self._heap, (lead, neighbor, passage))


def credit(score: float, lead_score: float | None) -> float:
    """Raise the score of a passage by a share of its lead's score.

    This is for scorers that compare a passage with the question alone. They cannot see that a passage continues another
    one. A scorer that reads passages needs no such help.

    No score is lowered. Otherwise any neighbor of a good passage would displace the last passages of the first ten,
    even if it has little in common with the question.

    Args:
        score: The scorer's score, in (0, 1).
        lead_score: The score of the passage that led to it, in (0, 1); None if it came from the initial list.

    Returns:
        4/5 of score plus 1/5 of lead_score if that is more than score; else score.

    Source: ours; docs/methods/neighborhood-aware-retrieval.md has the figures.
    """
    return score if lead_score is None else max(score, (1 - _LEAD_SHARE) * score + _LEAD_SHARE * lead_score)
