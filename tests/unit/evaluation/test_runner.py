"""What an evaluation does when cases fail, the model's server is down, or the corpus or the workers change."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pgclarify.data.vocabulary import RunStatus
from pgclarify.database.evaluations import Corpus, Plan, Serving
from pgclarify.errors import (
    BudgetSpent,
    ConfigurationError,
    EndpointFailed,
    EndpointUnavailable,
    NotReady,
    NoWorker,
    RunFailed,
)
from pgclarify.evaluation import bench
from pgclarify.evaluation.bench import Bench
from pgclarify.evaluation.data_sets import DataSet
from pgclarify.evaluation.methods import Asking
from pgclarify.evaluation.records import Case, Output
from pgclarify.evaluation.runner import Finished, evaluate
from tests.unit.evaluation.test_lexical_judge import JUDGE

CORPUS = Corpus(1, "fees", 7, "all-MiniLM-L6-v2")
SERVING = Serving("openai", "gpt", "1")
PLAN = Plan("mine", "ours.jsonl", b"", 1, "fees", "clarify", {}, {}, 3)
FAILED = RunStatus.FAILED


class FakeTables:
    """Keeps the cases of one evaluation."""

    def __init__(self) -> None:
        self.stored: dict[int, Mapping[str, Any]] = {}
        self.now, self.alive = CORPUS, [SERVING]

    async def begin(self, plan: Plan) -> tuple[int, set[int]]:
        return 1, set(self.stored)

    async def record(self, eval_run_id: int, row: Mapping[str, Any]) -> None:
        assert row["ordinal"] not in self.stored, "a case is judged once"
        self.stored[row["ordinal"]] = row

    async def cases(self, eval_run_id: int) -> list[SimpleNamespace]:
        return [SimpleNamespace(**row) for row in self.stored.values()]

    async def finish(self, eval_run_id: int, figures: Mapping[str, Any]) -> None:
        pass

    async def corpus(self, name: str | None) -> Corpus:
        return self.now

    async def workers(self) -> list[Serving]:
        return self.alive


class Scripted:
    """Gives each question its output, or raises its error. Implements Method."""

    def __init__(self, **outputs: Output | Exception) -> None:
        self.outputs = outputs
        self.asked: list[str] = []

    async def answer(self, case: Case) -> Output:
        self.asked.append(case.question)
        output = self.outputs.get(case.question, Output())
        if isinstance(output, Exception):
            raise output
        return output


def failed(code: str | None) -> Output:
    return Output(status=FAILED, error="it failed", error_code=code)


def bench_of(tables: FakeTables) -> Bench:
    asking = Asking(cast("Any", None), cast("Any", tables), CORPUS)
    return Bench(asking, cast("Any", tables), SERVING, cast("Any", None), "", cast("Any", None), AsyncExitStack())


async def run(tables: FakeTables, method: Scripted, questions: str = "abc") -> Finished:
    data_set = DataSet("ours.jsonl", tuple(Case(one, one) for one in questions), len(questions))
    return await evaluate(bench_of(tables), PLAN, data_set, method, JUDGE, concurrency=1)


async def test_a_failed_case_is_stored_as_such_and_the_others_go_on() -> None:
    tables = FakeTables()
    done = await run(tables, Scripted(a=RunFailed("no"), b=failed("22023")))
    assert [row["status"] for row in tables.stored.values()] == [FAILED, FAILED, RunStatus.SUCCEEDED]
    assert (done.progress.done, done.progress.failures.total()) == (3, 2)
    assert done.figures["failed"].value == pytest.approx(2 / 3)


async def test_a_case_during_which_the_server_failed_is_asked_by_the_next_start_alone() -> None:
    tables = FakeTables()
    with pytest.raises(RunFailed, match="1 of 3"):
        await run(tables, Scripted(b=failed(EndpointFailed.sqlstate)))
    assert sorted(tables.stored) == [1, 3]
    again = Scripted()
    assert (await run(tables, again)).progress.done == 3
    assert again.asked == ["b"]


async def test_a_partial_result_of_a_server_that_failed_once_counts() -> None:
    partial = Output(status=RunStatus.PARTIAL, error_code=EndpointFailed.sqlstate)
    assert (await run(FakeTables(), Scripted(b=partial))).progress.done == 3


@pytest.mark.parametrize("code", [EndpointUnavailable.sqlstate, BudgetSpent.sqlstate, ConfigurationError.sqlstate])
async def test_an_outage_that_a_person_must_end_ends_the_evaluation_at_once(code: str) -> None:
    tables, method = FakeTables(), Scripted(b=failed(code))
    with pytest.raises(RunFailed):
        await run(tables, method)
    assert method.asked == ["a", "b"]
    assert sorted(tables.stored) == [1]


async def test_a_server_that_fails_ten_times_in_a_row_ends_the_evaluation() -> None:
    outage = failed(EndpointFailed.sqlstate)
    questions = "abcdefghijklmno"
    method = Scripted(**dict.fromkeys(questions, outage))
    with pytest.raises(RunFailed):
        await run(FakeTables(), method, questions)
    assert len(method.asked) == 10


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"now": Corpus(1, "fees", 8, "all-MiniLM-L6-v2")}, NotReady),
        ({"alive": []}, NoWorker),
        ({"alive": [SERVING, Serving("openai", "other", "1")]}, ConfigurationError),
    ],
)
async def test_another_corpus_or_other_workers_end_the_evaluation(
    changes: dict[str, Any], error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "_WATCH_SECONDS", 0.0)
    tables = FakeTables()
    vars(tables).update(changes)
    with pytest.raises(error):
        await bench_of(tables).watch()
