"""Weaken the installed schema in one place at a time, and run the tests that should notice it. Survivors need a test.

python -m benchmarks.faults.sql_mutants policies|checks|functions [--only TEXT] [--sample N] [--tests FILE ...] [--list]

policies: open each policy of row-level security, drop one of its conditions, or switch it off; empty each view that
withholds rows. checks: drop each CHECK. functions: remove one lock, turn one error into nothing, or let a function
that decides about rights say yes.

Each result is a JSON line. It needs no server: the tests' own server runs until the last mutant.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from tests import servers
from tests.servers.templates import LOADED, TEMPLATE

SOUND = f"{TEMPLATE}_sound"
INTEGRATION = Path("tests/integration")
TESTS = {
    "policies": [
        "test_every_policy.py",
        "test_policies.py",
        "test_nothing_leaks.py",
        "test_nothing_leaks_of_dialogues.py",
        "test_hidden_documents.py",
        "test_budget_edits.py",
        "test_closed_corpora.py",
        "test_ambiguity_rule.py",
    ],
    "checks": ["test_every_check.py"],
}
# Of a function: these many test files, those that name it, or else its callers, most often.
FILES = 4
SECONDS = 300
_PROCESSES = multiprocessing.get_context("fork")
POLICIES = """
    select p.polname, p.polrelid::regclass::text, pg_get_expr(p.polqual, p.polrelid)
    from pg_policy as p
    where pg_get_expr(p.polqual, p.polrelid) <> 'true'
    order by p.polname
"""
VIEWS = """
    select c.oid::regclass::text, pg_get_viewdef(c.oid)
    from pg_class as c
    where c.relkind = 'v' and c.relname like 'withheld%'
    order by c.relname
"""
CHECKS = """
    select c.conname, c.conrelid::regclass::text
    from pg_constraint as c
    where c.contype = 'c' and c.connamespace = 'pgclarify_private'::regnamespace and c.coninhcount = 0
    order by c.conname
"""
FUNCTIONS = """
    select p.proname, p.oid::regprocedure::text, pg_get_functiondef(p.oid), p.prorettype::regtype::text, l.lanname
    from pg_proc as p
    join pg_language as l on l.oid = p.prolang
    where p.pronamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
        and l.lanname in ('sql', 'plpgsql')
    order by p.oid::regprocedure::text
"""
LOCK = re.compile(
    r"\bfor (?:no key update|update|share|key share)(?: of [\w.]+(?:, [\w.]+)*)?(?: nowait| skip locked)?(?=[\s;)])",
    re.I,
)
ADVISORY = re.compile(r"\bperform (?:pg_catalog\.)?pg_advisory_(?:xact_)?lock\w*\((?:[^;']|'[^']*')*\);", re.IGNORECASE)
GUARD = re.compile(r"\braise exception (?:[^;']|'[^']*')*;", re.IGNORECASE)
# A function in a statement of a test, or a statement that a worker sends.
CALLED = re.compile(r"\bpgclarify(?:_private)?\.(\w+)|\bsend\(\s*\"(\w+)")
RIGHTS = re.compile(r"(may_\w+|belongs_to|is_among|is_readable\w*|is_proven\w*)$")


@dataclass(frozen=True)
class Mutant:
    """One change of the schema, and the tests that should fail."""

    name: str
    change: str
    tests: Sequence[str]


def conditions(expression: str) -> tuple[str, list[str]]:
    """The outermost operator of an expression as PostgreSQL writes it, AND or OR, and its operands."""
    depth, start, inner, operator, found = 0, 0, expression[1:-1], "", []
    for place, letter in enumerate(inner):
        depth += (letter == "(") - (letter == ")")
        here = re.match(r" (AND|OR) ", inner[place:]) if depth == 0 else None
        if here:
            operator = here[1]
            found.append(inner[start:place])
            start = place + len(here[0])
    return operator, [*found, inner[start:]] if found else []


def of_policies(connection: psycopg.Connection[Any], tests: Sequence[str]) -> Iterator[Mutant]:
    """Policies that admit all rows, or that lack one condition."""
    for name, table, expression in connection.execute(POLICIES).fetchall():
        change = f"alter policy {name} on {table} using ({{}})"
        yield Mutant(f"{name}: true", change.format("true"), tests)
        yield Mutant(f"{name}: disabled", f"alter table {table} disable row level security", tests)
        operator, operands = conditions(expression)
        for number, operand in enumerate(operands, 1):
            weaker = expression.replace(operand, "true" if operator == "AND" else "false", 1)
            yield Mutant(f"{name}: without condition {number}", change.format(weaker), tests)
    for view, definition in connection.execute(VIEWS).fetchall():
        empty = "create or replace view {} as select * from ({}) as whole where false"
        yield Mutant(f"{view}: empty", empty.format(view, definition.rstrip(";")), tests)


def of_checks(connection: psycopg.Connection[Any], tests: Sequence[str]) -> Iterator[Mutant]:
    """Tables without one CHECK."""
    for name, table in connection.execute(CHECKS).fetchall():
        yield Mutant(name, f"alter table {table} drop constraint {name}", tests)


def of_functions(connection: psycopg.Connection[Any], tests: Sequence[str]) -> Iterator[Mutant]:
    """Functions without one lock or error, and decisions about rights that are always yes."""
    functions = connection.execute(FUNCTIONS).fetchall()
    words = {
        path.name: Counter(first or second for first, second in CALLED.findall(path.read_text()))
        for path in sorted(INTEGRATION.glob("test_*.py"))
    }
    for name, signature, definition, result, language in functions:
        changes = dict(_weaker(name, definition, result, language))
        if changes:
            chosen = tests or _naming(name, {other: text for other, _, text, *_ in functions}, words)
        for kind, change in changes.items():
            yield Mutant(f"{signature}: {kind}", change, chosen)


def _naming(name: str, functions: Mapping[str, str], words: Mapping[str, Counter[str]]) -> list[str]:
    """The test files that name a function most often, then those that name its callers, and theirs."""
    names, before, chosen = {name}, set[str](), dict[str, None]()
    while names != before and len(chosen) < FILES:
        mentions = Counter({file: sum(count[other] for other in names) for file, count in words.items()})
        chosen |= dict.fromkeys(file for file, count in mentions.most_common() if count)
        before = names
        called = re.compile(rf"\b({'|'.join(names)})\b")
        names = names | {other for other, text in functions.items() if called.search(text)}
    return list(chosen)[:FILES]


def _weaker(name: str, definition: str, result: str, language: str) -> Iterator[tuple[str, str]]:
    for kind, pattern, instead in (("lock", LOCK, ""), ("advisory", ADVISORY, "null;"), ("guard", GUARD, "null;")):
        for number, found in enumerate(pattern.finditer(definition), 1):
            yield f"without {kind} {number}", definition[: found.start()] + instead + definition[found.end() :]
    yes = {"boolean": "select true", "void": "select"}.get(result)
    if yes and (RIGHTS.match(name) or name.startswith("check_")):
        head = re.sub(rf"\bLANGUAGE {language}\b", "LANGUAGE sql", re.split(r"\n(?:AS \$|BEGIN ATOMIC)", definition)[0])
        yield "always passes", f"{head}\nas $yes$ {yes} $yes$"


class Laboratory:
    """The tests' server, with a sound template that mutants are copied from."""

    def __init__(self) -> None:
        self._uid = uuid4().hex[:8]
        self._folder = servers.folder_of_servers() / f"pgclarify-tests-{self._uid}"
        # The server stops with its last visitor, and this process is one.
        (self._folder / "visitors").mkdir(parents=True)
        (self._folder / "visitors" / str(os.getpid())).touch()

    def prepare(self, kind: str, only: str, tests: Sequence[str]) -> list[Mutant]:
        """Let the tests make their template, set it aside, and list its mutants."""
        assert not (failed := self.failing(["test_every_policy.py"])), f"{failed} fails without a mutant"
        self._server = servers.in_database(servers.start("18", self._folder / "server"), "postgres")
        self._administer("alter database {} allow_connections true", TEMPLATE)
        self._administer("alter database {} rename to {}", TEMPLATE, SOUND)
        make = {"policies": of_policies, "checks": of_checks, "functions": of_functions}[kind]
        with closing(psycopg.connect(servers.in_database(self._server, SOUND), autocommit=True)) as connection:
            connection.execute("set search_path = ''")
            return [mutant for mutant in make(connection, tests or TESTS.get(kind, [])) if only in mutant.name]

    def noticed_by(self, mutant: Mutant) -> list[str]:
        """The first test that fails with a mutant; empty if it survives."""
        # The tests make the template with a corpus anew, from this one.
        for name in (LOADED, TEMPLATE):
            self._administer("drop database if exists {} with (force)", name)
        self._administer("create database {} template {} strategy wal_log", TEMPLATE, SOUND)
        with closing(psycopg.connect(servers.in_database(self._server, TEMPLATE), autocommit=True)) as connection:
            connection.execute(mutant.change.encode())
        return self.failing(mutant.tests)

    def failing(self, tests: Sequence[str]) -> list[str]:
        """The first test that fails."""
        here, there = _PROCESSES.Pipe(duplex=False)
        process = _PROCESSES.Process(target=_run, args=(self._uid, tests, there))
        process.start()
        there.close()
        if here.poll(SECONDS):
            failed = here.recv()
        else:
            failed = [f"no end within {SECONDS} s"]
            process.kill()
        process.join()
        return list(failed)

    def close(self) -> None:
        """Stop the server and remove it."""
        servers.stop("18", self._folder / "server")
        shutil.rmtree(self._folder)

    def _administer(self, statement: str, *names: str) -> None:
        with closing(psycopg.connect(self._server, autocommit=True)) as connection:
            connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


class _Watcher:
    """A plugin that gives the tests our server, and remembers which fail."""

    uid = ""

    def __init__(self) -> None:
        self.failed: list[str] = []

    @pytest.fixture(scope="session")
    @classmethod
    def testrun_uid(cls) -> str:
        """As that of pytest-xdist, which is left out because it starts processes."""
        return cls.uid

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the names of failed tests."""
        if report.failed:
            self.failed.append(report.nodeid.removeprefix(f"{INTEGRATION}/"))


def _run(uid: str, tests: Sequence[str], result: Connection) -> None:
    """Run tests in a copy of this process, which has imported everything."""
    _Watcher.uid = uid
    watcher = _Watcher()
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
    files = [str(INTEGRATION / test) for test in tests]
    quiet = ["-p", "no:xdist", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    pytest.main(["-q", "-x", "--tb=no", *quiet, *files], plugins=[watcher])
    result.send(watcher.failed)


def main() -> None:
    """Try the mutants of a kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("policies", "checks", "functions"))
    parser.add_argument("--only", default="", help="mutants whose names contain this")
    parser.add_argument("--sample", type=int, help="so many of them, drawn at random, always the same")
    parser.add_argument("--tests", nargs="*", default=[], help="files of tests/integration, in place of the usual ones")
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    given = parser.parse_args()
    laboratory = Laboratory()
    try:
        mutants = laboratory.prepare(given.kind, given.only, given.tests)
        if given.sample is not None and given.sample < len(mutants):
            mutants = random.Random(45).sample(mutants, given.sample)  # noqa: S311 - not for secrets
        survived = 0
        for mutant in mutants:
            if given.list:
                print(json.dumps(asdict(mutant)))
                continue
            started = time.monotonic()
            noticed = laboratory.noticed_by(mutant)
            survived += not noticed
            result = {"mutant": mutant.name, "noticed_by": noticed, "seconds": round(time.monotonic() - started, 1)}
            print(json.dumps(result if noticed else {**result, "tests": mutant.tests}), flush=True)
        if not given.list:
            print(json.dumps({"mutants": len(mutants), "killed": len(mutants) - survived}))
    finally:
        laboratory.close()


if __name__ == "__main__":
    main()
