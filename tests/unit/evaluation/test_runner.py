"""How an evaluation is carried out: what is kept when, what ends it, and what it tells on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from pgclarify.database.evaluations import EvaluationTables
from pgclarify.errors import NoWorker, RunFailed
from pgclarify.evaluated import Begun, Case, EvaluationPlan, Output, PredictedInterpretation, Summary, Usage
from pgclarify.evaluation.lexical_judge import LexicalJudge
from pgclarify.evaluation.runner import Finished, Progress, Work, evaluate
from pgclarify.model import RunStatus
from pgclarify.protocols import Method


@dataclass
class Kept:
    """The tables of one evaluation, in memory."""

    cases: dict[int, tuple[Case, Output, Mapping[str, float]]] = field(default_factory=dict)
    summaries: Mapping[str, Summary] | None = None
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

    async def finish(self, eval_run_id: int, summaries: Mapping[str, Summary]) -> None:
        self.summaries = summaries


@dataclass
class Scripted:
    """A method that gives what its script says for a question: an output, an error, or nothing for ever."""

    script: Mapping[str, Output | Exception | None]
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
            return given
        finally:
            self.in_flight -= 1


def found(answer: str, **usage: int) -> Output:
    return Output((PredictedInterpretation("q?", answer),), usage=Usage(**usage))


def failed(error: str) -> Output:
    return Output(status=RunStatus.FAILED, error=error)


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


async def run(
    kept: Kept,
    method: Scripted,
    asked: Sequence[Case],
    *,
    concurrency: int = 1,
    watch: Any = nothing_happens,
    told: list[Progress] | None = None,
) -> Finished:
    work = Work(
        cast("EvaluationTables", kept),
        cast("Method", method),
        LexicalJudge(),
        watch,
        concurrency,
        (told if told is not None else []).append,
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
    ]
    assert (told[-1].total, told[-1].calls, told[-1].paid) == (4, 3, 2)
    assert not kept.is_held


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
    await asyncio.wait_for(method.is_stuck.wait(), 10)
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


async def test_so_many_equal_failures_in_a_row_are_no_property_of_the_cases() -> None:
    kept = Kept()
    gone = {str(number): failed(f"run {number}: the endpoint is gone.") for number in range(4, 21)}
    method = Scripted({"1": failed("run 1: the endpoint is gone."), "3": failed("something else"), **gone})
    with pytest.raises(RunFailed) as caught:
        await run(kept, method, cases(20))
    assert sorted(kept.cases) == [1, 2, 3], "what came before the row"
    assert len(method.asked) == 13
    assert "run 13: the endpoint is gone. " in (caught.value.detail or "")


async def test_a_row_of_different_failures_is_counted() -> None:
    kept = Kept()
    finished = await run(kept, Scripted({str(n): failed(f"it said {'x' * n}") for n in range(1, 21)}), cases(20))
    assert len(kept.cases) == 20
    assert finished.summaries["failed"].value == 1.0


async def test_a_short_row_at_the_end_is_counted() -> None:
    kept = Kept()
    finished = await run(kept, Scripted({str(n): failed("gone") for n in range(1, 10)}), cases(9), concurrency=4)
    assert len(kept.cases) == 9
    assert finished.failures == {"gone": 9}
