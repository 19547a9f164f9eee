"""An evaluation with figures that are none is refused: the view of evaluations would fail for all who see it."""

from __future__ import annotations

import json

import pytest

from tests.integration.evaluating import evaluate
from tests.integration.manual_worker import MAKE_OPEN_CORPUS
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back

FINISH = "select pgclarify_private.finish_evaluation(caller, %s, %s) from pgclarify_private.caller as caller"
FIGURE = {"value": 0.5, "low": None, "high": 0.75, "cases": 2}


@pytest.fixture
def user(connection: Connection, connect: Connect, make_role: MakeRole) -> Connection:
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    return connect(make_role("pgclarify_user"))


def test_figures_that_a_view_cannot_show_are_refused(user: Connection, connection: Connection) -> None:
    eval_run_id = evaluate(user, planned_cases=1)
    wrong = [FIGURE | {"value": "high"}, FIGURE | {"value": [1]}, FIGURE | {"cases": 0.5}, FIGURE | {"cases": 10**12}]

    for figures in ([], *({"coverage": figure} for figure in (1, "high", *wrong))):
        assert sqlstate_of(user, FINISH, [eval_run_id, json.dumps(figures)]) is not None, figures

    assert scalar(connection, "select count(*) from pgclarify.evaluation where value is null and cases is null") == 1


def test_figures_are_shown_as_they_were_given(user: Connection, connection: Connection) -> None:
    eval_run_id = evaluate(user, planned_cases=1)

    assert scalar(user, FINISH, eval_run_id, json.dumps({"coverage": FIGURE, "cost_usd": FIGURE | {"value": 1 / 3}}))

    shown = connection.execute("select figure, value, low, high, cases from pgclarify.evaluation order by figure")
    assert shown.fetchall() == [("cost_usd", 1 / 3, None, 0.75, 2), ("coverage", 0.5, None, 0.75, 2)]
