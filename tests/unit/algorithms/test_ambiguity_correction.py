"""A version of the classifier that was trained on labelled questions: what it changes, and what it does not change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from pgclarify.algorithms.ambiguity import WEIGHTS, AmbiguityClassifier
from pgclarify.data.dialogue import TrainedVersion
from pgclarify.errors import ConfigurationError

SHIPPED = AmbiguityClassifier.load()
# Factors of 1 for questions alone and with history; all other weights are 0.
NOTHING = TrainedVersion(3, SHIPPED.version, 0.7, True, True, [0, 0, 1, 1, *[0] * (WEIGHTS - 4)])
ALONE, WITHIN = ("How old is she?", ()), ("Where?", ("Did he leave?", "Yes"))


def probabilities(classifier: AmbiguityClassifier, asked: Sequence[tuple[str, Sequence[str]]]) -> NDArray[np.float64]:
    count = sum(len(classifier.inputs(*one)) for one in asked)
    vectors = np.eye(count, 384, dtype=np.float32)
    return np.array([one.probability for one in classifier.judge(asked, vectors)])


def odds(classifier: AmbiguityClassifier, asked: Sequence[tuple[str, Sequence[str]]]) -> NDArray[np.float64]:
    found = probabilities(classifier, asked)
    return np.log(found / (1 - found))


def with_weights(trained: TrainedVersion, weights: dict[int, float]) -> AmbiguityClassifier:
    changed = list(trained.weights)
    for place, weight in weights.items():
        changed[place] = weight
    return SHIPPED.corrected(replace(trained, weights=changed))


def test_weights_that_change_nothing_judge_as_the_classifier_that_ships() -> None:
    same = SHIPPED.corrected(NOTHING)

    assert probabilities(same, [ALONE, WITHIN]) == pytest.approx(probabilities(SHIPPED, [ALONE, WITHIN]), abs=1e-6)
    assert same.version == f"{SHIPPED.version}+3"
    assert (same.threshold_for(()), SHIPPED.threshold_for(())) == (0.7, 0.5)


def test_each_kind_of_question_has_its_bias_and_its_factor() -> None:
    shipped = odds(SHIPPED, [ALONE, WITHIN])

    assert odds(with_weights(NOTHING, {0: 1.0}), [ALONE, WITHIN]) == pytest.approx(shipped + np.array([1, 0]), abs=1e-3)
    assert odds(with_weights(NOTHING, {1: 1.0}), [ALONE, WITHIN]) == pytest.approx(shipped + np.array([0, 1]), abs=1e-3)
    assert odds(with_weights(NOTHING, {2: 0.5}), [ALONE, WITHIN]) == pytest.approx(shipped * [0.5, 1], abs=1e-3)
    assert odds(with_weights(NOTHING, {3: 0.5}), [ALONE, WITHIN]) == pytest.approx(shipped * [1, 0.5], abs=1e-3)


def test_weights_of_a_feature_of_the_vector_and_of_pieces_count() -> None:
    seen = SHIPPED.see([ALONE], np.eye(1, 384, dtype=np.float32))
    places = {"feature": 4, "vector": WEIGHTS - 8192 - 384, "piece": WEIGHTS - 8192 + seen.places[0][0]}
    values = {"feature": seen.features[0, 0], "vector": 1.0, "piece": 1 / np.sqrt(len(seen.places[0]))}
    (shipped,) = odds(SHIPPED, [ALONE])

    assert seen.odds[0] == pytest.approx(shipped, abs=1e-3)
    for name, place in places.items():
        (changed,) = odds(with_weights(NOTHING, {place: 1.0}), [ALONE])
        assert changed - shipped == pytest.approx(values[name], abs=1e-3), name


def test_a_trained_version_changes_only_the_kind_of_text_it_was_trained_on() -> None:
    biased = {0: -9.0, 1: -9.0}
    for trained, is_judged in (
        (replace(NOTHING, judges_conversations=False), [True, False]),
        (replace(NOTHING, judges_questions=False), [False, True]),
    ):
        classifier = with_weights(trained, biased)
        is_changed = probabilities(classifier, [ALONE, WITHIN]) < probabilities(SHIPPED, [ALONE, WITHIN]) / 2
        assert is_changed.tolist() == is_judged
        thresholds = [classifier.threshold_for(history) for _, history in (ALONE, WITHIN)]
        assert [one == 0.7 for one in thresholds] == is_judged


@pytest.mark.parametrize(
    "trained",
    [
        replace(NOTHING, shipped_version="another"),
        replace(NOTHING, weights=NOTHING.weights[:-1]),
        replace(NOTHING, weights=[*NOTHING.weights, 0]),
        replace(NOTHING, weights=[*NOTHING.weights[:-1], float("nan")]),
        replace(NOTHING, weights=[*NOTHING.weights[:-1], float("inf")]),
        replace(NOTHING, weights=[]),
    ],
    ids=["another", "few", "many", "nan", "infinite", "none"],
)
def test_a_trained_version_of_another_shape_is_refused(trained: TrainedVersion) -> None:
    with pytest.raises(ConfigurationError) as refused:
        SHIPPED.corrected(trained)

    assert refused.value.hint
