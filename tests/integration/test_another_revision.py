"""Commands on a schema of another revision: they end before they spend, store or listen, and say what to run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgclarify.cli.main import all_commands
from pgclarify.errors import SchemaMismatch
from pgclarify.install import versions
from pgclarify.install.shipped import shipped_revisions
from tests.sessions import MakeRole, scalar
from tests.workers import as_role

OLDER, NEWER = shipped_revisions()[1], "v99_0_0"


def pretend(connection: psycopg.Connection[Any], revision: str) -> None:
    connection.execute("update pgclarify_private.schema_version set version_num = %s", [revision])


@pytest.mark.parametrize("revision", [OLDER, NEWER])
@pytest.mark.parametrize(
    "command",
    [
        "ask q --corpus kb",
        "search q --corpus kb",
        "load kb {file}",
        "corpus list",
        "explain 1",
        "feedback 1 --missing right",
        "eval run {file} --corpus kb --yes",
        "eval list",
        "ui --no-browser",
        "worker",
    ],
)
def test_a_command_ends_before_it_does_anything(
    command: str,
    revision: str,
    database: str,
    connection: psycopg.Connection[Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    (tmp_path / "cases.md").write_text("# Cars\n\nA car costs 40 euros.")
    (tmp_path / "cases.jsonl").write_text('{"id": "1", "question": "q", "answers": ["a"]}\n')
    file = tmp_path / ("cases.jsonl" if command.startswith("eval") else "cases.md")
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", database)
    monkeypatch.setenv("PGCLARIFY_LLM_PROVIDER", "extractive")
    pretend(connection, revision)
    with pytest.raises(SchemaMismatch) as refused:
        all_commands().main([part.format(file=file) for part in command.split()], standalone_mode=False)
    assert revision in (refused.value.detail or "")
    assert shipped_revisions()[0] in (refused.value.detail or "")
    assert ("pgclarify init" in (refused.value.hint or "")) is (revision == OLDER)
    assert scalar(connection, "select count(*) from pgclarify.run") == 0
    assert scalar(connection, "select count(*) from pgclarify_private.corpus") == 0


def test_a_role_that_may_not_see_the_revision_is_let_through(
    database: str, connection: psycopg.Connection[Any], make_role: MakeRole
) -> None:
    pretend(connection, NEWER)
    with psycopg.connect(as_role(database, make_role())) as session:
        versions.check_revision(session)
