"""The output and the files of eval paper: our rows beside those of a paper, with notes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pgclarify.cli import paper_rendering
from pgclarify.cli.papers import _Clock
from pgclarify.errors import ConfigurationError, PgclarifyError
from pgclarify.evaluated import Case, Summary, Usage
from pgclarify.evaluation.configurations import Configuration
from pgclarify.evaluation.data_sets import DataSet
from pgclarify.evaluation.estimate import ConfigurationEstimate
from pgclarify.evaluation.papers.data import PaperData
from pgclarify.evaluation.papers.planning import RowPlan, TablePlan
from pgclarify.evaluation.papers.tables import Column, Paper, PaperTable, Row
from pgclarify.evaluation.runner import Finished
from tests.evaluated_cases import PLAN
from tests.unit.cli.test_evaluating import HOSTILE, shown

COLUMNS = (
    Column("|Q|", "interpretations", "number"),
    Column("G-Precision", "grounded_precision"),
    Column("nDCG", "ndcg@10", "share", note="another gold"),
    Column("multi", "answer_f1", stratum="answers=several"),
)
ROWS = (
    Row("Ours", "clarify", figures={"GPT-4o": (3.16, 92.82, 0.5, None)}, note="as it is"),
    Row("DtV", "dtv", figures={"GPT-4o": (1.73, 72.34, 0.25, 38.8)}),
)
TABLE = PaperTable("Table 2", "Readings", "ASQA, 948 questions", ("ours",), (), COLUMNS, ROWS)
PAPER = Paper("verdict", "A paper", (TABLE,), {}, "Three models.")
NO_MODEL = ConfigurationError("it takes a language model", detail="There is none.", hint="Set one.")


def planned(
    summaries: Mapping[str, Summary], *, obstacle: PgclarifyError | None = NO_MODEL, **changes: Any
) -> TablePlan:
    data_set = DataSet("ours", (Case("1", "cars"),), 9, bytes(32))
    data = PaperData(data_set, "paper-ours", lambda: iter(()), 12, 500.0, "seen before")
    given: dict[str, Any] = {"strata": {}, "failures": {}, "judge": "gpt-4o", **changes}
    plan = replace(PLAN, data_set="ours", planned_cases=9, judge=given["judge"])
    finished = Finished(7, plan, summaries, given["strata"], 0, Usage(), given["failures"])
    rows = [RowPlan(row, Configuration(row.name, row.method)) for row in ROWS]
    rows[0].finished, rows[1].obstacle = finished, obstacle
    return TablePlan(TABLE, data, rows)


SUMMARIES = {
    "interpretations": Summary(2.5, 2.0, 3.0, 9),
    "grounded_precision": Summary(0.5, 0.25, 0.75, 9),
    "ndcg@10": Summary(0.125, 0.1, 0.2, 4),
    "failed": Summary(0.0, 0.0, 0.0, 9),
}


def cells(one: TablePlan) -> list[Sequence[str]]:
    text = paper_rendering.written(".md", PAPER, [one])
    return [[cell.strip() for cell in line.split(" | ")] for line in text.splitlines() if line.startswith("|")]


def test_ours_stands_beside_the_paper_s_written_alike() -> None:
    _, _, ours, theirs, left_out, others = cells(planned(SUMMARIES))
    assert ours == ["| Ours", "here", "2.50", "50.0 [25, 75]", "0.125 [0.10, 0.20]", "- |"]
    assert theirs == ["|", "GPT-4o", "3.16", "92.82", "(0.500)", "|"]
    assert left_out[:3] == ["| DtV", "here", "-"]
    assert others == ["|", "GPT-4o", "1.73", "72.34", "(0.250)", "38.8 |"]


def test_a_stratum_needs_as_many_questions_as_anywhere() -> None:
    several = {"answers=several": {"answer_f1": Summary(0.25, None, None, 5)}}
    assert cells(planned(SUMMARIES, strata=several))[2][-1] == "25.0 |"
    few = {"answers=several": {"answer_f1": Summary(0.25, None, None, 4)}}
    one = planned(SUMMARIES, strata=few)
    assert cells(one)[2][-1] == "- |"
    assert "No figures here: multi: fewer than 5" in paper_rendering.written(".md", PAPER, [one])


def test_a_stratum_of_all_questions_has_the_figures_of_all() -> None:
    """An evaluation has no stratum with all of its cases."""
    one = planned({**SUMMARIES, "answer_f1": Summary(0.25, None, None, 9)})
    assert one.data is not None
    assert cells(one)[2][-1] == "- |"
    several = Case("1", "cars", answer_sets=((("a car",), ("a van",)),))
    one.data = replace(one.data, data_set=replace(one.data.data_set, cases=(several,)))
    assert cells(one)[2][-1] == "25.0 |"
    assert not any("fewer than" in note for note in paper_rendering._notes(one))


def test_what_has_to_be_known_stands_below() -> None:
    failed = {**SUMMARIES, "failed": Summary(2 / 9, 0.0, 0.5, 9), "unjudged": Summary(3 / 9, 0.0, 0.5, 9)}
    told = shown(paper_rendering.tables(PAPER, [planned(failed, failures={"too long": 2})]), width=200)
    for text in (
        "The paper: ASQA, 948 questions.",
        "Here: 9 of 9 questions of ours",
        "small (openai)",
        "ours: seen before.",
        "nDCG: another gold.",
        "Ours: as it is.",
        "Ours: 2 questions failed, and counted as nothing: too long",
        "3 judgements of Ours failed.",
        "Left out: DtV: it takes a language model. There is none.",
        "nDCG is over 4 questions.",
        "Not made: Three models.",
    ):
        assert text in told, text


def test_a_narrow_terminal_shows_the_names_of_rows_and_whole_figures() -> None:
    told = shown(paper_rendering.tables(PAPER, [planned(SUMMARIES)]), width=64)
    table = told.partition("The paper:")[0]
    for text in ("Ours", "DtV", "here", "GPT-4o", "50.0", "75]", "0.125", "0.20]", "92.82"):
        assert text in table
    assert "…" not in table


def test_one_reason_why_figures_do_not_compare_stands_once() -> None:
    one = planned(SUMMARIES)
    columns = (*COLUMNS, Column("nDCG (multi)", "ndcg@10", "share", stratum="answers=several", note="another gold"))
    one.table = replace(TABLE, columns=columns, rows=())
    one.rows = []
    assert "- nDCG; nDCG (multi): another gold." in paper_rendering._notes(one)


def test_without_a_language_model_the_table_says_so() -> None:
    one = planned(SUMMARIES)
    finished = one.rows[0].finished
    assert finished is not None
    one.rows[0].finished = replace(finished, plan=replace(finished.plan, provider="extractive", model="extractive-3"))
    assert "no language model (provider extractive)" in paper_rendering.written(".md", PAPER, [one])


def test_rows_with_one_reason_are_left_out_together() -> None:
    one = planned(SUMMARIES)
    alone = paper_rendering.left_out([one])
    assert alone is not None
    assert alone.plain == "Left out:\n  Table 2 DtV: it takes a language model. There is none. Set one."
    one.leave_out(NO_MODEL)
    together = paper_rendering.left_out([one])
    assert together is not None
    assert together.plain.splitlines()[1].startswith("  Table 2: ")
    assert paper_rendering.left_out([planned(SUMMARIES, obstacle=None)]) is None


def test_json_has_one_scale_and_says_what_compares() -> None:
    written = json.loads(paper_rendering.written(".json", PAPER, [planned(SUMMARIES)]))
    (table,) = written["tables"]
    assert [column["compares"] for column in table["columns"]] == [True, True, False, True]
    ours, left_out = table["rows"]
    assert ours["here"]["G-Precision"] == {"value": 0.5, "low": 0.25, "high": 0.75, "cases": 9}
    assert ours["paper"]["GPT-4o"] == {"|Q|": 3.16, "G-Precision": 0.9282, "nDCG": 0.5}
    assert (ours["eval_run_id"], ours["left_out"]) == (7, None)
    assert left_out["left_out"]["sqlstate"] == NO_MODEL.sqlstate
    assert left_out["here"] == {}


@pytest.mark.parametrize(
    ("judge", "does_compare", "figure"),
    [("gpt-4o", True, "92.82"), ("lexical", False, "(92.82)"), ("lexical+gpt-4o", False, "(92.82)")],
)
def test_judged_figures_compare_only_if_a_language_model_judges(judge: str, does_compare: bool, figure: str) -> None:
    one = planned(SUMMARIES, judge=judge)
    (table,) = json.loads(paper_rendering.written(".json", PAPER, [one]))["tables"]
    assert [column["compares"] for column in table["columns"]] == [True, does_compare, False, True]
    assert [column["note"] is None for column in table["columns"]] == [True, does_compare, False, True]
    assert cells(one)[3][3] == figure
    told = "G-Precision: the paper's judge is a language model"
    assert (told in paper_rendering.written(".md", PAPER, [one])) is not does_compare


def test_foreign_text_moves_no_terminal() -> None:
    one = planned(SUMMARIES, failures={HOSTILE: 1})
    assert one.data is not None
    one.data = replace(one.data, data_set=replace(one.data.data_set, name=HOSTILE))
    assert "\x1b" not in shown(paper_rendering.tables(PAPER, [one]))
    assert "\x1b" not in shown(paper_rendering.data(one.data))


def test_the_time_that_is_left_is_told_by_what_is_left() -> None:
    def estimate(calls: int) -> ConfigurationEstimate:
        return ConfigurationEstimate(Configuration("x", "clarify"), 2, 0, calls, 0, 0, 0, 0, 0)

    clock = _Clock({("d", "clarify", str(calls)): estimate(calls) for calls in (10, 20, 0)})
    assert clock.place == "1/3"
    told = clock.has_done(("d", "clarify", "10"))
    assert told is not None
    assert told.startswith("1 of 3 ")
    assert clock.place == "2/3"
    assert clock.has_done(("d", "clarify", "0")) is not None
    assert clock.has_done(("d", "clarify", "20")) is None, "no row is left"
