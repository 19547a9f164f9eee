"""Texts of documents, users and models, sanitized and short."""

from __future__ import annotations

import pytest

from pgclarify.client.remarks import title_of_passage
from pgclarify.language.foreign_text import sanitize
from tests.integration.explaining import Desk, desk, reading, stage
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.sessions import Connection, scalar

pytestmark = pytest.mark.rolled_back

__all__ = ["desk"]


@parametrize_in_one_test(
    "given, shown",
    [
        ("a\U000e0041b", "a\\U000e0041b"),
        ("\U0001d173", "\\U0001d173"),
        ("\u034f\u115f\u1160\u3164\uffa0", "\\u034f\\u115f\\u1160\\u3164\\uffa0"),
        ("\u180b\ufe0f\u2800", "\\u180b\\ufe0f\\u2800"),
        (" " * 3000 + "x", "x"),
        ("x" + " " * 3000 + "y", "x…"),
        ("x" + " " * 3000, "x"),
        ("x" * 100, "x" * 100),
        ("x" * 101, "x" * 99 + "…"),
        ("Grüße, 世界 👋", "Grüße, 世界 👋"),
    ],
)
def test_invisible_characters_are_spelt_out(connection: Connection, given: str, shown: str) -> None:
    assert scalar(connection, "select pgclarify_private.shown(%s)", given) == shown


def test_sql_and_python_spell_out_the_same_characters(connection: Connection) -> None:
    # The planes between these have no control characters. PostgreSQL stores neither NUL nor half surrogate pairs.
    points = {*range(1, 0x20000), *range(0xE0000, 0xE1000)} - {*range(0xD800, 0xE000), *map(ord, " \t\n\v\f\r")}
    letters = "".join(map(chr, sorted(points)))
    assert scalar(connection, "select pgclarify_private.shown(%s, 1000000)", letters) == sanitize(letters)


def test_foreign_text_stays_harmless_and_short(desk: Desk) -> None:
    hostile = "\x1b[2J\x07[bold]a\nb\u202ec\u2028d\te\r\nf\x85  "
    sanitized = "\\u001b[2J\\u0007[bold]a b\\u202ec\\u2028d e f\\u0085"
    long = "x" * 5000
    desk.owner.execute(
        "select pgclarify.add_document('insurance', %s, %s, %s)", [f"1{hostile}", "# H\n\nA passage.", hostile + long]
    )
    desk.worker.index_everything()
    desk.passages = dict(desk.owner.execute("select document_id, id from pgclarify.passage").fetchall())
    run_id = desk.start(desk.submit(hostile + long))
    desk.choose(run_id, (f"1{hostile}", 0.8, "dense", None, 1), ("101", 0.7, "dense", None, 1))
    desk.decide(run_id, 1, "grounded", interpretation=hostile + long, answer=hostile)
    desk.decide(run_id, 2, "failed", error=hostile + "\n" * 3000 + long)
    desk.worker.finish(
        run_id,
        status="partial",
        interpretations=[reading(hostile + long, hostile, 1, 1)],
        stages=[stage("judgement", "00.000", 5, note=hostile + long), stage("consolidation", "00.005", 5)],
        stop_reason=hostile,
    )
    told = desk.told(run_id)

    lines = told.splitlines()
    assert not set(told) & set(hostile.replace("[bold]abcdef ", "")) - set("[2Jbolda]cef \n")
    assert all(line == line.rstrip() for line in lines)
    assert max(map(len, lines)) < 320
    assert f"  Stopped: {sanitized}" in lines
    assert sum(sanitized in line for line in lines) >= 7
    assert sum(line.count("…") for line in lines) >= 5
    assert len(lines) == 18


@parametrize_in_one_test(
    "title, heading, shown",
    [
        ("Beer", "Beer", "Beer"),
        ("Beer", "Beer > Hops", "Beer > Hops"),
        ("Beer", "Beers > Hops", "Beer > Beers > Hops"),
        ("Beer", None, "Beer"),
        (None, "Hops", "Hops"),
        (None, None, None),
    ],
)
def test_a_title_that_is_the_first_heading_is_told_once(
    connection: Connection, title: str | None, heading: str | None, shown: str | None
) -> None:
    """The same in SQL, for explanations and pages, and in Python, for rows of citations."""
    assert scalar(connection, "select pgclarify_private.title_of_passage(%s, %s)", title, heading) == shown
    assert title_of_passage(title, heading) == (shown or "")
