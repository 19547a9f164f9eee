"""The similarity of texts to texts by people."""

import numpy as np
import pytest

from pgclarify.algorithms.metrics.texts import bleu, diversity, likeness

EAST, NORTH, WEST = ([1.0, 0.0], [0.0, 1.0], [-1.0, 0.0])


def vectors(*rows: list[float]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.array(rows, dtype=np.float32).reshape(len(rows), 2)


def test_precision_looks_from_what_was_given_and_recall_from_what_is_known() -> None:
    # Both given texts are known. One of the two known texts has the largest distance.
    found = likeness(vectors(EAST, EAST), vectors(EAST, NORTH))
    assert (found.precision, found.recall) == (1.0, 0.5)
    assert found.f1 == pytest.approx(2 / 3)


def test_the_order_does_not_matter() -> None:
    assert likeness(vectors(EAST, NORTH), vectors(NORTH, EAST)).f1 == 1.0


@pytest.mark.parametrize("other", [NORTH, WEST])
def test_what_is_not_alike_has_no_f1(other: list[float]) -> None:
    assert likeness(vectors(EAST), vectors(other)).f1 == 0.0


def test_diversity_is_one_less_the_mean_cosine_of_pairs() -> None:
    assert diversity(vectors(EAST)) == 0.0
    assert diversity(vectors(EAST, EAST)) == 0.0
    # The three pairs have cosines 1, 0 and 0.
    assert diversity(vectors(EAST, EAST, NORTH)) == pytest.approx(2 / 3)


def test_bleu_of_a_sentence() -> None:
    known = ["When was Ida Holm born?", "When was the painter born?"]
    assert bleu(known[1], known) == pytest.approx(1)
    assert bleu("Where do boats sail to?", known) < 0.1
    assert 0.1 < bleu("When was Ida born?", known) < 1
    # A text of one word has no n-grams of several words, and can still match completely.
    assert bleu("Why?", ["Why?"]) == pytest.approx(1)
