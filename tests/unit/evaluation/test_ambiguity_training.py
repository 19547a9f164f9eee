"""Training on labelled questions: what is learned, and what is held out."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pgclarify.algorithms.ambiguity import AmbiguityClassifier
from pgclarify.data.dialogue import TrainedVersion
from pgclarify.errors import InputError
from pgclarify.evaluation.ambiguity_training import (
    Examples,
    LabelledQuestion,
    compare,
    is_better,
    judge,
    read_log,
    see,
    train,
    trainable,
)
from tests.fakes import FakeEmbedder

SHIPPED = AmbiguityClassifier.load()
# In these questions "board" has two meanings, which the shipped classifier cannot know.
QUESTIONS = [
    LabelledQuestion(
        f"What does the {word} of department {number} say about item {7 * number % 100}?", (), is_ambiguous
    )
    for number in range(120)
    for word, is_ambiguous in (("board", True), ("manual", False))
]


@pytest.fixture(scope="module")
def examples() -> Examples:
    return asyncio.run(see(SHIPPED, FakeEmbedder(dimensions=384), trainable(QUESTIONS)))


@pytest.fixture(scope="module")
def trained(examples: Examples) -> TrainedVersion:
    return train(examples, SHIPPED)


def test_training_learns_the_labels_of_a_log(examples: Examples, trained: TrainedVersion) -> None:
    before, after = (
        judge(examples, by)[examples.is_held] == examples.labels[examples.is_held] for by in (None, trained)
    )
    assert np.mean(before) < 0.7
    assert np.mean(after) > 0.95
    assert (trained.judges_questions, trained.judges_conversations) == (True, False)
    found = compare(examples, None, trained)
    assert is_better(found)
    assert not is_better(compare(examples, trained, trained))
    assert found["questions"] == examples.is_held.sum()


def test_labels_that_are_held_out_change_nothing(examples: Examples, trained: TrainedVersion) -> None:
    flipped = replace(examples, labels=np.where(examples.is_held, ~examples.labels, examples.labels))
    assert train(flipped, SHIPPED) == trained


def test_too_few_labels_are_refused() -> None:
    with pytest.raises(InputError):
        trainable(QUESTIONS[:20])


def test_a_log_has_each_question_once_with_the_label_of_most_lines(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("question,is_ambiguous\nWhat is it?,yes\nWhat is it?,no\nWhat is it?,ambiguous\nWho?,1\nWho?,0\n")
    assert read_log(path) == [LabelledQuestion("What is it?", (), True)]
    path.write_text("question,is_ambiguous\nWhy?,perhaps\n")
    with pytest.raises(InputError):
        read_log(path)
