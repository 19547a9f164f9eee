"""The SQL reference agrees with the database, and shows each comment unchanged."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

import pgclarify.tables
from website import reference, tables

pytestmark = pytest.mark.rolled_back


def test_the_reference_shows_the_comments_of_the_database(connection: psycopg.Connection[Any]) -> None:
    written = {path.name: path.read_text() for path in reference.FOLDER.iterdir()}
    assert written == reference.pages(connection), "run make reference to write them again"


def test_the_tables_of_sqlalchemy_are_the_views(connection: psycopg.Connection[Any]) -> None:
    assert tables.FILE.read_text() == tables.render(connection), "run make reference to write them again"
    assert {table.name for table in pgclarify.tables.metadata.sorted_tables} == json.loads(
        tables.FILE.read_text()
    ).keys()


def test_every_parameter_has_a_meaning(connection: psycopg.Connection[Any]) -> None:
    for page in reference.pages(connection).values():
        assert not [line for line in page.splitlines() if line.endswith(("| |", "|  |"))]
