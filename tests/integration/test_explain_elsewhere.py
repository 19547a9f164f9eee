"""Explanations on the command line and in Python."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import pgclarify
from pgclarify.errors import InputError, NotFound
from tests.integration.explaining import EXPLORED, Desk, desk, explored
from tests.workers import as_role, environment, run_command

__all__ = ["desk"]


class TestElsewhere:
    """The command line and Python show the same as SQL."""

    def command(self, desk: Desk, database: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        variables = environment(as_role(database, desk.user.info.user), None) | {"COLUMNS": "40", "PGTZ": "UTC"}
        return run_command("explain", *arguments, variables=variables, folder=folder)

    def test_the_command_line_explains_a_run(self, desk: Desk, database: str, tmp_path: Path) -> None:
        run_id = explored(desk)
        done = self.command(desk, database, tmp_path, str(run_id))
        short = self.command(desk, database, tmp_path, str(run_id), "--detail", "stages")

        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.replace(desk.user.info.user, "alice") == f"{EXPLORED}\n"
        assert short.stdout.replace(desk.user.info.user, "alice") == desk.told(run_id, "stages") + "\n"

    async def test_the_client_explains_a_run(self, desk: Desk, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PGTZ", "UTC")
        run_id = explored(desk)
        url = as_role(database, desk.user.info.user)
        with pgclarify.connect(url) as client:
            lines = client.explain(run_id)
            assert (
                client.explain(run_id, detail="stages")
                == desk.told(run_id, "stages").replace("alice", desk.user.info.user).splitlines()
            )
            with pytest.raises(NotFound):
                client.explain(999)
            with pytest.raises(InputError):
                client.explain(run_id, detail="all")  # type: ignore[arg-type]
        async with pgclarify.connect_async(url) as async_client:
            assert await async_client.explain(run_id) == lines
        assert "\n".join(lines).replace(desk.user.info.user, "alice") == EXPLORED
