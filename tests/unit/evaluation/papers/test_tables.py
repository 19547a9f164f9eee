"""The tables of papers are complete, and use existing configurations, metrics and data sets."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pgclarify.cli.papers import _PAPERS
from pgclarify.errors import InputError
from pgclarify.evaluation.configurations import BASELINE_SETTINGS, JUDGES, METHODS
from pgclarify.evaluation.data_sets import Selection
from pgclarify.evaluation.metric_names import METRICS
from pgclarify.evaluation.papers import PAPERS, Paper, PaperTable, Row
from pgclarify.evaluation.papers.planning import TablePlan, plan_tables
from tests.pages import CHECKOUT, tables

ALL_PAPERS = pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS)
ALL_TABLES = pytest.mark.parametrize(
    "table", [pytest.param(one, id=f"{paper.name} {one.source}") for paper in PAPERS.values() for one in paper.tables]
)
# The SQL function that lists the options of each method. The server checks the values; an integration test shows that.
OPTION_LISTS = {
    "clarify": "clarify_options",
    "list_answers": "list_answers_options",
    "investigate": "investigate_options",
    "search": "search_options",
    "detect_ambiguity": "detection_settings",
    "rewrite": "prepare_rewrite",
    "clarifying_questions": "clarifying_question_options",
    "simulated_user": "clarifying_question_options",
}
# In these two operations, top_k is an argument and not an option.
TAKE_TOP_K = ("clarify", "search")
# Matches "name": {…} in JSON, or 'name', pgclarify_private.clarify_options(), which has the options of clarify.
OPTION = re.compile(r'"(\w+)": \{|\'(\w+)\', pgclarify_private\.')


def planned(paper: Paper, folder: Path, **settings: object) -> list[TablePlan]:
    return plan_tables(paper, folder, selection=Selection(), settings=settings, judge="lexical")


def rows(paper: Paper) -> list[tuple[PaperTable, Row]]:
    return [(table, row) for table in paper.tables for row in table.rows]


def test_the_command_names_all_papers() -> None:
    assert tuple(PAPERS) == _PAPERS
    assert all(name == paper.name for name, paper in PAPERS.items())


@ALL_TABLES
def test_every_figure_has_its_column_and_every_column_its_metric(table: PaperTable) -> None:
    assert {column.metric for column in table.columns} <= set(METRICS)
    assert table.judge is None or table.judge in JUDGES
    assert len({column.title for column in table.columns}) == len(table.columns)
    assert len({row.name for row in table.rows}) == len(table.rows)
    for row in table.rows:
        assert row.method in METHODS
        assert set(row.metrics.values()) <= set(METRICS)
        for figures in row.figures.values():
            assert len(figures) == len(table.columns)
            assert any(figure is not None for figure in figures)


@ALL_TABLES
def test_every_table_has_a_figure_of_the_paper_and_says_why_others_do_not_compare(table: PaperTable) -> None:
    assert table.measured
    assert table.data_sets
    assert any(row.figures for row in table.rows)
    for row in table.rows:
        assert row.figures or row.note, f"{row.name} has no figures and no note that says why"
    for text in (*(row.note for row in table.rows), *(column.note for column in table.columns), table.measured):
        assert text is None or not text.endswith("."), "the output adds the full stop"


@ALL_PAPERS
def test_rows_are_configurations_and_different_ones_have_different_names(paper: Paper, tmp_path: Path) -> None:
    named: dict[str, tuple[str, str]] = {}
    for table in planned(paper, tmp_path):
        for one in table.rows:
            configuration = one.configuration
            made = (configuration.method, json.dumps(configuration.settings, sort_keys=True))
            assert named.setdefault(configuration.name, made) == made
            assert None not in configuration.settings.values()


def options_of(method: str) -> set[str]:
    """Read the options of a method from the code that declares them."""
    if method in BASELINE_SETTINGS:
        return set(BASELINE_SETTINGS[method])
    sql = "\n".join(path.read_text() for path in sorted((CHECKOUT / "sql").rglob("*.sql")))
    _, declaration = sql.split(f"create or replace function pgclarify_private.{OPTION_LISTS[method]}(")
    body = declaration.partition("comment on function")[0]
    return {one or other for one, other in OPTION.findall(body)} | ({"top_k"} if method in TAKE_TOP_K else set())


def test_options_are_read_for_each_method_alone() -> None:
    assert set(OPTION_LISTS) | set(BASELINE_SETTINGS) == set(METHODS)
    assert all(options_of(method) for method in OPTION_LISTS)
    assert "consolidation" in options_of("clarify")
    assert "consolidation" not in options_of("investigate") | options_of("list_answers")
    assert {"search", "reranker", "max_answers"} <= options_of("list_answers")
    assert "top_k" not in options_of("rewrite")


@ALL_PAPERS
def test_each_row_has_options_of_its_own_method(paper: Paper) -> None:
    for method, settings in paper.settings.items():
        assert set(settings) <= options_of(method), f"{method} has no such option"
    for table, row in rows(paper):
        assert set(row.settings) <= options_of(row.method), f"{table.source} {row.name}"


def test_an_option_is_set_in_all_rows_that_have_it_and_a_row_s_own_wins(tmp_path: Path) -> None:
    made = {
        (table.table.source, one.row.name): one.configuration.settings
        for table in planned(PAPERS["sunar"], tmp_path, max_steps=2, samples=3, top_k=4)
        for one in table.rows
    }
    assert made["Table 4", "SUNAR"]["max_steps"] == 2
    assert made["Table 4", "SUNAR"]["samples"] == 3
    assert made["Table 4", "without decomposition"]["max_steps"] == 0
    assert made["Tables 1 and 9", "SELF-ASK"] == {"top_k": 4, "max_steps": 2}


@ALL_PAPERS
def test_rows_that_only_search_keep_the_depth_of_their_metrics(paper: Paper, tmp_path: Path) -> None:
    given = {"top_k": 4} if any("top_k" in one for one in paper.settings.values()) else {}
    depths = [
        one.configuration.settings["top_k"]
        for table in planned(paper, tmp_path, **given)
        for one in table.rows
        if one.row.method == "search"
    ]
    assert set(depths) <= {20}
    assert given or depths


def test_rows_that_vary_the_size_of_windows_keep_theirs(tmp_path: Path) -> None:
    sizes = {
        (table.table.source, one.row.name): one.configuration.settings["evidence_tokens"]
        for table in planned(PAPERS["ambigprompt"], tmp_path, evidence_tokens=500)
        for one in table.rows
        if one.row.method != "search"
    }
    assert sizes == {
        ("Table 2", "FiD-Base"): 100_000,
        ("Table 2", "AmbigPrompt"): 500,
        ("Table 3", "AmbigPrompt"): 500,
        ("Table 3", "w/o prompting model"): 500,
        ("Table 3", "passage by passage, given the answers so far"): 250,
        ("Table 3", "each passage by itself (Equation 8)"): 250,
    }


@pytest.mark.parametrize("settings", [{"scheme": "cot"}, {"samples": 3}, {"top_k": "many"}])
def test_an_option_that_no_row_has_or_that_cannot_be_used_is_refused(
    settings: dict[str, object], tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        planned(PAPERS["verdict"], tmp_path, **settings)
    assert caught.value.hint


def test_a_paper_whose_rows_have_no_option_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        planned(PAPERS["rewrite"], tmp_path, top_k=4)
    assert caught.value.detail == "The options are: none."


def test_rows_of_sunar_say_with_which_budget_and_samples_they_run() -> None:
    """The notes name settings of the paper's rows, so these settings must not change without the notes."""
    settings = PAPERS["sunar"].settings["investigate"]
    for _, row in rows(PAPERS["sunar"]):
        if row.name.startswith("SUNAR") and row.method == "investigate" and row.figures:
            assert row.note is not None
            assert f"budget {settings['budget']}" in row.note
            assert (f"samples {settings['samples']}" in row.note) is row.settings.get("penalty", True)


def test_figures_of_musique_are_of_two_hops() -> None:
    """The paper asks MuSiQue only questions of two hops. Here the data set has others, too."""
    for table in PAPERS["sunar"].tables:
        for row in table.rows:
            strata = {
                origin: {column.stratum for column, figure in zip(table.columns, figures, strict=True) if figure}
                for origin, figures in row.figures.items()
            }
            assert strata in ({}, {"MuSiQue": {"hops=2"}, "2WikiMultiHopQA": {None}})


def test_a_row_is_the_default_only_if_it_has_its_settings() -> None:
    """The rows of AT-CoT's Table 5 check nothing, although clarifying_questions checks by default."""
    paper = PAPERS["at-cot"]
    assert paper.settings["clarifying_questions"]["check"] == "none"
    (row,) = (row for _, row in rows(paper) if row.name == "AT-CoT with examples")
    assert row.note is not None
    assert "nothing is checked here" in row.note


def test_the_central_comparisons_of_each_paper_are_there() -> None:
    """Each paper compares two rows: its method, and the same method without its main idea."""
    made = {
        (name, row.method, *sorted(f"{option}={value}" for option, value in row.settings.items()))
        for name, paper in PAPERS.items()
        for _, row in rows(paper)
    }
    assert made >= {
        ("verdict", "clarify"),
        ("verdict", "dtv"),
        ("verdict", "dtv_unverified"),
        ("verdict", "rac"),
        ("verdict", "clarify", "consolidation=conservative"),
        ("verdict", "clarify", "embed=question"),
        ("sunar", "investigate"),
        ("sunar", "investigate", "retrieval=fixed"),
        ("sunar", "investigate", "max_steps=0"),
        ("sunar", "investigate", "penalty=False"),
        ("sunar", "self_ask"),
        ("sunar", "one_pass"),
        *(
            ("at-cot", "simulated_user", f"form={form}", f"scheme={scheme}")
            for form in ("respond", "select")
            for scheme in ("standard", "at_standard", "cot", "at_cot")
        ),
        ("at-cot", "search", "top_k=20"),
        ("ambigprompt", "list_answers"),
        ("ambigprompt", "list_at_once"),
        ("ambigprompt", "list_at_once", "evidence_tokens=100000"),
        ("ambigprompt", "list_at_once", "evidence_tokens=250"),
        ("ambigprompt", "list_answers", "evidence_tokens=250"),
        ("rewrite", "rewrite"),
        ("rewrite", "rewrite_ambiguous"),
        ("rewrite", "always_rewrite"),
        ("rewrite", "few_shot"),
        ("rewrite", "detect_ambiguity"),
    }


def test_the_page_lists_every_table_and_every_data_set() -> None:
    page = CHECKOUT / "docs" / "papers.md"
    told = [(row[0], row[1]) for row in tables(page, "command")["Making their tables"]]
    assert told == list(
        dict.fromkeys((paper.name, table.source) for paper in PAPERS.values() for table in paper.tables)
    )
    # The back ticks around a cell are removed.
    data_sets = {
        row[0]: set(re.findall(r"(?:^|`)([\w-]+)(?:`|$)", row[1]))
        for row in tables(page, "paper")["Making their tables"]
    }
    assert data_sets == {
        paper.name: {name for table in paper.tables for name in table.data_sets} for paper in PAPERS.values()
    }
