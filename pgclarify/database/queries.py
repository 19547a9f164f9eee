"""The statements that this package sends: those of the *.sql files in this folder, and calls of SQL functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import LiteralString, cast

from psycopg import sql

from pgclarify.schema_names import PRIVATE_SCHEMA

_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


def parse(text: str) -> dict[str, LiteralString]:
    """Split a file of statements, each under a line "-- name: its_name".

    Raises:
        ValueError: If a name is repeated.
    """
    _, *parts = _NAME.split(text)
    names = parts[::2]
    if len(set(names)) < len(names):
        raise ValueError("a statement is named twice")
    # LiteralString is true: these are files of the package, and nothing is inserted into them.
    return {name: cast("LiteralString", body.strip()) for name, body in zip(names, parts[1::2], strict=True)}


def _load() -> Mapping[str, LiteralString]:
    folder = files("pgclarify.database")
    paths = sorted((path for path in folder.iterdir() if path.name.endswith(".sql")), key=lambda path: path.name)
    return parse("\n".join(path.read_text(encoding="utf-8") for path in paths))


queries = _load()


def statement(name: str, parameters: Iterable[str]) -> bytes:
    """Return the statement of that name, or else the call of the internal function of that name.

    Args:
        name: Its name.
        parameters: The names of its parameters.
    """
    return queries[name].encode() if name in queries else call(name, tuple(parameters))


@cache
def call(
    function: str, parameters: tuple[str, ...], *, schema: str = PRIVATE_SCHEMA, names_caller: bool = False
) -> bytes:
    """Return the call of a function by named arguments. The only value of a function is the column `result`.

    Args:
        function: Its name.
        parameters: The names of its parameters.
        schema: Its schema.
        names_caller: Whether it also has the parameter caller, for the signed name of the role that calls it.
    """
    arguments = [sql.SQL("{} => {}").format(sql.Identifier(name), sql.Placeholder(name)) for name in parameters]
    if names_caller:
        arguments.insert(0, sql.SQL("caller => caller").format())
    text = (
        "select result.* from pgclarify_private.caller, {}({}) as result"
        if names_caller
        else "select * from {}({}) as result"
    )
    return sql.SQL(text).format(sql.Identifier(schema, function), sql.SQL(", ").join(arguments)).as_bytes(None)
