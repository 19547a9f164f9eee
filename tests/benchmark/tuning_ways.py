"""Ways to get from readings to what is shown, to be compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import hdbscan
import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms import GROUPINGS, Bounds, Density, Mode, consolidate, medoid
from tests.benchmark.tuning import Reading

Relations: TypeAlias = NDArray[np.int8]
Vectors: TypeAlias = NDArray[np.float32]
# Groups of indices, the first of each speaking for it.
Groups: TypeAlias = list[list[int]]
Group: TypeAlias = Callable[[Vectors, Relations], Groups]

_DENSITY = Density()


@dataclass(frozen=True)
class Way:
    """A way to get from readings to what is shown.

    Attributes:
        name: For people.
        group: Makes groups of vectors and relations.
        embeds_answer: Whether vectors are of question and answer, or of the question alone.
        drops_singletons: Whether what one document supports is left out, unless nothing is left.
    """

    name: str
    group: Group
    embeds_answer: bool = True
    drops_singletons: bool = False

    def show(self, readings: Sequence[Reading], vectors: Vectors, relations: Relations) -> list[list[Reading]]:
        """The groups of some readings that are shown, the speaker first."""
        if not readings:
            return []
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


def by_bounds(
    unknown: tuple[float, float],
    agree: tuple[float, float],
    density: Density | None = _DENSITY,
    *,
    uses_words: bool = True,
) -> Group:
    """Our own way, with bounds (join, split), with or without what the words say."""
    grouping = replace(GROUPINGS["default"], unknown=Bounds(*unknown), agree=Bounds(*agree), density=density)

    def group(vectors: Vectors, relations: Relations) -> Groups:
        clusters = consolidate(vectors, grouping=grouping, relations=relations if uses_words else None)
        return [_spoken_for(list(cluster.members), cluster.medoid) for cluster in clusters]

    return group


def _spoken_for(members: list[int], speaker: int) -> list[int]:
    return [int(speaker), *(int(member) for member in members if member != speaker)]


def shipped(mode: Mode) -> Way:
    """What pgclarify does."""
    grouping = GROUPINGS[mode]
    unknown, agree = grouping.unknown, grouping.agree
    return Way(mode, by_bounds((unknown.join, unknown.split), (agree.join, agree.split), grouping.density))


def ways() -> list[Way]:
    """All that are compared."""
    default, conservative = shipped("default"), shipped("conservative")
    unknown, agree = (0.94, 0.85), (0.65, 0.5)
    return [
        Way("no consolidation", lambda vectors, _: [[index] for index in range(len(vectors))]),
        Way("HDBSCAN alone, eom 2/1, noise dropped", density_alone(Density(), keeps_noise=False)),
        Way("HDBSCAN alone, eom 2/2, noise dropped", density_alone(Density(2, 2), keeps_noise=False)),
        Way("HDBSCAN alone, eom 3/3, noise dropped", density_alone(Density(3, 3), keeps_noise=False)),
        Way("HDBSCAN alone, leaf 2/1, noise dropped", density_alone(Density(selection="leaf"), keeps_noise=False)),
        Way("HDBSCAN alone, eom 2/1, noise kept", density_alone(Density(), keeps_noise=True)),
        Way("bounds without words", by_bounds(unknown, unknown, uses_words=False)),
        replace(default, name="default, singletons dropped", drops_singletons=True),
        default,
        conservative,
        replace(conservative, name="conservative, singletons dropped", drops_singletons=True),
        replace(default, name="default, embed question", embeds_answer=False),
        replace(conservative, name="conservative, embed question", embeds_answer=False),
        Way("no density", by_bounds(unknown, agree, None)),
        Way("density leaf 2/1", by_bounds(unknown, agree, Density(selection="leaf"))),
        Way("density eom 2/2", by_bounds(unknown, agree, Density(2, 2))),
        Way("density eom 3/1", by_bounds(unknown, agree, Density(3, 1))),
        Way("density eom 3/3", by_bounds(unknown, agree, Density(3, 3))),
        *(Way(f"unknown {join}/{split}", by_bounds((join, split), agree)) for join, split in _UNKNOWN),
        *(Way(f"agree {join}/{split}", by_bounds(unknown, (join, split))) for join, split in _AGREE),
    ]


_UNKNOWN = ((0.97, 0.94), (0.94, 0.94), (0.94, 0.9), (0.94, 0.8), (0.94, 0.7), (0.9, 0.8), (0.88, 0.7), (0.8, 0.7))
_AGREE = (
    (0.5, 0.5),
    (0.55, 0.5),
    (0.6, 0.4),
    (0.7, 0.5),
    (0.7, 0.7),
    (0.75, 0.5),
    (0.75, 0.75),
    (0.8, 0.6),
    (0.9, 0.8),
)
