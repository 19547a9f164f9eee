"""The command line explains an empty result with its own run, not with another run of the same question."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row
from rich.console import Console, RenderableType

from pgclarify.cli import asking
from tests.integration.by_hand import MAKE_OPEN_CORPUS, Connection
from tests.openai_server import Server
from tests.workers import Service, scalar, wait_until_searchable

# By the rules of the model, passages of so few words answer nothing.
TEXTS = {"one": ["Hail."], "two": ["Hail.", "Snow."]}
QUESTION = "  deductible\u00a0"


@pytest.fixture
def database(service: Service, superuser: Connection) -> Iterator[psycopg.Connection[dict[str, Any]]]:
    for corpus, texts in TEXTS.items():
        if not scalar(superuser, "select count(*) from pgclarify.corpus where corpus = %s", corpus):
            superuser.execute(MAKE_OPEN_CORPUS, [corpus])
        for text in texts:
            superuser.execute("select pgclarify.add_document(%s, %s, %s)", [corpus, text, text])
        wait_until_searchable(superuser, corpus)
    with closing(psycopg.connect(service.dsn, user=service.asker, autocommit=True, row_factory=dict_row)) as connection:
        yield connection


def printed(what: RenderableType) -> str:
    console = Console(width=200)
    with console.capture() as capture:
        console.print(what)
    return capture.get()


def test_a_reused_run_is_told_from_a_newer_one(database: psycopg.Connection[dict[str, Any]], model: Server) -> None:
    runs = []
    for corpus in ("one", "two", "one"):
        rows, run_id = asking.perform(database, "clarify", "Reading", question=QUESTION, corpus=corpus, timeout=60.0)
        assert rows == []
        assert run_id is not None
        runs.append(run_id)
        judged = "1 of 1 passage" if corpus == "one" else "2 of 2 passages"
        said = printed(asking.nothing(database, QUESTION, corpus, run_id))
        assert f"found in the corpus {corpus}: {judged} judged" in said
    assert runs[0] == runs[2] < runs[1]


@pytest.mark.parametrize(
    ("operation", "options"), [("list_answers", {}), ("clarifying_questions", {"count": 1, "history": []})]
)
def test_other_commands_know_their_run_too(
    database: psycopg.Connection[dict[str, Any]], model: Server, operation: str, options: dict[str, Any]
) -> None:
    rows, run_id = asking.perform(
        database, operation, "Looking", question=QUESTION, corpus="one", timeout=60.0, **options
    )
    assert rows == []
    (run,) = database.execute("select corpus from pgclarify.run where run_id = %s", [run_id])
    assert run["corpus"] == "one"
