"""Training on labelled questions: what is learned, what is held out, and when a version counts as better."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from pgclarify.algorithms.ambiguity import AmbiguityClassifier
from pgclarify.dialogue import TrainedVersion
from pgclarify.errors import InputError
from pgclarify.evaluation.ambiguity_comparison import compare, learn
from pgclarify.evaluation.ambiguity_training import LEAST_OF_EACH, Looked, judge, look, train, trainable
from pgclarify.evaluation.labelled_log import LabelledQuestion
from tests.fakes import FakeEmbedder

SHIPPED = AmbiguityClassifier.load()
# In these questions "board" has two meanings, which the shipped classifier cannot know.
QUESTIONS = [
    LabelledQuestion(
        f"What does the {word} of department {number} say about item {7 * number % 100}?", (), is_ambiguous
    )
    for number in range(150)
    for word, is_ambiguous in (("board", True), ("manual", False))
]
SAID = ("Is there a rule?", "Yes, there is one.")


def looked_at(questions: Sequence[LabelledQuestion]) -> Looked:
    return asyncio.run(look(SHIPPED, FakeEmbedder(dimensions=384), questions))


@pytest.fixture(scope="module")
def looked() -> Looked:
    return looked_at(QUESTIONS)


@pytest.fixture(scope="module")
def trained(looked: Looked) -> TrainedVersion:
    return train(looked, SHIPPED)


def test_what_a_log_says_is_learned(looked: Looked, trained: TrainedVersion) -> None:
    before, after = (judge(looked, by)[1][looked.is_held] == looked.labels[looked.is_held] for by in (None, trained))

    assert np.mean(before) < 0.7
    assert np.mean(after) > 0.95
    assert (trained.judges_questions, trained.judges_conversations) == (True, False)
    assert 0.2 < trained.threshold < 0.8


def test_the_same_log_gives_the_same_version(trained: TrainedVersion) -> None:
    assert train(looked_at(QUESTIONS), SHIPPED) == trained


def test_labels_that_are_kept_aside_change_nothing(looked: Looked, trained: TrainedVersion) -> None:
    assert 0.2 < np.mean(looked.is_held) < 0.4
    other = replace(looked, labels=looked.labels ^ looked.is_held)
    assert train(other, SHIPPED) == trained
    assert train(replace(looked, labels=~looked.labels), SHIPPED) != trained


def test_a_question_is_on_one_side_whatever_was_said_before_it(looked: Looked) -> None:
    spoken = looked_at([replace(one, question=one.question.upper(), history=SAID) for one in QUESTIONS])

    assert spoken.is_held.tolist() == looked.is_held.tolist()
    assert spoken.folds.tolist() == looked.folds.tolist()


async def test_the_worker_judges_as_was_measured(looked: Looked, trained: TrainedVersion) -> None:
    asked = [(one.question, one.history) for one in QUESTIONS[:20]]
    vectors = await FakeEmbedder(dimensions=384).encode([text for one in asked for text in SHIPPED.inputs(*one)])

    judged = [one.probability for one in SHIPPED.corrected(replace(trained, version=1)).judge(asked, vectors)]

    assert judged == pytest.approx(judge(looked, trained)[0][:20], abs=1e-5)


def test_it_is_better_only_beyond_chance(looked: Looked, trained: TrainedVersion) -> None:
    better, same = compare(looked, None, trained), compare(looked, trained, trained)

    assert better.is_better
    assert (better.questions, better.ambiguous) == (looked.is_held.sum(), (looked.labels & looked.is_held).sum())
    assert better.before["f1"][0] < better.trained["f1"][1], "and by a large margin"
    assert not same.is_better
    assert same.difference["auc"] == (0, 0, 0)


def test_a_version_in_use_is_what_it_has_to_beat(looked: Looked, trained: TrainedVersion) -> None:
    first, second = learn(looked, SHIPPED, None), learn(looked, SHIPPED, trained)

    assert first.in_use is None
    assert first.is_to_be_used
    assert second.in_use is not None
    assert second.shipped == first.shipped
    assert not second.is_to_be_used
    assert learn(looked, SHIPPED, replace(trained, shipped_version="an earlier one")).in_use is None
    assert learn(looked, SHIPPED, replace(trained, weights=trained.weights[1:])).in_use is None


@pytest.mark.parametrize(
    "choose",
    [
        lambda questions: questions[: 2 * LEAST_OF_EACH - 2],
        lambda questions: [one for one in questions if one.is_ambiguous],
        lambda questions: [],
        lambda questions: [
            replace(one, history=SAID if place % 2 else ()) for place, one in enumerate(questions[: 3 * LEAST_OF_EACH])
        ],
    ],
    ids=["few", "one-sided", "none", "few of each kind"],
)
def test_too_few_are_refused(choose: Callable[[Sequence[LabelledQuestion]], Sequence[LabelledQuestion]]) -> None:
    with pytest.raises(InputError) as refused:
        trainable(choose(QUESTIONS))

    assert str(LEAST_OF_EACH) in str(refused.value.hint)


def test_a_kind_of_which_there_are_too_few_is_left_to_the_classifier_that_ships() -> None:
    spoken = [replace(one, history=SAID) for one in QUESTIONS]

    assert trainable([*QUESTIONS, *spoken[:90]]) == QUESTIONS
    version = train(looked_at(trainable(spoken)), SHIPPED)
    assert (version.judges_questions, version.judges_conversations) == (False, True)
