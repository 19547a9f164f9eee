"""What was read and is not shown comes back with option include, and nothing else of it is seen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pgclarify import Client
from tests.integration.explaining import Desk, desk, explored, stage
from tests.integration.stored_answers import reading
from tests.sessions import Connection, scalar, sqlstate_of

__all__ = ["desk"]

LEVELS = {"certain": ["thirty days"], "likely": ["thirty days", "a week"], "all": ["thirty days", "a week", "a year"]}


def readings() -> list[dict[str, Any]]:
    said = [("thirty days", "certain", True), ("a week", "likely", True), ("a year", "all", False)]
    return [
        reading("How long is a rental paid for?", answer, rank=1)
        | {"level": level, "is_shown": is_shown, "probability": 0.9 - 0.3 * place}
        for place, (answer, level, is_shown) in enumerate(said)
    ]


@pytest.fixture
def run_id(desk: Desk) -> int:
    """A run that shows two readings of three."""
    run_id = desk.start(desk.enter("consolidate", {"consolidation": "default"}, explored(desk)))
    desk.worker.send("copy_verdicts", run_id=run_id, attempt=1)
    desk.worker.finish(run_id, interpretations=readings(), stages=[stage("consolidation", "00.000", 5, rows=2)])
    return run_id


def answers(connection: Connection, statement: str, *parameters: object) -> list[str]:
    return [row[0] for row in connection.execute(statement.encode(), parameters).fetchall()]


def test_a_finished_run_is_widened_without_another_run(desk: Desk, run_id: int) -> None:
    before = scalar(desk.owner, "select count(*) from pgclarify.run")
    for include, expected in [(None, LEVELS["likely"]), *LEVELS.items()]:
        statement = "select answer from pgclarify.result(%s, %s) order by ordinal"
        assert answers(desk.user, statement, run_id, include) == expected
        assert [one.answer for one in Client(desk.user).result(run_id, include=include)] == expected
    assert scalar(desk.owner, "select count(*) from pgclarify.run") == before
    assert sqlstate_of(desk.user, "select * from pgclarify.result(%s, 'some')", [run_id]) == "22023"


def test_a_widened_reading_has_its_proof_its_level_and_its_probability(desk: Desk, run_id: int) -> None:
    found = Client(desk.user).result(run_id, include="all")[-1]
    assert (found.level, round(found.probability or 0, 1), found.document_ids) == ("all", 0.3, ("101",))
    assert [one.quote for one in found.citations] == ["Cars"]


def test_views_show_no_more_than_before(desk: Desk, run_id: int) -> None:
    for view in ("interpretation", "citation"):
        statement = f"select answer from pgclarify.{view} where run_id = %s order by ordinal"  # noqa: S608 - two views
        assert answers(desk.user, statement, run_id) == LEVELS["likely"]
    counts = "select interpretations, less_sure from pgclarify.run where run_id = %s"
    assert desk.user.execute(counts, [run_id]).fetchone() == (2, 1)
    assert [one.interpretations for one in Client(desk.user).wait([run_id])] == [2]


def test_explain_says_why_a_reading_is_not_shown(desk: Desk, run_id: int) -> None:
    of_reading, of_rank = [line for line in desk.told(run_id).splitlines() if "Not shown" in line]
    assert "a year" in of_reading
    assert "probability=0.30" in of_reading
    assert "#3" in of_rank, "an option left it out"


def test_conservative_shows_its_first_reading_where_none_is_certain(desk: Desk) -> None:
    run_id = desk.start(desk.enter("consolidate", {"consolidation": "conservative"}, explored(desk)))
    desk.worker.send("copy_verdicts", run_id=run_id, attempt=1)
    unsure = [one | {"level": "likely", "is_shown": place == 0} for place, one in enumerate(readings())]
    desk.worker.finish(run_id, interpretations=unsure, stages=[])
    for include, expected in ((None, 1), ("certain", 1), ("likely", 3)):
        assert len(Client(desk.user).result(run_id, include=include)) == expected


def test_a_run_that_is_submitted_says_where_the_option_belongs(desk: Desk) -> None:
    statement = "select pgclarify.submit('clarify', 'cars', 'insurance', %s)"
    assert sqlstate_of(desk.user, statement, [json.dumps({"include": "all"})]) == "22023"
