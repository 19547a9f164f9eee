from __future__ import annotations

import gzip
import json

import numpy as np
import pgclarify_minilm
import pytest

from pgclarify.embedding.windows import Windows
from training.reader.examples import examples_of
from training.reader.facts import fact_pairs
from training.reader.pairs import Pair, keywords, make_pairs, vaguer
from training.reader.records import record_pairs
from training.reader.squad import evaluated_sequences, read, word_sequences

TOWNS = ("Aldborg", "Brenwick", "Corvale", "Dunmere", "Elstow", "Farholt", "Garsdale", "Hexby")


def article(number: int, town: str) -> dict[str, object]:
    text = (
        f"The town of {town} lies on a river. Its bridge was built by Master {town}son in {1500 + number}. "
        f"It burned once. A fair of {number + 3} days is held each spring."
    )
    asked = (
        (f"Who built the bridge of {town} before the fire?", f"Master {town}son"),
        (f"When was the bridge over the river in {town} built?", f"{1500 + number}"),
        (f"How long is the fair of {town} each spring?", f"{number + 3} days"),
    )
    questions = [
        {"question": question, "answers": [{"text": answer, "answer_start": text.index(answer)}]}
        for question, answer in asked
    ]
    return {"title": f"{town}_%28town%29", "paragraphs": [{"context": text, "qas": questions}]}


ARTICLES = [article(number, town) for number, town in enumerate(TOWNS * 8)]


@pytest.fixture(scope="module")
def made():
    paragraphs, questions, _ = read(ARTICLES, set())
    chance = np.random.default_rng(0)
    vectors = [chance.normal(size=(len(of), 4)).astype(np.float32) for of in (paragraphs, questions)]
    pairs = make_pairs(paragraphs, questions, *vectors)
    assert pairs == make_pairs(paragraphs, questions, *vectors)
    return pairs, questions


def test_an_answer_is_at_its_place(made) -> None:
    pairs = [pair for pair in [*made[0], *fact_pairs(300), *record_pairs(600)] if pair.start is not None]

    assert {pair.kind for pair in pairs} == {"question", "keywords", "vaguer", "fact", "record"}
    for pair in pairs:
        assert pair.answer
        assert pair.passage[pair.start :].startswith(pair.answer)


def test_each_question_has_one_pair_with_an_answer_and_at_most_one_without(made) -> None:
    pairs, questions = made

    assert sum(pair.start is not None for pair in pairs) == len(questions)
    assert sum(pair.start is None for pair in pairs) <= len(questions)


def test_a_passage_without_an_answer_does_not_hold_it(made) -> None:
    kinds = set()
    for with_answer, without in zip(made[0], made[0][1:], strict=False):
        if without.start is None:
            kinds.add(without.kind)
            assert without.answer == ""
            if without.kind not in ("swapped", "opposite"):
                assert without.question == with_answer.question
                assert with_answer.answer.lower() not in without.passage.lower()

    assert kinds == {"swapped", "opposite", "rest", "same article", "similar", "random"}


def test_a_swapped_question_names_what_the_passage_does_not_have(made) -> None:
    swapped = [pair for pair in made[0] if pair.kind == "swapped"]

    assert swapped
    for pair in swapped:
        assert not any(town in pair.question and town in pair.passage for town in TOWNS)


def test_an_opposite_is_asked_for_that_the_passage_does_not_name(made) -> None:
    opposites = [pair for pair in made[0] if pair.kind == "opposite"]

    assert {pair.question.split(" the fire")[0].rsplit(" ", 1)[-1] for pair in opposites} == {"after"}


def test_a_record_without_an_answer_tells_other_facts_or_of_another_thing() -> None:
    pairs = record_pairs(600)

    assert pairs == record_pairs(600)
    for answered, other in zip(pairs[::2], pairs[1::2], strict=True):
        assert answered.question == other.question
        assert other.passage != answered.passage
    assert {pair.kind for pair in pairs} == {"record", "other attribute", "other subject"}
    asked = [pair for pair in pairs if pair.question == "How long is the warranty on the Kombi trailer?"]
    assert {pair.kind for pair in asked} > {"record"}
    for pair in asked:
        is_told = "Kombi trailer" in f"{pair.title} {pair.passage}" and "warranty" in pair.passage
        assert is_told == (pair.kind == "record")


def test_facts_are_the_same_each_time() -> None:
    pairs = fact_pairs(300)

    assert pairs == fact_pairs(300)
    assert sum(pair.start is not None for pair in pairs) == 300


def test_no_other_fact_answers() -> None:
    # Sentences of this form answer this question with any value.
    pairs = [pair for pair in fact_pairs(1000) if pair.question == "How long is the notice period?"]

    assert {pair.kind for pair in pairs} == {"fact", "other facts"}
    for pair in pairs:
        assert pair.passage.count("The notice period is") == (pair.kind == "fact")


def test_forms_of_a_question() -> None:
    assert keywords("Who built the bridge of Corvale?") == "built bridge Corvale"
    assert keywords("Who is she?") is None
    assert vaguer("When was the bridge over the river in Corvale built?") == "When was the bridge over the river?"
    assert vaguer("Who lives in Corvale?") is None


def test_paragraphs_that_are_evaluated_are_left_out(tmp_path) -> None:
    for name in ("squad2.corpus", "ambignq.corpus", "musique.corpus"):
        text = (
            "Its bridge was built by Master Corvaleson in 1502, they say." if name == "ambignq.corpus" else "Too short."
        )
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt") as lines:
            lines.write(json.dumps({"text": text}) + "\n")

    paragraphs, questions, left_out = read(ARTICLES[:8], evaluated_sequences(tmp_path))

    assert left_out == 1
    assert [paragraph.title for paragraph in paragraphs] == [f"{town} (town)" for town in TOWNS if town != "Corvale"]
    assert {question.paragraph for question in questions} == set(range(7))


def test_eight_words_in_a_row() -> None:
    assert word_sequences("One two three, four five six seven: eight!") == {"one two three four five six seven eight"}
    assert word_sequences("one two three four five six seven") == set()


def test_the_answer_that_most_people_gave_counts() -> None:
    text = "The two delegates of each house are elected for four years by all."
    answers = ["The two delegates of each house", "two delegates", "two delegates", "four years"]
    row = {"question": "Who is elected?", "answers": [{"text": a, "answer_start": text.index(a)} for a in answers]}
    misplaced = {"question": "For how long?", "answers": [{"text": "four years", "answer_start": 0}]}

    _, questions, _ = read([{"title": "House", "paragraphs": [{"context": text, "qas": [row, misplaced]}]}], set())

    assert [(question.answer, question.start) for question in questions] == [("two delegates", 4)]


def test_windows_cover_a_long_passage_and_mark_the_answer() -> None:
    windows = Windows(pgclarify_minilm.FOLDER)
    fact = "Records are deleted after 90 days."
    filler = "Nothing of note happened in that year either. " * 60
    for passage in (fact, filler + fact + " " + filler):
        pair = Pair("When are records deleted?", "A title", passage, passage.index("90 days"), "90 days", "fact")

        all_windows = [*windows.of(pair.question, pair.title, passage)]
        places = [place for window in all_windows for place in window.offsets]
        covered = {character for begin, end in places for character in range(begin, end)}
        assert covered >= {place for place, character in enumerate(passage) if not character.isspace()}
        assert all(len(window.tokens) <= 256 for window in all_windows)

        examples = examples_of(windows, pair)
        assert examples
        for example in examples:
            assert example.first is not None
            assert example.last is not None
            begin, _ = example.window.offsets[example.first - example.window.passage_start]
            _, end = example.window.offsets[example.last - example.window.passage_start]
            assert passage[begin:end] == "90 days"
