"""The programs of docs/clients.md run unchanged."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.clients.serving import PASSWORD, ClientService, jdbc_driver, program
from tests.openai_server import Server
from tests.pages import CHECKOUT, blocks

PAGE = CHECKOUT / "docs" / "clients.md"
PYTHON = blocks(PAGE, "python")


@pytest.mark.parametrize("place", range(len(PYTHON)))
def test_python_of_the_page_runs(
    service: ClientService,
    model: Server,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    place: int,
) -> None:
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", service.url())
    names: dict[str, object] = {"__name__": "__main__"}
    try:
        exec(compile(PYTHON[place].code, PAGE.name, "exec"), names)  # noqa: S102
    finally:
        # It would end with the process.
        for engine in names.values():
            if isinstance(engine, sa.Engine):
                engine.dispose()
    assert capsys.readouterr().out


def test_java_of_the_page_runs(service: ClientService, model: Server, tmp_path: Path) -> None:
    (block,) = blocks(PAGE, "java")
    (tmp_path / "Ask.java").write_text(block.code)
    done = subprocess.run(
        [program("java"), "-cp", jdbc_driver(), "Ask.java"],
        env=os.environ | {"JDBC_URL": service.jdbc_url(user="asker", password=PASSWORD)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
