"""Neighborhood-aware retrieval: passages near good ones are looked at, though the first ranking missed them.

docs/methods/neighborhood-aware-retrieval.md says what is the paper's and what is ours.
"""

from __future__ import annotations

import heapq
import math
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

Id = TypeVar("Id", bound=Hashable)

# What the second step of a chain has in common with the question is often no more than the first step. Chosen on
# MuSiQue, where shares from 0.1 to 0.3 help.
_LEAD_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Explored(Generic[Id]):
    """A passage that was scored.

    Attributes:
        id: The passage.
        score: What the scorer gave it; higher is better.
        iteration: The batch it was in: even from the initial list, odd from the frontier.
    """

    id: Id
    score: float
    iteration: int


class _Lead(NamedTuple):
    """Why a passage is in the frontier. The lesser lead is the better one; no two are equal.

    Attributes:
        negated_score: Minus the score of the passage that named it.
        iteration: In which batch that passage was.
        place: Its place among that passage's neighbors, from 0, nearest first.
        position: How many passages had been handed out before that one.
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
    """Says which passages to score next, and keeps what was found. It does no I/O.

    Turns alternate: even iterations take the best of what is left of the initial list, odd ones the best of the
    frontier, which holds the neighbors of what has been observed. A pool that is empty loses its turn, so that
    iterations stay even and odd; a pool that has less than a batch gives what it has. No passage is handed out twice,
    though it be in both pools.

    A passage in the frontier is worth the best score of those that named it. Among equals, first come those named by
    the earliest batch, then those nearest to who named them, then those whose namer was handed out first. So the order
    in which a batch's scores arrive has no influence on what comes next.

    Args:
        initial: The first ranking, best first. Of an id that is in it more than once the first place counts.
        budget: The most passages to hand out, at least 1.
        batch_size: The most passages in a batch, at least 1.

    Raises:
        ValueError: If budget or batch_size is below 1.

    Source: SUNAR, §3.1 and Algorithm 1, lines 1-5 and 10-19, after MacAvaney et al., 2022. Observing a batch in parts,
    and the order among equals, are ours.
    """

    def __init__(self, initial: Sequence[Id], *, budget: int, batch_size: int) -> None:
        for name, size in (("budget", budget), ("batch_size", batch_size)):
            if size < 1:
                raise ValueError(f"{name} must be at least 1, not {size}")
        self._budget = budget
        self._batch_size = batch_size
        self._initial: OrderedDict[Id, None] = OrderedDict.fromkeys(initial)
        # The best lead to each passage of the frontier; the heap has superseded ones, too, which are passed over.
        self._leads: dict[Id, _Lead] = {}
        self._heap: list[tuple[_Lead, Id, Id]] = []
        self._visits: dict[Id, _Visit[Id]] = {}
        self._scores: dict[Id, float] = {}
        self._given_back: set[Id] = set()
        self._iteration = 0
        self._is_stopped = False

    @property
    def budget_left(self) -> int:
        """How many more passages may be handed out, from 0."""
        return self._budget - len(self._visits) + len(self._given_back)

    def rank_anew(self, initial: Sequence[Id]) -> None:
        """Replace what is left of the initial list by another ranking.

        Args:
            initial: Best first. What was handed out already is passed over.
        """
        self._initial = OrderedDict.fromkeys(passage for passage in initial if passage not in self._visits)

    def next_batch(self, most: int | None = None) -> list[Id]:
        """Hand out what to score next. What was handed out before need not have been observed.

        Args:
            most: The most ids, at least 1; None for batch_size, which is the most in any case.

        Returns:
            At most batch_size ids, best first. Empty when the exploration is over, and as long as only the neighbors of
            what is still out can show where it goes on.

        Raises:
            ValueError: If most is below 1.
        """
        if most is not None and most < 1:
            raise ValueError(f"most must be at least 1, not {most}")
        size = min(self._batch_size, self.budget_left, self._batch_size if most is None else most)
        if self._is_stopped or not size or not (self._initial or self._leads):
            return []
        if not self._pool:
            self._iteration += 1
        take = self._take_led if self._is_frontiers_turn else self._take_initial
        batch = [take() for _ in range(min(size, len(self._pool)))]
        self._iteration += 1
        return batch

    def observe(self, scores: Mapping[Id, float], neighbors: Mapping[Id, Sequence[Id]]) -> None:
        """Take in what was found about passages that were handed out: a batch, or any part of one or several.

        If anything is wrong with what is given, nothing of it is taken in. What comes after `stop` counts, too.

        Args:
            scores: The score of each passage; higher is better, infinities included.
            neighbors: The neighbors of those passages, nearest first. A passage that is not in it has none. Those that
                were handed out already, and the passage itself, are passed over.

        Raises:
            ValueError: If a score is not a number, or of a passage that is not out: it was not handed out, is observed
                already, or was given back; or if neighbors are of a passage that scores does not have.
            TypeError: If a score, or the neighbors of a passage, are of another type.
        """
        for passage, score in scores.items():
            if math.isnan(score):
                raise ValueError(f"the score of {passage!r} is not a number")
            self._check_is_out(passage)
        for passage in neighbors:
            if passage not in scores:
                raise ValueError(f"there are neighbors of {passage!r}, but no score")
        # Before any score is taken: what cannot be gone through is noticed here.
        edges = {passage: tuple(found) for passage, found in neighbors.items()}
        for passage, score in scores.items():
            self._scores[passage] = float(score)
            self._follow(passage, edges.get(passage, ()))

    def give_back(self, passages: Collection[Id]) -> None:
        """Return what was handed out and cannot be scored: the budget has room for others in its place.

        It is not handed out again.

        Args:
            passages: They differ.

        Raises:
            ValueError: If one is not out: it was not handed out, is observed already, or was given back before.
        """
        for passage in passages:
            self._check_is_out(passage)
        self._given_back.update(passages)

    def stop(self) -> None:
        """Hand out nothing more. What is still out can be observed."""
        self._is_stopped = True

    def results(self) -> list[Explored[Id]]:
        """List what was observed.

        Returns:
            By score, then by iteration, both descending. Those of one batch that have equal scores come in the order
            in which they were handed out. So the order is total, and does not depend on that of observing.
        """
        explored = [
            Explored(passage, score, self._visits[passage].iteration) for passage, score in self._scores.items()
        ]
        return sorted(explored, key=lambda one: (-one.score, -one.iteration, self._visits[one.id].position))

    def led_by(self, passage: Id) -> Id | None:
        """Tell which passage led to one that was handed out: the best of those that had named it by then.

        Args:
            passage: One that was handed out.

        Returns:
            The passage that led to it; None if it was taken from the initial list.

        Raises:
            ValueError: If it was not handed out.
        """
        if passage not in self._visits:
            raise ValueError(f"{passage!r} was not handed out")
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
                # Leads differ, so ids are never compared.
                heapq.heappush(self._heap, (lead, neighbor, passage))


def explore(
    initial: Sequence[Id],
    neighbors: Callable[[list[Id]], Mapping[Id, Sequence[Id]]],
    score: Callable[[list[Id]], Sequence[float]],
    *,
    budget: int,
    batch_size: int,
) -> list[Explored[Id]]:
    """Score passages batch by batch, in turn from the initial list and from among the neighbors of what was scored.

    Args:
        initial: The first ranking, best first.
        neighbors: From the ids of a batch to the neighbors of each, nearest first; one that is left out has none.
            Asked once a batch at most, and not when the budget is spent.
        score: From the ids of a batch to one score each, in their order; higher is better. Asked once a batch.
        budget: The most passages to score, at least 1.
        batch_size: The most passages in a batch, at least 1.

    Returns:
        What was scored, ordered as by `Explorer.results`. What is left of the initial list is not added.

    Raises:
        ValueError: If budget or batch_size is below 1, a score is missing or not a number, or neighbors are of
            passages that are not in the batch.

    Source: SUNAR, §3.1 and Algorithm 1 without lines 6-9.
    """
    explorer = Explorer(initial, budget=budget, batch_size=batch_size)
    while batch := explorer.next_batch():
        scores = score(batch)
        if len(scores) != len(batch):
            raise ValueError(f"there are {len(scores)} scores of {len(batch)} passages")
        explorer.observe(
            dict(zip(batch, scores, strict=True)),
            neighbors(batch) if explorer.budget_left else {},
        )
    return explorer.results()


def credit(score: float, lead_score: float | None) -> float:
    """Let a passage share in the score of the one that led to it.

    For scorers that compare a passage with nothing but the question: they have no way of seeing that it goes on from
    where another one ends. One that reads passages for what they say needs no such help.

    No score is lowered. If passages of the first ranking were, any neighbor of a good passage would displace the last
    of its first ten, however little it has in common with the question.

    Args:
        score: The scorer's, in (0, 1).
        lead_score: What was observed of the passage that led to it, in (0, 1); None if it is from the initial list.

    Returns:
        4/5 of the one and 1/5 of the other if that is more than the score; else the score.

    Source: ours; docs/methods/neighborhood-aware-retrieval.md has the figures.
    """
    return score if lead_score is None else max(score, (1 - _LEAD_SHARE) * score + _LEAD_SHARE * lead_score)
