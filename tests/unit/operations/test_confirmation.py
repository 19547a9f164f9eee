"""Answers that the language model must confirm, and the results for those that it does not confirm."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import pytest

from pgclarify.data.documents import Passage
from pgclarify.data.verdicts import Reading, Refusal
from pgclarify.data.vocabulary import Outcome, RunStatus
from pgclarify.errors import CompletionError, EndpointUnavailable
from pgclarify.operations.execution import execute
from pgclarify.operations.judging import verdicts
from pgclarify.operations.judging.confirmation import AT_ONCE, given_answer
from pgclarify.operations.judging.verdict_check import Quoted, cite
from pgclarify.prompts.confirmation import confirmation
from tests.fakes import FakeEmbedder, FakeStore, RunRecord, scripts
from tests.fakes.completer import ScriptedCompleter
from tests.fakes.context import context_of
from tests.unit.ledger.buying import eventually
from tests.unit.operations import rental_cars
from tests.unit.operations.fruit import Orchard
from tests.unit.operations.rental_cars import COVERAGE, LICENSE, corpus, passage, script
from tests.unit.operations.test_one_pass import QUESTION, Desk

CONFIRMED = {COVERAGE.answer}
MODEL: dict[str, object] = {"verify": "model"}


def verifier(
    verdicts: Mapping[str, Reading | None] | None = None,
    confirmation: Callable[[str], bool] | str | CompletionError | list[str | CompletionError] = CONFIRMED.__contains__,
    **others: object,
) -> ScriptedCompleter:
    return scripts.verifier(dict(verdicts or script()), confirmation=confirmation, **others)  # type: ignore[arg-type]


async def carry_out(
    verifier: ScriptedCompleter, *, store: FakeStore | None = None, embedder: FakeEmbedder | None = None
) -> RunRecord:
    return await rental_cars.carry_out(corpus(), verifier, store=store, embedder=embedder, settings=MODEL)


def outcomes(record: RunRecord) -> list[Outcome]:
    return [record.verdicts[rank].outcome for rank in sorted(record.verdicts)]


async def test_unconfirmed_answers_are_left_out_with_a_code() -> None:
    asked = verifier()
    record = await carry_out(asked)
    assert (record.status, record.stop_code) == (RunStatus.SUCCEEDED, None)
    assert [found.answer for found in record.interpretations] == [COVERAGE.answer]
    assert outcomes(record) == [Outcome.ABSTAINED, Outcome.GROUNDED, Outcome.ABSTAINED, Outcome.GROUNDED]
    refused = record.verdicts[1]
    assert refused.abstention_code is Refusal.NOT_CONFIRMED
    assert refused.reason
    assert refused.completion_id is not None
    assert (refused.interpretation, refused.quote, refused.vector) == (None, None, None)
    # One call with three answers, by rank. A passage without an answer is not in it.
    (prompt,) = asked.asked("confirmation")
    assert prompt.lines("Answer") == [LICENSE.answer, COVERAGE.answer, COVERAGE.answer]
    assert prompt.passages == [rental_cars.DRIVERS, rental_cars.COVERED, rental_cars.ALSO_COVERED]
    stages = [(stage.name, stage.rows, stage.calls) for stage in record.stages]
    assert stages[-3:] == [("judgement", 4, 4), ("confirmation", 2, 1), ("consolidation", 1, 0)]


@pytest.mark.parametrize("settings", [{}, {"verify": "checks"}, {"verify": "none"}])
async def test_nobody_is_asked_unless_it_is_wanted(settings: dict[str, object]) -> None:
    asked = verifier()
    record = await rental_cars.carry_out(corpus(), asked, settings=settings)
    assert asked.asked("confirmation") == []
    assert len(record.interpretations) == 2


async def test_many_answers_take_few_calls() -> None:
    passages = [passage(f"d{n}", f"The price of car {n} is {n} dollars a day.") for n in range(1, 13)]
    verdicts: dict[str, Reading | None] = {
        one.content: Reading(f"What is the price of car {n}?", f"{n} dollars", one.content)
        for n, one in enumerate(passages, start=1)
    }
    asked = verifier(verdicts, lambda answer: answer != "7 dollars")
    record = await rental_cars.carry_out(passages, asked, settings=MODEL)
    assert [len(prompt.passages) for prompt in asked.asked("confirmation")] == [AT_ONCE, AT_ONCE, 2]
    assert [rank for rank, verdict in record.verdicts.items() if verdict.outcome is Outcome.ABSTAINED] == [7]


async def test_verdicts_land_only_when_they_are_confirmed() -> None:
    gate = asyncio.Event()
    asked = scripts.verifier(
        dict(script()), confirmation=CONFIRMED.__contains__, gate=gate, gated=[rental_cars.DRIVERS]
    )
    store = FakeStore(corpus())
    run = store.add_run("rental cars", settings=MODEL)
    clarifying = asyncio.create_task(rental_cars.clarify_with(store, run, asked))
    await eventually(lambda: len(store.runs[run.run_id].verdicts) == 1)
    # The abstention is recorded. The other verdicts wait for the last reply, and then for the confirmation.
    assert list(store.runs[run.run_id].verdicts) == [3]
    gate.set()
    await clarifying
    assert len(store.runs[run.run_id].verdicts) == 4


@pytest.mark.parametrize(
    ("said", "calls"),
    [
        (EndpointUnavailable("no endpoint"), 1),
        (["prose", '{"confirmed": [true]}'], 2),
        (['{"confirmed": [true, "yes", false]}', "{}"], 2),
    ],
)
async def test_a_call_that_fails_makes_the_run_partial(
    said: CompletionError | list[str | CompletionError], calls: int
) -> None:
    asked = verifier(confirmation=said)
    record = await carry_out(asked)
    assert (record.status, record.error, record.interpretations) == (RunStatus.PARTIAL, None, [])
    assert outcomes(record) == [Outcome.FAILED, Outcome.FAILED, Outcome.ABSTAINED, Outcome.FAILED]
    assert record.verdicts[1].error
    assert record.verdicts[1].completion_id is not None
    assert len(asked.asked("confirmation")) == calls


async def test_if_nothing_else_was_judged_a_call_that_fails_fails_the_run() -> None:
    down = verifier({rental_cars.DRIVERS: LICENSE}, EndpointUnavailable("no endpoint"))
    record = await rental_cars.carry_out([passage("a", rental_cars.DRIVERS)], down, settings=MODEL)
    assert (record.status, record.error) == (RunStatus.FAILED, "no endpoint")


async def test_without_a_language_model_it_is_refused_before_anything_is_asked() -> None:
    store, asked = FakeStore(corpus()), scripts.verifier(dict(script()))
    run = store.add_run("rental cars", settings=MODEL)
    await execute(context_of(run, store, asked, chat=None))
    record = store.runs[run.run_id]
    assert record.status is RunStatus.FAILED
    assert "language model" in (record.error or "")
    assert (asked.calls, record.candidates) == ([], [])


async def test_exploration_confirms_each_batch_and_is_led_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # The passages of the orchard do not contain any fruit, so their quotes are not checked.
    monkeypatch.setattr(
        verdicts, "check_quote", lambda reading, _, passage: cite(reading.quote, reading.answer, passage)
    )
    records = []
    for confirmed in ({"apple", "pear", "plum"}, {"apple"}):
        orchard = Orchard(20, fruit={1: "apple", 9: "pear", 10: "plum"}, verify="model", max_passages=20)
        _confirming(orchard.verifier, confirmed)
        records.append(await orchard.carry_out())
        assert orchard.answers == confirmed
    first, second = records
    assert [(stage.name, stage.batch) for stage in first.stages if stage.name in ("judgement", "confirmation")][:4] == [
        ("judgement", 1),
        ("confirmation", 1),
        ("judgement", 2),
        ("confirmation", 2),
    ]
    # An unconfirmed reading is not a new reading, so the exploration ends after the last batch.
    assert len(second.candidates) < len(first.candidates)


def _confirming(asked: ScriptedCompleter, confirmed: set[str]) -> None:
    asked._scripts["confirmation"] = scripts.verifier(confirmation=confirmed.__contains__)._scripts["confirmation"]


@pytest.mark.parametrize(
    ("said", "route", "why"),
    [
        ('{"confirmed": [true]}', "answered", "answered"),
        ('{"confirmed": [false]}', "clarified", "one pass found no proof"),
        (EndpointUnavailable("away"), "clarified", "one pass found no proof: away"),
    ],
)
async def test_the_answer_of_one_pass_is_confirmed(said: str | CompletionError, route: str, why: str) -> None:
    desk = Desk(settings=MODEL)
    desk.investigator._scripts["confirmation"] = lambda prompt: (
        said if prompt.question == QUESTION else '{"confirmed": [false, false]}'
    )
    record = await desk.ask()
    assert desk.route == route
    (note,) = [stage.note for stage in record.stages if stage.name == "answering"]
    assert (note or "").startswith(why)
    assert len(record.interpretations) == (route == "answered")


def test_a_long_passage_is_cut_around_its_quote() -> None:
    content = "".join(f"Sentence number {n}. " for n in range(1000))
    quote = "Sentence number 700."
    at = content.index(quote)
    long = Passage("d", 1, content, title="t" * 1000, heading=f"{'h' * 1000} > Prices", start_char=50)
    shown = given_answer(long, "what?", "700", Quoted(quote, 50 + at, 50 + at + len(quote))).passage
    assert quote in shown.content
    assert shown.content in content
    prompt = confirmation([given_answer(long, "w" * 5000, "a" * 5000, Quoted(quote, 50, 60))] * AT_ONCE)
    # At most about 7,000 tokens, for all documents together.
    assert sum(len(message.content) for message in prompt.messages) < 32_000
    assert (shown.heading or "").endswith("> Prices")
    short = passage("d", quote, start_char=7)
    assert given_answer(short, "what?", "700", Quoted(quote, 7, 27)).passage == short
