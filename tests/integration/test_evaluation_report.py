"""What the report of evaluations reads from the tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgclarify.evaluation.summaries import summarize
from pgclarify.reports.evaluation_page import evaluation_page
from pgclarify.reports.evaluation_tables import read_evaluations
from tests.integration.by_hand import Connection, MakeRole
from tests.integration.evaluating import CASE, OUTPUT, load, plan, tables_of
from tests.reported import Page, check_page


@pytest.fixture(autouse=True)
def corpus(connection: Connection) -> None:
    """The data set of all evaluations here."""
    load(connection)


async def test_all_metrics_and_outputs_of_what_is_shown(database: str) -> None:
    steps = [[1, 100, None], [2, 200, "We"], [3, 300, "Cars"]]
    cases = [replace(CASE, case_id=f"case {place}") for place in (1, 2)]
    async with tables_of(database) as tables:
        for name in ("day", "night"):
            eval_run_id = (await tables.begin(plan(name=name, planned_cases=2, settings={"name": name}))).eval_run_id
            rows = []
            for place, case in enumerate(cases, start=1):
                given = replace(OUTPUT, notes={"answers_by_call": steps} if place == 1 else {})
                rows.append({"answer_coverage": place / 2, "calls": 3.0, "seconds": 1.0})
                await tables.record(eval_run_id, place, case, given, rows[-1], [True, False])
            await tables.finish(eval_run_id, summarize(rows), {})
        assert [one.case_id for one in await tables.cases(eval_run_id, [2])] == ["case 2"]
        assert await tables.cases(eval_run_id, []) == []
        assert [one.ordinal for one in await tables.cases(eval_run_id)] == [1, 2]
        report = await read_evaluations(tables, [])

    assert [member.evaluation.plan.name for member in report.members] == ["day", "night"]
    assert report.members[0].values[2] == {"answer_coverage": 1.0, "calls": 3.0, "seconds": 1.0}
    curves = report.members[0].curves
    assert curves is not None
    # The second case had no result.
    assert curves.calls == [(0.0, 0.0), (1.0, 0.0), (2.0, 0.5), (3.0, 0.5)]
    assert [one.case_id for one in report.cases.shown] == ["case 1", "case 2"]
    assert [given.readings[0].answer for given in report.cases.shown[0].given] == ["Cars", "Cars"]
    page = Page(evaluation_page(report))
    check_page(page)
    assert "What is insured?" in page.text


async def test_a_stranger_reads_nothing(database: str, make_role: MakeRole) -> None:
    async with tables_of(database) as tables:
        eval_run_id = (await tables.begin(plan())).eval_run_id
        await tables.record(eval_run_id, 1, CASE, OUTPUT, {"calls": 3.0}, None)
    async with tables_of(database, make_role("pgclarify_user")) as others:
        assert await others.answers_by_call(eval_run_id) == []
        assert await others.cases(eval_run_id, [1]) == []
