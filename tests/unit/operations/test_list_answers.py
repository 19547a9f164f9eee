"""list_answers: different answers of the passages that were judged, each one once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pgclarify.data.dialogue import ListedAnswer
from pgclarify.data.documents import Passage
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import RunStatus, StopCode
from pgclarify.errors import EndpointUnavailable
from pgclarify.operations.execution import execute
from tests.fakes import FakeLedgerTable, FakeStore, RunRecord, scripts
from tests.fakes.context import context_of

QUESTION = "Who played the queen in Lindvik Castle?"
FILM = "In the film of 2003, Ida Holm played the queen."
SERIES = "In the series of 1988, the queen was played by Ada Berg."
REVIEW = "Ida Holm is a fine queen."
CONTENTS = (SERIES, FILM, REVIEW)
REPLIES = {
    FILM: Reading("Who played the queen in the film?", "Ida Holm", FILM),
    SERIES: Reading("Who played the queen in the series?", "Ada Berg", SERIES),
    REVIEW: Reading("Who is the queen in Lindvik Castle?", "IDA HOLM", REVIEW),
}


async def carry_out(
    replies: Mapping[str, Reading | EndpointUnavailable | None] = REPLIES,
    contents: Sequence[str] = CONTENTS,
    max_answers: int = 10,
    max_calls: int | None = None,
) -> tuple[RunRecord, list[ListedAnswer]]:
    store = FakeStore(
        [Passage(f"d{place}", 1, content, title="Lindvik Castle") for place, content in enumerate(contents, 1)],
        table=FakeLedgerTable(max_calls=max_calls),
    )
    settings = {"method": "dense", "top_k": 20, "max_answers": max_answers}
    run = store.add_run(QUESTION, operation="list_answers", settings=settings)
    await execute(context_of(run, store, scripts.verifier(replies)))
    return store.runs[run.run_id], store.runs[run.run_id].results_of(ListedAnswer)


class TestRun:
    async def test_answers_come_by_the_number_of_their_documents(self) -> None:
        record, answers = await carry_out()
        assert record.status is RunStatus.SUCCEEDED
        assert [(one.ordinal, one.answer, one.variants) for one in answers] == [
            (1, "Ida Holm", ("Ida Holm",)),
            (2, "Ada Berg", ("Ada Berg",)),
        ]
        assert [(one.candidate_rank, one.quote) for one in answers[0].citations] == [(2, FILM), (3, REVIEW)]
        assert len(record.verdicts) == 3
        assert (record.stages[-1].name, record.stages[-1].rows) == ("listing", 2)

    async def test_answers_that_a_check_doubts_come_last(self) -> None:
        # Their quote has no word of the reading.
        unsure = Reading("Which actress was the castle's ghost?", "Eva Dahl", "By contrast, Eva Dahl stayed at home.")
        contents = (unsure.quote, f"{unsure.quote} She was ill.", SERIES, "The castle is old.")
        replies = {contents[0]: unsure, contents[1]: unsure, SERIES: REPLIES[SERIES]}
        _, answers = await carry_out(replies, contents)
        assert [(one.answer, len(one.citations)) for one in answers] == [("Ada Berg", 1), ("Eva Dahl", 2)]

    async def test_only_as_many_answers_as_are_wanted_are_kept(self) -> None:
        record, answers = await carry_out(max_answers=1)
        assert [one.answer for one in answers] == ["Ida Holm"]
        assert (record.status, record.stop_code) == (RunStatus.SUCCEEDED, StopCode.LIMIT)

    async def test_passages_that_could_not_be_judged_leave_the_other_answers(self) -> None:
        gone = EndpointUnavailable("the model does not answer")
        record, answers = await carry_out({**REPLIES, SERIES: gone}, max_answers=1)
        assert record.stop_code is None
        assert (record.status, record.error_code) == (RunStatus.PARTIAL, gone.sqlstate)
        assert [one.answer for one in answers] == ["Ida Holm"]
        record, answers = await carry_out(dict.fromkeys(CONTENTS, gone))
        assert (record.status, answers) == (RunStatus.FAILED, [])

    async def test_answers_before_a_budget_ended_are_kept(self) -> None:
        record, answers = await carry_out(max_calls=1)
        assert (record.status, record.stop_code) == (RunStatus.PARTIAL, StopCode.BUDGET)
        assert [one.answer for one in answers] == ["Ada Berg"]
