"""Ways to get from readings to what is shown, to be compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import hdbscan
import numpy as np
from numpy.typing import NDArray

from benchmarks.tuning import Reading
from pgclarify.algorithms import (
    GROUPINGS,
    Bounds,
    Density,
    Grouping,
    Mode,
    Relation,
    consolidate,
    medoid,
    relate,
    relate_readings,
)

Relations: TypeAlias = NDArray[np.int8]
Vectors: TypeAlias = NDArray[np.float32]
# Groups of indices, the first of each speaking for it.
Groups: TypeAlias = list[list[int]]
Group: TypeAlias = Callable[[Vectors, Relations], Groups]


@dataclass(frozen=True)
class Way:
    """A way to get from readings to what is shown.

    Attributes:
        name: For people.
        group: Makes groups of vectors and relations.
        embeds_answer: Whether vectors are of question and answer, or of the question alone.
        drops_singletons: Whether what one document supports is left out, unless nothing is left.
        hears: What of the words it heeds: all; all but whether both ask the same; nothing.
    """

    name: str
    group: Group
    embeds_answer: bool = True
    drops_singletons: bool = False
    hears: Literal["readings", "relations", "nothing"] = "readings"

    def heard(self, interpretations: Sequence[str], answers: Sequence[str]) -> Relations:
        """What it makes of the words of some readings."""
        if self.hears == "nothing":
            return np.full((len(answers), len(answers)), Relation.UNKNOWN, dtype=np.int8)
        return (relate if self.hears == "relations" else relate_readings)(interpretations, answers)

    def show(self, readings: Sequence[Reading], vectors: Vectors) -> list[list[Reading]]:
        """The groups of some readings that are shown, the speaker first."""
        if not readings:
            return []
        relations = self.heard([one.interpretation for one in readings], [one.answer for one in readings])
        shown = [[readings[index] for index in group] for group in self.group(vectors, relations)]
        if not self.drops_singletons:
            return shown
        return [group for group in shown if len({one.document_id for one in group}) > 1] or shown


def density_alone(density: Density, *, keeps_noise: bool) -> Group:
    """HDBSCAN and nothing else: what is in no cluster is dropped, or stands for itself."""

    def group(vectors: Vectors, _: Relations) -> Groups:
        labels = np.full(len(vectors), -1)
        if len(vectors) > max(density.min_cluster_size, density.min_samples, 2):
            distances = np.clip(1 - vectors.astype(np.float64) @ vectors.astype(np.float64).T, 0, 2)
            labels = hdbscan.HDBSCAN(
                metric="precomputed",
                min_cluster_size=density.min_cluster_size,
                min_samples=density.min_samples,
                cluster_selection_method=density.selection,
            ).fit_predict(distances)
        groups = []
        for label in sorted(set(labels[labels >= 0])):
            members = np.flatnonzero(labels == label)
            groups.append(_spoken_for(members.tolist(), members[medoid(vectors[members])]))
        noise = np.flatnonzero(labels < 0).tolist()
        # A script that fails on one or two readings would hand them out as they are.
        return groups + ([[index] for index in noise] if keeps_noise or (not groups and len(vectors) < 3) else [])

    return group


def by(grouping: Grouping) -> Group:
    """Our own way, with these bounds and this density."""

    def group(vectors: Vectors, relations: Relations) -> Groups:
        clusters = consolidate(vectors, grouping=grouping, relations=relations)
        return [_spoken_for(list(cluster.members), cluster.medoid) for cluster in clusters]

    return group


def _spoken_for(members: list[int], speaker: int) -> list[int]:
    return [int(speaker), *(int(member) for member in members if member != speaker)]


def shipped(mode: Mode) -> Way:
    """What pgclarify does."""
    return Way(mode, by(GROUPINGS[mode]))


# The bounds as they were when readings that ask the same were nothing of their own.
_FIRST: Mapping[Mode, Grouping] = {
    "default": Grouping(Bounds(0.94, 0.85), Bounds(0.65, 0.5), Bounds(0.94, 0.85)),
    "conservative": Grouping(Bounds(0.88, 0.7), Bounds(0.6, 0.4), Bounds(0.88, 0.7)),
}


def ways() -> list[Way]:
    """All that are compared."""
    default, conservative = shipped("default"), shipped("conservative")
    own = GROUPINGS["default"]
    return [
        Way("no consolidation", lambda vectors, _: [[index] for index in range(len(vectors))]),
        *(
            Way(
                f"HDBSCAN alone, {_named(density)}, noise {'kept' if keeps_noise else 'dropped'}",
                density_alone(density, keeps_noise=keeps_noise),
            )
            for density, keeps_noise in _ALONE
        ),
        Way("bounds, no words", by(_FIRST["default"]), hears="nothing"),
        *(Way(f"first {mode}", by(grouping), hears="relations") for mode, grouping in _FIRST.items()),
        default,
        conservative,
        replace(default, name="default, singletons dropped", drops_singletons=True),
        replace(conservative, name="conservative, singletons dropped", drops_singletons=True),
        replace(default, name="default, embed question", embeds_answer=False),
        replace(conservative, name="conservative, embed question", embeds_answer=False),
        *(Way(f"default, density {_named(density)}", by(replace(own, density=density))) for density in _DENSITIES),
        *(Way(f"default, unknown {b.join}/{b.split}", by(replace(own, unknown=b))) for b in _UNKNOWN),
        *(Way(f"default, agree {b.join}/{b.split}", by(replace(own, agree=b))) for b in _AGREE),
        *(Way(f"default, asked alike {b.join}/{b.split}", by(replace(own, asked_alike=b))) for b in _ALIKE),
        *(
            Way(f"conservative, asked alike {b.join}/{b.split}", by(replace(GROUPINGS["conservative"], asked_alike=b)))
            for b in _ALIKE
        ),
    ]


_ALONE = (
    (Density(), False),
    (Density(2, 2), False),
    (Density(3, 3), False),
    (Density(selection="leaf"), False),
    (Density(), True),
)
_DENSITIES = (None, Density(selection="leaf"), Density(2, 2), Density(3, 1), Density(3, 3))
_UNKNOWN = (
    Bounds(0.97, 0.94),
    Bounds(0.94, 0.94),
    Bounds(0.94, 0.9),
    Bounds(0.94, 0.8),
    Bounds(0.9, 0.8),
    Bounds(0.88, 0.7),
    Bounds(0.8, 0.7),
)
_AGREE = (
    Bounds(0.55, 0.5),
    Bounds(0.6, 0.4),
    Bounds(0.7, 0.5),
    Bounds(0.75, 0.75),
    Bounds(0.8, 0.6),
    Bounds(0.9, 0.8),
)
_ALIKE = (*(Bounds(join, join) for join in (1.0, 0.99, 0.98, 0.97, 0.96, 0.95, 0.94)), Bounds(0.94, 0.85))


def _named(density: Density | None) -> str:
    return f"{density.selection} {density.min_cluster_size}/{density.min_samples}" if density else "none"
