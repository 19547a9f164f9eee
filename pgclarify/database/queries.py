"""Loads the named statements of the *.sql files in this folder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import LiteralString, cast

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
