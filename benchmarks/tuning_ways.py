"""Ways to group and choose the readings to show, for comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, TypeAlias

import hdbscan
import numpy as np
from numpy.typing import NDArray

from benchmarks.tuning import Reading
from pgclarify.algorithms import (
    Bounds,
    Density,
    Grouping,
    Relation,
    consolidate,
    medoid,
    relate,
    relate_readings,
)

Relations: TypeAlias = NDArray[np.int8]
Vectors: TypeAlias = NDArray[np.float32]
# Two indices, the lower one first.
Pair: TypeAlias = tuple[int, int]
# Groups of indices. The first index of each group is its representative.
Groups: TypeAlias = list[list[int]]
Group: TypeAlias = Callable[[Vectors, Relations], Groups]


@dataclass(frozen=True)
class Way:
    """A way to group and choose the readings to show.

    Attributes:
        name: Its name in tables.
        group: Makes groups of vectors and relations.
        embeds_answer: Whether vectors are of question and answer, not of the question alone.
        shows: "all" groups; "supported": those of several documents, if any; or the "two thirds" with most support.
        hears: Which relations of words it uses: all; all except whether both ask the same question; or none.
    """

    name: str
    group: Group
    embeds_answer: bool = True
    shows: Literal["all", "supported", "two thirds"] = "all"
    hears: Literal["readings", "relations", "nothing"] = "readings"

    def heard(self, interpretations: Sequence[str], answers: Sequence[str]) -> Relations:
        """The relations between some readings that this way uses."""
        if self.hears == "nothing":
            return np.full((len(answers), len(answers)), Relation.UNKNOWN, dtype=np.int8)
        return (relate if self.hears == "relations" else relate_readings)(interpretations, answers)

    def chosen(self, groups: Groups, document_ids: Sequence[str]) -> Groups:
        """The groups to show. The groups and their readings are given by rank."""
        support = [len({document_ids[index] for index in group}) for group in groups]
        if self.shows == "supported":
            return [group for group, documents in zip(groups, support, strict=True) if documents > 1] or groups
        if self.shows == "two thirds":
            places = sorted(range(len(groups)), key=lambda place: (-support[place], min(groups[place])))
            return [groups[place] for place in places[: max(1, 2 * len(groups) // 3)]]
        return groups

    def show(self, readings: Sequence[Reading], vectors: Vectors) -> list[list[Reading]]:
        """The groups of readings to show. The first index of each is its representative."""
        if not readings:
            return []
        relations = self.heard([one.interpretation for one in readings], [one.answer for one in readings])
        groups = self.chosen(self.group(vectors, relations), [one.document_id for one in readings])
        return [[readings[index] for index in group] for group in groups]


def one_cluster_allowed(vectors: Vectors, _: Relations) -> Groups:
    """HDBSCAN that may also put all readings into one cluster. Noise is shown."""
    labels = np.full(len(vectors), -1)
    if len(vectors) > 2:
        distances = np.clip(1 - vectors.astype(np.float64) @ vectors.astype(np.float64).T, 0, 2)
        labels = hdbscan.HDBSCAN(
            metric="precomputed", min_cluster_size=2, min_samples=1, allow_single_cluster=True
        ).fit_predict(distances)
    groups = []
    for label in sorted(set(labels[labels >= 0])):
        members = np.flatnonzero(labels == label)
        groups.append(_spoken_for(members.tolist(), members[medoid(vectors[members])]))
    return groups + [[int(index)] for index in np.flatnonzero(labels < 0)]


def density_would_join(vectors: Vectors, relations: Relations, grouping: Grouping, density: Density) -> set[Pair]:
    """Pairs between the bounds that density puts into one cluster and that `grouping` keeps apart."""
    clusters = consolidate(vectors, grouping=density)
    groups = consolidate(vectors, grouping=grouping, relations=relations)
    return {
        (one, other)
        for one, other in _pairs(cluster.members for cluster in clusters) - _pairs(group.members for group in groups)
        if relations[one, other] != Relation.CONFLICT
        and vectors[one] @ vectors[other] >= _bounds(grouping, relations[one, other]).split
    }


def _bounds(grouping: Grouping, relation: int) -> Bounds:
    return grouping.agree if relation == Relation.AGREE else grouping.unknown


def _pairs(groups: Iterable[Sequence[int]]) -> set[Pair]:
    return {pair for group in groups for pair in combinations(sorted(group), 2)}


def by(grouping: Grouping | Density) -> Group:
    """The product's way with these bounds, or with this density alone."""

    def group(vectors: Vectors, relations: Relations) -> Groups:
        clusters = consolidate(vectors, grouping=grouping, relations=relations)
        return [_spoken_for(list(cluster.members), cluster.medoid) for cluster in clusters]

    return group


def _spoken_for(members: list[int], speaker: int) -> list[int]:
    return [int(speaker), *(int(member) for member in members if member != speaker)]


# The earlier bounds, between which density decided.
BEFORE = Grouping(unknown=Bounds(0.94, 0.85), agree=Bounds(0.65, 0.5))


def shipped() -> list[Way]:
    """The way of pgclarify."""
    return [
        Way("default", by(Grouping())),
        Way("conservative", by(Grouping()), shows="two thirds"),
        Way("hdbscan", by(Density()), hears="nothing"),
    ]


def ways() -> list[Way]:
    """All ways to compare."""
    default, conservative, density = shipped()
    return [
        Way("no consolidation", lambda vectors, _: [[index] for index in range(len(vectors))]),
        default,
        conservative,
        density,
        replace(density, name="hdbscan, singletons dropped", shows="supported"),
        *(replace(density, name=f"hdbscan, {named(one)}", group=by(one)) for one in _DENSITIES),
        replace(density, name="hdbscan, one cluster allowed", group=one_cluster_allowed),
        replace(default, name="default, singletons dropped", shows="supported"),
        replace(default, name="default, no words", hears="nothing"),
        replace(default, name="default, whatever is asked alike", hears="relations"),
        replace(default, name="default, embed question", embeds_answer=False),
        *(Way(f"default, unknown {b.join}/{b.split}", by(replace(Grouping(), unknown=b))) for b in _UNKNOWN),
        *(Way(f"default, agree {b.join}/{b.split}", by(replace(Grouping(), agree=b))) for b in _AGREE),
        *(
            Way(
                f"unknown {one.join}/{one.split}, agree {other.join}/{other.split}, alike too",
                by(Grouping(one, other)),
                hears="relations",
            )
            for one, other in zip(_UNKNOWN[-3:], _AGREE[:3], strict=True)
        ),
    ]


_DENSITIES = (Density(selection="leaf"), Density(2, 2), Density(3, 1), Density(3, 3))
_UNKNOWN = (
    Bounds(0.94, 0.85),
    Bounds(0.9, 0.8),
    Bounds(0.82, 0.75),
    Bounds(0.75, 0.65),
    Bounds(0.65, 0.55),
    Bounds(0.6, 0.5),
)
_AGREE = (Bounds(0.6, 0.5), Bounds(0.55, 0.45), Bounds(0.5, 0.4), Bounds(0.65, 0.5), Bounds(0.7, 0.6), Bounds(0.8, 0.6))


def named(density: Density) -> str:
    """The parameters of a way, in words."""
    return f"{density.selection} {density.min_cluster_size}/{density.min_samples}"
