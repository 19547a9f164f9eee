"""How an evaluation is carried out: what is stored when, what ends it, and its progress."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from pgclarify.database.evaluations import EvaluationTables
from pgclarify.errors import NotReady, NoWorker, RunFailed
from pgclarify.evaluated import Begun, Case, EvaluationPlan, Output, PredictedInterpretation, Summary, Usage
from pgclarify.evaluation.lexical_judge import LexicalJudge
from pgclarify.evaluation.runner import Finished, Progress, Work, evaluate
from pgclarify.model import Passage
from pgclarify.protocols import Method
from pgclarify.vocabulary import RunStatus


@dataclass
class Kept:
    """The tables of one evaluation, in memory."""

    cases: dict[int, tuple[Case, Output, Mapping[str, float]]] = field(default_factory=dict)
    summaries: Mapping[str, Summary] | None = None
    strata: Mapping[str, Mapping[str, Summary]] | None = None
    is_held: bool = False

    async def begin(self, plan: EvaluationPlan) -> Begun:
        self.is_held = True
        return Begun(7, frozenset(self.cases), is_resumed=bool(self.cases))

    async def leave(self, eval_run_id: int) -> None:
        self.is_held = False

    async def record(
        self, eval_run_id: int, ordinal: int, case: Case, output: Output, values: Mapping[str, float], _: Any
    ) -> None:
        assert self.is_held
        assert ordinal not in self.cases
        self.cases[ordinal] = case, output, values

    async def values(self, eval_run_id: int) -> list[tuple[int, Mapping[str, float]]]:
        return [(ordinal, values) for ordinal, (_, _, values) in sorted(self.cases.items())]

    async def coverage(self, eval_run_id: int) -> tuple[float, int]:
        known = [values["answer_coverage"] for _, _, values in self.cases.values() if "answer_coverage" in values]
        return sum(known), len(known)

    async def finish(
        self, eval_run_id: int, summaries: Mapping[str, Summary], strata: Mapping[str, Mapping[str, Summary]]
    ) -> None:
        self.summaries, self.strata = summaries, strata


@dataclass
class Scripted:
    """A method with a script for each question: it returns an output, raises an error, or never ends."""

    script: Mapping[str, Output | Exception | list[Output] | None]
    asked: list[str] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    is_stuck: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, case: Case) -> Output:
        self.asked.append(case.case_id)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            given = self.script.get(case.case_id, found("x"))
            if given is None:
                self.is_stuck.set()
            await (asyncio.Event().wait() if given is None else asyncio.sleep(0))
            if isinstance(given, Exception):
                raise given
            assert given is not None
            # The outputs in order; then always the last one.
            return given if isinstance(given, Output) else given.pop(0) if len(given) > 1 else given[0]
        finally:
            self.in_flight -= 1


def found(answer: str, **usage: int) -> Output:
    return Output((PredictedInterpretation("q?", answer),), usage=Usage(**usage))


def failed(error: str, error_code: str = "XX000") -> Output:
    return Output(status=RunStatus.FAILED, error=error, error_code=error_code)


def cases(count: int) -> list[Case]:
    return [Case(str(number), f"q {number}", answer_sets=((("x",),),)) for number in range(1, count + 1)]


def plan(count: int) -> EvaluationPlan:
    texts = dict.fromkeys(
        ("name", "data_set", "corpus_name", "embedding_model", "provider", "model", "prompt_version", "version"), "t"
    )
    return EvaluationPlan(
        **texts,
        data_set_hash=bytes(32),
        corpus_id=1,
        corpus_revision=1,
        method="clarify",
        settings={},
        judge="lexical",
        judge_version="1",
        planned_cases=count,
    )


async def nothing_happens() -> None:
    await asyncio.Event().wait()


async def nothing_found(case: Case) -> list[Passage]:
    return []


async def nothing_changes() -> None:
    pass


async def run(
    kept: Kept,
    method: Scripted,
    asked: Sequence[Case],
    *,
    concurrency: int = 1,
    watch: Any = nothing_happens,
    check: Any = nothing_changes,
    told: list[Progress] | None = None,
    evidence: Callable[[Case], Awaitable[Sequence[Passage]]] = nothing_found,
) -> Finished:
    work = Work(
        cast("EvaluationTables", kept),
        cast("Method", method),
        LexicalJudge(),
        watch,
        concurrency,
        (told if told is not None else []).append,
        check=check,
        evidence=evidence,
    )
    return await evaluate(plan(len(asked)), asked, work)


async def test_every_case_is_kept_and_summed_up() -> None:
    kept, told = Kept(), list[Progress]()
    method = Scripted({"2": found("y", calls=3, reused_calls=1), "3": Output()})
    finished = await run(kept, method, cases(4), told=told)
    assert method.asked == ["1", "2", "3", "4"]
    assert sorted(kept.cases) == [1, 2, 3, 4]
    assert finished.summaries == kept.summaries
    assert finished.summaries["answer_coverage"].value == 0.5
    assert finished.summaries["answer_coverage"].cases == 4
    assert (finished.eval_run_id, finished.resumed_cases, finished.failures) == (7, 0, {})
    assert finished.usage == Usage(calls=3, reused_calls=1)
    assert [(one.done, one.coverage) for one in told] == [
        (0, None),
        (1, 1.0),
        (2, 0.5),
        (3, pytest.approx(1 / 3)),
        (4, 0.5),
        (4, 0.5),
    ]
    assert [one.is_summing_up for one in told] == [*[False] * 5, True]
    assert (told[-1].total, told[-1].calls, told[-1].paid) == (4, 3, 2)
    assert not kept.is_held


async def test_strata_are_summed_up_also_of_what_was_done_before() -> None:
    kept, asked = Kept(), [replace(case, hops=2 + int(case.case_id) % 2) for case in cases(4)]
    missed = {"1": Output(), "3": Output()}
    await run(kept, Scripted(missed), asked[:3])
    finished = await run(kept, Scripted({}), asked)
    assert finished.resumed_cases == 3
    assert finished.strata == kept.strata
    assert {stratum: one["answer_coverage"].value for stratum, one in finished.strata.items()} == {
        "hops=2": 1.0,
        "hops=3": 0.0,
    }


async def test_what_cites_nothing_is_judged_by_the_evidence_of_its_case() -> None:
    searched: list[str] = []

    async def evidence(case: Case) -> Sequence[Passage]:
        searched.append(case.case_id)
        return [Passage("d", 1, "q is x.")] if case.case_id != "3" else []

    kept = Kept()
    asked = [Case(str(number), "q", answer_sets=((("x",),),)) for number in range(1, 5)]
    reading = Output((PredictedInterpretation("Which q is it?", "x"),))
    script = {"1": Output(), "2": reading, "3": reading, "4": failed("no")}
    await run(kept, Scripted(script), asked, evidence=evidence)
    assert searched == ["2", "3"], "without readings to judge, no evidence is searched"
    assert [kept.cases[ordinal][2]["grounded_recall"] for ordinal in range(1, 5)] == [0, 1, 0, 0]


@pytest.mark.parametrize("concurrency", [1, 3, 64])
async def test_no_more_cases_are_in_flight_than_may_be(concurrency: int) -> None:
    method = Scripted({})
    await run(Kept(), method, cases(10), concurrency=concurrency)
    assert method.most_in_flight == min(concurrency, 10)
    assert sorted(method.asked, key=int) == [str(number) for number in range(1, 11)]


async def test_what_is_done_is_not_asked_again() -> None:
    kept = Kept()
    everything = cases(3)
    await run(kept, Scripted({}), everything)
    del kept.cases[2]
    told: list[Progress] = []
    method = Scripted({"2": found("y")})
    finished = await run(kept, method, everything, told=told)
    assert method.asked == ["2"]
    assert finished.resumed_cases == 2
    assert (told[0].done, told[0].coverage) == (2, 1.0)
    assert told[-1].coverage == pytest.approx(2 / 3)
    again = Scripted({})
    assert (await run(kept, again, everything)).resumed_cases == 3
    assert again.asked == []


async def test_cancelled_it_leaves_what_is_done() -> None:
    kept = Kept()
    method = Scripted({"3": None})
    task = asyncio.create_task(run(kept, method, cases(4)))
    await asyncio.wait_for(method.is_stuck.wait(), 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(kept.cases) == [1, 2]
    assert kept.summaries is None
    assert not kept.is_held


async def test_what_ends_all_ends_it() -> None:
    kept = Kept()
    with pytest.raises(NoWorker):
        await run(kept, Scripted({"2": NoWorker("gone")}), cases(3))
    assert sorted(kept.cases) == [1]
    assert not kept.is_held

    async def dies() -> None:
        raise NoWorker("died")

    with pytest.raises(NoWorker, match="died"):
        await run(Kept(), Scripted({"1": None}), cases(1), watch=dies)


async def test_failures_count_as_nothing() -> None:
    kept = Kept()
    method = Scripted({"1": failed("a 1"), "2": RunFailed("b", detail="why"), "3": failed("a 2"), "4": failed("c")})
    finished = await run(kept, method, cases(5))
    assert sorted(kept.cases) == [1, 2, 3, 4, 5]
    assert kept.cases[2][1].error == "b: why"
    assert finished.failures == {"a 1": 1, "b: why": 1, "a 2": 1, "c": 1}
    assert finished.summaries["failed"].value == 0.8
    assert finished.summaries["answer_coverage"].value == pytest.approx(0.2)


FAILED = "run 3: the endpoint failed: http://x answered with status 500: oops"
KEY = "the endpoint refused the key: http://x answered with status 401. (3 of 3 passages)"
INVALID = "the model's reply does not fit its form: It replied: no"
TOO_LONG = "the endpoint refused the request: http://x answered with status 400: the endpoint failed"


@pytest.mark.parametrize(("error", "error_code"), [(INVALID, "PC015"), (TOO_LONG, "PC014"), ("KeyError: 'x'", "XX000")])
@pytest.mark.parametrize("concurrency", [1, 8])
async def test_what_belongs_to_the_cases_is_counted_however_many_they_are(
    error: str, error_code: str, concurrency: int
) -> None:
    kept, told = Kept(), list[Progress]()
    method = Scripted({str(n): failed(error, error_code) for n in range(1, 31)})
    finished = await run(kept, method, cases(30), concurrency=concurrency, told=told)
    assert len(method.asked) == len(kept.cases) == 30
    assert finished.failures == {error: 30}
    assert finished.summaries["failed"].value == 1.0
    assert [one.failed for one in told[:31]] == list(range(31)), "each case is stored at once"


async def test_who_cannot_be_asked_is_no_result() -> None:
    kept = Kept()
    with pytest.raises(RunFailed) as caught:
        await run(kept, Scripted({"3": failed(KEY, "PC013")}), cases(5))
    assert sorted(kept.cases) == [1, 2]
    assert "refused the key" in (caught.value.detail or "")
    finished = await run(kept, Scripted({}), cases(5))
    assert (finished.resumed_cases, finished.summaries["failed"].value) == (2, 0.0)


async def test_where_a_server_failed_it_is_asked_once_more_at_the_end() -> None:
    kept, told = Kept(), list[Progress]()
    method = Scripted({"2": [failed(FAILED, "PC017"), found("x")], "3": failed(FAILED, "PC017")})
    finished = await run(kept, method, cases(4), told=told)
    assert method.asked == ["1", "2", "3", "4", "2", "3"]
    assert kept.cases[2][1].error is None
    assert finished.failures == {FAILED: 1}, "this failure belongs to the case itself"
    assert [one.put_off for one in told] == [0, 0, 1, 2, 2, 0, 0, 0]


@pytest.mark.parametrize("count", [10, 20])
async def test_so_many_failures_of_a_server_in_a_row_are_its_own(count: int) -> None:
    kept = Kept()
    gone = {str(number): failed(f"{FAILED} {number}", "PC017") for number in range(4, 4 + count)}
    method = Scripted({"2": failed(FAILED, "PC017"), **gone})
    with pytest.raises(RunFailed) as caught:
        await run(kept, method, cases(3 + count))
    assert sorted(kept.cases) == [1, 3]
    assert len(method.asked) == 13
    assert "oops 13. " in (caught.value.detail or "")


async def test_a_case_of_which_some_calls_failed_is_asked_once_more_and_then_counts() -> None:
    kept = Kept()
    partly = replace(found("x"), status=RunStatus.PARTIAL, error_code="PC017")
    method = Scripted({str(number): partly for number in range(1, 13)} | {"2": [partly, found("x")]})
    finished = await run(kept, method, cases(12))
    assert len(method.asked) == 24, "so many in a row do not end it: the server answers"
    outputs = [output for _, (_, output, _) in sorted(kept.cases.items())]
    assert [output.status for output in outputs] == [
        RunStatus.SUCCEEDED if place == 2 else RunStatus.PARTIAL for place in range(1, 13)
    ]
    assert all(output.interpretations for output in outputs)
    assert finished.failures == {}


async def test_cut_off_it_tells_of_what_it_put_off() -> None:
    kept, told = Kept(), list[Progress]()
    method = Scripted({"1": failed(FAILED, "PC017"), "3": None})
    task = asyncio.create_task(run(kept, method, cases(4), told=told))
    await asyncio.wait_for(method.is_stuck.wait(), 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(kept.cases) == [2]
    assert (told[-1].done, told[-1].put_off) == (1, 1)


async def test_a_corpus_that_changes_ends_it_before_the_first_case_and_after_the_last() -> None:
    kept, looks = Kept(), [None, NotReady("the corpus has changed")]

    async def look() -> None:
        if (seen := looks.pop(0)) is not None:
            raise seen

    with pytest.raises(NotReady):
        await run(kept, Scripted({}), cases(2), check=look)
    assert (len(kept.cases), kept.summaries, kept.is_held) == (2, None, False)
    looks.append(NotReady("the corpus has changed"))
    method = Scripted({})
    with pytest.raises(NotReady):
        await run(Kept(), method, cases(2), check=look)
    assert method.asked == []
