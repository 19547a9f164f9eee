"""clarify with a history: the question is made to stand alone, and what stands alone is clarified."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence

import pytest

from pgclarify.data.dialogue import Detection, Rewriting
from pgclarify.data.documents import Passage
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import RunStatus, StopCode
from pgclarify.errors import CompletionError, EndpointUnavailable, InvalidReply
from pgclarify.operations.execution import execute
from pgclarify.operations.rewrite import points_back
from tests.fakes import FakeClassifier, FakeDialogueStore, FakeLedgerTable, FakeStore, RunRecord, scripts
from tests.fakes.completer import ScriptedCompleter
from tests.fakes.context import context_of
from tests.unit.ledger.buying import until_in_flight

SAID = "Who painted the Lindvik Altar? It was Ida Holm."
HISTORY = ("Who painted the Lindvik Altar?", "It was Ida Holm.")
ASKED, ALONE = "Where was she born?", "Where was Ida Holm born?"
BORN = "Ida Holm was born in Varden."
READING = Reading(ALONE, "Varden", BORN)
REWRITTEN = json.dumps({"question": ALONE})


def model(rewriting: str | CompletionError = REWRITTEN, relaxation: str | None = None) -> ScriptedCompleter:
    return scripts.verifier({BORN: READING}, rewriting=rewriting, relaxation=relaxation)


def new_store(calls: int | None = None) -> FakeStore:
    """A corpus of one passage; calls: how many the budget allows."""
    return FakeStore([Passage("1", 1, BORN)], table=FakeLedgerTable(max_calls=calls))


async def clarified(
    completer: ScriptedCompleter,
    *,
    question: str = ASKED,
    history: Sequence[str] = HISTORY,
    has_model: bool = True,
    store: FakeStore | None = None,
    settings: Mapping[str, object] | None = None,
) -> RunRecord:
    store = store or new_store()
    run = store.add_run(question, settings={"history": list(history), **(settings or {})})
    context = context_of(
        run,
        store,
        completer,
        chat=completer if has_model else None,
        dialogue=FakeDialogueStore(store),
        classifier=FakeClassifier({ALONE: 0.1}, otherwise=0.9),
    )
    await execute(context)
    return store.runs[run.run_id]


async def test_what_is_searched_and_judged_is_the_rewritten_question() -> None:
    completer = model()
    record = await clarified(completer)

    assert (record.status, record.run.question) == (RunStatus.SUCCEEDED, ASKED)
    assert record.query == record.relaxed_question == ALONE
    assert [prompt.question for prompt in completer.asked("verdict")] == [ALONE]
    assert [one.interpretation for one in record.interpretations] == [ALONE]
    (rewriting,) = record.results_of(Rewriting)
    assert (rewriting.rewritten, rewriting.was_ambiguous) == (ALONE, True)
    assert [(stage.name, stage.note) for stage in record.stages if stage.name == "rewriting"] == [("rewriting", ALONE)]


async def test_the_rewritten_question_is_relaxed_if_that_is_wanted() -> None:
    completer = model(relaxation="birthplace of Ida Holm")
    record = await clarified(completer, settings={"relax": True})

    assert [prompt.question for prompt in completer.asked("relaxation")] == [ALONE]
    assert record.query == record.relaxed_question == "birthplace of Ida Holm"


@pytest.mark.parametrize("retrieval", ["fixed", "adaptive"])
async def test_each_way_to_explore_gets_the_rewritten_question(retrieval: str) -> None:
    completer = model()
    await clarified(completer, settings={"retrieval": retrieval, "max_passages": 20})

    assert [prompt.question for prompt in completer.asked("verdict")] == [ALONE]


async def test_ask_back_detects_what_the_rewritten_question_is() -> None:
    record = await clarified(model(), settings={"ask_back": "when_vague"})

    # Only one detection of a run can be recorded: it is that of the route.
    assert [one.question for one in record.results_of(Detection)] == [ALONE]


async def test_without_a_history_nothing_is_detected_or_rewritten() -> None:
    completer = model()
    record = await clarified(completer, history=())

    assert completer.asked("rewriting") == []
    assert record.results == []
    assert "detection" not in {stage.name for stage in record.stages}
    assert (record.query, record.relaxed_question) == (ASKED, None)


async def test_a_clear_question_costs_no_further_call() -> None:
    completer = model()
    record = await clarified(completer, question=ALONE)

    assert completer.asked("rewriting") == []
    assert (record.query, record.relaxed_question) == (ALONE, None)
    assert record.results_of(Rewriting) == [Rewriting(ALONE, was_ambiguous=False)]


@pytest.mark.parametrize(
    ("reply", "reason", "ended"),
    [
        # It is not reused: another reply may be read.
        ("no object", "the model did not rewrite it", (RunStatus.PARTIAL, InvalidReply.sqlstate)),
        (json.dumps({"question": "Where was Nora Blum born?"}), "refused", (RunStatus.SUCCEEDED, None)),
        (json.dumps({"question": None}), "does not tell", (RunStatus.SUCCEEDED, None)),
    ],
)
async def test_a_question_that_could_not_be_rewritten_is_clarified_as_it_is(
    reply: str, reason: str, ended: tuple[RunStatus, str | None]
) -> None:
    completer = model(reply)
    record = await clarified(completer)

    assert (record.status, record.error_code) == ended
    assert record.query == record.relaxed_question == f"{SAID} {ASKED}"
    assert [prompt.question for prompt in completer.asked("verdict")] == [ASKED]
    (rewriting,) = record.results_of(Rewriting)
    assert rewriting.rewritten == ASKED
    assert rewriting.reason is not None
    assert reason in rewriting.reason


@pytest.mark.parametrize(
    "settings",
    [{}, {"retrieval": "adaptive", "max_passages": 4}, {"retrieval": "adaptive"}, {"ask_back": "when_vague"}],
)
@pytest.mark.parametrize("relaxes", [False, True])
async def test_a_question_that_points_back_is_searched_for_with_what_was_said(
    settings: dict[str, object], *, relaxes: bool
) -> None:
    completer = model(json.dumps({"question": None}), relaxation="")
    record = await clarified(completer, settings={"relax": relaxes, "max_passages": 20, **settings})

    assert record.query == record.relaxed_question == f"{SAID} {ASKED}"
    assert [prompt.question for prompt in completer.asked("verdict")] == [ASKED]
    assert {stage.note for stage in record.stages if stage.name == "retrieval"} == {f"hybrid: {SAID} {ASKED}"}


async def test_a_relaxed_question_that_points_back_is_searched_for_instead() -> None:
    record = await clarified(model(json.dumps({"question": None}), relaxation="birthplace"), settings={"relax": True})

    assert record.query == record.relaxed_question == "birthplace"


async def test_a_model_that_is_away_ends_the_run() -> None:
    record = await clarified(model(EndpointUnavailable("the model is away")))

    assert (record.status, record.error_code) == (RunStatus.FAILED, EndpointUnavailable.sqlstate)
    assert record.query is None


async def test_the_budget_holds_for_rewriting_too() -> None:
    completer = model(relaxation="birthplace")
    record = await clarified(completer, store=new_store(calls=0), settings={"relax": True})

    assert completer.calls == []
    assert (record.status, record.stop_code, record.query) == (RunStatus.PARTIAL, StopCode.BUDGET, f"{SAID} {ASKED}")
    assert record.results_of(Rewriting)[0].rewritten == ASKED


async def test_a_rewriting_that_is_paid_for_is_taken_from_the_ledger() -> None:
    store, again = new_store(), model("another reply")
    await clarified(model(), store=store)
    record = await clarified(again, store=store)

    assert again.calls == []
    assert record.query == ALONE


async def test_a_run_that_is_cancelled_meanwhile_makes_no_further_call() -> None:
    store, gate = new_store(), asyncio.Event()
    completer = scripts.verifier({BORN: READING}, rewriting=REWRITTEN, gate=gate)
    clarifying = asyncio.create_task(clarified(completer, store=store))
    await until_in_flight(completer, 1)
    store.cancel(store.runs[1].run)
    gate.set()
    record = await clarifying

    assert record.status is RunStatus.CANCELLED
    assert [call.purpose for call in completer.calls] == ["rewriting"]


class TestWithoutAModel:
    async def test_a_question_that_points_back_is_searched_with_what_was_said(self) -> None:
        completer = model()
        record = await clarified(completer, has_model=False)

        assert record.query == record.relaxed_question == f"{SAID} {ASKED}"
        assert [prompt.question for prompt in completer.asked("verdict")] == [ASKED]
        assert "no language model" in (record.results_of(Rewriting)[0].reason or "")

    async def test_a_question_that_does_not_is_searched_alone(self) -> None:
        record = await clarified(model(), question="opening hours", has_model=False)

        assert (record.query, record.relaxed_question) == ("opening hours", None)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (ASKED, True),
        ("How much is it?", True),
        ("And in May?", True),
        ("What about the museum?", True),
        (ALONE, False),
        ("opening hours", False),
        ("Does Ida Holm sign her paintings?", False),
    ],
)
def test_whether_a_question_points_back(question: str, *, expected: bool) -> None:
    assert points_back(question) == expected
