"""The command eval compare on stored evaluations, as roles that may see them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgclarify.cli.main import main
from pgclarify.database.evaluations import EvaluationTables
from pgclarify.evaluated import Output, PredictedInterpretation
from pgclarify.evaluation.summaries import summarize
from tests.integration.by_hand import Connection
from tests.integration.evaluating import CASE, OUTPUT, load, plan, tables_of

HASH_OF_OTHERS = bytes(31) + b"\1"


class Done:
    """The result of a command."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, " ".join(err.split())


Compare = Callable[..., Done]


def evaluate(
    user: Connection, coverage: dict[str, float], output: Output = OUTPUT, *, is_finished: bool = True, **changes: Any
) -> int:
    """Keep an evaluation of a role whose cases have this coverage, and return its id."""

    async def keep() -> int:
        async with tables_of(user.info.dsn) as tables:
            begun = await tables.begin(plan(**{"planned_cases": len(coverage)} | changes))
            rows = [{"answer_coverage": value, "calls": 3.0} for value in coverage.values()]
            supported = [True] * len(output.interpretations)
            for ordinal, (case_id, row) in enumerate(zip(coverage, rows, strict=True), start=1):
                case = replace(CASE, case_id=case_id)
                await tables.record(begun.eval_run_id, ordinal, case, output, row, supported)
            if is_finished:
                await tables.finish(begun.eval_run_id, summarize(rows), {})
            await tables.leave(begun.eval_run_id)
        return begun.eval_run_id

    return asyncio.run(keep())


@pytest.fixture(autouse=True)
def _corpus(alice: Connection) -> None:
    load(alice)


@pytest.fixture
def compare(
    database: str, alice: Connection, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Compare:
    """Runs the command as alice, or another role."""
    monkeypatch.setenv("COLUMNS", "120")

    def call(*arguments: object, user: str = alice.info.user) -> Done:
        monkeypatch.setenv("PGCLARIFY_DATABASE_URL", make_conninfo(database, user=user))
        with pytest.raises(SystemExit) as caught:
            main(["eval", "compare", *map(str, arguments)])
        return Done(int(caught.value.code or 0), *capsys.readouterr())

    return call


def test_two_evaluations(alice: Connection, compare: Compare) -> None:
    first = evaluate(alice, {"a": 1.0, "b": 0.5})
    fewer = replace(OUTPUT, interpretations=(PredictedInterpretation("Who insures cars?", "We"),))
    second = evaluate(alice, {"a": 0.0, "b": 0.5}, fewer, settings={"top_k": 10})

    done = compare(first, second)
    assert (done.code, done.err) == (0, "")
    assert "option top_k" in done.out
    assert "answer_coverage  0.750  0.250  -0.500" in done.out
    assert "Equal in every case: calls." in done.out
    assert "answer_coverage 1.000 -> 0.000, readings 2 -> 1" in done.out
    assert " - What is insured?" in done.out
    assert " + Who insures cars?  new\n     We (known)\n" in done.out

    told = json.loads(compare(first, second, "--json", "--cases", 1).out)
    assert [case["case_id"] for case in told["changed"]] == ["a"]
    assert "retrieved 1 (relevant), 2 (relevant)" in compare(first, second, "--case", "b").out


def test_a_limit_makes_it_fail(alice: Connection, compare: Compare) -> None:
    main_branch = evaluate(alice, {"a": 1.0, "b": 0.5}, name="main")
    evaluate(alice, {"a": 0.9, "b": 0.5}, name="branch", settings={})

    # -0.05 on paper.
    assert compare("main", "branch", "--fail-below", "answer_coverage=-0.05").code == 0
    assert compare("main", "branch", "--fail-below", "answer_coverage=-0.06", "--fail-below", "calls=0").code == 0
    done = compare(main_branch, "branch", "--fail-below", "answer_coverage=-0.04", "--json")
    assert done.code == 1
    assert "Failed: answer_coverage went from 0.750 to 0.700" in done.err
    assert json.loads(done.out)["cases"] == 2
    # A check that is not possible fails.
    done = compare("main", "branch", "--fail-below", "grounded_f1=-1")
    assert (done.code, "grounded_f1" in done.err) == (1, True)


def test_what_is_not_like_with_like(alice: Connection, compare: Compare) -> None:
    first = evaluate(alice, {"a": 1.0, "b": 0.5})
    second = evaluate(alice, {"b": 0.5, "c": 0.5}, data_set_hash=HASH_OF_OTHERS, judge="large")
    unfinished = evaluate(alice, {"a": 0.5}, is_finished=False, settings={}, planned_cases=2)

    done = compare(first, second)
    assert done.code == 0
    assert "Cases that both have: 1." in done.err
    assert "Another judge" in done.err
    assert "B is not finished: it has 1 of 2 cases" in compare(first, unfinished).err
    done = compare(second, unfinished)
    assert (done.code, done.out) == (1, "")


def test_no_limit_holds_of_what_is_not_alike(alice: Connection, compare: Compare) -> None:
    first = evaluate(alice, {"a": 0.5, "b": 0.5})
    limit = ("--fail-below", "answer_coverage=-1")
    unlike = [
        evaluate(alice, {"a": 0.5, "b": 0.5}, judge="large"),
        evaluate(alice, {"a": 0.5}, data_set_hash=HASH_OF_OTHERS),
        evaluate(alice, {"a": 0.5, "b": 0.5}, corpus_revision=4),
        evaluate(alice, {"a": 0.5, "b": 0.5}, corpus_name="other"),
        evaluate(alice, {"a": 0.5}, is_finished=False, planned_cases=2),
    ]
    for other in unlike:
        done = compare(first, other, *limit)
        assert (done.code, "no limit holds" in done.err) == (1, True), other
        assert compare(first, other, *limit, "--allow-unlike").code == 0
        assert compare(first, other).code == 0
    assert json.loads(compare(first, unlike[0], "--json").out)["not_alike"]
    assert compare(first, evaluate(alice, {"a": 0.5, "b": 0.5}, settings={"top_k": 9}, model="m2"), *limit).code == 0


def test_of_a_name_ones_own_is_meant_and_a_newer_unfinished_one_is_told(
    database: str, alice: Connection, compare: Compare
) -> None:
    own = evaluate(alice, {"a": 0.5}, name="main")
    with psycopg.connect(database, autocommit=True) as superuser:
        theirs = evaluate(superuser, {"a": 1.0}, name="main")
        done = compare("main", own, user=superuser.info.user)
        assert f"A  {theirs} main" in done.out
        assert "is newer" not in done.err
    newer = evaluate(alice, {"a": 0.5}, name="main", is_finished=False, planned_cases=2, settings={})
    done = compare("main", own)
    assert f"A  {own} main" in done.out
    assert f'"main" is evaluation {own} here; {newer}, of the same name, is newer, and not finished.' in done.err
    assert "is newer" not in compare(own, own).err


def test_what_methods_gave_is_read_of_the_cases_that_are_shown(
    alice: Connection, compare: Compare, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = evaluate(alice, {"a": 1.0, "b": 0.5, "c": 0.0})
    second = evaluate(alice, {"a": 1.0, "b": 0.9, "c": 0.1})
    read: list[Any] = []
    cases = EvaluationTables.cases

    async def watched(self: EvaluationTables, *arguments: Any, **options: Any) -> Any:
        found = await cases(self, *arguments, **options)
        read.append([case.case_id for case in found if case.output])
        return found

    monkeypatch.setattr(EvaluationTables, "cases", watched)
    assert "What is insured?" in compare(first, second, "--cases", 1).out
    assert sorted(read) == [[], [], ["b"], ["b"]]


def test_what_is_not_there_or_not_to_be_seen(alice: Connection, bob: Connection, compare: Compare) -> None:
    first = evaluate(alice, {"a": 1.0})

    for arguments in ((first, 4711), ("no such", first), (first, first, "--case", "b"), (first, first, "-m", "recall")):
        done = compare(*arguments)
        assert (done.code, done.out) == (1, ""), arguments
        assert "Hint:" in done.err
    done = compare(first, first, user=bob.info.user)
    assert (done.code, done.out, "Hint: " in done.err) == (1, "", True)


def test_a_reader_may_compare(
    database: str, alice: Connection, compare: Compare, make_role: Callable[..., str]
) -> None:
    first = evaluate(alice, {"a": 1.0})
    analyst = make_role("pgclarify_reader")
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("update pgclarify_private.corpus set analyst = %s", [analyst])
    done = compare(first, first, user=analyst)
    assert (done.code, f"Both are evaluation {first}." in done.err) == (0, True)


@pytest.mark.wording
def test_without_a_schema_it_says_so_at_once(
    make_database: Callable[..., str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", make_database())
    with pytest.raises(SystemExit) as caught:
        main(["eval", "compare", "1", "2"])
    assert caught.value.code == 1
    assert "pgclarify init" in capsys.readouterr().err
