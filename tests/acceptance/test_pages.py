"""Runs the commands of the pages as they are: block by block in a shell, in a house with the files that they need."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from pgclarify.embedded.programs import binary
from tests.acceptance.conftest import House
from tests.pages import PAGES, blocks

# The first words of lines that are not run here. Their commands and options must exist all the same.
EXEMPT = {
    "make ": "installs and runs all of this; `make demo` is the command demo, which test_command_line.py runs",
    "pgclarify demo": "test_command_line.py runs it",
    "pip install": "the package is not there to be downloaded; test_wheel.py installs it",
    "uvx ": "may not be installed; it does what test_wheel.py does with pip",
    "docker compose": "there are no containers here; test_compose.py looks through the file",
    "export POSTGRES_PASSWORD": "is for docker compose",
    "export OPENAI_": "these endpoints are not here, or cost money; a worker would be started for them",
    "export OTEL_": "there is no collector here; test_traces.py has one",
    "pgclarify use": "names a server and a file that are not here; test_using.py uses others",
    "pgclarify down": "stands where a worker is started anew for such an endpoint",
    "pgclarify up": "the house has its server and worker",
    "pgclarify ui": "serves until it is interrupted; test_ui.py opens it",
    "pgclarify doctor": "exits with 1 if there is no worker, as on some pages; test_doctor.py has its findings",
    "pgclarify worker": "serves until it is interrupted; every test with a worker starts one",
    "pgclarify install-extension": "writes into the folder of a server; test_wheel.py runs it",
    "pgclarify import-pgai": "needs a database with pgai; test_import_pgai.py has one",
    "pgclarify load letters ~/scans": "needs the data of a language; test_scans.py reads pictures",
    "pgclarify load handbook ~/letters": "test_loading.py loads folders under prefixes,",
    "pgclarify load handbook . --as": "under names, and with --mirror",
    "pgclarify corpus remove": "asks before it removes; test_loading.py says yes,",
    "pgclarify corpus drop": "and before it drops the corpus that other lines ask",
    'psql "$(pgclarify dsn)" -c "create role': "asks for a password",
    "pgclarify ask 'rental cars' --corpus insurance": "asks documents of the demo; test_tutorial.py runs it",
    "pgclarify feedback ": "rates that answer; test_tutorial.py runs it, too,",
    "pgclarify eval from-feedback": "and this,",
    "pgclarify eval run feedback.jsonl": "and these",
    "pgclarify eval compare before after": "two",
    "pgclarify eval run questions.jsonl --corpus handbook --method clarify --method rac": "needs a language model",
}
LEAVE = ("it", "parental leave")
FILES = {
    "handbook/leave.md": "Paid parental leave lasts sixteen weeks. Unused annual leave expires on March 31.\n",
    "questions.jsonl": json.dumps({"question": "parental leave", "answers": ["sixteen weeks"]}) + "\n",
    "searches.txt": "parental leave\nannual leave\n",
    "labelled.csv": "question,is_ambiguous\n"
    + "".join(
        f"How long does {what} last in office {number}?,{what == 'it'}\n" for number in range(80) for what in LEAVE
    ),
}
# Names on the pages of things with other names here: a database, a run, evaluations.
STANDS_FOR = {
    "postgresql://admin@db.example/app": "'{own}'",
    "-c 'drop database pgclarify' -c 'create database pgclarify'": (
        "-c 'drop database readers_own' -c 'create database readers_own'"
    ),
    "explain 42": "explain {run_id}",
    # The demo makes it, and another test of this house may have run the demo.
    "grant_access('insurance'": "grant_access('claims'",
    "eval compare 12 13": "eval compare {eval_ids}",
    "eval report 12 13": "eval report {eval_ids}",
}


def lines(page: Path) -> list[str]:
    """The lines of a page's blocks, in order."""
    return [line for block in blocks(page, "sh") for line in block.code.splitlines() if line.strip()]


def is_exempt(line: str) -> bool:
    return line.startswith(tuple(EXEMPT))


def translated(line: str, **names: str) -> str:
    """A line without its comment, and with the names that things have here."""
    line = re.sub(r"\s+#.*", "", line)
    for name, replacement in STANDS_FOR.items():
        line = line.replace(name, replacement.format(**names))
    return line


@pytest.fixture(scope="module")
def furnished(house: House) -> Iterator[House]:
    """A house with the files, logins and corpora of the pages, and a database that stands for the reader's database."""
    for name, content in FILES.items():
        path = house.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    programs = house.folder / "programs"
    programs.mkdir()
    (programs / "pgclarify").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pgclarify.cli "$@"\n')
    (programs / "pgclarify").chmod(0o755)
    house.done("load", "handbook", "handbook")
    dsn = house.done("dsn").strip()
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("create database readers_own")
        for login in ("dashboard", "dbt"):
            connection.execute(sql.SQL("create role {} login").format(sql.Identifier(login)))
        connection.execute("select pgclarify.create_corpus('claims')")
    yield replace(
        house,
        variables={
            "HOME": str(house.folder),
            "PATH": os.pathsep.join([str(programs), str(binary("pg_dump").parent), os.environ["PATH"]]),
            # The program that opens a page in the browser.
            "BROWSER": "true",
        },
    )


def test_commands_of_the_pages_run(furnished: House) -> None:
    run_id = furnished.sql("select pgclarify.submit('clarify', 'annual leave', corpus => 'handbook')")
    own = psycopg.conninfo.make_conninfo(furnished.done("dsn").strip(), dbname="readers_own")
    # The runs of the README, which comes first. Another test of this house may have made runs before.
    last = int(furnished.sql("select coalesce(max(eval_run_id), 0) from pgclarify.evaluation"))
    names = {"run_id": run_id, "own": own, "eval_ids": f"{last + 1} {last + 2}"}
    done: set[str] = set()
    for page in PAGES:
        # A line that occurs several times is run once. Variables apply to their page.
        here = dict.fromkeys(translated(line, **names) for line in lines(page) if not is_exempt(line))
        todo = [line for line in here if line not in done]
        ours = {line for line in todo if not line.startswith("export ")}
        if ours:
            done |= ours
            run("\n".join(todo), furnished, page)


def run(script: str, house: House, page: Path) -> None:
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("PGCLARIFY_", "OPENAI_", "PG"))
    }
    with tempfile.TemporaryFile("w+") as printed:
        done = subprocess.run(
            ["bash", "-eux", "-o", "pipefail", "-c", script],
            env=inherited
            | {"PGCLARIFY_DATA_DIR": str(house.folder / "data"), "OMP_NUM_THREADS": "1"}
            | house.variables,
            cwd=house.folder,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=1200,
        )
        printed.seek(0)
        assert done.returncode == 0, f"{page}\n{printed.read()}"


def test_exempted_commands_are_on_the_pages() -> None:
    """An exemption without a line must be removed."""
    there = [line for page in PAGES for line in lines(page)]
    assert [beginning for beginning in EXEMPT if not any(line.startswith(beginning) for line in there)] == []
    assert [name for name in STANDS_FOR if not any(name in line for line in there)] == []
