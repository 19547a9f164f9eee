"""A database of version 0.1 keeps its data.

data/v0_1.sql.xz is a dump of such a database at revision 0016. It has three corpora, a document for a board, an
attached table with pending changes, runs that ended, that wait and that a budget ended, an evaluation, a budget for a
role, a budget for a corpus, and a rule.
"""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgclarify.errors import SchemaMismatch
from pgclarify.install import installer, versions
from tests.migration import catalog

# Partitions of corpora and spaces, an index for vectors of one length, functions of attached tables.
COMES_WITH_DATA = (
    *(f"{table}_{ordinal}" for table in ("passage", "passage_embedding", "neighborhood") for ordinal in (1, 2, 3)),
    "question_group_leader_384_idx",
    "capture_1",
    "pgclarify_private.read_",
)
DUMP = Path(__file__).parent / "data" / "v0_1.sql.xz"


@pytest.fixture
def board(make_role: Callable[..., str]) -> str:
    return make_role(name="board")


@pytest.fixture
def owner(make_role: Callable[..., str], board: str) -> str:
    return make_role("pgclarify_user", board, name="owner")


@pytest.fixture
def old(old_table_reader: str, make_database: Callable[..., str], board: str, owner: str) -> str:
    dsn = make_database("template0")
    dump = lzma.decompress(DUMP.read_bytes()).decode()
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        connection.execute(dump.replace("bridge_board", board).replace("bridge_owner", owner).encode())
    return dsn


@pytest.fixture
def bridged(old: str) -> Iterator[psycopg.Connection[Any]]:
    installer.install(old)
    with closing(psycopg.connect(old, autocommit=True)) as connection:
        yield connection


def test_all_objects_are_those_of_a_new_database(
    bridged: psycopg.Connection[Any], connection: psycopg.Connection[Any]
) -> None:
    def of_the_schema(lines: set[str]) -> set[str]:
        # After a dump and a restore, PostgreSQL shows conditions with fewer parentheses.
        return {re.sub("[()]", "", line) for line in lines if not any(name in line for name in COMES_WITH_DATA)}

    found, expected = of_the_schema(catalog.everything(bridged)), of_the_schema(catalog.everything(connection))

    assert found - expected == set()
    assert expected - found == set()


def test_an_older_schema_is_refused_until_it_is_upgraded(old: str) -> None:
    with closing(psycopg.connect(old, autocommit=True)) as connection:
        with pytest.raises(SchemaMismatch):
            versions.check_schema(connection)

        installation = installer.install(old)

        assert (installation.previous, installation.current) == ("0016", "v0_2_0")
        versions.check_schema(connection)
    assert installer.install(old).previous == "v0_2_0"


def test_it_can_be_uninstalled_as_it_is(old: str) -> None:
    installer.uninstall(old)

    with closing(psycopg.connect(old, autocommit=True)) as connection:
        assert connection.execute(
            "select count(*) from pg_namespace where nspname in ('pgclarify', 'pgclarify_queue')"
        ).fetchone() == (0,)
        assert connection.execute("select count(*) from pg_default_acl").fetchone() == (0,)


def test_what_was_there_is_there(bridged: psycopg.Connection[Any]) -> None:
    counts = bridged.execute("""
        select
            (select count(*) from pgclarify.document),
            (select count(*) from pgclarify.passage),
            (select count(*) from pgclarify_private.passage_embedding),
            (select count(*) from pgclarify_private.neighborhood),
            (select count(*) from pgclarify.completion),
            (select count(*) from pgclarify.eval_case),
            (select count(*) from pgclarify.ambiguity_rule),
            (select count(*) from pgclarify_private.change)
    """).fetchone()
    runs = bridged.execute("select operation, status, stop_code from pgclarify.run order by run_id").fetchall()

    assert counts == (8, 7, 7, 7, 13, 1, 1, 2)
    assert runs == [
        ("clarify", "succeeded", None),
        ("clarify", "succeeded", "no_passage"),
        ("clarify", "succeeded", None),
        ("clarify", "succeeded", "no_language_model"),
        ("search", "succeeded", None),
        ("detect_ambiguity", "succeeded", None),
        ("clarify", "succeeded", None),
        ("clarify", "succeeded", None),
        ("search", "succeeded", None),
        ("clarify", "queued", None),
        ("clarify", "queued", None),
        ("investigate", "partial", "budget"),
    ]
    assert bridged.execute(
        "select interpretation, answer, document_ids from pgclarify.result(1) where ordinal = 1"
    ).fetchone() == (
        "How much does the rental reimbursement endorsement pay for my rental car during repairs?",
        "$45 a day",
        ["rental.md"],
    )


def test_names_mean_the_roles_that_have_them(bridged: psycopg.Connection[Any], board: str, owner: str) -> None:
    assert {name for (name,) in bridged.execute("select name from pgclarify_private.named_role")} == {board}
    assert bridged.execute("""
        select corpus.owner_oid::regrole::name, source.attached_by_oid::regrole::name
        from pgclarify.corpus
        inner join pgclarify_private.source on source.corpus_id = corpus.corpus_id
    """).fetchall() == [(owner, owner)]
    assert bridged.execute(
        "select distinct requested_by_oid::regrole::name from pgclarify.run where requested_by = %s", [owner]
    ).fetchall() == [(owner,)]


def test_words_that_only_the_board_reads_are_counted_apart(bridged: psycopg.Connection[Any]) -> None:
    """Words of the only document with readers."""
    waiting = bridged.execute(
        "select lexeme from pgclarify_private.term_change where restricted_passages = 1 and passages = 0"
    ).fetchall()

    assert {"board", "fleet", "premium", "van"} <= {lexeme for (lexeme,) in waiting}
    assert bridged.execute("""
        select corpus.name, sum(tally.restricted_passages), sum(tally.restricted_lexemes) > 0, sum(tally.linked)
        from pgclarify_private.corpus_tally as tally
        inner join pgclarify.corpus on corpus.corpus_id = tally.corpus_id
        group by corpus.name
        order by corpus.name
    """).fetchall() == [("gone_quiet", 0, False, 1), ("insurance", 1, True, 4), ("shop", 0, False, 2)]


def test_documents_of_replies_can_be_found(bridged: psycopg.Connection[Any]) -> None:
    found = bridged.execute("select distinct document_id from pgclarify_private.completion_document").fetchall()

    assert {document_id for (document_id,) in found} == {"rental.md", "roadside.md", "staff.md", "minutes", "1", "2"}


def test_attached_tables_are_followed(bridged: psycopg.Connection[Any], owner: str) -> None:
    bridged.execute("insert into shop.article values (4, 'A lock costs 20 euros.', 'Lock')")

    assert bridged.execute("select count(*) from pgclarify_private.change").fetchone() == (3,)
    assert bridged.execute("select pgclarify.submit('bicycles', 'shop')").fetchone() == (13,)


def test_no_note_and_no_reason_quotes_a_document(old: str) -> None:
    told = {
        "source": "corpus",
        "name": "readings",
        "text": 'the corpus supports one reading, with the answer "12 dollars"',
    }
    felt = {"source": "feature", "name": "it", "text": 'it has "it", with the answer'}
    with closing(psycopg.connect(old, autocommit=True)) as connection:
        (run_id,) = connection.execute(
            "update pgclarify.stage set name = 'answering', note = '12 dollars'"
            " where (run_id, ordinal) = (select run_id, ordinal from pgclarify.stage limit 1) returning run_id"
        ).fetchall()[0]
        connection.execute(
            "insert into pgclarify.detection"
            " (run_id, ordinal, question, is_ambiguous, probability, kind, reasons, classifier_version)"
            " values (%s, 1, 'What does it cost?', false, 0.1, null, %s, 'v1')",
            [run_id, json.dumps([felt, told])],
        )
        installer.install(old)
        notes = "select note from pgclarify.stage where run_id = %s and name = 'answering'"
        assert connection.execute(notes, [run_id]).fetchall() == [(None,)]
        reasons = "select reasons from pgclarify.detection where run_id = %s"
        ((kept,),) = connection.execute(reasons, [run_id]).fetchall()
        assert kept == [felt, told | {"text": "the corpus supports one reading"}]


def test_no_error_of_a_run_quotes_a_reply(old: str) -> None:
    with closing(psycopg.connect(old, autocommit=True)) as connection:
        (run_id,) = connection.execute(
            "update pgclarify.run set status = 'failed', stop_reason = null, error = %s,"
            " started_at = coalesce(started_at, now()), finished_at = coalesce(finished_at, now())"
            " where run_id = (select min(run_id) from pgclarify.run) returning run_id",
            ['the model\'s reply does not fit its form: no JSON. It replied: "it costs 12 dollars" (3 of 4 passages)'],
        ).fetchall()[0]
        installer.install(old)
        errors = "select error, error_code from pgclarify.run where run_id = %s"
        kept = ("the model's reply does not fit its form: no JSON. (3 of 4 passages)", "PC015")
        assert connection.execute(errors, [run_id]).fetchall() == [kept]
