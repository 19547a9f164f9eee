from __future__ import annotations

from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.typing import NDArray

from pgclarify.algorithms.consolidation import JOIN, SPLIT, Density, consolidate
from pgclarify.data.interpretations import Cluster
from pgclarify.language.relations import Relation


def unit(rows: object) -> NDArray[np.float32]:
    matrix = np.asarray(rows, dtype=np.float64)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix.astype(np.float32)


def at_angles(*degrees: float) -> NDArray[np.float32]:
    radians = np.radians(degrees)
    return np.stack([np.cos(radians), np.sin(radians)], axis=1).astype(np.float32)


def angle(similarity: float) -> float:
    return float(np.degrees(np.arccos(similarity)))


def partition(clusters: list[Cluster]) -> set[frozenset[int]]:
    return {frozenset(cluster.members) for cluster in clusters}


@st.composite
def readings(draw: st.DrawFn, *, max_readings: int = 20) -> NDArray[np.float32]:
    """Vectors around a few directions, with different amounts of noise, so that near, middling and far pairs occur."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_readings = draw(st.integers(0, max_readings))
    centers = generator.normal(size=(draw(st.integers(1, 5)), 16))
    jitter = generator.choice([0.0, 0.1, 0.3, 0.6], size=(n_readings, 1)) * generator.normal(size=(n_readings, 16))
    return unit(centers[generator.integers(len(centers), size=n_readings)] + jitter).reshape(n_readings, 16)


@st.composite
def relations_of(draw: st.DrawFn, n_readings: int) -> NDArray[np.int8]:
    upper = draw(npst.arrays(np.int8, (n_readings, n_readings), elements=st.sampled_from(list(Relation))))
    relations = np.eye(n_readings, dtype=np.int8)
    relations += np.triu(upper, k=1) + np.triu(upper, k=1).T
    return relations


@given(st.data(), readings(), st.sampled_from([None, Density(), Density(allow_single_cluster=True)]))
def test_every_reading_is_in_exactly_one_cluster_and_clusters_come_by_support(
    data: st.DataObject, vectors: NDArray[np.float32], density: Density | None
) -> None:
    clusters = consolidate(vectors, density=density, relations=data.draw(relations_of(len(vectors))))
    assert sorted(member for cluster in clusters for member in cluster.members) == list(range(len(vectors)))
    for cluster in clusters:
        assert list(cluster.members) == sorted(cluster.members)
        assert cluster.medoid in cluster.members
        similarities = vectors[list(cluster.members)] @ vectors[list(cluster.members)].T
        place = cluster.members.index(cluster.medoid)
        assert similarities[place].sum() == pytest.approx(similarities.sum(axis=1).max(), abs=1e-4)
        assert cluster.cohesion == pytest.approx(similarities[place].mean(), abs=1e-5)
    keys = [(-len(cluster.members), cluster.members[0]) for cluster in clusters]
    assert keys == sorted(keys)


@given(st.data(), readings(), st.sampled_from([None, Density(), Density(allow_single_cluster=True)]))
def test_the_order_of_the_readings_has_no_influence(
    data: st.DataObject, vectors: NDArray[np.float32], density: Density | None
) -> None:
    # Equal vectors come from equal texts, whose relations are equal, too. Generated relations may differ, so each
    # vector occurs once.
    vectors = np.unique(vectors, axis=0)
    relations = data.draw(relations_of(len(vectors)))
    order = np.array(data.draw(st.permutations(range(len(vectors)))), dtype=np.intp)
    expected = partition(consolidate(vectors, density=density, relations=relations))
    permuted = consolidate(vectors[order], density=density, relations=relations[np.ix_(order, order)])
    assert {frozenset(int(order[member]) for member in group) for group in partition(permuted)} == expected


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_nor_has_it_where_two_pairs_are_equally_similar(order: tuple[int, ...]) -> None:
    # The middle one could join either of the others, which are far from each other.
    vectors = at_angles(-30, 0, 30)
    permuted = consolidate(vectors[list(order)])
    assert {frozenset(order[member] for member in group) for group in partition(permuted)} == partition(
        consolidate(vectors)
    )


@given(st.data(), readings())
def test_no_cluster_holds_a_pair_that_is_apart(data: st.DataObject, vectors: NDArray[np.float32]) -> None:
    relations = data.draw(relations_of(len(vectors)))
    for cluster in consolidate(vectors, relations=relations):
        for one in cluster.members:
            for other in cluster.members:
                if one != other:
                    assert relations[one, other] != Relation.CONFLICT
                    assert vectors[one] @ vectors[other] >= SPLIT[Relation(relations[one, other])] - 1e-6


@given(readings(max_readings=12))
def test_duplicates_land_together(vectors: NDArray[np.float32]) -> None:
    clusters = consolidate(np.concatenate([vectors, vectors]))
    for cluster in clusters:
        assert {member % len(vectors) for member in cluster.members if member < len(vectors)} == {
            member % len(vectors) for member in cluster.members if member >= len(vectors)
        }


@pytest.mark.parametrize("n_readings", [1, 2, 5, 20])
def test_equal_readings_are_one_group_and_the_first_speaks(n_readings: int) -> None:
    clusters = consolidate(np.repeat(at_angles(30), n_readings, axis=0))
    assert clusters == [Cluster(members=tuple(range(n_readings)), medoid=0, cohesion=1.0)]


@pytest.mark.parametrize("relation", [Relation.UNKNOWN, Relation.AGREE])
def test_two_readings_join_from_the_bound_on(relation: Relation) -> None:
    join = JOIN[relation]
    relations = np.array([[1, relation], [relation, 1]], dtype=np.int8)
    assert len(consolidate(at_angles(0, angle(join + 0.005)), relations=relations)) == 1
    assert len(consolidate(at_angles(0, angle(join - 0.005)), relations=relations)) == 2


def test_a_reading_that_fits_two_conflicting_ones_joins_the_nearer() -> None:
    relations = np.array([[1, 0, -1], [0, 1, 0], [-1, 0, 1]], dtype=np.int8)
    assert partition(consolidate(at_angles(0, 5, 15), relations=relations)) == {frozenset({0, 1}), frozenset({2})}


def test_two_readings_between_the_bounds_share_a_group_only_through_a_third() -> None:
    apart = angle((JOIN[Relation.UNKNOWN] + SPLIT[Relation.UNKNOWN]) / 2)
    assert len(consolidate(at_angles(0, apart / 2, apart))) == 1
    assert len(consolidate(at_angles(0, apart))) == 2


def around(*sizes: int, similarity: float) -> NDArray[np.float32]:
    """Readings around three directions, of which the last is farthest. similarity: of two readings of one direction."""
    n_readings = sum(sizes)
    centers = unit([[1, 0, 0], [1, 1, 0], [0, 0, 1]])[np.repeat([0, 1, 2], sizes)] @ np.eye(3, 3 + n_readings)
    own = np.eye(n_readings, 3 + n_readings, k=3)
    return unit(np.sqrt(similarity) * centers + np.sqrt(1 - similarity) * own)


def test_a_cluster_of_density_has_two_readings_or_more() -> None:
    # The readings are so far apart that the bounds join none of them.
    vectors = around(3, 3, 2, similarity=0.6)
    assert len(consolidate(vectors)) == 8
    assert [len(cluster.members) for cluster in consolidate(vectors, density=Density())] == [3, 3, 2]


def test_clusters_of_density_are_those_that_last_longest() -> None:
    # Two pairs that are near each other, and a pair that is far away.
    vectors = at_angles(0, 4, 8.5, 12.5, 90, 94)
    assert [len(cluster.members) for cluster in consolidate(vectors, density=Density())] == [4, 2]


@pytest.mark.parametrize(
    ("parameters", "sizes"),
    [
        ({}, [1, 1, 1, 1, 1]),
        ({"allow_single_cluster": True}, [3, 1, 1]),
        ({"allow_single_cluster": True, "cluster_selection_epsilon": 0.05}, [5]),
    ],
)
def test_all_readings_may_be_one_cluster_of_density(parameters: dict[str, Any], sizes: list[int]) -> None:
    vectors = at_angles(0, 1, 2, 6, 12)
    assert [len(cluster.members) for cluster in consolidate(vectors, density=Density(**parameters))] == sizes
    equal = consolidate(at_angles(0, 0, 0, 0, 0), density=Density(**parameters))
    assert len(equal) == (1 if parameters else 5)


def test_clusters_of_density_have_the_least_size_that_is_asked_for() -> None:
    vectors = around(3, 3, 2, similarity=0.6)
    found = consolidate(vectors, density=Density(min_cluster_size=3))
    assert [len(cluster.members) for cluster in found] == [3, 3, 1, 1]


def test_density_does_not_look_at_words() -> None:
    vectors = at_angles(0, 1, 2, 90, 91, 92)
    conflicts = np.full((6, 6), Relation.CONFLICT, dtype=np.int8)
    assert len(consolidate(vectors, density=Density(), relations=conflicts)) == 2
    assert len(consolidate(vectors, relations=conflicts)) == 6


def test_a_chain_of_near_neighbors_is_not_one_group() -> None:
    step = angle(JOIN[Relation.UNKNOWN] + 0.01)
    chain = at_angles(*np.arange(10) * step)
    assert all(chain[one] @ chain[other] > JOIN[Relation.UNKNOWN] for one, other in pairwise(range(10)))
    clusters = consolidate(chain)
    assert 1 < len(clusters) < 10


def test_the_medoid_is_the_one_in_the_middle() -> None:
    assert consolidate(at_angles(0, 20, 10))[0].medoid == 2
