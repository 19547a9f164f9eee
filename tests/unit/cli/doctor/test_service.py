"""What the doctor says of workers, and of findings in the database."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from pgclarify.cli.doctor import service
from pgclarify.cli.doctor.check import Check, Level
from pgclarify.cli.doctor.command import recent_errors
from pgclarify.cli.doctor.trials import check_trials
from pgclarify.cli.rendering import Row
from pgclarify.operations.model_trial.passages_per_call import Counted


def worker(*, version: str = "1", model: str = "small") -> Row:
    return {"worker_id": 1, "host": "here", "version": version, "provider": "openai", "model": model}


def finding(level: str, kind: str, name: str | None, text: str, count: int | None, remedy: str | None) -> Row:
    return {"level": level, "kind": kind, "name": name, "finding": text, "count": count, "remedy": remedy}


def levels(*workers: Row, expected: tuple[str, str | None] | None = None) -> dict[str, Level]:
    return {check.name: check.level for check in service.check_workers(workers, version="1", expected=expected)}


def test_without_a_worker_nothing_works() -> None:
    assert levels() == {"workers": Level.PROBLEM}


@pytest.mark.parametrize("expected", [None, ("openai", "small"), ("openai", None)])
def test_workers_as_expected(expected: tuple[str, str | None] | None) -> None:
    assert levels(worker(), worker(), expected=expected) == {"workers": Level.OK}


@pytest.mark.parametrize("expected", [("openai", "large"), ("extractive", None)])
def test_a_worker_with_other_settings_than_ours(expected: tuple[str, str | None]) -> None:
    assert levels(worker(), expected=expected)["worker models"] is Level.WARNING


def test_workers_that_differ() -> None:
    found = levels(worker(), worker(model="large", version="0.9"), expected=("openai", "small"))
    assert found == {"workers": Level.OK, "worker versions": Level.WARNING, "worker models": Level.WARNING}


def test_workers_of_other_versions_alone_take_no_runs() -> None:
    assert levels(worker(version="0.9"), worker(version="0.8"))["workers"] is Level.PROBLEM


def test_findings_are_shown_with_their_level_and_remedy() -> None:
    found = [
        finding("problem", "tables", "article", "no column id", None, "Resync."),
        finding("warning", "documents", "insurance", "documents cannot be indexed", 1200, "See why."),
        finding("warning", "queue", None, "runs wait", 3, None),
        finding("note", "identities", "ann", "this role is gone", None, None),
    ]
    assert service.check_findings(found) == [
        Check("tables", Level.PROBLEM, "article: no column id", "Resync."),
        Check("documents", Level.WARNING, "insurance: 1,200 documents cannot be indexed", "See why."),
        Check("queue", Level.WARNING, "3 runs wait"),
        Check("identities", Level.OK, "ann: this role is gone"),
    ]


def test_an_error_that_is_long_over_is_not_shown() -> None:
    now = datetime.now(UTC)

    def run(status: str, hours: int) -> Row:
        # A run that is not over has no time of its end.
        return {"status": status, "finished_at": now - timedelta(hours=hours) if status != "running" else None}

    runs = [run("running", 0), run("failed", 1), run("succeeded", 2), run("partial", 23), run("failed", 25)]
    assert recent_errors(runs, now) == [runs[1], runs[3]]


COUNTED = Counted(
    size=1, calls=32, answering=20, found=20, silent=12, invented=0, unread=0, readings=20, mixed_up=0, unquoted=0
)


@pytest.mark.parametrize(
    ("known", "level", "shown"),
    [
        ({"calls": None}, Level.OK, []),
        ({"is_going_on": True}, Level.OK, []),
        ({}, Level.OK, []),
        ({"error": "it is down", "due_at": datetime.now(UTC)}, Level.WARNING, ["it is down"]),
        ({"passages_per_call": 20, "cost_usd": Decimal("0.12")}, Level.OK, ["20", "64", "0.12"]),
        ({"passages_per_call": 20, "cost_usd": None}, Level.OK, ["20", "94,000"]),
        ({"passages_per_call": 1, "mixed_up": 12}, Level.OK, ["12 of 20"]),
        ({"passages_per_call": 1, "alone": {"unread": 32}}, Level.WARNING, ["32 of 32"]),
        ({"passages_per_call": 1, "alone": {"found": 3}}, Level.WARNING, ["3 of 20"]),
    ],
)
def test_how_many_passages_a_model_reads_is_said_with_the_reason(
    known: dict[str, Any], level: Level, shown: list[str]
) -> None:
    mixed_up = known.pop("mixed_up", 0)
    measured = [asdict(COUNTED), {**asdict(COUNTED), "size": 2, "mixed_up": mixed_up}]
    if (alone := known.pop("alone", None)) is not None:
        measured = [{**asdict(COUNTED), **alone}]
    usual: dict[str, Any] = {
        "passages_per_call": None,
        "is_going_on": False,
        "calls": 64,
        "tokens": 94_000,
        "cost_usd": None,
    }
    usual |= {"finished_at": datetime.now(UTC), "error": None, "due_at": None, "measured": measured}
    (check,) = check_trials([{"model": "small", **usual, **known}])
    assert check.level is level
    assert all(one in check.finding for one in shown)
