"""The SQL on the pages: the names that they use exist, and each block of SQL runs on a server."""

from __future__ import annotations

import re
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgclarify import embedded
from tests.pages import CHECKOUT, PAGES, SPAN_ATTRIBUTES, blocks
from tests.workers import Service, load, wait_until_searchable

pytestmark = pytest.mark.rolled_back

# In this order, because their examples depend on earlier ones.
SQL_PAGES = [CHECKOUT / "docs" / "sql" / f"{name}.md" for name in ("documents", "asking", "vague-questions", "views")]
REFERENCE = CHECKOUT / "docs" / "reference"
# These pages create and drop roles, so they run on a server where that has no effect on other tests.
OPERATIONS_PAGE = CHECKOUT / "docs" / "operations.md"
ROLES_PAGE = CHECKOUT / "docs" / "roles.md"
TENANTS_PAGE = CHECKOUT / "docs" / "tutorials" / "tenants.md"
# The budgets on this page are for all roles.
BUDGETS_PAGE = CHECKOUT / "docs" / "budgets.md"
UI_PAGE = CHECKOUT / "docs" / "page.md"
# This page needs the cluster of tests/servers/cluster.py.
CITUS_PAGE = CHECKOUT / "docs" / "citus.md"
# This number on the pages means the last submitted run.
RUN_ID = "17"

INDEXING = """
do $$ begin
    while exists (select from pgclarify.corpus where pending > 0) loop perform pg_sleep(0.05); end loop;
end $$;
"""

# Names that are not in the database: modules and functions of the Python package, session parameters, a dump.
ELSEWHERE = {"algorithms", "client", "connect", "errors", "install", "mcp", "operations", "protocols", "tables", "yaml"}
ELSEWHERE |= {"corpus", "count_questions", "page_url", "progress", "reuse_runs", "sql", "traceparent"}
ELSEWHERE |= {name.removeprefix("pgclarify.") for name in SPAN_ATTRIBUTES}


def test_functions_and_views_are_told_before_they_are_listed() -> None:
    """The reference describes each function and view. Another page must say what it is good for."""
    told = "".join(page.read_text() for page in PAGES if page.parent != REFERENCE)
    for name in ("functions", "views"):
        listed = set(re.findall(r"^## (\w+)$", (REFERENCE / f"{name}.md").read_text(), re.M))
        assert len(listed) > 20
        assert listed <= set(re.findall(rf"reference/{name}\.md#(\w+)", told))


def test_functions_and_views_that_pages_name_exist(connection: psycopg.Connection[Any]) -> None:
    rows = connection.execute("""
        select proname from pg_proc where pronamespace = 'pgclarify'::regnamespace
        union all
        select relname from pg_class where relnamespace = 'pgclarify'::regnamespace
    """)
    macros = "".join(file.read_text() for file in CHECKOUT.glob("dbt/macros/**/*.sql"))
    there = {row[0] for row in rows} | ELSEWHERE | set(re.findall(r"\{%-? (?:macro|test) (\w+)\(", macros))
    for page in PAGES:
        if page.parent != REFERENCE:
            named = set(re.findall(r"\bpgclarify\.(\w+)", page.read_text()))
            assert named <= there, page


def psql(dsn: str, script: str) -> str:
    """The output of psql for a script, which must succeed."""
    done = subprocess.run(
        [embedded.binary("psql"), "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--dbname", dsn],
        input=script,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def reader_dsn(service: Service) -> str:
    """A role that follows the pages: it may ask and create tables, in a database with the corpora of the pages."""
    with closing(service.connect()) as superuser:
        load(superuser, "insurance")
        wait_until_searchable(superuser, "insurance")
        superuser.execute("grant create on schema public to public")
    return psycopg.conninfo.make_conninfo(service.dsn, user=service.asker)


@pytest.mark.committed
def test_sql_of_the_pages_runs_and_has_these_columns(reader_dsn: str) -> None:
    assert set(SQL_PAGES) == set((CHECKOUT / "docs" / "sql").glob("*.md"))
    try_out(SQL_PAGES, reader_dsn)
    for page in PAGES:
        if page not in (OPERATIONS_PAGE, ROLES_PAGE, TENANTS_PAGE, BUDGETS_PAGE, UI_PAGE, CITUS_PAGE, *SQL_PAGES):
            try_out([page], reader_dsn)


def try_out(pages: list[Path], dsn: str) -> None:
    """Run the SQL of pages in one session, because their examples depend on earlier ones."""
    script = ["\\pset footer off"]
    shown_blocks = [block for page in pages for block in blocks(page, "sql")]
    for place, block in enumerate(shown_blocks):
        script += [INDEXING, f"\\echo block {place}"]
        for line in block.code.splitlines():
            script.append(re.sub(rf"\b{RUN_ID}\b", ":run_id", line))
            if "pgclarify.submit(" in line:
                script.append("select max(run_id) as run_id from pgclarify.run where operation = 'clarify' \\gset")
    printed = psql(dsn, "\n".join(script))

    for place, block in enumerate(shown_blocks):
        shown = re.search(rf"^block {place}\n(.*?)(?=^block |\Z)", printed, re.M | re.S)
        assert shown, block.code
        if block.output is not None:
            # Answers depend on the provider, so their texts are not compared.
            assert columns(block.output) == columns(shown[1]), block.code
            assert has_rows(block.output) == has_rows(shown[1]), block.code


def has_rows(output: str) -> bool:
    """Whether psql prints a row below the names of the columns."""
    _, _, below = output.partition("-\n")
    return below.strip() not in ("", "(0 rows)")


def columns(output: str) -> list[str]:
    """The names in the first line of what psql prints."""
    return [name.strip() for name in output.strip("\n").partition("\n")[0].split("|")]


@pytest.mark.committed
@pytest.mark.parametrize("page", [ROLES_PAGE, BUDGETS_PAGE, UI_PAGE], ids=lambda page: str(page.stem))
def test_sql_that_changes_the_server_runs(page: Path, database: str) -> None:
    script = "\n".join(block.code for block in blocks(page, "sql"))
    here = psycopg.conninfo.conninfo_to_dict(database)["dbname"]
    script = script.replace("database docs", f'database "{here}"')
    psql(database, f"begin;\n{script}\nrollback;")


@pytest.mark.committed
def test_sql_of_operations_runs(database: str) -> None:
    # Each block stands by itself: one of them removes all that the others use.
    psql(database, "\n".join(f"begin;\n{block.code}\nrollback;" for block in blocks(OPERATIONS_PAGE, "sql")))


@pytest.mark.committed
def test_the_removal_of_the_page_on_operations_leaves_nothing(database: str) -> None:
    (removal,) = (block.code for block in blocks(OPERATIONS_PAGE, "sql") if "drop extension" in block.code)
    left = """
        select count(*) from pg_shdepend as d
        where d.refobjid in (select oid from pg_roles where rolname in
            ('pgclarify_owner', 'pgclarify_user', 'pgclarify_reader', 'pgclarify_worker', 'pgclarify_loopback',
              'pgclarify_capture', 'pgclarify_role_maker'))
            and d.dbid = (select oid from pg_database where datname = current_database())
    """
    counts = [
        int(psql(database, f"begin;\n\\o /dev/null\n{script}\n\\o\n\\pset tuples_only on\n{left};\nrollback;"))
        for script in ("", removal)
    ]
    assert counts[0] > 0
    assert counts[1] == 0
