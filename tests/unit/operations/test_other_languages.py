# ruff: noqa: RUF001 -- full-width forms are what is tested
"""Quotes and proofs in other languages: right ones pass, and answers that no document gives fail."""

from __future__ import annotations

import pytest

from pgclarify.data.candidates import Candidate
from pgclarify.data.documents import Passage
from pgclarify.data.investigation import Evidence, Finding
from pgclarify.data.verdicts import Reading, Refusal
from pgclarify.ledger.calls import Unproven
from pgclarify.operations.judging.answer_proof import Proven, prove
from pgclarify.operations.judging.verdict_check import Quoted, check_quote
from tests.languages import CORPORA, Asked, Corpus

EVERY = [
    pytest.param(corpus, asked, id=f"{corpus.language}-{asked.document}")
    for corpus in CORPORA.values()
    for asked in corpus.questions
]
MUSEUM = "The Lindvik Harbor Museum opens at 9 am, and the dogs of visitors are welcome. It has 1,200 pictures."


def passage(corpus: Corpus, asked: Asked) -> Passage:
    document = corpus.document(asked.document)
    return Passage(document.id, 1, document.content, document.title)


def proven(content: str, asked: str, answer: str, quote: str) -> Proven | None:
    shown = [Candidate(1, Passage("d", 1, content), 0.9, "dense")]
    return prove(Finding(answer, (Evidence(1, quote),)), shown, asked=asked)


@pytest.mark.parametrize(("corpus", "asked"), EVERY)
def test_a_true_quote_passes_and_a_false_one_fails(corpus: Corpus, asked: Asked) -> None:
    source = passage(corpus, asked)
    found = check_quote(Reading(asked.question, asked.answer, asked.quote), asked.question, source)
    assert isinstance(found, Quoted)
    assert found.quote in source.content
    wrong = Reading(asked.question, asked.answer, asked.false_quote)
    assert check_quote(wrong, asked.question, source) is Refusal.UNPROVEN


@pytest.mark.parametrize(("corpus", "asked"), EVERY)
def test_an_answer_is_proven_by_a_true_quote_alone(corpus: Corpus, asked: Asked) -> None:
    source = passage(corpus, asked)
    found = proven(source.content, asked.question, asked.answer, asked.quote)
    assert found is not None
    assert found.answer == asked.answer
    with pytest.raises(Unproven):
        proven(source.content, asked.question, asked.answer, asked.false_quote)


@pytest.mark.parametrize(
    ("content", "asked", "answer"),
    [
        # Numbers with other separators, and numbers in words.
        ("Die Bücherei besitzt rund 41.200 Medien und ist alt.", "Wie viele Medien hat die Bücherei?", "41,200"),
        ("会議室は一時間１，２００円で借りられます。", "料金はいくらですか", "1200円"),
        ("Bücher werden für vier Wochen verliehen.", "Wie lange darf man 2026 Bücher behalten?", "4 Wochen"),
        # Nouns with capitals are not names, and other words ask.
        ("Die Leihfrist beträgt für Bücher vier Wochen.", "Wann endet die Ausleihzeit?", "vier Wochen"),
        # The quote has no word of the question.
        ("Do biblioteki nie wolno wprowadzać psów.", "Czy można wejść z psem?", "nie"),
    ],
)
def test_english_rules_refuse_no_right_answer_in_another_language(content: str, asked: str, answer: str) -> None:
    assert proven(content, asked, answer, content) is not None


@pytest.mark.parametrize(
    ("content", "asked", "answer"),
    [
        (
            "Pendant les réparations, un véhicule est prêté pour sept jours au plus.",
            "Pour combien de jours ?",
            "Seven days",
        ),
        ("本は一人十冊まで、二週間借りられます。", "本は何冊まで借りられますか", "ten books"),
        ("Die Miete beträgt 120 € für vier Stunden.", "Wie hoch ist die Miete?", "240 €"),
    ],
)
def test_an_answer_in_other_words_than_those_of_the_passage_is_refused(content: str, asked: str, answer: str) -> None:
    refused = check_quote(Reading(asked, answer, content), asked, Passage("d", 1, content))
    assert refused is Refusal.ANSWER_NOT_QUOTED


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        # The passage has no number, or another one.
        ("Bücher werden für vier Wochen verliehen und nicht länger.", "5 Wochen"),
        # A separator that does not group three digits must not be dropped.
        ("Der Ausweis kostet für Kinder und Schüler 1,25 Euro.", "125 Euro"),
        # Parts of different numbers are no number.
        ("Für 12 Personen sind es 50 Euro, die nicht erstattet werden.", "12,50 Euro"),
        ("Am 5. Mai zahlt 1 Person in Millionen, und das ist nicht viel.", "1,5 Millionen"),
        ("Der Saal hat 50² Plätze, und es gibt nicht mehr.", "502 Plätze"),
    ],
)
def test_a_number_is_that_of_the_passage_and_whole(content: str, answer: str) -> None:
    with pytest.raises(Unproven):
        proven(content, "Wie viel ist es?", answer, content)


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        ("Die Lesung ist am 14.10.2026 und beginnt um 19.30 Uhr.", "14.10.2026, 19:30 Uhr"),
        ("Die Jahre 1990-1995 sind die, in denen wir nicht da waren.", "1990 bis 1995"),
        ("Der Saal hat 41\u202f200 Plätze und ist nicht klein.", "41.200 Plätze"),
        ("駐車場は三十五台分あり、最初の一時間は無料です。", "35台"),
    ],
)
def test_a_number_may_be_written_otherwise(content: str, answer: str) -> None:
    assert proven(content, "Wie viel ist es?", answer, content) is not None


@pytest.mark.parametrize(
    "others",
    [
        [],
        [Passage("g", 1, "Die Bibliothek hat viele Bücher und ist nicht groß.")],
        [Passage("g", 1, "Die Bibliothek hat 41.200 Bücher und ist nicht groß.")],
    ],
)
@pytest.mark.parametrize("answer", ["500 people", "$500", "500"])
def test_foreign_titles_and_passages_prove_no_number_that_nobody_says(answer: str, others: list[Passage]) -> None:
    content = "The film drew many people in the first week, and the critics liked it."
    passages = [Passage("d", 1, content, "Op zoek naar Mary Poppins"), *others]
    shown = [Candidate(rank, one, 0.9, "dense") for rank, one in enumerate(passages, start=1)]
    evidence = tuple(Evidence(one.rank, one.passage.content) for one in shown)
    with pytest.raises(Unproven):
        prove(Finding(answer, evidence), shown, asked="How many people saw the film?")


def test_an_english_passage_proves_what_it_says_beside_a_foreign_one() -> None:
    passages = [
        Passage("d", 1, "The film drew five hundred people in the first week."),
        Passage("g", 1, "Die Bibliothek hat viele Bücher und ist nicht groß."),
    ]
    shown = [Candidate(rank, one, 0.9, "dense") for rank, one in enumerate(passages, start=1)]
    evidence = tuple(Evidence(one.rank, one.passage.content) for one in shown)
    assert prove(Finding("500 people", evidence), shown, asked="How many people saw the film?") is not None


def test_a_question_in_another_language_than_the_passage_is_held_to_the_answer_alone() -> None:
    asked = "Um wie viel Uhr öffnet das Hafenmuseum in Lindvik?"
    quote = "The Lindvik Harbor Museum opens at 9 am"
    assert isinstance(check_quote(Reading(asked, "9 am", quote), asked, Passage("d", 1, MUSEUM)), Quoted)
    refused = check_quote(Reading(asked, "10 am", quote), asked, Passage("d", 1, MUSEUM))
    assert refused is Refusal.ANSWER_NOT_QUOTED
    assert proven(MUSEUM, asked, "9 am", quote) is not None
