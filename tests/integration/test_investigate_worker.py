"""Investigations from end to end: a real worker, a model server, and every way to ask."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pgclarify
from pgclarify import Client
from pgclarify.cli.main import main
from pgclarify.data.vocabulary import RunStatus, StepKind, StepOutcome
from tests.integration.manual_worker import MakeWorker
from tests.openai_server import Server
from tests.sessions import Connection, scalar
from tests.workers import (
    CORPUS,
    DOCUMENTS,
    Service,
    as_role,
    environment,
    run_command,
    until,
)

HOPS = (
    "Which deductible applies to damage by hail?",
    "Which cleaning fee is charged when somebody has smoked in a car damaged by hail?",
)
QUESTION = f"{HOPS[0]} Which cleaning fee is charged when somebody has smoked in a car [1]?"
UNHEARD_OF = "Who invented the telescope?"


@pytest.fixture
def client(service: Service, model: Server) -> Iterator[Client]:
    """A client of a role that may only ask."""
    with pgclarify.connect(as_role(service.dsn, service.asker)) as connected:
        yield connected


def investigate(service: Service, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    variables = environment(as_role(service.dsn, service.asker), None) | {"COLUMNS": "200"}
    return run_command("investigate", *arguments, variables=variables, folder=folder)


def test_step_by_step_to_a_proven_answer(client: Client) -> None:
    found = client.investigate(QUESTION, corpus=CORPUS)

    assert (found.status, found.outcome) == (RunStatus.SUCCEEDED, StepOutcome.ANSWERED)
    assert [(step.kind, step.question) for step in found.steps] == [
        (StepKind.FOLLOW_UP, HOPS[0]),
        (StepKind.FOLLOW_UP, HOPS[1]),
        (StepKind.CONCLUSION, QUESTION),
    ]
    assert [step.citations[0].document_id for step in found.steps] == ["102", "108", "102"]
    assert found.document_ids == ("102", "108")
    assert found.answer == found.steps[1].answer == "the rental car"
    for step in found.steps:
        assert 0 < (step.confidence or 0) <= 1
        for citation in step.citations:
            title, content = DOCUMENTS[int(citation.document_id)]
            assert content[citation.start_char : citation.end_char] == citation.quote
            assert (citation.title, citation.is_current) == (title, True)
    assert found == client.result(found.run_id)[0]


def test_the_command_prints_steps_proof_and_json(service: Service, model: Server, tmp_path: Path) -> None:
    done = investigate(service, tmp_path, QUESTION, "--corpus", CORPUS, "--option", "max_steps=4")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    for place, hop in enumerate(HOPS, start=1):
        assert f"{place}. {hop}" in lines
    assert lines.index(f'Answer to "{QUESTION}", with its proof') > lines.index(f"2. {HOPS[1]}")
    # The evidence is numbered through.
    assert [line.split()[0] for line in lines if line.startswith("   [")] == ["[1]", "[2]", "[3]", "[4]"]

    done = investigate(service, tmp_path, QUESTION, "--json", "-o", "max_steps=4")
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["document_ids"] == ["102", "108"]

    done = investigate(service, tmp_path, UNHEARD_OF)
    assert done.returncode == 0
    assert "There is no answer to" in done.stdout
    assert re.search(r"^run (\d+): pgclarify explain \1$", done.stdout, re.MULTILINE)

    done = investigate(service, tmp_path, "Who invented the abacus?", "-o", "max_calls=4")
    assert "(limit 4)" in done.stdout


# The caller learns the id of its run only with the answer.
IS_WAITING = """
    select
        exists (select from pgclarify.run)
        and not exists (
            select from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid() and query ~ 'pgclarify.submit'
        )
"""


def test_an_interrupted_command_cancels_its_run_and_says_so(
    database: str,
    connection: Connection,
    make_worker: MakeWorker,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", database)
    connection.execute("select pgclarify.create_corpus('bridges')")
    with pytest.raises(SystemExit):
        main(["investigate", QUESTION])
    assert "No worker is running" in capsys.readouterr().err
    make_worker()
    arguments = [sys.executable, "-m", "pgclarify.cli", "investigate", QUESTION]
    with subprocess.Popen(arguments, env={**os.environ}, stderr=subprocess.PIPE, text=True) as process:
        until(lambda: scalar(connection, IS_WAITING))
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=120)
    assert "Cancelled; what was paid for is kept." in told
    assert scalar(connection, "select status from pgclarify.run") == "cancelled"
