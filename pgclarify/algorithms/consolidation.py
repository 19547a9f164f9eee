"""Group readings that mean the same, and let one of each group speak for it.

Density alone is wrong on what a run really has, 0 to 20 readings: it finds no group among five equal ones, raises on
one, and puts strays into groups. So similarity decides what is plain, density only what is not, and what the words of
two readings say (`agreement`) shifts where "plain" begins. Of two that ask the same, an embedding hears little but the
question, so that hardly any similarity makes them plain. docs/methods/consolidation.md has the figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import hdbscan
import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.agreement import Relation
from pgclarify.errors import DimensionMismatch
from pgclarify.model import Cluster

Mode: TypeAlias = Literal["default", "conservative"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Between which similarities density may decide.

    Attributes:
        join: Cosine similarity from which two readings are the same, in [-1, 1].
        split: Cosine similarity below which they are not, and never share a group; at most join.
    """

    join: float
    split: float


@dataclass(frozen=True, slots=True)
class Density:
    """How HDBSCAN looks for clusters.

    Attributes:
        min_cluster_size: Fewest readings of a cluster, from 2.
        min_samples: Readings that must be near for one to lie in dense surroundings, itself included, from 1.
        selection: eom takes the clusters that last longest, of whatever size; leaf the smallest.

    Source: Campello et al., 2013.
    """

    min_cluster_size: int = 2
    min_samples: int = 1
    selection: Literal["eom", "leaf"] = "eom"


@dataclass(frozen=True, slots=True)
class Grouping:
    """When two readings are the same.

    Attributes:
        unknown: The bounds of a pair of which the words say nothing.
        agree: The bounds of a pair whose words agree.
        asked_alike: The bounds of a pair that asks the same, and whose answers' words say nothing of each other.
        density: What decides between the bounds; None if nothing does, and such a pair is not together.
    """

    unknown: Bounds
    agree: Bounds
    asked_alike: Bounds
    density: Density | None = Density()


GROUPINGS: dict[Mode, Grouping] = {
    "default": Grouping(
        unknown=Bounds(join=0.94, split=0.85),
        agree=Bounds(join=0.65, split=0.5),
        asked_alike=Bounds(join=0.96, split=0.96),
    ),
    "conservative": Grouping(
        unknown=Bounds(join=0.88, split=0.7),
        agree=Bounds(join=0.6, split=0.4),
        asked_alike=Bounds(join=0.94, split=0.94),
    ),
}

# Similarities closer than this are ties: two orders of adding the same numbers must not choose differently.
_DECIMALS = 9
# HDBSCAN reads a core distance off each point's neighbors; fewer points have no density to speak of.
_FEWEST_FOR_DENSITY = 3
_LARGEST_DISTANCE = 2.0


def consolidate(
    vectors: NDArray[np.float32],
    *,
    grouping: Grouping = GROUPINGS["default"],
    relations: NDArray[np.int8] | None = None,
) -> list[Cluster]:
    """Group readings by meaning and let the medoid of each group speak for it.

    1. A pair in CONFLICT is apart, and so is one below its `split` bound.
    2. Any other pair is together from its `join` bound on, or below it if HDBSCAN puts both into one cluster.
    3. Pairs that are together are joined, most similar first, unless that would bring a pair that is apart into one
       group: there are no chains, and a stray that density put into a group stays outside.

    Which bounds are a pair's depends on its relation. A reading that nothing joins is a group of its own. The order of
    the readings has no influence, except that among equals the lowest index speaks.

    Args:
        vectors: float32, shape (n_readings, n_dims), each row of unit length: f(question; answer).
        grouping: When two readings are the same. Of those that ship, "default" favors diversity; "conservative" favors
            support: fewer and larger groups.
        relations: int8, shape (n_readings, n_readings), symmetric, as of `relate_readings`. None: all UNKNOWN.

    Returns:
        Clusters by falling number of members, then by lowest member. Every index in [0, n_readings) is in exactly one.

    Raises:
        DimensionMismatch: If vectors is not two-dimensional or not finite, or relations has another shape.

    Source: VERDICT, §4.2 and Algorithm 1, lines 8-12; HDBSCAN: Campello et al., 2013. Bounds and relations are ours.
    """
    _check(vectors)
    n_readings = len(vectors)
    if relations is None:
        relations = np.full((n_readings, n_readings), Relation.UNKNOWN, dtype=np.int8)
    elif relations.shape != (n_readings, n_readings):
        raise DimensionMismatch(
            "relations do not fit the vectors",
            detail=f"There are {n_readings} vectors, and relations of shape {relations.shape}.",
        )
    # Ties are broken by position, so positions must follow from the vectors themselves.
    order = np.lexsort(vectors.T[::-1]) if n_readings else np.empty(0, dtype=np.intp)
    similarities = _similarities(vectors[order])
    groups = _group(similarities, relations[np.ix_(order, order)], grouping)

    clusters = []
    for group in groups:
        by_index = group[np.argsort(order[group])]
        members = order[by_index]
        speaker, cohesion = _speaker(similarities[np.ix_(by_index, by_index)])
        clusters.append(
            Cluster(members=tuple(int(member) for member in members), medoid=int(members[speaker]), cohesion=cohesion)
        )
    return sorted(clusters, key=lambda cluster: (-len(cluster.members), cluster.members[0]))


def medoid(vectors: NDArray[np.float32]) -> int:
    """Find the row that is most similar to all rows together; the lowest among equals.

    Args:
        vectors: float32, shape (n_readings, n_dims), each row of unit length; at least one row.

    Returns:
        Its index, in [0, n_readings).

    Raises:
        DimensionMismatch: If vectors is not two-dimensional, not finite, or empty.

    Source: VERDICT, Algorithm 1, line 11.
    """
    _check(vectors)
    if not len(vectors):
        raise DimensionMismatch("no vectors, no medoid")
    return _speaker(_similarities(vectors))[0]


def _check(vectors: NDArray[np.float32]) -> None:
    if vectors.ndim != 2:
        raise DimensionMismatch("vectors are not a matrix", detail=f"Their shape is {vectors.shape}.")
    if not np.isfinite(vectors).all():
        raise DimensionMismatch("vectors are not finite")


def _similarities(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Cosine similarities: float64, symmetric, in [-1, 1], exactly 1 on the diagonal."""
    rows = vectors.astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows /= np.where(lengths == 0, 1, lengths)
    similarities = rows @ rows.T
    similarities = np.clip(np.round((similarities + similarities.T) / 2, _DECIMALS), -1, 1)
    np.fill_diagonal(similarities, 1)
    return similarities


def _group(
    similarities: NDArray[np.float64], relations: NDArray[np.int8], grouping: Grouping
) -> list[NDArray[np.intp]]:
    is_conflict = relations == Relation.CONFLICT
    join, split = (np.full(relations.shape, bound) for bound in (grouping.unknown.join, grouping.unknown.split))
    for relation, bounds in ((Relation.AGREE, grouping.agree), (Relation.ASKED_ALIKE, grouping.asked_alike)):
        join[relations == relation] = bounds.join
        split[relations == relation] = bounds.split
    apart = is_conflict | (similarities < split)
    together = ~apart & (similarities >= join)
    if grouping.density is not None:
        distances = np.where(is_conflict, _LARGEST_DISTANCE, 1 - similarities)
        together |= ~apart & _share_density(distances, grouping.density)

    members = {index: [index] for index in range(len(similarities))}
    group_of = np.arange(len(similarities))
    ones, others = np.nonzero(np.triu(together, k=1))
    for pair in np.argsort(-similarities[ones, others], kind="stable"):
        kept, joined = sorted((group_of[ones[pair]], group_of[others[pair]]))
        if kept == joined or apart[kept, joined]:
            continue
        members[kept] += members[joined]
        group_of[members.pop(joined)] = kept
        # From here on, row `kept` says what any member of the group is apart from.
        apart[kept] |= apart[joined]
        apart[:, kept] |= apart[:, joined]
    return [np.array(group) for group in members.values()]


def _share_density(distances: NDArray[np.float64], density: Density) -> NDArray[np.bool_]:
    """Which pairs HDBSCAN puts into one cluster; noise shares none. bool, shape of distances."""
    if len(distances) < max(_FEWEST_FOR_DENSITY, density.min_cluster_size, density.min_samples + 1):
        return np.zeros(distances.shape, dtype=np.bool_)
    np.fill_diagonal(distances, 0)
    labels = hdbscan.HDBSCAN(
        metric="precomputed",
        min_cluster_size=density.min_cluster_size,
        min_samples=density.min_samples,
        cluster_selection_method=density.selection,
    ).fit_predict(distances)
    shared: NDArray[np.bool_] = (labels[:, None] == labels) & (labels[:, None] >= 0)
    return shared


def _speaker(similarities: NDArray[np.float64]) -> tuple[int, float]:
    """The medoid's position and its mean similarity to all members, itself included."""
    speaker = int(np.argmax(np.round(similarities.sum(axis=0), _DECIMALS)))
    return speaker, float(similarities[speaker].mean())
