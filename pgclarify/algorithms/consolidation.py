"""Group readings that mean the same, and choose one of each group to represent it.

The paper groups by density alone, which fails on the 0 to 20 readings of a real run: it finds no group among five equal
readings, raises an error for a single one, and puts strays into groups. So cosine similarity decides, and the words of
two readings (`agreement`) shift the threshold. docs/methods/consolidation.md has the figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.contradictions import Relation
from pgclarify.data.interpretations import Cluster
from pgclarify.errors import DimensionMismatch


@dataclass(frozen=True, slots=True)
class Bounds:
    """The similarity that two readings of one group must have.

    Attributes:
        join: Two readings are the same if their cosine similarity is at least this, in [-1, 1].
        split: Two readings below this cosine similarity never share a group, whatever else is in it; at most join.
    """

    join: float
    split: float


@dataclass(frozen=True, slots=True)
class Density:
    """Two readings are the same if HDBSCAN puts them into one cluster. Their words do not matter.

    Attributes:
        min_cluster_size: Fewest readings of a cluster, from 2.
        min_samples: How many other readings must be near a reading for its surroundings to be dense, from 1.
        selection: eom selects the clusters that persist longest, of any size; leaf selects the smallest.

    Source: Campello et al., 2013.
    """

    min_cluster_size: int = 2
    min_samples: int = 1
    selection: Literal["eom", "leaf"] = "eom"


@dataclass(frozen=True, slots=True)
class Grouping:
    """Two readings are the same if they are similar enough, given how their words compare.

    Attributes:
        unknown: The bounds of a pair whose words do not decide.
        agree: The bounds of a pair whose words agree.
    """

    unknown: Bounds = Bounds(join=0.85, split=0.75)
    agree: Bounds = Bounds(join=0.63, split=0.6)


# Similarities closer than this are ties. Adding the same numbers in another order must not change the choice.
_DECIMALS = 9
# HDBSCAN estimates density from each point's neighbors, which needs at least this many points.
_FEWEST_FOR_DENSITY = 3
_NOISE = -1


def consolidate(
    vectors: NDArray[np.float32],
    *,
    grouping: Grouping | Density = Grouping(),
    relations: NDArray[np.int8] | None = None,
) -> list[Cluster]:
    """Group readings by meaning; the medoid of each group represents it.

    With a `Grouping`:

    1. A pair is apart if it is in CONFLICT or below its `split` bound.
    2. Any other pair is together if it reaches its `join` bound.
    3. Pairs that are together are joined, most similar first, unless a group would then contain a pair that is apart.
       So there are no chains.

    The bounds of a pair depend on its relation. With a `Density`, HDBSCAN finds the groups. In both cases, a reading
    that is joined with no other is a group of its own. The order of the readings has no influence, except that the
    lowest index is chosen among equals.

    Args:
        vectors: float32, shape (n_readings, n_dims), each row of unit length: f(question; answer).
        grouping: When two readings are the same. A `Density` is the paper's method.
        relations: int8, shape (n_readings, n_readings), symmetric, as `relate_readings` returns. None: all UNKNOWN.

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
            detail=f"There are {n_readings} vectors, and the relations have shape {relations.shape}.",
        )
    # Ties are broken by position, so positions have to depend on the vectors alone.
    order = np.lexsort(vectors.T[::-1]) if n_readings else np.empty(0, dtype=np.intp)
    similarities = _similarities(vectors[order])
    match grouping:
        case Density():
            groups = _cluster(similarities, grouping)
        case Grouping():
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
    """Find the row with the greatest sum of similarities to all rows; the lowest index among equals.

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
        raise DimensionMismatch("there is no medoid of no vectors")
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
    agrees = relations == Relation.AGREE
    join = np.where(agrees, grouping.agree.join, grouping.unknown.join)
    split = np.where(agrees, grouping.agree.split, grouping.unknown.split)
    apart = (relations == Relation.CONFLICT) | (similarities < split)
    together = ~apart & (similarities >= join)

    members = {index: [index] for index in range(len(similarities))}
    group_of = np.arange(len(similarities))
    ones, others = np.nonzero(np.triu(together, k=1))
    for pair in np.argsort(-similarities[ones, others], kind="stable"):
        kept, joined = sorted((group_of[ones[pair]], group_of[others[pair]]))
        if kept == joined or apart[kept, joined]:
            continue
        members[kept] += members[joined]
        group_of[members.pop(joined)] = kept
        # From here on, row `kept` has all readings that any member of the group must not be joined with.
        apart[kept] |= apart[joined]
        apart[:, kept] |= apart[:, joined]
    return [np.array(group) for group in members.values()]


def _cluster(similarities: NDArray[np.float64], density: Density) -> list[NDArray[np.intp]]:
    """Find groups with HDBSCAN. A reading that it calls noise is a group of its own."""
    labels = np.full(len(similarities), _NOISE)
    if len(labels) >= max(_FEWEST_FOR_DENSITY, density.min_cluster_size, density.min_samples + 1):
        # hdbscan imports scikit-learn, which costs 2.5 s of CPU and 80 MB. Few runs need it.
        import hdbscan

        labels = hdbscan.HDBSCAN(
            metric="precomputed",
            min_cluster_size=density.min_cluster_size,
            min_samples=density.min_samples,
            cluster_selection_method=density.selection,
        ).fit_predict(1 - similarities)
    clusters = [np.flatnonzero(labels == label) for label in np.unique(labels[labels != _NOISE])]
    return clusters + [np.array([index]) for index in np.flatnonzero(labels == _NOISE)]


def _speaker(similarities: NDArray[np.float64]) -> tuple[int, float]:
    """Return the medoid's position, and its mean similarity to all members, itself included."""
    speaker = int(np.argmax(np.round(similarities.sum(axis=0), _DECIMALS)))
    return speaker, float(similarities[speaker].mean())
