from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pgclarify.algorithms.ambiguity import AmbiguityClassifier, AmbiguityKind
from pgclarify.errors import ConfigurationError, DimensionMismatch

CLASSIFIER = AmbiguityClassifier.load()
CONTENT = (files("pgclarify.algorithms.ambiguity") / "classifier.npz").read_bytes()
Asked = Sequence[tuple[str, Sequence[str]]]


def directions(count: int) -> NDArray[np.float32]:
    """Vectors of unit length in directions that mean nothing."""
    vectors = np.random.default_rng(3).normal(size=(count, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def vectors_of(asked: Asked) -> NDArray[np.float32]:
    return directions(sum(len(CLASSIFIER.inputs(*question)) for question in asked))


def test_it_is_loaded_once() -> None:
    assert AmbiguityClassifier.load() is CLASSIFIER


def test_the_file_is_small() -> None:
    assert len(CONTENT) < 1_000_000


def test_another_file_has_another_version() -> None:
    # What follows the archive changes the file, and nothing in it.
    assert AmbiguityClassifier(CONTENT + b"\0").version != CLASSIFIER.version


def test_a_question_without_history_needs_one_vector_and_with_history_three() -> None:
    assert CLASSIFIER.inputs("Why?", []) == ["Why?"]
    assert CLASSIFIER.inputs("Why?", ["Did he leave?", "Yes"]) == [
        "Why?",
        "Did he leave? Yes",
        "Did he leave? Yes Why?",
    ]


def test_a_blank_history_is_none() -> None:
    assert CLASSIFIER.inputs("Why?", ["", " \n"]) == ["Why?"]


def test_the_last_ten_turns_count() -> None:
    turns = [f"Turn {number}." for number in range(20)]

    assert CLASSIFIER.inputs("Why?", turns) == CLASSIFIER.inputs("Why?", turns[-10:])
    assert CLASSIFIER.inputs("Why?", ["Somebody left.", *[""] * 10]) == ["Why?"]


def test_of_a_question_below_a_text_the_question_is_embedded() -> None:
    assert CLASSIFIER.inputs("Ann told Eve that she won.\nWho is the winner?", []) == ["Who is the winner?"]
    assert CLASSIFIER.inputs("Sort these:\nsalt, sand", []) == ["Sort these:\nsalt, sand"]


@pytest.mark.parametrize(
    "turns",
    [["Who won?", "Venus", "Where?", "In Rome"], ["Who won? Venus", "Where? In Rome"]],
    ids=["apart", "together"],
)
def test_a_turn_may_be_a_question_or_a_question_with_its_answer(turns: list[str]) -> None:
    inputs = CLASSIFIER.inputs("When?", turns)
    (judged,) = CLASSIFIER.judge([("When?", turns)], directions(3))
    (apart,) = CLASSIFIER.judge([("When?", ["Who won?", "Venus", "Where?", "In Rome"])], directions(3))

    assert inputs[1] == "Who won? Venus Where? In Rome"
    assert judged.probability == pytest.approx(apart.probability, abs=0.1)


def test_an_open_reference_is_pragmatic_and_a_named_matter_is_not() -> None:
    asked: Asked = [("How old is he?", []), ("Who is the director of Titanic?", [])]
    # The same direction for both: their words decide.
    vague, named = CLASSIFIER.judge(asked, np.repeat(directions(1), 2, axis=0))

    assert vague.probability > named.probability
    assert vague.probability >= CLASSIFIER.threshold
    assert vague.kind is AmbiguityKind.PRAGMATIC
    assert ("feature", "referential_words") in {(reason.source, reason.name) for reason in vague.reasons}
    (said,) = [reason.text for reason in vague.reasons if reason.name == "referential_words"]
    assert '"he"' in said


def test_a_reason_does_not_speak_of_words_that_are_not_there() -> None:
    (judged,) = CLASSIFIER.judge([("rental cars", [])], directions(1))

    assert "referential_words" not in {reason.name for reason in judged.reasons} or judged.probability < 0.5


def test_questions_judged_together_are_judged_as_if_alone() -> None:
    asked: Asked = [
        ("Why?", ["Did he leave?", "Yes"]),
        ("How old is he?", []),
        ("Who is the director of Titanic?", []),
        ("And then?", ["He left."]),
    ]
    vectors = vectors_of(asked)
    together = CLASSIFIER.judge(asked, vectors)

    start = 0
    for question, judged in zip(asked, together, strict=True):
        end = start + len(CLASSIFIER.inputs(*question))
        (alone,) = CLASSIFIER.judge([question], vectors[start:end])
        start = end
        assert alone.probability == pytest.approx(judged.probability, abs=1e-4)
        assert alone.kind is judged.kind


def test_no_questions_have_no_judgements() -> None:
    assert CLASSIFIER.judge([], np.empty((0, 384), dtype=np.float32)) == []


@pytest.mark.parametrize("shape", [(0, 384), (2, 384), (1, 383)])
def test_vectors_of_other_texts_are_refused(shape: tuple[int, int]) -> None:
    with pytest.raises(DimensionMismatch):
        CLASSIFIER.judge([("Why?", [])], np.zeros(shape, dtype=np.float32))


TEXTS = st.one_of(
    st.text(max_size=60),
    # Half characters too, which no encoding has.
    st.text(st.characters(categories=None), max_size=20),
    st.sampled_from(
        [
            "",
            " ",
            "?",
            "what else?",
            "什么时候?",
            "متى؟",
            "Wann wurde er gebaut?",
            "\ud800",
            "x" * 10_000,
            "a? " * 3_000,
        ]
    ),
)


@settings(max_examples=150, deadline=None)
@given(asked=st.lists(st.tuples(TEXTS, st.lists(TEXTS, max_size=12)), max_size=4))
def test_any_text_is_judged(asked: Asked) -> None:
    inputs = [text for question in asked for text in CLASSIFIER.inputs(*question)]
    judged = CLASSIFIER.judge(asked, directions(len(inputs)))

    assert all(text.encode() is not None for text in inputs)
    assert len(judged) == len(asked)
    for judgement in judged:
        assert 0 <= judgement.probability <= 1
        assert judgement.kind in set(AmbiguityKind)
        assert all(len(reason.text) < 300 for reason in judgement.reasons)


def repacked(**changed: NDArray[np.float32] | None) -> bytes:
    """The shipped file with arrays exchanged, or left out."""
    with np.load(io.BytesIO(CONTENT)) as archive:
        arrays = {name: archive[name] for name in archive.files} | changed
    buffer = io.BytesIO()
    np.savez(buffer, **{name: array for name, array in arrays.items() if array is not None})
    return buffer.getvalue()


def with_an_object() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, mean=np.array([{"a": 1}], dtype=object))
    return buffer.getvalue()


def cut_inside() -> bytes:
    """An archive one of whose members is no array."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mean.npy", b"nothing")
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no archive",
        CONTENT[: len(CONTENT) // 2],
        with_an_object(),
        cut_inside(),
        repacked(mean=None),
        repacked(more=np.zeros(1, dtype=np.float32)),
        repacked(alone_bias=np.array([np.nan], dtype=np.float32)),
        repacked(alone_kernel=np.zeros(2, dtype=np.float32)),
        repacked(kinds=np.zeros((3, 7), dtype=np.float32)),
        repacked(deviation=np.zeros(CLASSIFIER._trained.deviation.shape, dtype=np.float32)),
        repacked(names=np.array("length")),
    ],
    ids=[
        "empty", "text", "cut", "pickled", "no array", "missing", "unknown", "not finite", "shape", "kinds",
        "deviation", "features",
    ],
)  # fmt: skip
def test_a_broken_file_is_refused(content: bytes) -> None:
    with pytest.raises(ConfigurationError):
        AmbiguityClassifier(content)


def test_the_file_can_be_packed_again() -> None:
    assert AmbiguityClassifier(repacked()).threshold == CLASSIFIER.threshold
