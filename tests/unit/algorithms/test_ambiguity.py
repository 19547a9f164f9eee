from __future__ import annotations

import io
from collections.abc import Sequence
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pgclarify.algorithms.ambiguity import AmbiguityClassifier
from pgclarify.algorithms.ambiguity.reasons import Spoken, explain
from pgclarify.algorithms.ambiguity.shipped import WITHIN, unpack
from pgclarify.algorithms.ambiguity.wording import take_apart
from pgclarify.data.dialogue import DetectionReason
from pgclarify.data.vocabulary import AmbiguityKind
from training.classifier_file import pack

CLASSIFIER = AmbiguityClassifier.load()
CONTENT = (files("pgclarify.algorithms.ambiguity") / "classifier.npz").read_bytes()
Asked = Sequence[tuple[str, Sequence[str]]]


def directions(count: int) -> NDArray[np.float32]:
    """Random vectors of unit length."""
    vectors = np.random.default_rng(3).normal(size=(count, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def vectors_of(asked: Asked) -> NDArray[np.float32]:
    return directions(sum(len(CLASSIFIER.inputs(*question)) for question in asked))


def test_a_question_without_history_needs_one_vector_and_with_history_three() -> None:
    assert CLASSIFIER.inputs("Why?", []) == ["Why?"]
    assert CLASSIFIER.inputs("Why?", ["Did he leave?", "Yes"]) == [
        "Why?",
        "Did he leave? Yes",
        "Did he leave? Yes Why?",
    ]


def test_the_last_ten_turns_count() -> None:
    turns = [f"Turn {number}." for number in range(20)]

    assert CLASSIFIER.inputs("Why?", turns) == CLASSIFIER.inputs("Why?", turns[-10:])
    assert CLASSIFIER.inputs("Why?", ["Somebody left.", *[""] * 10]) == ["Why?"]


def test_only_the_question_below_a_text_is_embedded() -> None:
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
    # Both questions get the same vector, so their words decide.
    vague, named = CLASSIFIER.judge(asked, np.repeat(directions(1), 2, axis=0))

    assert vague.probability > named.probability
    assert vague.probability >= CLASSIFIER.threshold
    assert vague.kind is AmbiguityKind.PRAGMATIC
    assert ("feature", "referential_words") in {(reason.source, reason.name) for reason in vague.reasons}
    (said,) = [reason.text for reason in vague.reasons if reason.name == "referential_words"]
    assert '"he"' in said


@pytest.mark.parametrize("question", ["How old is he?", "Who is the director of Titanic?", "rental cars"])
def test_reasons_are_for_the_side_that_the_threshold_decides(question: str) -> None:
    def said(threshold: float | None) -> tuple[DetectionReason, ...]:
        (judged,) = CLASSIFIER.judge([(question, [])], directions(1), threshold=threshold)
        return judged.reasons

    (judged,) = CLASSIFIER.judge([(question, [])], directions(1))
    for_ambiguous, for_clear = said(judged.probability), said(judged.probability + 1e-6)

    assert for_ambiguous
    assert not set(for_ambiguous) & set(for_clear)
    assert judged.reasons == (for_ambiguous if judged.probability >= CLASSIFIER.threshold else for_clear)


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("rental", None),
        ("hello", None),
        ("best", None),
        ("?!", None),
        ("And the fee?", '"and"'),
        ("What is the fee?", '"what"'),
    ],
)
def test_only_of_words_that_were_learned_it_is_said_how_such_questions_are(question: str, begins: str | None) -> None:
    texts = [
        (side, reason.text)
        for threshold, side in ((0, "ambiguous"), (1, "clear"))
        for judged in CLASSIFIER.judge([(question, [])], directions(1), threshold=threshold)
        for reason in judged.reasons
        if reason.name == "form"
    ]

    # What the classifier learned about a word is a reason for one side only, and is given only if that side was chosen.
    assert len(texts) == (begins is not None)
    assert all(text == f"questions that begin with {begins} are often {side}" for side, text in texts)


def test_only_words_with_a_capital_are_called_names() -> None:
    asked: Asked = [
        ("Was the fee paid à la carte in москва?", []),
        ("Was the fee paid in Москва by Élodie?", []),
    ]
    judged = [
        [reason.text for reason in one.reasons]
        for threshold in (0, 1)
        for one in CLASSIFIER.judge(asked, vectors_of(asked), threshold=threshold)
    ]

    assert not [text for texts in judged for text in texts if '"à' in text]
    assert [text for texts in judged for text in texts if '"москва"' in text] == ['it names "москва" and "élodie"']


@pytest.mark.parametrize(
    ("said", "is_ambiguous", "reason"),
    [
        ("The men with élan, à la Élodie", True, 'it says "he", which stands for something said before'),
        ("The men were Jan, à la mode, and Éric", True, 'it says "he", and several names before could be meant: "jan"'),
        ("The man with élan, à la Élodie", False, 'it says "he", and before it only "élodie" is named'),
    ],
)
def test_only_words_with_a_capital_are_said_to_be_who_is_meant(said: str, is_ambiguous: bool, reason: str) -> None:
    spoken = Spoken({"referential": 1.0 if is_ambiguous else -1.0}, 0.0, 0.0)
    (given,) = explain(take_apart("How old is he?", ["Who came?", said]), spoken, is_ambiguous=is_ambiguous)

    assert given.text.startswith(reason)
    assert "à" not in given.text
    assert "élan" not in given.text


@pytest.mark.parametrize(
    ("question", "is_ambiguous", "texts"),
    [
        ("Who won in 1990?", False, ["it gives a number or a year"]),
        ("Who won?", False, []),
        ("Who won?", True, ["it does not say as of when, or by what measure"]),
        ("Who won in 1990?", True, []),
    ],
)
def test_a_time_is_a_reason_only_for_the_side_that_it_speaks_for(
    question: str, texts: list[str], *, is_ambiguous: bool
) -> None:
    spoken = Spoken({"year": 1.0 if is_ambiguous else -1.0}, 0.0, 0.0)
    assert [reason.text for reason in explain(take_apart(question, []), spoken, is_ambiguous=is_ambiguous)] == texts


@pytest.mark.parametrize(("question", "is_named"), [("Who directed Titanic?", True), ("Who directed it?", False)])
def test_only_a_question_without_names_is_said_to_name_nothing(question: str, *, is_named: bool) -> None:
    reasons = explain(take_apart(question, []), Spoken({"names": 1.0}, 0.0, 0.0), is_ambiguous=True)
    assert [reason.name for reason in reasons] == ([] if is_named else ["names"])


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


TEXTS = st.one_of(
    st.text(max_size=60),
    # Also lone surrogates, which cannot be encoded.
    st.text(st.characters(categories=None), max_size=20),
    st.sampled_from(["?", "what else?", "Wann wurde er gebaut?", "متى؟", "x" * 10_000, "a? " * 3_000]),
)


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


def test_features_are_counted_as_when_the_classifier_was_trained() -> None:
    """If this fails after a new training, write the new probabilities. If there was none, it is needed."""
    asked: Asked = [
        ("How much does it cost?", ["Who painted the altar?", "Ida Holm."]),
        ("opening hours", []),
        ("What is the fee for a lost library card?", []),
        ("And in May?", ["Is it open?"]),
    ]
    probabilities = [judgement.probability for judgement in CLASSIFIER.judge(asked, vectors_of(asked))]
    assert probabilities == pytest.approx([0.1801, 0.9092, 0.2346, 0.3331], abs=2e-4)


def test_the_file_was_trained_for_the_features_that_are_counted() -> None:
    with np.load(io.BytesIO(CONTENT)) as archive:
        assert str(archive["names"]).splitlines() == list(WITHIN)


def test_the_file_can_be_packed_again() -> None:
    packed = pack(CLASSIFIER._trained)

    assert packed == pack(unpack(packed))
    asked: Asked = [("How old is he?", []), ("Who is the director of Titanic?", []), ("Why?", ["Did he leave?", "No"])]
    vectors = vectors_of(asked)
    assert AmbiguityClassifier(packed).judge(asked, vectors) == CLASSIFIER.judge(asked, vectors)
