"""Answers of a language model that the trained reader must confirm."""

from __future__ import annotations

import pytest

from pgclarify.data.documents import Passage
from pgclarify.data.runs import Tally
from pgclarify.data.verdicts import AnswerSpan, Refusal
from pgclarify.data.vocabulary import Outcome
from pgclarify.errors import EmbeddingError, PgclarifyError
from pgclarify.operations.execution import execute
from pgclarify.operations.judging.confirmation import ReaderConfirmation
from pgclarify.prompts.confirmation import GivenAnswer
from tests.fakes import FakeStore, RunRecord, scripts
from tests.fakes.context import context_of
from tests.unit.operations.rental_cars import COVERAGE, LICENSE, corpus, script

MUSEUM = "The museum opens at 9 am, and the dogs of visitors are welcome."


class FakeReader:
    """Finds no answer to some questions, and fails on others. Implements SpanReader."""

    def __init__(self, *, denied: str = "", fails_on: str | None = None) -> None:
        self.read_texts: list[tuple[str, str, str]] = []
        self._denied = denied
        self._fails_on = fails_on

    async def read(self, question: str, title: str, passage: str) -> AnswerSpan | None:
        self.read_texts.append((question, title, passage))
        if question == self._fails_on:
            raise EmbeddingError("the reader is away")
        return AnswerSpan(0, 1, -2.0 if question == self._denied else -1.9, 0.0)


async def carry_out(reader: FakeReader, settings: dict[str, object] | None = None) -> RunRecord:
    store = FakeStore(corpus())
    run = store.add_run("rental cars", settings=settings or {"verify": "reader"})
    asked = scripts.verifier(dict(script()), confirmation=lambda _: True)
    await execute(context_of(run, store, asked, reader=reader))
    return store.runs[run.run_id]


async def test_an_answer_that_the_reader_does_not_find_is_left_out_with_a_code() -> None:
    record = await carry_out(FakeReader(denied=LICENSE.interpretation))
    assert [found.answer for found in record.interpretations] == [COVERAGE.answer]
    refused = record.verdicts[1]
    assert (refused.outcome, refused.abstention_code) == (Outcome.ABSTAINED, Refusal.NOT_CONFIRMED)
    assert refused.reason
    assert (refused.interpretation, refused.quote, refused.vector) == (None, None, None)


async def test_a_reader_that_fails_makes_the_verdict_fail() -> None:
    record = await carry_out(FakeReader(fails_on=LICENSE.interpretation))
    assert (record.verdicts[1].outcome, record.verdicts[1].error_code) == (Outcome.FAILED, EmbeddingError.sqlstate)
    assert [found.answer for found in record.interpretations] == [COVERAGE.answer]


async def is_confirmed(reader: FakeReader, question: str, given: GivenAnswer) -> bool | PgclarifyError:
    (judged,) = await ReaderConfirmation(question, reader).ask([given], tally=Tally())
    return judged


async def test_the_question_is_read_if_the_reading_is_a_statement() -> None:
    reader = FakeReader(denied="opening hours")
    passage = Passage("d", 1, MUSEUM, title="Lindvik", heading="Museum > Hours")
    given = GivenAnswer(passage, "The museum's hours", "9 am")
    assert await is_confirmed(reader, "opening hours", given) is False
    assert reader.read_texts == [("opening hours", "Lindvik > Museum > Hours", MUSEUM)]


@pytest.mark.parametrize(
    ("reading", "content"),
    [
        ("Wann öffnet das Museum?", MUSEUM),
        ("When does the museum open?", "Das Museum öffnet um 9 Uhr, und die Hunde der Besucher sind willkommen."),
    ],
)
async def test_the_reader_is_asked_in_english_only(reading: str, content: str) -> None:
    reader = FakeReader(denied=reading)
    assert await is_confirmed(reader, reading, GivenAnswer(Passage("d", 1, content), reading, "9")) is True
    assert reader.read_texts == []
