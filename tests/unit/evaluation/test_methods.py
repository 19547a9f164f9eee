"""Methods that need no server: what people know."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

import pytest

from pgclarify.client import Ambiguity, Investigation, RewrittenQuestion, RunOutcome, Step
from pgclarify.database.evaluated_runs import RunFacts
from pgclarify.errors import BudgetSpent, EndpointFailed, EndpointUnavailable, InvalidReply, RunFailed, code_of
from pgclarify.evaluated import Case, CorpusDescription, GoldInterpretation, Usage
from pgclarify.evaluation.asking import Asking
from pgclarify.evaluation.human import Human
from pgclarify.evaluation.judging import Judgements
from pgclarify.evaluation.methods import sql_method
from pgclarify.evaluation.retrieving import CorpusSearch
from pgclarify.evaluation.scoring import score
from pgclarify.evaluation.summaries import summarize
from pgclarify.model import Passage
from pgclarify.vocabulary import RunStatus, StepKind, StepOutcome, StopCode

PASSAGE = Passage("d", 1, "Tony Goldwyn was there.")


class Found:
    """A search that finds one passage."""

    async def search(self, question: str, top_k: int) -> list[Passage]:
        assert (question, top_k) == ("q", 3)
        return [PASSAGE]


@pytest.mark.parametrize(
    ("case", "given"),
    [
        (
            Case("1", "q", (GoldInterpretation("a?", ("x", "y")), GoldInterpretation(None, ("z",)))),
            [("a?", "x"), ("q", "z")],
        ),
        (Case("1", "q", (GoldInterpretation("a?", ()),)), [("a?", None)]),
        (Case("1", "q", answer_sets=((("x", "y"), ("z",)), (("w",),))), [("q", "x"), ("q", "z")]),
        (Case("1", "q"), []),
    ],
)
async def test_what_people_know(case: Case, given: list[tuple[str, str | None]]) -> None:
    output = await Human(Found(), top_k=3).answer(case)
    assert [(one.interpretation, one.answer) for one in output.interpretations] == given
    assert all(not one.citations for one in output.interpretations)
    assert output.retrieved == (PASSAGE,)
    assert (output.run_id, output.usage.calls) == (None, 0)


def test_baselines_are_no_operations() -> None:
    with pytest.raises(ValueError, match="rac"):
        sql_method(cast("Asking", None), "rac", {})


NOW = datetime(2026, 3, 1, tzinfo=UTC)
USAGE = Usage(calls=3, prompt_tokens=300)
STOPPED = "the budget of calls is spent"
FAILURE = "the endpoint answered with status 503"


class World:
    """A fake server: its calls fail or return nothing, and its run 17 has the given status."""

    def __init__(self, status: RunStatus, error: RunFailed | None = None) -> None:
        self.status = status
        self.error = error
        self.error_code = None if error is None else "PC014"
        self.stop_code: str | None = None
        self.usage = USAGE
        self.corpus = CorpusDescription(1, "docs", 3, "m")
        self.opened_at = NOW
        self.client = self.tables = self.runs = self
        self.found: dict[int | None, list[Passage]] = {None: [PASSAGE]}
        self.steps: tuple[Step, ...] = ()
        self.sought: list[tuple[Any, ...]] = []
        self.options: list[dict[str, Any]] = []

    async def _called(self, *_: Any, **__: Any) -> list[Any]:
        if self.error is not None:
            raise self.error
        return []

    list_answers = search = clarifying_questions = _called

    async def detect_ambiguity(self, question: str, history: Any, **options: Any) -> Ambiguity:
        self.options.append(options)
        await self._called()
        # As a question in another language than English is judged.
        return Ambiguity(17, is_ambiguous=False, probability=None, kind=None, reasons=())

    async def rewrite(self, question: str, history: Any, **options: Any) -> RewrittenQuestion:
        self.options.append(options)
        return RewrittenQuestion(17, question, was_ambiguous=True, reason="the model did not rewrite it")

    async def submit(self, operation: str, *_: Any, **__: Any) -> int:
        self.submitted = operation
        return 17

    async def result(self, run_id: int) -> list[Any]:
        if self.submitted != "investigate":
            return []
        return [Investigation(run_id, self.status, StepOutcome.NOT_IN_CORPUS, None, None, self.steps, (), ())]

    async def verdict_answers(self, run_id: int) -> list[Any]:
        return []

    async def carried_out(self, run_id: int) -> RunOutcome:
        return RunOutcome(run_id, self.status, None, 0, None)

    async def now(self) -> datetime:
        return NOW

    async def find(self, *asked: Any, since: datetime) -> int:
        self.sought.append((*asked, since))
        return 17

    async def rankings(self, run_id: int) -> dict[int | None, list[Passage]]:
        assert run_id == 17
        return self.found

    async def used(self, run_id: int, facts: RunFacts) -> Usage:
        assert (run_id, facts.retrievals) == (17, 3)
        return self.usage

    async def facts(self, run_id: int, time: datetime) -> RunFacts:
        return RunFacts(
            self.status, None, STOPPED, self.stop_code, self.error_code, FAILURE, was_there=False, retrievals=3
        )


@pytest.mark.parametrize("method", ["list_answers", "search", "detect_ambiguity"])
async def test_a_call_that_fails_keeps_what_it_took(method: str) -> None:
    world = World(RunStatus.FAILED, RunFailed("run 17 failed", detail="the endpoint refused the request", run_ids=[17]))
    output = await sql_method(cast("Asking", world), method, {}).answer(Case("1", "q"))
    assert (output.status, output.error) == (RunStatus.FAILED, "the endpoint refused the request")
    assert output.error_code == "PC014"
    assert (output.run_id, output.usage, output.retrieved) == (17, USAGE, (PASSAGE,))
    assert output.retrievals == 3
    assert output.seconds > 0
    world.error = RunFailed("it failed", detail="Somehow.")
    output = await sql_method(cast("Asking", world), method, {}).answer(Case("1", "q"))
    assert (output.error, output.run_id, output.seconds > 0) == ("it failed: Somehow.", None, True)
    assert output.error_code == RunFailed.sqlstate


@pytest.mark.parametrize(("method", "settings"), [("list_answers", {}), ("search", {"reranker": "model"})])
async def test_a_call_may_be_partial(method: str, settings: dict[str, Any]) -> None:
    world = World(RunStatus.PARTIAL)
    output = await sql_method(cast("Asking", world), method, settings).answer(Case("1", "q"))
    assert (output.status, output.run_id, output.usage, output.retrievals) == (RunStatus.PARTIAL, 17, USAGE, 3)
    assert output.notes["stop_reason"] == "the budget of calls is spent"
    assert world.sought[0][-1] == NOW, "earlier runs may have other parameters"


@pytest.mark.parametrize(
    ("code", "status", "questions"),
    [
        (EndpointUnavailable.sqlstate, RunStatus.FAILED, ()),
        (EndpointFailed.sqlstate, RunStatus.FAILED, ()),
        # The model replied, but the reply was unusable: this failure belongs to the case.
        (InvalidReply.sqlstate, RunStatus.PARTIAL, ("q",)),
    ],
)
async def test_a_question_that_stayed_because_of_an_outage_is_no_rewrite(
    code: str, status: RunStatus, questions: tuple[str, ...]
) -> None:
    world = World(RunStatus.PARTIAL)
    world.error_code = code
    world.usage = Usage(calls=int(code == InvalidReply.sqlstate))
    output = await sql_method(cast("Asking", world), "rewrite", {}).answer(Case("1", "q"))
    assert (output.status, output.questions, output.run_id, output.usage) == (status, questions, 17, world.usage)
    if status is RunStatus.FAILED:
        assert output.error_code == code


@pytest.mark.parametrize(
    ("code", "stop_code", "expected"),
    [
        (EndpointUnavailable.sqlstate, None, EndpointUnavailable.sqlstate),
        (None, StopCode.BUDGET, BudgetSpent.sqlstate),
        # The budget lasts, so it ends the evaluation, although another call failed in passing.
        (EndpointFailed.sqlstate, StopCode.BUDGET, BudgetSpent.sqlstate),
        (InvalidReply.sqlstate, StopCode.BUDGET, BudgetSpent.sqlstate),
        (InvalidReply.sqlstate, StopCode.FAILED_CALLS, None),
        (None, StopCode.LIMIT, None),
    ],
)
@pytest.mark.parametrize("method", ["clarify", "investigate", "list_answers", "clarifying_questions", "rewrite"])
async def test_what_a_run_found_before_an_outage_is_no_result(
    method: str, code: str | None, stop_code: StopCode | None, expected: str | None
) -> None:
    world = World(RunStatus.PARTIAL)
    world.error_code, world.stop_code = code, stop_code
    output = await sql_method(cast("Asking", world), method, {}).answer(Case("1", "q"))
    assert output.status is (RunStatus.PARTIAL if expected is None else RunStatus.FAILED)
    assert (output.error_code, output.run_id, output.usage, output.retrievals) == (expected, 17, USAGE, 3)
    assert output.seconds > 0
    if expected is not None:
        assert output.error == (STOPPED if stop_code is StopCode.BUDGET else f"calls failed with {code}: {FAILURE}")


@pytest.mark.parametrize(("calls", "status"), [(3, RunStatus.PARTIAL), (0, RunStatus.FAILED)])
@pytest.mark.parametrize("method", ["clarify", "investigate", "list_answers", "clarifying_questions", "rewrite"])
async def test_a_partial_run_counts_if_some_calls_were_answered(method: str, calls: int, status: RunStatus) -> None:
    world = World(RunStatus.PARTIAL)
    world.error_code, world.usage = EndpointFailed.sqlstate, Usage(calls=calls)
    output = await sql_method(cast("Asking", world), method, {}).answer(Case("1", "q"))
    # The runner asks again because of the code.
    assert (output.status, output.error_code, output.usage) == (status, EndpointFailed.sqlstate, world.usage)


@pytest.mark.parametrize(("run_ids", "expected"), [([17], EndpointUnavailable.sqlstate), ([], RunFailed.sqlstate)])
async def test_a_search_that_fails_has_the_code_of_its_run(run_ids: list[int], expected: str) -> None:
    world = World(RunStatus.FAILED, RunFailed("run 17 failed", run_ids=run_ids))
    world.error_code = EndpointUnavailable.sqlstate
    server = cast("Any", world)
    asking = Asking(server, server, server, server, world.corpus, NOW)
    with pytest.raises(RunFailed) as caught:
        await CorpusSearch(asking).search("q", 3)
    assert code_of(caught.value) == expected


@pytest.mark.parametrize(
    ("method", "settings", "given"),
    [
        ("detect_ambiguity", {"threshold": 0.4}, {"threshold": 0.4, "top_k": 0}),
        ("detect_ambiguity", {"top_k": 5}, {"top_k": 5}),
        ("rewrite", {"threshold": 0.4}, {"threshold": 0.4}),
    ],
)
async def test_the_classifier_of_the_corpus_judges(
    method: str, settings: dict[str, Any], given: dict[str, Any]
) -> None:
    """Passages of the corpus are read only if the configuration says how many."""
    world = World(RunStatus.SUCCEEDED)
    await sql_method(cast("Asking", world), method, settings).answer(Case("1", "q"))
    assert world.options == [{"corpus": "docs", "timeout": None, **given}]


@pytest.mark.parametrize("label", [False, True])
async def test_a_question_that_is_not_in_english_counts_as_clear(label: bool) -> None:
    case = Case("1", "Wie viel kostet das?", is_ambiguous=label)
    world = World(RunStatus.SUCCEEDED)
    output = await sql_method(cast("Asking", world), "detect_ambiguity", {}).answer(case)
    values = score(case, output, Judgements(), method="detect_ambiguity")
    assert (values["predicted"], values["probability"]) == (0, 0)
    assert summarize([values])["accuracy"].value == (not label)


async def test_a_search_that_asks_no_model_has_no_run() -> None:
    world = World(RunStatus.SUCCEEDED)
    output = await sql_method(cast("Asking", world), "search", {}).answer(Case("1", "q"))
    assert (output.run_id, output.usage, world.sought) == (None, Usage(), [])
    assert output.retrievals == 1


async def test_an_investigation_has_the_ranking_of_each_step() -> None:
    first, second, third = (Passage(f"d{number}", number, "") for number in range(1, 4))
    world = World(RunStatus.SUCCEEDED)
    world.found = {1: [first, second], 3: [third, first]}
    kinds = [
        (StepKind.FOLLOW_UP, StepOutcome.ANSWERED),
        (StepKind.FOLLOW_UP, StepOutcome.NOT_IN_CORPUS),
        (StepKind.DIRECT, StepOutcome.ANSWERED),
        (StepKind.FOLLOW_UP, StepOutcome.REPEATED),
        (StepKind.CONCLUSION, StepOutcome.NOT_IN_CORPUS),
    ]
    world.steps = tuple(
        Step(17, ordinal, kind, "q", None, outcome, None, None, None, ())
        for ordinal, (kind, outcome) in enumerate(kinds, start=1)
    )
    output = await sql_method(cast("Asking", world), "investigate", {}).answer(Case("1", "q"))
    assert output.steps == ((first, second), (), (third, first)), "the second step found nothing; two did not search"
    assert output.retrieved == (first, third, second)
