"""Every block of code on a page is run by a test."""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatch
from importlib.util import find_spec

import pytest

from tests.pages import CHECKOUT, PAGES, Block, all_blocks
from website.hooks import DIAGRAMS, file_name

# Pages, a language, and the test that runs these blocks or compares them with real output. The first match counts.
# Output of SQL is compared by the test that runs the SQL.
RUN_BY = [
    ("docs/operations.md", "sql", "tests/integration/test_docs.py::test_sql_of_operations_runs"),
    ("docs/roles.md", "sql", "tests/integration/test_docs.py::test_sql_that_changes_the_server_runs"),
    ("docs/citus.md", "sql", "tests/servers/cluster.py::database"),
    ("docs/page.md", "sql", "tests/integration/test_docs.py::test_sql_that_changes_the_server_runs"),
    ("docs/budgets.md", "sql", "tests/integration/test_docs.py::test_sql_that_changes_the_server_runs"),
    ("*", "sql", "tests/integration/test_docs.py::test_sql_of_the_pages_runs_and_has_these_columns"),
    ("docs/tutorials/feedback.md", "sh", "tests/acceptance/test_tutorial.py::test_feedback_becomes_an_evaluation"),
    ("*", "sh", "tests/acceptance/test_pages.py::test_commands_of_the_pages_run"),
    ("docs/*python.md", "python", "tests/integration/test_client.py::test_the_pages_on_python_run"),
    ("docs/clients.md", "python", "tests/clients/test_page.py::test_python_of_the_page_runs"),
    ("docs/clients.md", "java", "tests/clients/test_page.py::test_java_of_the_page_runs"),
    ("docs/operations.md", "ini", "tests/clients/bouncing.py::configuration"),
    ("docs/monitoring.md", "yaml", "tests/unit/test_deploy.py::test_prometheus_takes_the_job_of_the_page"),
    ("docs/*dbt.md", "yaml", "tests/dbt/test_builds.py::test_the_project_of_the_pages_is_built"),
    ("docs/*dbt.md", "jinja", "tests/dbt/test_builds.py::test_the_project_of_the_pages_is_built"),
    ("*", "mermaid", "tests/unit/test_blocks.py::test_every_diagram_is_drawn"),
    ("docs/agents.md", "json", "tests/integration/test_mcp.py::asking"),
    ("docs/evaluation.md", "json", "tests/unit/evaluation/test_data_sets.py::test_the_example_of_the_page_is_read"),
    (
        "docs/traces.md",
        "json",
        "tests/unit/test_tracing.py::test_a_line_of_the_log_in_json_names_run_and_trace",
    ),
    (
        "docs/endpoints.md",
        "text",
        "tests/unit/cli/doctor/test_model_servers.py::test_the_page_shows_what_is_printed",
    ),
    ("docs/explain.md", "text", "tests/integration/test_explain.py::test_the_page_shows_what_is_told"),
    (
        "docs/extension.md",
        "text",
        "tests/integration/test_extension.py::test_a_restored_answer_is_served_without_a_worker",
    ),
    ("docs/from-pgai.md", "text", "tests/integration/test_import_pgai.py::test_the_page_shows_what_is_printed"),
    ("docs/operations.md", "text", "tests/integration/test_install_elsewhere.py::demand_password"),
    # The data sets of papers have to be downloaded first.
    ("docs/papers.md", "text", "tests/unit/test_blocks.py::test_modules_of_the_page_are_there"),
    ("CONTRIBUTING.md", "text", "tests/unit/test_blocks.py::test_the_floors_are_those_that_are_checked"),
    ("README.md", "text", "tests/acceptance/test_command_line.py::test_demo_twice"),
]
BLOCKS = [(page.relative_to(CHECKOUT).as_posix(), block) for page in PAGES for block in all_blocks(page)]
THERE = {(page, block.language) for page, block in BLOCKS} | {
    (page, f"output of {block.language}") for page, block in BLOCKS if block.output and block.language != "sql"
}


def runner(page: str, language: str) -> int | None:
    """The place in the list of the test that runs such blocks; None if there is none."""
    fits = (place for place, (pages, name, _) in enumerate(RUN_BY) if fnmatch(page, pages) and name == language)
    return next(fits, None)


@pytest.mark.parametrize(("page", "language"), sorted(THERE))
def test_something_runs_them(page: str, language: str) -> None:
    assert language, "a block has to name its language"
    assert runner(page, language) is not None


def test_nothing_is_named_that_is_not_there() -> None:
    assert {runner(page, language) for page, language in THERE} == set(range(len(RUN_BY)))
    for _, _, test in RUN_BY:
        path, _, name = test.partition("::")
        assert re.search(rf"^(async )?def {name}\(", (CHECKOUT / path).read_text(), re.M), test


@pytest.mark.parametrize(
    "block", [block for _, block in BLOCKS if block.language == "mermaid"], ids=lambda block: file_name(block.code)
)
def test_every_diagram_is_drawn(block: Block) -> None:
    assert (DIAGRAMS / file_name(block.code)).exists(), "python -m website.draw draws it"


def test_no_drawing_is_left_over() -> None:
    drawn = {file_name(block.code) for _, block in BLOCKS if block.language == "mermaid"}
    assert {path.name for path in DIAGRAMS.iterdir()} == drawn


def test_the_floors_are_those_that_are_checked() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
    contract, *_ = project["tool"]["importlinter"]["contracts"]
    (shown,) = (block.code for page, block in BLOCKS if (page, block.language) == ("CONTRIBUTING.md", "text"))
    floors = [line.partition("#")[0].split() for line in shown.splitlines()]
    assert floors == [layer.split(" | ") for layer in contract["layers"]]


def test_modules_of_the_page_are_there() -> None:
    shown = (CHECKOUT / "docs/papers.md").read_text(encoding="utf-8")
    modules = set(re.findall(r"python -m\s+([\w.]+)", shown))
    papers = {"verdict", "ambigprompt", "sunar", "rewrite", "at_cot"}
    assert modules >= {f"benchmarks.papers.{name}" for name in papers}
    assert [name for name in modules if find_spec(name) is None] == []
