"""Group readings that mean the same, and choose one of each group to represent it.

The paper groups by density alone. On the 0 to 20 readings of a real run, HDBSCAN puts strays into groups, raises an
error for a single reading, and finds one group of five equal ones only if it is allowed to. So cosine similarity
decides, and the words of two readings (`agreement`) shift the threshold. docs/methods/consolidation.md has the figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from pgclarify.data.interpretations import Cluster
from pgclarify.language.relations import Relation

JOIN: Final = {Relation.UNKNOWN: 0.85, Relation.AGREE: 0.63}
"""Two readings are the same if their cosine similarity is at least this: if their words do not decide, or agree."""
SPLIT: Final = {Relation.UNKNOWN: 0.75, Relation.AGREE: 0.6}
"""Two readings below this cosine similarity never share a group, whatever else is in it."""

# Similarities closer than this are ties. Adding the same numbers in another order must not change the choice.
_DECIMALS = 9
# HDBSCAN raises an error for a single point.
_FEWEST_FOR_DENSITY = 2
_NOISE = -1

_Number = TypeVar("_Number", bound=np.number)


@dataclass(frozen=True, slots=True)
class Density:
    """The parameters of HDBSCAN, by their names there. Distances are 1 - cosine similarity.

    Attributes:
        min_cluster_size: Fewest readings of a group, at least 2.
        min_samples: How many readings around one make a dense place, at least 1.
        allow_single_cluster: Whether all readings may be one group.
        cluster_selection_epsilon: Groups closer than this distance are one.
    """

    min_cluster_size: int = 2
    min_samples: int = 1
    allow_single_cluster: bool = False
    cluster_selection_epsilon: float = 0.0


def consolidate(
    vectors: NDArray[np.float32],
    *,
    relations: NDArray[np.int8] | None = None,
    density: Density | None = None,
) -> list[Cluster]:
    """Group readings by meaning; the medoid of each group represents it.

    1. A pair is apart if it is in CONFLICT or below its SPLIT bound.
    2. Any other pair is together if it reaches its JOIN bound.
    3. Pairs that are together are joined, most similar first, unless a group would then contain a pair that is apart.
       So there are no chains.

    The bounds of a pair depend on its relation. By density, HDBSCAN finds the groups, and words do not matter. In both
    cases, a reading that is joined with no other is a group of its own. The order of the readings has no influence,
    except that the lowest index is chosen among equals.

    Args:
        vectors: float32, shape (n_readings, n_dims), finite, each row of unit length: f(question; answer).
        relations: int8, shape (n_readings, n_readings), symmetric, as `relate_readings` returns. None: all UNKNOWN.
        density: The paper's method, with these parameters; None: ours.

    Returns:
        Clusters by falling number of members, then by lowest member. Every index in [0, n_readings) is in exactly one.

    Source: VERDICT, §4.2 and Algorithm 1, lines 8-12; HDBSCAN: Campello et al., 2013. Bounds and relations are ours.
    """
    if len(vectors) == 0:
        return []
    # Ties are broken by position, so positions have to depend on the vectors alone.
    order = np.lexsort(vectors.T[::-1])
    similarities = _similarities(vectors[order])
    if density is not None:
        groups = _cluster(similarities, density)
    else:
        if relations is None:
            relations = np.full(similarities.shape, Relation.UNKNOWN, dtype=np.int8)
        ordered = _select(relations, order)
        groups = _group(similarities, ordered)

    clusters = []
    for group in groups:
        by_index = group[np.argsort(order[group])]
        of_members = _select(similarities, by_index)
        medoid, cohesion = _medoid(of_members)
        members = order[by_index].tolist()
        clusters.append(Cluster(tuple(members), members[medoid], cohesion))
    clusters.sort(key=lambda cluster: (-len(cluster.members), cluster.members[0]))
    return clusters


def _select(table: NDArray[_Number], places: NDArray[np.intp]) -> NDArray[_Number]:
    """Return some rows of a table, and the columns of the same numbers."""
    return table[np.ix_(places, places)]


def _similarities(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Cosine similarities: float64, symmetric, in [-1, 1], exactly 1 on the diagonal."""
    rows = vectors.astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    rows /= lengths
    products = rows @ rows.T
    symmetric = (products + products.T) / 2
    similarities = np.round(symmetric, _DECIMALS).clip(-1, 1)
    np.fill_diagonal(similarities, 1)
    return similarities


def _group(similarities: NDArray[np.float64], relations: NDArray[np.int8]) -> list[NDArray[np.intp]]:
    conflicts = relations == Relation.CONFLICT
    apart = conflicts | (similarities < _bounds(SPLIT, relations))
    together = ~apart & (similarities >= _bounds(JOIN, relations))

    group_of = np.arange(len(similarities))
    members = {index: [index] for index in group_of.tolist()}
    pairs = np.argwhere(np.triu(together, k=1))
    ones, others = pairs.T
    most_similar_first = np.argsort(-similarities[ones, others], kind="stable")
    for pair in pairs[most_similar_first]:
        kept, joined = sorted(group_of[pair].tolist())
        if kept == joined or apart[kept, joined]:
            continue
        members[kept] += members[joined]
        group_of[members.pop(joined)] = kept
        # From here on, row `kept` has all readings that any member of the group must not be joined with.
        apart[kept] |= apart[joined]
        apart[:, kept] |= apart[:, joined]
    return [np.array(group) for group in members.values()]


def _bounds(bounds: Mapping[Relation, float], relations: NDArray[np.int8]) -> NDArray[np.float64]:
    """Return the bound of each pair. A pair in conflict has that of one whose words do not decide."""
    agrees = relations == Relation.AGREE
    of_pairs: NDArray[np.float64] = np.where(agrees, bounds[Relation.AGREE], bounds[Relation.UNKNOWN])
    return of_pairs


def _cluster(similarities: NDArray[np.float64], density: Density) -> list[NDArray[np.intp]]:
    """Find groups with HDBSCAN. A reading that it calls noise is a group of its own."""
    labels = np.full(len(similarities), _NOISE)
    if len(labels) >= _FEWEST_FOR_DENSITY:
        # hdbscan imports scikit-learn, which costs 2.5 s of CPU and 80 MB. Few runs need it.
        import hdbscan

        clusterer = hdbscan.HDBSCAN(metric="precomputed", **asdict(density))
        distances = 1 - similarities
        labels = clusterer.fit_predict(distances)
    groups = []
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        if label == _NOISE:
            groups += np.split(members, len(members))
        else:
            groups.append(members)
    return groups


def _medoid(similarities: NDArray[np.float64]) -> tuple[int, float]:
    """Return the medoid's position, and its mean similarity to all members, itself included."""
    sums = similarities.sum(axis=0).round(_DECIMALS)
    medoid = int(sums.argmax())
    return medoid, float(similarities[medoid].mean())
