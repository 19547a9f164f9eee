"""The command line as a user runs it: a separate process with a data directory of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.servers import folder_of_servers
from tests.workers import private_service

__all__ = ["FILES", "House", "private_service", "write_files"]

FILES = {
    "policies/hail.md": "# Hail\n\n## Deductible\n\n"
    "The deductible for hail damage to a rental car is four hundred dollars.\n",
    "policies/tolls.txt": "The administrative fee for unpaid tolls is six dollars for each day of use.\n",
    "policies/fuel.html": "<html><head><title>Fuel</title></head><body><h1>Fuel</h1>"
    "<p>The refueling fee for an empty tank is ninety dollars.</p></body></html>\n",
    "records.jsonl": "".join(
        json.dumps({"key": key, "body": body, "name": name}) + "\n"
        for key, name, body in (
            (7, "Age", "The surcharge for drivers under twenty-five is nineteen dollars for each day."),
            (8, "Cleaning", "The cleaning fee for smoking in the car is two hundred dollars."),
        )
    ),
}


@dataclass(frozen=True)
class House:
    """A data directory, and the command line that works on it.

    Attributes:
        folder: The folder where commands run. It has no files of the checkout.
        variables: Variables in addition to our environment without settings.
        program: The command that starts the command line.
    """

    folder: Path
    variables: dict[str, str] = field(default_factory=dict)
    program: tuple[str, ...] = (sys.executable, "-m", "pgclarify.cli")

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run `pgclarify` with arguments. Any exit code is accepted."""
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(("PGCLARIFY_", "OPENAI_", "PG"))
        }
        own = {"PGCLARIFY_DATA_DIR": str(self.folder / "data"), "COLUMNS": "100", "OMP_NUM_THREADS": "1"}
        return subprocess.run(
            [*self.program, *arguments],
            env=inherited | own | self.variables | variables,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    def done(self, *arguments: str, **variables: str) -> str:
        """Run `pgclarify`, require success, and return its output."""
        result = self.run(*arguments, **variables)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    def sql(self, statement: str) -> str:
        """The output of psql for a statement, without decoration."""
        with psycopg.connect(self.done("dsn").strip(), autocommit=True) as connection:
            rows = connection.execute(statement.encode()).fetchall()
        return "\n".join("|".join("" if value is None else str(value) for value in row) for row in rows)

    def status(self) -> dict[str, Any]:
        """The output of `doctor --json`, which exits with 1 if there are problems."""
        seen: dict[str, Any] = json.loads(self.run("doctor", "--json").stdout)
        return seen


def write_files(folder: Path) -> None:
    """Write the small corpus that tests load."""
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


@pytest.fixture
def empty_house() -> Iterator[House]:
    """A house in which no command has run."""
    # Not tmp_path: the server's user may not read its parent folders.
    with tempfile.TemporaryDirectory(prefix="pgclarify-test-", dir=folder_of_servers()) as folder:
        house = House(Path(folder))
        yield house
        house.run("down")


@pytest.fixture(scope="session")
def house() -> Iterator[House]:
    """A house with a running server and worker, shared by all tests."""
    with tempfile.TemporaryDirectory(prefix="pgclarify-test-", dir=folder_of_servers()) as folder:
        house = House(Path(folder))
        try:
            house.done("up", "--detach")
            yield house
        finally:
            house.run("down")
