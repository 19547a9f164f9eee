"""PostgreSQL 16 without dblink, the oldest server available here: a question is stored as it was typed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgclarify.install.installer import install
from tests.servers import start, stop
from tests.sessions import scalar, sqlstate_of
from tests.workers import Worker, load, wait, wait_until_searchable

NO_LOOPBACK = "PC005"


@pytest.fixture(scope="module")
def old_server() -> Iterator[str]:
    """The URL of a superuser on a server of PostgreSQL 16 with pgvector."""
    # Not in pytest's folder, because other runs close it to the server's user.
    with tempfile.TemporaryDirectory(prefix="pgclarify-16-") as folder:
        try:
            yield start("16", Path(folder))
        finally:
            stop("16", Path(folder))


@pytest.fixture(scope="module")
def old(old_server: str) -> Iterator[psycopg.Connection[Any]]:
    """A superuser's connection, in autocommit, to a database in which pgclarify is installed and a corpus loaded."""
    installation = install(old_server)
    assert not installation.has_dblink
    with closing(psycopg.connect(old_server, autocommit=True)) as connection:
        assert connection.info.server_version // 10000 == 16
        load(connection)
        yield connection


# Up to 16, E'\v' is the letter v.
@pytest.mark.parametrize("question", ["vacation policy", "how is hiv treated", "v"])
def test_a_question_is_what_was_typed(old: psycopg.Connection[Any], question: str) -> None:
    run_id = scalar(old, "select pgclarify.submit('clarify', %s, 'rental')", f" \t{question}\x0b\n")

    assert scalar(old, "select question from pgclarify.run where run_id = %s", run_id) == question


def test_a_document_of_one_letter_is_not_blank(old: psycopg.Connection[Any]) -> None:
    assert scalar(old, "select pgclarify.add_document('rental', 'letter', 'v')")


def test_a_table_is_read_by_the_reader_of_its_owner(old: psycopg.Connection[Any]) -> None:
    old.execute("create table note (id bigint primary key, body text)")
    old.execute("insert into note values (1, 'Ships.')")
    old.execute("select pgclarify.create_corpus('notes')")
    old.execute("select pgclarify.attach_table('notes', 'note', 'id', 'body')")

    assert scalar(old, "select pgclarify_private.next_keys(source, 9, 1000) from pgclarify_private.source") == ["1"]

    old.execute("select pgclarify.detach_table('notes', 'note')")
    assert scalar(old, "select pgclarify_private.drop_idle_table_reader()") is not None
    assert scalar(old, "select count(*) from pg_roles where starts_with(rolname, 'pgclarify_reads_')") == 0


def test_whoever_waits_on_its_own_gets_an_answer(
    old: psycopg.Connection[Any], old_server: str, run_worker: Callable[..., Worker]
) -> None:
    run_worker(old_server)
    wait_until_searchable(old, "rental")
    run_id = scalar(old, "select pgclarify.submit('clarify', 'deductible for hail', 'rental')")

    assert wait(old, [run_id]) == ["succeeded"]
    answers = old.execute("select answer, support from pgclarify.result(%s)", [run_id]).fetchall()
    assert any("four hundred dollars" in answer for answer, _ in answers)
    assert sqlstate_of(old, "select * from pgclarify.clarify('tolls', 'rental')") == NO_LOOPBACK


def test_every_view_can_be_read(old: psycopg.Connection[Any]) -> None:
    views = old.execute("select viewname from pg_views where schemaname = 'pgclarify'").fetchall()

    assert len(views) > 10
    for (view,) in views:
        old.execute(psycopg.sql.SQL("select * from pgclarify.{}").format(psycopg.sql.Identifier(view)))
