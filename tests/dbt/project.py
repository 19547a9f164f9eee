"""A dbt project for a test. A real dbt runs it in a separate process."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tests.pages import CHECKOUT

PACKAGE = CHECKOUT / "dbt"
# Not in our environment, because it needs other versions of our dependencies.
DBT = Path(os.environ.get("PGCLARIFY_DBT", CHECKOUT / ".venv-dbt" / "bin" / "dbt"))


@dataclass(frozen=True)
class Done:
    """The result of an invocation of dbt.

    Attributes:
        code: Its exit code.
        log: Its output.
        results: Status and message of each model and test that was run, by name.
    """

    code: int
    log: str
    results: Mapping[str, tuple[str, str]]

    def statuses(self) -> dict[str, str]:
        """The status of each model and test."""
        return {name: status for name, (status, _) in self.results.items()}


class Forks:
    """A process that has loaded dbt, and forks for each invocation."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def start(self, request: Mapping[str, Any]) -> int:
        """Begin an invocation, and return its process id."""
        return self._ask(request)

    def wait(self, process_id: int) -> int:
        """Wait for the end of an invocation, and return its exit code."""
        return self._ask({"process_id": process_id})

    def _ask(self, request: Mapping[str, Any]) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@contextmanager
def loaded() -> Iterator[Forks]:
    """Load dbt in a process.

    Raises:
        AssertionError: If dbt is not installed.
    """
    assert DBT.exists(), f"there is no {DBT}: make dbt, or set PGCLARIFY_DBT"
    command = [DBT.parent / "python", Path(__file__).with_name("forking.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Forks(process)
        finally:
            process.terminate()


@dataclass(frozen=True)
class Project:
    """A copy of the package and of a project that uses it, with a schema of its own.

    Attributes:
        forks: Runs dbt.
        folder: The folder of the project.
        schema: The schema of its tables.
        variables: Environment variables for its connection to the database.
    """

    forks: Forks
    folder: Path
    schema: str
    variables: Mapping[str, str]

    @classmethod
    def create(cls, forks: Forks, installed: Path, dsn: str, user: str, schema: str) -> Project:
        """Make a project in a schema of its own.

        Args:
            forks: Runs dbt.
            installed: The folder of the installed project, from install.
            dsn: URL of the database.
            user: The role of dbt's connection.
            schema: The schema of its tables.
        """
        parameters = psycopg.conninfo.conninfo_to_dict(dsn)
        variables = {
            "PGCLARIFY_DBT_HOST": str(parameters["host"]),
            "PGCLARIFY_DBT_PORT": str(parameters.get("port", 5432)),
            "PGCLARIFY_DBT_USER": user,
            "PGCLARIFY_DBT_DATABASE": str(parameters["dbname"]),
            "PGCLARIFY_DBT_SCHEMA": schema,
        }
        return cls(forks, installed, schema, variables)

    def start(self, *arguments: str, **values: Any) -> int:
        """Start dbt, and return its process id.

        Args:
            arguments: Command and options.
            values: Variables of the project.
        """
        self._results.unlink(missing_ok=True)
        given = ["--vars", json.dumps(values)] if values else []
        options = ["--no-use-colors", "--profiles-dir", "."]
        return self.forks.start(
            {
                "folder": str(self.folder),
                "variables": dict(self.variables),
                "log": str(self._log),
                "arguments": [*arguments, *given, *options],
            }
        )

    def kill(self, process_id: int) -> None:
        """End a working dbt by SIGKILL."""
        os.kill(process_id, signal.SIGKILL)
        assert self.forks.wait(process_id) == -signal.SIGKILL, self._log.read_text()

    def run(self, *arguments: str, **values: Any) -> Done:
        """Run dbt. Any exit code is accepted."""
        return self.ended(self.start(*arguments, **values))

    def ended(self, process_id: int) -> Done:
        """Wait for the end of a dbt that was started, and return its result."""
        code = self.forks.wait(process_id)
        results: dict[str, tuple[str, str]] = {}
        if self._results.exists():
            for result in json.loads(self._results.read_text())["results"]:
                results[_name(result["unique_id"])] = (result["status"], result["message"] or "")
        return Done(code, self._log.read_text(), results)

    def done(self, *arguments: str, **values: Any) -> Done:
        """Run dbt, and require success."""
        done = self.run(*arguments, **values)
        assert done.code == 0, done.log
        return done

    def compiled(self, test: str) -> str:
        """The SQL of the latest run of a generic test."""
        (written,) = (self.folder / "target" / "compiled").rglob(f"{test}.sql")
        return written.read_text()

    @property
    def _results(self) -> Path:
        return self.folder / "target" / "run_results.json"

    @property
    def _log(self) -> Path:
        return self.folder / "printed.log"


def install(forks: Forks, folder: Path, name: str) -> Path:
    """Copy the package, and install it in a project that is part of it.

    Args:
        forks: Runs dbt.
        folder: An empty folder.
        name: The project's folder in the package.

    Returns:
        The project's folder in the copy.
    """
    left_out = shutil.ignore_patterns("target", "logs", "dbt_packages", "package-lock.yml")
    shutil.copytree(PACKAGE, folder / "dbt", ignore=left_out)
    project = Project.create(forks, folder / "dbt" / name, "host=nowhere dbname=none", "nobody", "nowhere")
    project.done("deps")
    return project.folder


def _name(unique_id: str) -> str:
    """The name of a model, or of a test. The id of a test ends with a hash."""
    kind, _, *names = unique_id.split(".")
    return names[0] if kind == "test" else names[-1]
