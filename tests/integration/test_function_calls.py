"""Every call of a function of ours in the package names a function and parameters that the database has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import pgclarify
from pgclarify.database.queries import queries

pytestmark = pytest.mark.rolled_back

# Functions and methods that get the name of a SQL function, and its arguments by name; and those that also take a dict.
BY_NAME = {"drop_orphans", "fetch", "fetch_value", "fetch_within", "repeat", "_fetch"}
CALLERS = BY_NAME | {"Call", "call", "_do"}
# Some of them add these.
ADDED = {"run_id", "attempt", "caller"}


def calls() -> Iterator[tuple[str, str, list[str], bool]]:
    """Yield where a function is called, its name, the names of arguments that the code shows, and if these are all."""
    for path in Path(pgclarify.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            caller = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
            if isinstance(node, ast.Call) and caller in CALLERS:
                is_all = caller in BY_NAME and all(key.arg is not None for key in node.keywords)
                named = [key.arg for key in node.keywords if key.arg is not None and key.arg != "names_caller"]
                dicts = [each.keys for each in node.args if isinstance(each, ast.Dict)]
                named += [str(key.value) for keys in dicts for key in keys if isinstance(key, ast.Constant)]
                texts = [each.value for each in node.args if isinstance(each, ast.Constant)]
                for name in texts:
                    if isinstance(name, str) and name.isidentifier() and name not in queries:
                        yield f"{path.name}:{node.lineno}", name, named, is_all


def test_every_call_names_a_function_and_its_parameters(connection: psycopg.Connection[Any]) -> None:
    functions = connection.execute("""
        select proname, coalesce(proargnames[:pronargs], '{}'), coalesce(proargnames[:pronargs - pronargdefaults], '{}')
        from pg_proc
        where pronamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
    """).fetchall()
    found = list(calls())
    assert len(found) > 80
    assert [
        (place, name, named)
        for place, name, named, is_all in found
        if not any(
            name == function and set(named) <= set(known) and (not is_all or set(needed) <= ADDED.union(named))
            for function, known, needed in functions
        )
    ] == []
