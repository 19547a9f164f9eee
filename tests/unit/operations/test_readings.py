"""The number of readings of a question that a corpus supports, without a model call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pgclarify.data.dialogue import DetectionReason
from pgclarify.data.documents import Passage
from pgclarify.errors import CompletionError, InvalidReply
from pgclarify.operations.ambiguity.readings import Readings, count_readings
from tests.fakes import FakeEmbedder, FakeExplorationStore, FakeStore, scripts
from tests.fakes.completer import ScriptedCompleter
from tests.fakes.context import context_of
from tests.unit.operations.rental_cars import ALSO_COVERED, ASIDE, COVERAGE, COVERED, DRIVERS, LICENSE

QUESTION = "rental cars"


class Counter:
    """A corpus, and the judge of its passages."""

    def __init__(self, contents: Sequence[str], verifier: ScriptedCompleter) -> None:
        self.store = FakeStore()
        self.verifier = verifier
        self.exploration = FakeExplorationStore(
            self.store, [Passage(f"document-{n}", n, content) for n, content in enumerate(contents, start=1)]
        )
        self.run = self.store.add_run(QUESTION, operation="detect_ambiguity")

    async def count(self, *, embedder: FakeEmbedder | None = None) -> Readings:
        run = replace(self.run, settings={"top_k": 8})
        context = context_of(run, self.store, self.verifier, passages=self.exploration, embedder=embedder)
        return await count_readings(context)


def verifier() -> ScriptedCompleter:
    return scripts.verifier({COVERED: COVERAGE, ALSO_COVERED: COVERAGE, DRIVERS: LICENSE})


async def test_readings_that_mean_the_same_are_counted_once() -> None:
    counter = Counter([DRIVERS, COVERED, ASIDE, ALSO_COVERED], verifier())
    readings = await counter.count()
    assert readings.count == 2
    # The reading with most support comes first.
    assert readings.interpretations == (COVERAGE.interpretation, LICENSE.interpretation)
    assert readings.answers == (COVERAGE.answer, LICENSE.answer)


async def test_nothing_is_recorded_or_paid_for() -> None:
    counter = Counter([DRIVERS, COVERED], verifier())
    await counter.count()
    record = counter.store.runs[counter.run.run_id]
    assert (record.candidates, record.verdicts) == ([], {})
    assert counter.store.table.rows == {}
    assert counter.exploration.searches == [(QUESTION, "hybrid", 8, None)]


async def test_a_passage_that_cannot_be_judged_is_counted() -> None:
    counter = Counter([DRIVERS, COVERED], scripts.verifier({DRIVERS: InvalidReply("no"), COVERED: COVERAGE}))
    readings = await counter.count()
    assert (readings.interpretations, readings.judged, readings.failed) == ((COVERAGE.interpretation,), 2, 1)
    # A reading that cannot be embedded counts as a passage that could not be judged.
    readings = await Counter([DRIVERS, COVERED], verifier()).count(embedder=FakeEmbedder(fails_on="license"))
    assert (readings.interpretations, readings.failed) == ((COVERAGE.interpretation,), 1)


async def test_where_no_passage_can_be_judged_nothing_is_said_of_the_corpus() -> None:
    failing = scripts.verifier({DRIVERS: InvalidReply("no"), COVERED: InvalidReply("no")})
    with pytest.raises(CompletionError):
        await Counter([DRIVERS, COVERED], failing).count()


@pytest.mark.parametrize(
    ("answers", "text"),
    [
        ((), "no answer to it is in the first 8 passages of the corpus"),
        (("1917",), 'the first 8 passages of the corpus support one reading, with the answer "1917"'),
        (("1917", "1983"), 'the first 8 passages of the corpus support 2 readings, with the answers "1917", "1983"'),
        (
            ("a", "b", "c", "d"),
            'the first 8 passages of the corpus support 4 readings, with the answers "a", "b", "c", ...',
        ),
    ],
)
def test_the_reason_says_which_there_are(answers: tuple[str, ...], text: str) -> None:
    assert Readings(("?",) * len(answers), answers, judged=8).reason == DetectionReason("corpus", "readings", text, ())


def test_long_answers_are_cut() -> None:
    assert len(Readings(("?",), ("word " * 1000,)).reason.text) < 200
