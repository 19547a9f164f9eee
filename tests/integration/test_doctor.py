"""The doctor and status on real databases: healthy ones, and ones with a missing part."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from pgclarify.cli.main import main
from tests.integration.manual_worker import MakeWorker
from tests.openai_server import MODEL, PROSE
from tests.sessions import MakeRole, scalar
from tests.workers import Service, as_role, loopbacks, until


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    return int(caught.value.code or 0)


class Doctor:
    """Run `pgclarify doctor --json` on a database."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        monkeypatch.setenv("PGCLARIFY_LLM_PROVIDER", "extractive")

    def __call__(self, dsn: str) -> tuple[int, dict[str, dict[str, Any]]]:
        """Exit code, and checks by name. Of several with one name, the worst."""
        self._monkeypatch.setenv("PGCLARIFY_DATABASE_URL", dsn)
        code = run("doctor", "--json")
        report = json.loads(self._capsys.readouterr().out)
        order = ["ok", "warning", "problem"]
        checks = sorted(report["checks"], key=lambda check: order.index(check["level"]))
        assert report["problems"] == sum(check["level"] == "problem" for check in checks)
        return code, {check["name"]: check for check in checks}


@pytest.fixture
def doctor(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Doctor:
    return Doctor(monkeypatch, capsys)


def test_the_doctor_finds_a_healthy_installation_and_leaves_nothing_behind(
    doctor: Doctor, database: str, connection: psycopg.Connection[Any], make_worker: MakeWorker
) -> None:
    make_worker()
    code, checks = doctor(database)
    assert {name: check["level"] for name, check in checks.items() if check["level"] == "problem"} == {}
    assert code == 0
    assert checks["loopback"]["level"] == checks["schema"]["level"] == checks["workers"]["level"] == "ok"
    assert scalar(connection, "select count(*) from pgclarify.run") == 0
    until(lambda: loopbacks(connection) == 0)


def test_the_doctor_reports_a_missing_worker(doctor: Doctor, database: str) -> None:
    code, checks = doctor(database)
    assert code == 1
    assert checks["workers"]["level"] == "problem"
    assert "pgclarify up --detach" in checks["workers"]["remedy"]


def test_the_doctor_reports_a_missing_schema(doctor: Doctor, make_database: Callable[..., str]) -> None:
    code, checks = doctor(make_database())
    assert code == 1
    assert checks["schema"]["level"] == "problem"
    assert "pgclarify init" in checks["schema"]["remedy"]
    assert "workers" not in checks


def test_the_doctor_reports_a_schema_of_another_version(
    doctor: Doctor, database: str, connection: psycopg.Connection[Any]
) -> None:
    connection.execute("update pgclarify_private.applied_sql set shipped_hash = 'another'")
    code, checks = doctor(database)
    assert code == 1
    assert checks["schema"]["level"] == "problem"
    assert "pgclarify init" in checks["schema"]["remedy"]


def test_a_loopback_that_leads_nowhere(
    doctor: Doctor, database: str, connection: psycopg.Connection[Any], make_worker: MakeWorker
) -> None:
    make_worker()
    connection.execute("update pgclarify_private.loopback set host = '127.0.0.1', port = 1")
    code, checks = doctor(database)
    assert code == 1
    assert checks["loopback"]["level"] == "problem"
    assert "operations.md#connections" in checks["loopback"]["remedy"]


def test_a_server_without_dblink(
    doctor: Doctor, database: str, connection: psycopg.Connection[Any], make_worker: MakeWorker
) -> None:
    make_worker()
    connection.execute("drop extension dblink")
    code, checks = doctor(database)
    assert (code, checks["loopback"]["level"]) == (0, "warning")


@pytest.mark.parametrize(
    ("membership", "code", "level"),
    [("pgclarify_user", 0, "ok"), ("pgclarify_reader", 0, "warning"), (None, 1, "problem")],
)
def test_the_doctor_checks_the_rights_of_its_role(
    doctor: Doctor,
    database: str,
    make_role: MakeRole,
    make_worker: MakeWorker,
    membership: str | None,
    code: int,
    level: str,
) -> None:
    make_worker()
    role = make_role(*([membership] if membership else []))
    found, checks = doctor(as_role(database, role))
    assert (found, checks["your rights"]["level"]) == (code, level)
    if membership:
        assert checks["loopback"]["level"] == level
    else:
        assert f"grant pgclarify_user to {role}" in checks["your rights"]["remedy"]


def test_the_doctor_reports_a_server_that_does_not_answer(doctor: Doctor) -> None:
    code, checks = doctor("postgresql://me:sesame@127.0.0.1:1/app")
    assert code == 1
    assert checks["connection"]["level"] == "problem"
    assert "sesame" not in str(checks)


def test_status_shows_runs_and_errors(
    service: Service, model: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", service.dsn)
    model.behavior = lambda chat: PROSE
    assert run("ask", "what goes wrong") == 1
    assert "Traceback" not in capsys.readouterr().err
    assert run("doctor", "--json") == 0
    status = json.loads(capsys.readouterr().out)
    assert status["recent_runs"][0]["question"] == status["recent_errors"][0]["question"] == "what goes wrong"
    assert status["recent_errors"][0]["reason"]
    assert status["workers"][0]["model"] == MODEL
    with psycopg.connect(service.dsn, autocommit=True) as connection:
        connection.execute("delete from pgclarify_private.verdict")
        connection.execute("update pgclarify_private.run set status = 'partial', error = null, error_code = 'PC011'")
    assert run("doctor", "--json") == 0
    assert json.loads(capsys.readouterr().out)["recent_errors"][0]["reason"] == "PC011"
    assert run("doctor") == 0
    assert "what goes wrong" in capsys.readouterr().out


@pytest.mark.rolled_back
def test_similar_names_of_a_corpus_are_suggested(connection: psycopg.Connection[Any]) -> None:
    for name in ("Insurance", "claims 2026", "wiki"):
        connection.execute("select pgclarify.create_corpus(%s)", [name])
    for asked, near in (("insurence", "Insurance"), ("claims2026", "claims 2026"), ("zzz", None)):
        with pytest.raises(psycopg.errors.UndefinedObject) as caught:
            connection.execute("select pgclarify.clarify('x', corpus => %s)", [asked])
        assert (f'"{near}"' in str(caught.value.diag.message_hint)) == (near is not None)
        assert caught.value.diag.message_detail == "You can search: Insurance, claims 2026, wiki."


@pytest.mark.rolled_back
def test_a_document_over_the_limit_is_refused(connection: psycopg.Connection[Any]) -> None:
    connection.execute("select pgclarify.create_corpus('c')")
    add = "select pgclarify.add_document('c', 'd', repeat('x', %s))"
    with pytest.raises(psycopg.errors.ProgramLimitExceeded):
        connection.execute(add, [10_000_001])
    assert connection.execute(add, [10_000_000]).fetchone() == (True,)
