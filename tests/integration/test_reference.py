"""The SQL reference agrees with the database, and shows each comment unchanged."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest
from markdown_it import MarkdownIt

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


@pytest.mark.parametrize(
    "comment",
    [
        "<script>alert(1)</script> & <b>bold</b>",
        "a | b || c",
        "*not* _emphasized_ `or` code",
        "[no](http://link.example) and ![no](image.png)",
        "\\* ~~struck~~ \\m",
        "one\n\n# and a heading",
    ],
)
def test_comments_are_shown_and_nothing_else(comment: str) -> None:
    table = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    (inline,) = (
        token
        for token in table.parse(f"| a |\n|---|\n| {reference.escaped(comment)} |\n")
        if token.type == "inline" and token.content != "a"
    )
    assert {child.type for child in inline.children or []} <= {"text", "text_special"}
    assert "".join(child.content for child in inline.children or []) == " ".join(comment.split())


def test_a_comment_is_taken_apart() -> None:
    comment = reference.take_apart(
        "Does this. And that: really. a, b: what they are. c: 1 to 10. The rest as in other.",
        ["a", "b", "c", "d"],
    )
    assert comment.parameters == {"a": "what they are", "b": "what they are", "c": "1 to 10"}
    assert comment.text == "Does this. And that: really. The rest as in other."
    assert comment.like == "other"
