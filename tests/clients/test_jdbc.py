"""JDBC, tested by a program in Java: metadata, asking, stopping."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.clients.serving import PASSWORD, ClientService, jdbc_driver, program
from tests.openai_server import HANG, Chat, Reply, by_rules

PROGRAMS = Path(__file__).parent / "java"
TOPICS = (
    "views have comments",
    "columns have comments and plain types",
    "functions have comments",
    "parameters have names",
    "scanning starts nothing",
    "parameters and columns",
    "times have zones",
    "prepared by the server",
    "arrays",
    "a table of one's own",
    "batches",
    "rows by portions",
    "submitted in a transaction",
    "called as a procedure",
    "read only",
    "a query timeout cancels the run",
    "cancelling cancels the run",
    "our timeout leaves the run alone",
    "errors have detail and hint",
)


def answers_in_time(chat: Chat) -> Reply:
    return HANG if "endless" in chat.user else by_rules(chat)


@pytest.fixture(scope="module")
def outcomes(service: ClientService, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The program's output for each topic. The program runs once, because its virtual machine starts slowly."""
    classes, driver = tmp_path_factory.mktemp("classes"), jdbc_driver()
    sources = sorted(PROGRAMS.glob("*.java"))
    compiled = subprocess.run(
        [program("javac"), "-cp", driver, "-d", classes, *sources],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert compiled.returncode == 0, compiled.stderr
    service.model.behavior = answers_in_time
    try:
        done = subprocess.run(
            [program("java"), "-cp", f"{classes}:{driver}", "Check"],
            env=os.environ | {"CHECK_URL": service.jdbc_url(), "CHECK_PASSWORD": PASSWORD},
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
    finally:
        service.model.behavior = by_rules
    assert done.returncode == 0, done.stderr
    return dict(line.split("\t", 1) for line in done.stdout.splitlines())


def test_every_topic_has_a_test(outcomes: dict[str, str]) -> None:
    assert tuple(outcomes) == TOPICS


@pytest.mark.parametrize("topic", TOPICS)
def test_jdbc(outcomes: dict[str, str], topic: str) -> None:
    assert outcomes[topic] == "ok"
