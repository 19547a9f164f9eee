"""The router in front of clarify: the route of a question."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from pgclarify.data.dialogue import Detection
from pgclarify.data.documents import Passage
from pgclarify.data.investigation import Evidence, Finding
from pgclarify.data.runs import Run
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import RunStatus
from pgclarify.errors import EndpointUnavailable
from pgclarify.operations.execution import execute
from tests.fakes import (
    FakeClassifier,
    FakeDialogueStore,
    FakeEmbedder,
    FakeExplorationStore,
    FakeStore,
    RunRecord,
    scripts,
)
from tests.fakes.context import context_of
from tests.fakes.scripts import Told as Line

QUESTION = "How long must a driver have held a license?"
OFFICE = "Rental offices are often near an airport."
DRIVERS = "Every driver of a rental car must have held a license for two years."
COVERED = "Rental cars are covered up to 30 dollars a day."
CONTENTS = (OFFICE, DRIVERS, COVERED)
PROVEN = Finding("two years", (Evidence(2, DRIVERS),))
LICENSE = Reading("How long must the driver of a rental car have held a license?", "two years", DRIVERS)
COVERAGE = Reading("How much is covered for a rental car?", "30 dollars a day", COVERED)


def passages(contents: Sequence[str] = CONTENTS) -> list[Passage]:
    return [Passage(f"document-{n}", n, content, start_char=10 * n) for n, content in enumerate(contents, start=1)]


@dataclass
class Desk:
    """Asks one question, and has the results."""

    question: str = QUESTION
    is_ambiguous: bool = False
    contents: Sequence[str] = CONTENTS
    verdicts: dict[str, Reading | None] = field(default_factory=lambda: {DRIVERS: LICENSE, COVERED: COVERAGE})
    relaxation: str | None = "driver license"
    answer: Line | list[Line] = PROVEN
    has_model: bool = True
    settings: dict[str, object] = field(default_factory=dict)
    gone: Sequence[int] = ()

    def __post_init__(self) -> None:
        found = passages(self.contents)
        self.store = FakeStore(found)
        self.exploration = FakeExplorationStore(self.store, found, gone=self.gone)
        self.dialogue = FakeDialogueStore(self.store)
        self.verifier = scripts.verifier(dict(self.verdicts), relaxation=self.relaxation)
        self.investigator = scripts.investigator(answers={QUESTION: self.answer})
        self.classifier = FakeClassifier({QUESTION: 0.9 if self.is_ambiguous else 0.2})
        self.embedder = FakeEmbedder()

    async def ask(self) -> RunRecord:
        run = self.store.add_run(self.question, settings={"ask_back": "when_vague", **self.settings})
        await self.carry_out(run)
        return self.store.runs[run.run_id]

    async def carry_out(self, run: Run) -> None:
        context = context_of(
            run,
            self.store,
            self.verifier,
            chat=self.investigator if self.has_model else None,
            passages=self.exploration,
            dialogue=self.dialogue,
            embedder=self.embedder,
            classifier=self.classifier,
        )
        await execute(context)

    @property
    def route(self) -> str:
        return self.dialogue.routes[1]


def notes(record: RunRecord) -> dict[str, str | None]:
    return {stage.name: stage.note for stage in record.stages}


async def test_a_clear_question_is_answered_in_one_pass() -> None:
    desk = Desk()
    record = await desk.ask()
    assert (record.status, record.error) == (RunStatus.SUCCEEDED, None)
    (found,) = record.interpretations
    assert (found.interpretation, found.answer, found.support) == (QUESTION, "two years", 1)
    (citation,) = found.citations
    assert (citation.candidate_rank, citation.is_medoid, citation.quote) == (2, True, DRIVERS)
    assert (citation.start_char, citation.end_char) == (20, 20 + len(DRIVERS))
    # One call, which reads several passages. No call relaxed the question or judged a passage.
    assert [call.purpose for call in desk.investigator.calls] == ["joint_verdicts"]
    assert desk.verifier.calls == []
    assert record.query == QUESTION
    assert desk.route == "answered"
    assert [stage.name for stage in record.stages] == ["detection", "retrieval", "answering", "consolidation"]
    # The answer itself is only in rows that are hidden from roles that may not read its document.
    assert notes(record)["answering"] == "answered"
    assert record.stop_reason is not None


async def test_an_ambiguous_question_is_clarified() -> None:
    desk = Desk(is_ambiguous=True)
    record = await desk.ask()
    assert {found.answer for found in record.interpretations} == {"two years", "30 dollars a day"}
    assert desk.investigator.calls == []
    assert record.query == QUESTION
    assert desk.route == "clarified"
    assert desk.store.runs[1].results_of(Detection)[0].kind == "pragmatic"
    assert notes(record)["detection"] == "ambiguous (pragmatic), probability 0.90: it is 0.9 ambiguous"


async def test_a_question_in_another_language_is_clarified_since_nobody_knows_whether_it_is_clear() -> None:
    desk = Desk(question="Wie lange muss man den Führerschein haben?")
    record = await desk.ask()
    assert {found.answer for found in record.interpretations} == {"two years", "30 dollars a day"}
    assert desk.route == "clarified"
    assert desk.store.runs[1].results_of(Detection)[0].probability is None


@pytest.mark.parametrize(
    ("answer", "calls", "why"),
    [
        (None, 1, "no passage answers it"),
        # A reply that proves nothing is not asked for again.
        (Finding("a fortnight", (Evidence(2, DRIVERS),)), 1, "no passage proves what it read"),
        (Finding("two years", (Evidence(1, "Ask at the desk."),)), 1, "no passage proves what it read"),
        (["what?", "what?"], 2, "the model's reply does not fit its form"),
        (EndpointUnavailable("nobody is there"), 1, "nobody is there"),
    ],
)
async def test_without_a_proof_it_is_clarified(answer: Line | list[Line], calls: int, why: str) -> None:
    desk = Desk(answer=answer)
    record = await desk.ask()
    assert len(desk.investigator.calls) == calls
    assert record.status is RunStatus.SUCCEEDED
    assert {found.answer for found in record.interpretations} == {"two years", "30 dollars a day"}
    assert sorted(record.verdicts) == [1, 2, 3]
    assert desk.route == "clarified"
    assert (notes(record)["answering"] or "").startswith(f"one pass found no proof: {why}")
    assert record.stop_reason is None


async def test_an_answer_that_cannot_be_embedded_proves_nothing() -> None:
    desk = Desk()
    # The question can be embedded; its answer cannot.
    desk.embedder = FakeEmbedder(fails_on="two years")
    record = await desk.ask()
    assert (record.status, desk.route) == (RunStatus.PARTIAL, "clarified")
    assert {found.answer for found in record.interpretations} == {"30 dollars a day"}
    assert str(notes(record)["answering"]).startswith("one pass found no proof: a text cannot be embedded")


async def test_a_second_reply_may_prove_it() -> None:
    desk = Desk(answer=["what?", PROVEN])
    record = await desk.ask()
    assert [found.answer for found in record.interpretations] == ["two years"]
    assert (desk.route, len(desk.investigator.calls)) == ("answered", 2)


def replied(*readings: tuple[str, str, int, str]) -> str:
    """A joint reply, of readings with their answers, and the number and quote of the passage that proves each."""
    return json.dumps(
        {
            "readings": [
                {"interpretation": reading, "answer": answer, "proofs": [{"passage": number, "quote": quote}]}
                for reading, answer, number, quote in readings
            ]
        }
    )


UNPROVEN = ("How long must the driver of a truck have held a license?", "three years", 2, DRIVERS)
OF_COVERAGE = (COVERAGE.interpretation, COVERAGE.answer, 3, COVERED)
OF_LICENSE = (LICENSE.interpretation, LICENSE.answer, 2, DRIVERS)
# The quote has no word of the reading.
SURCHARGE = "For visitors, the desk asks 20 dollars."
DOUBTED = ("How much is the airport fee of a rental car?", "20 dollars", 4, SURCHARGE)


@pytest.mark.parametrize(
    ("readings", "answer"),
    [
        ([OF_COVERAGE, OF_LICENSE], "30 dollars a day"),
        ([UNPROVEN, OF_LICENSE], "two years"),
        ([DOUBTED, OF_LICENSE], "two years"),
    ],
)
async def test_the_first_reading_that_a_passage_proves_is_the_answer(
    readings: list[tuple[str, str, int, str]], answer: str
) -> None:
    desk = Desk(contents=(*CONTENTS, SURCHARGE), answer=replied(*readings))
    record = await desk.ask()
    assert [found.answer for found in record.interpretations] == [answer]
    assert desk.route == "answered"


async def test_the_best_passage_that_proves_it_is_cited() -> None:
    proofs = [{"passage": number, "quote": DRIVERS} for number in (3, 2)]
    reply = {"readings": [{"interpretation": QUESTION, "answer": "two years", "proofs": proofs}]}
    desk = Desk(contents=(OFFICE, DRIVERS, f"{DRIVERS} {COVERED}"), answer=json.dumps(reply))
    record = await desk.ask()
    assert [citation.candidate_rank for citation in record.interpretations[0].citations] == [2]


@pytest.mark.parametrize(("per_call", "calls"), [(1, 3), (2, 2), (3, 0)])
async def test_what_the_single_pass_says_of_each_passage_is_not_paid_for_again(per_call: int, calls: int) -> None:
    # Nothing is kept of a call with more passages than a call of the run may have.
    desk = Desk(answer=replied(UNPROVEN), settings={"passages_per_call": per_call})
    record = await desk.ask()
    assert (desk.route, sorted(record.verdicts)) == ("clarified", [1, 2, 3])
    assert len(desk.verifier.calls) == calls


async def test_a_passage_that_is_gone_proves_nothing() -> None:
    desk = Desk(gone=[2])
    record = await desk.ask()
    assert desk.route == "clarified"
    assert "gone" in str(notes(record)["answering"])
    assert {found.answer for found in record.interpretations} == {"30 dollars a day"}


async def test_another_passage_that_is_gone_leaves_its_rank_free() -> None:
    desk = Desk(gone=[1])
    record = await desk.ask()
    assert desk.route == "answered"
    assert [candidate.rank for candidate in record.candidates] == [2, 3]


async def test_a_single_pass_reads_no_more_than_fits() -> None:
    long = "Offices are open. " * 700
    desk = Desk(contents=(OFFICE, DRIVERS, long, COVERED))
    record = await desk.ask()
    (asked,) = desk.investigator.asked("joint_verdicts")
    assert asked.passages == [OFFICE, DRIVERS, long][: len(asked.passages)]
    assert COVERED not in asked.passages or sum(map(len, asked.passages)) <= 12_000
    assert len(record.candidates) == 4


class TestGuided:
    SETTINGS = {"retrieval": "adaptive", "max_passages": 20}  # noqa: RUF012 - never changed

    async def test_a_clear_question_is_answered_in_one_pass(self) -> None:
        contents = (OFFICE, DRIVERS, COVERED, *(f"Office {n} is open on Sundays." for n in range(9)))
        desk = Desk(contents=contents, settings=self.SETTINGS)
        record = await desk.ask()
        assert [found.answer for found in record.interpretations] == ["two years"]
        assert desk.route == "answered"

    @pytest.mark.parametrize(("is_ambiguous", "answer"), [(True, PROVEN), (False, None)])
    async def test_all_others_are_explored(self, is_ambiguous: bool, answer: Finding | None) -> None:
        desk = Desk(is_ambiguous=is_ambiguous, answer=answer, settings=self.SETTINGS)
        record = await desk.ask()
        assert {found.answer for found in record.interpretations} == {"two years", "30 dollars a day"}
        assert record.stop_reason == "no passage was left"
        assert desk.route == "clarified"


class TestReranked:
    async def test_passages_are_read_in_the_order_of_the_reranker(self) -> None:
        desk = Desk(settings={"reranker": "signal", "top_k": 2})
        desk.exploration = FakeExplorationStore(desk.store, passages(), signals={1: 0.1, 2: 0.9, 3: 0.8})
        desk.investigator = scripts.investigator(answers={QUESTION: Finding("two years", (Evidence(1, DRIVERS),))})
        await desk.ask()
        (asked,) = desk.investigator.asked("joint_verdicts")
        assert asked.passages == [DRIVERS, COVERED]
        assert desk.route == "answered"


async def test_without_a_language_model_all_questions_are_clarified() -> None:
    desk = Desk(has_model=False, relaxation=None)
    record = await desk.ask()
    assert {found.answer for found in record.interpretations} == {"two years", "30 dollars a day"}
    assert (desk.route, record.results) == ("clarified", [])


async def test_without_the_option_there_is_no_gate() -> None:
    desk = Desk(settings={"ask_back": None})
    await desk.ask()
    assert desk.dialogue.routes == {}
    assert desk.store.runs[1].results == []


async def test_where_nothing_is_found_it_is_clarified() -> None:
    desk = Desk(contents=())
    record = await desk.ask()
    assert (record.status, record.interpretations) == (RunStatus.SUCCEEDED, [])
    assert desk.investigator.calls == []
    assert desk.route == "clarified"
