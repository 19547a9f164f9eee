"""The fields of a document, of which author is one: given, stored, shown and asked for in the same way."""

from __future__ import annotations

import json

import pytest

from pgclarify import Client
from pgclarify.data.vocabulary import Document
from tests.integration.attaching import alice, attach  # noqa: F401 - a fixture
from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker
from tests.sessions import Connection, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back


def authors(connection: Connection) -> dict[str, str | None]:
    """The authors of all documents."""
    return dict(connection.execute("select id, author from pgclarify.document order by id").fetchall())


@pytest.fixture
def corpus(connection: Connection) -> Connection:
    connection.execute("select pgclarify.create_corpus('c')")
    return connection


def test_an_author_is_given_shown_changed_and_cut(corpus: Connection) -> None:
    add = "select pgclarify.add_document('c', 'x', 'Hail.', author => %s)"
    assert [scalar(corpus, add, one) for one in ("Ada", "Ada", "B" * 1001)] == [True, False, True]
    assert authors(corpus) == {"x": "B" * 1000}
    assert scalar(corpus, "select author from pgclarify.get_document('c', 'x')") == "B" * 1000


@pytest.mark.committed
def test_a_client_adds_it(corpus: Connection) -> None:
    client = Client(corpus, corpus="c")
    assert client.add_documents([Document("x", "Hail.", author="Ada"), Document("y", "Hail.")]) == 2
    assert authors(corpus) == {"x": "Ada", "y": None}


def test_a_column_of_a_table_has_it(connection: Connection, make_worker: MakeWorker, alice: Connection) -> None:  # noqa: F811
    alice.execute("alter table app.article add column writer text default 'Ada'")
    attach(alice, author="writer")
    make_worker().follow_everything()
    assert authors(alice) == {"1": "Ada", "2": "Ada"}


@pytest.mark.parametrize(
    ("part", "ids"),
    [
        ({"id": {"starts_with": "policies/"}}, {"policies/a", "policies/b"}),
        ({"id": "letters/a"}, {"letters/a"}),
        ({"author": "Ada"}, {"policies/a", "letters/a"}),
        ({"any": [{"id": "letters/a"}, {"metadata.id": "m"}]}, {"letters/a", "policies/b"}),
    ],
)
def test_id_and_author_are_keys_of_filters(
    connection: Connection, make_worker: MakeWorker, part: dict[str, object], ids: set[str]
) -> None:
    connection.execute(MAKE_OPEN_CORPUS, ["c"])
    add = "select pgclarify.add_document('c', %s, 'Rental cars.', author => %s, metadata => %s)"
    for document_id, author, metadata in (
        ("policies/a", "Ada", "{}"),
        ("policies/b", "Bo", '{"id": "m"}'),
        ("letters/a", "Ada", "{}"),
    ):
        connection.execute(add, [document_id, author, metadata])
    make_worker().index_everything()
    rows = connection.execute(
        "select document_id from pgclarify.search('rental cars', 'c', 10, '{\"method\": \"lexical\"}', filter => %s)",
        [json.dumps(part)],
    ).fetchall()
    assert {document_id for (document_id,) in rows} == ids


class TestRulesOfACorpus:
    def test_folders_give_metadata_that_a_document_does_not_have(self, connection: Connection) -> None:
        rules = {"folders": ["archive: status=historical", "hr/old: status = superseded", "hr/old: by=board"]}
        connection.execute("select pgclarify.create_corpus('c', options => %s)", [json.dumps(rules)])
        for document_id, metadata in (
            ("archive/a", "{}"),
            ("x/archive/b", '{"status": "valid"}'),
            ("hr/old/c", "{}"),
            ("archives/d", "{}"),
            ("all.zip!archive/e", "{}"),
        ):
            connection.execute(
                "select pgclarify.add_document('c', %s, 'Hail.', metadata => %s)", [document_id, metadata]
            )
        found = dict(connection.execute("select id, metadata from pgclarify.document").fetchall())
        assert found == {
            "archive/a": {"status": "historical"},
            "x/archive/b": {"status": "valid"},
            "hr/old/c": {"status": "superseded", "by": "board"},
            "archives/d": {},
            "all.zip!archive/e": {"status": "historical"},
        }

    def test_they_change_and_end(self, corpus: Connection) -> None:
        add = "select pgclarify.add_document('c', 'archive/a', 'Hail.')"
        assert scalar(corpus, add) is True
        alter = "select pgclarify.alter_corpus('c', %s)"
        for folders, changes in ((["archive: status=historical"], True), (["archive: status=historical"], False)):
            assert scalar(corpus, alter, json.dumps({"folders": folders})) is changes
        assert [scalar(corpus, add), scalar(corpus, add)] == [True, False]
        assert scalar(corpus, alter, '{"folders": null}') is True
        assert scalar(corpus, add) is True
        assert scalar(corpus, "select metadata from pgclarify.document") == {}

    @pytest.mark.parametrize("rule", ["archive", "archive: status", ": status=x", "archive: =x"])
    def test_a_rule_of_another_form_is_an_error(self, connection: Connection, rule: str) -> None:
        options = [json.dumps({"folders": [rule]})]
        assert sqlstate_of(connection, "select pgclarify.create_corpus('d', options => %s)", options) == "22023"

    def test_the_date_of_a_document_may_stand_in_its_id(self, connection: Connection) -> None:
        connection.execute("select pgclarify.create_corpus('c', options => '{\"date_key\": \"id\"}')")
        ids = (
            "minutes/2026-04-30.md",
            "2026/05/agenda.pdf",
            "report-2025_12_01",
            "no 2026",
            "12026-01-01",
            "a/2026-13-01",
        )
        for document_id in ids:
            connection.execute("select pgclarify.add_document('c', %s, 'Hail.')", [document_id])
        rows = connection.execute("select id, dated::date::text from pgclarify.document where dated is not null")
        assert dict(rows.fetchall()) == {
            "minutes/2026-04-30.md": "2026-04-30",
            "2026/05/agenda.pdf": "2026-05-01",
            "report-2025_12_01": "2025-12-01",
        }
        assert scalar(connection, "select pgclarify.alter_corpus('c', '{\"date_key\": null}')") is True
        assert scalar(connection, "select count(dated) from pgclarify.document") == 0
