"""The doctor's findings about workers, the queue and corpora."""

from __future__ import annotations

from typing import Any

import pytest

from pgclarify.cli.doctor import service
from pgclarify.cli.doctor.check import Level


def worker(**values: Any) -> dict[str, Any]:
    usual = {
        "worker_id": 1,
        "host": "here",
        "version": "1",
        "provider": "openai",
        "model": "small",
    }
    return usual | values


def levels(*workers: dict[str, Any], expected: tuple[str, str | None] | None = None) -> dict[str, Level]:
    return {check.name: check.level for check in service.check_workers(workers, version="1", expected=expected)}


def test_without_a_worker_nothing_works() -> None:
    assert levels() == {"workers": Level.PROBLEM}


@pytest.mark.parametrize("expected", [None, ("openai", "small"), ("openai", None)])
def test_workers_as_expected(expected: tuple[str, str | None] | None) -> None:
    assert levels(worker(), worker(worker_id=2), expected=expected) == {"workers": Level.OK}


@pytest.mark.parametrize("expected", [("openai", "large"), ("extractive", None)])
def test_a_worker_with_other_settings_than_ours(expected: tuple[str, str | None]) -> None:
    assert levels(worker(), expected=expected)["worker models"] is Level.WARNING


def test_workers_that_differ() -> None:
    found = levels(worker(), worker(worker_id=2, model="large", version="0.9"), expected=("openai", "small"))
    assert found == {"workers": Level.OK, "worker versions": Level.WARNING, "worker models": Level.WARNING}


@pytest.mark.parametrize(
    ("queued", "oldest", "level"), [(0, None, Level.OK), (5, 3.0, Level.OK), (5, 300.0, Level.WARNING)]
)
def test_a_backlog_is_told_by_its_age(queued: int, oldest: float | None, level: Level) -> None:
    row = {"queued": queued, "running": 1, "oldest_queued_seconds": oldest}
    (check,) = service.check_queue(row, [{"run_id": 1, "seconds": 4.0}], has_workers=True)
    assert check.level is level


def test_runs_that_are_stuck_are_named() -> None:
    row = {"queued": 0, "running": 2, "oldest_queued_seconds": None}
    running = [{"run_id": 17, "seconds": 3600.0}, {"run_id": 18, "seconds": 4.0}]
    _, check = service.check_queue(row, running, has_workers=True)
    assert check.level is Level.WARNING
    assert "60 minutes: 17" in check.finding


def corpus(**values: Any) -> dict[str, Any]:
    return {"corpus": "insurance", "error": None, "failed": 0, "pending": 0, "next_embedding_model": None} | values


@pytest.mark.parametrize(
    ("corpora", "expected"),
    [
        ([], [Level.OK]),
        ([corpus(), corpus(pending=3), corpus(failed=None, pending=None)], [Level.OK]),
        ([corpus(failed=2), corpus(corpus="b", failed=1)], [Level.WARNING]),
        ([corpus(error="no embedding model x"), corpus(failed=1)], [Level.PROBLEM, Level.WARNING]),
    ],
)
def test_corpora(corpora: list[dict[str, Any]], expected: list[Level]) -> None:
    assert [check.level for check in service.check_corpora(corpora)] == expected


def test_a_change_of_model_that_does_not_get_on() -> None:
    (check,) = service.check_corpora([corpus(error="no such model", next_embedding_model="a-new-model")])
    assert check.level is Level.PROBLEM
    assert check.finding == "insurance keeps its embedding model, and does not get on to a-new-model: no such model"
    assert "embedding_model of pgclarify.alter_corpus again, or to null" in str(check.remedy)


def test_embedding_models_behind_an_endpoint() -> None:
    corpora = [
        corpus(embedding_model="all-MiniLM-L6-v2"),
        corpus(embedding_model="endpoint:a", next_embedding_model="endpoint:b"),
        corpus(embedding_model="endpoint:a"),
    ]
    assert service.models_at_endpoint(corpora) == {"endpoint:a", "endpoint:b"}


def test_attached_tables() -> None:
    source = {"corpus": "insurance", "relation": "public.article", "state": "following", "error": None}
    assert [check.level for check in service.check_sources([source])] == [Level.OK]
    failed, partly = source | {"state": "failed", "error": "no column id"}, source | {"error": "some rows"}
    assert [check.level for check in service.check_sources([source, failed, partly])] == [Level.PROBLEM, Level.WARNING]
    assert service.check_sources([]) == []


def test_budgets_of_roles_that_there_are_not() -> None:
    assert service.check_budgets([]) == []
    (check,) = service.check_budgets([{"name": "support", "role_name": "supprot"}])
    assert check.level is Level.WARNING
    assert "support of supprot" in check.finding


def test_nodes_that_look_at_too_little() -> None:
    assert service.check_nodes([]) == []
    row = {"corpus": "insurance", "ef_search": 136, "node": "node1:5432", "error": None}
    (check,) = service.check_nodes([row, row | {"corpus": "law", "ef_search": 192}])
    assert check.level is Level.WARNING
    assert "law on node1:5432" in check.finding
    assert "hnsw.ef_search = 192" in str(check.remedy)


def test_nodes_that_do_not_answer() -> None:
    row = {"corpus": "insurance", "ef_search": 136, "node": "node1:5432", "error": None}
    down = {"corpus": "insurance", "ef_search": 136, "node": "node2:5432", "error": "failed to connect"}
    problem, warning = service.check_nodes([row, down])
    assert (problem.level, warning.level) == (Level.PROBLEM, Level.WARNING)
    assert "node2:5432 (failed to connect)" in problem.finding
    assert "ef_search" not in str(problem.remedy)
    assert "node2" not in warning.finding
