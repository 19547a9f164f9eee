"""Dates of documents: where they come from, and who shows them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

import pytest

from pgclarify import Client
from pgclarify.data.vocabulary import Document
from tests.integration.attaching import alice, attach  # noqa: F401 - a fixture
from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker
from tests.integration.stored_answers import reading, store_grounded_verdict
from tests.sessions import Connection, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)


def dates(connection: Connection) -> dict[str, datetime | None]:
    """The dates of all documents."""
    return dict(connection.execute("select id, dated from pgclarify.document order by id").fetchall())


def add(connection: Connection, document_id: str, dated: object = None, /, **metadata: object) -> bool:
    """Add a document. Without a date, the metadata may have one."""
    return bool(
        scalar(
            connection,
            "select pgclarify.add_document('c', %s, %s, metadata => %s, dated => %s)",
            document_id,
            f"Rental cars are paid by the {document_id} policy.",
            json.dumps(metadata),
            dated,
        )
    )


@pytest.fixture
def corpus(connection: Connection) -> Connection:
    """A corpus whose documents have their date in their metadata."""
    connection.execute("select pgclarify.create_corpus('c', options => '{\"date_key\": \"published\"}')")
    return connection


def test_a_date_that_is_given_precedes_that_of_the_metadata(corpus: Connection) -> None:
    add(corpus, "given", NEW_YEAR, published="2020-05-05")
    add(corpus, "metadata", published="2020-05-05")
    add(corpus, "unknown", created="2020-05-05")
    assert dates(corpus) == {"given": NEW_YEAR, "metadata": datetime(2020, 5, 5, tzinfo=UTC), "unknown": None}


def test_the_date_of_metadata_is_an_iso_date_in_utc_in_every_session(corpus: Connection) -> None:
    corpus.execute("set timezone = 'Pacific/Auckland'")
    corpus.execute("set datestyle = 'German'")
    known = {
        "2026-01-01": NEW_YEAR,
        "2026-01-01T10:30": datetime(2026, 1, 1, 10, 30, tzinfo=UTC),
        "2026-01-01 10:30:00+02": datetime(2026, 1, 1, 8, 30, tzinfo=UTC),
        "2026-01-01T10:30:00.5Z": datetime(2026, 1, 1, 10, 30, 0, 500000, tzinfo=UTC),
    }
    values: list[Any] = [
        *known,
        "2026",
        "2026-02-30",
        "1.1.2026",
        "infinity",
        "9999-12-31",
        "now",
        "",
        2026,
        True,
        [],
        {},
    ]
    for place, value in enumerate(values):
        add(corpus, f"{place:02}", published=value)
    corpus.execute("set datestyle = 'ISO'")
    assert list(dates(corpus).values()) == [*known.values(), *[None] * (len(values) - len(known))]


def test_a_key_of_metadata_may_be_a_path(corpus: Connection) -> None:
    corpus.execute("select pgclarify.alter_corpus('c', '{\"date_key\": \"page.published\"}')")
    add(corpus, "path", page={"published": "2026-01-01"})
    add(corpus, "key", **{"page.published": "2026-01-01"})
    assert dates(corpus) == {"key": NEW_YEAR, "path": NEW_YEAR}


def test_another_date_is_a_change_and_the_same_date_is_none(corpus: Connection) -> None:
    assert add(corpus, "d", published="2026-01-01")
    assert not add(corpus, "d", published="2026-01-01")
    assert not add(corpus, "d", NEW_YEAR, published="2026-01-01")
    assert add(corpus, "d", datetime(2026, 1, 2, tzinfo=UTC), published="2026-01-01")
    assert scalar(corpus, "select count(*) from pgclarify_private.pending_document") == 1


def test_another_key_changes_the_dates_that_come_from_metadata(corpus: Connection) -> None:
    add(corpus, "given", NEW_YEAR, published="2020-05-05", changed="2021-05-05")
    add(corpus, "old", published="2020-05-05", changed="2021-05-05")
    add(corpus, "unknown", changed="2021-05-05")
    changed = datetime(2021, 5, 5, tzinfo=UTC)
    alter = "select pgclarify.alter_corpus('c', '{\"date_key\": \"changed\"}')"
    assert [scalar(corpus, alter), scalar(corpus, alter)] == [True, False]
    assert dates(corpus) == {"given": NEW_YEAR, "old": changed, "unknown": changed}
    assert scalar(corpus, "select pgclarify.alter_corpus('c', '{\"date_key\": null}')")
    assert dates(corpus) == {"given": NEW_YEAR, "old": None, "unknown": None}


def test_a_date_that_no_client_could_write_is_refused(corpus: Connection) -> None:
    for value in ("infinity", "-infinity", "10000-01-01", "0044-03-15 BC"):
        assert sqlstate_of(corpus, "select pgclarify.add_document('c', 'd', 'Cars.', dated => %s)", [value]) == "22023"


@pytest.mark.committed
def test_documents_of_a_client_have_their_dates(corpus: Connection) -> None:
    client = Client(corpus, corpus="c")
    corpus.execute("set timezone = 'Pacific/Auckland'")
    client.add_documents(
        [
            Document("day", "Cars.", dated=date(2026, 1, 1)),
            Document("metadata", "Cars.", metadata={"published": "2026-01-01"}),
            Document("none", "Cars."),
            Document("time", "Cars.", dated=datetime.fromisoformat("2026-01-01T02:00:00+02:00")),
            Document("without a zone", "Cars.", dated=datetime(2026, 1, 1)),
        ]
    )
    assert dates(corpus) == {
        "day": NEW_YEAR, "metadata": NEW_YEAR, "none": None, "time": NEW_YEAR, "without a zone": NEW_YEAR
    }  # fmt: skip


class TestAttachedTables:
    @pytest.mark.parametrize(
        ("kind", "value", "expected"),
        [
            ("date", "2026-01-01", NEW_YEAR),
            ("timestamp", "2026-01-01 00:00", NEW_YEAR),
            ("timestamptz", "2026-01-01 02:00+02", NEW_YEAR),
            ("varchar(20)", "2026-01-01", NEW_YEAR),
            ("text", "last year", None),
            ("date", "infinity", None),
            ("timestamp", "0044-03-15 BC", None),
            ("date", None, None),
        ],
    )
    def test_a_column_has_the_date(
        self,
        alice: Connection,  # noqa: F811
        make_worker: MakeWorker,
        kind: str,
        value: str | None,
        expected: datetime | None,
    ) -> None:
        alice.execute(f"alter table app.article add column day {kind}".encode())
        alice.execute("update app.article set day = %s where id = 1", [value])
        attach(alice, dated="day")
        worker = make_worker()
        worker.follow_everything()
        assert dates(alice) == {"1": expected, "2": None}
        alice.execute("update app.article set day = '2027-01-01 00:00+00' where id = 2")
        worker.follow_everything()
        assert dates(alice) == {"1": expected, "2": datetime(2027, 1, 1, tzinfo=UTC)}

    def test_a_column_of_metadata_has_it_by_the_key_of_the_corpus(
        self,
        alice: Connection,  # noqa: F811
        make_worker: MakeWorker,
    ) -> None:
        alice.execute("alter table app.article add column day date default '2026-01-01'")
        alice.execute("select pgclarify.alter_corpus('kb', '{\"date_key\": \"day\"}')")
        attach(alice, metadata=["day"])
        make_worker().follow_everything()
        assert dates(alice) == {"1": NEW_YEAR, "2": NEW_YEAR}

    def test_a_column_of_another_type_is_refused(self, alice: Connection) -> None:  # noqa: F811
        statement = "select pgclarify.attach_table('kb', 'app.article', 'id', 'body', '{\"dated\": \"id\"}')"
        assert sqlstate_of(alice, statement) == "42804"


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        ({">=": "2026-01-01"}, {"new"}),
        ({"<": "2026-01-01T00:00:00+01:00"}, {"old"}),
        ({">": "2020-01-01", "<": "2026-01-01"}, {"old"}),
        ("2026-01-01", {"new"}),
        ({"exists": False}, {"unknown"}),
        ({"exists": True}, {"new", "old"}),
    ],
)
def test_a_filter_compares_dates(
    corpus: Connection, make_worker: MakeWorker, one: Mapping[str, object] | str, expected: set[str]
) -> None:
    add(corpus, "new", NEW_YEAR, dated="2000-01-01")
    add(corpus, "old", published="2020-05-05")
    add(corpus, "unknown")
    make_worker().index_everything()
    rows = corpus.execute(
        "select document_id from pgclarify.search('rental cars', 'c', 10, '{\"method\": \"lexical\"}', %s)",
        [json.dumps({"dated": one})],
    ).fetchall()
    assert {document_id for (document_id,) in rows} == expected


def answered(connection: Connection, make_worker: MakeWorker, *document_ids: str) -> int:
    """A run with a reading that these documents prove."""
    worker = make_worker()
    worker.index_everything()
    run_id = int(
        scalar(connection, "select pgclarify.submit('clarify', 'rental cars', 'c', '{\"method\": \"lexical\"}')")
    )
    connection.commit()
    run = worker.start(run_id)
    assert run is not None
    ranks = {row["document_id"]: row["rank"] for row in worker.retrieve(run_id, run["attempt"], "rental cars")}
    store_grounded_verdict(worker, run_id)
    proofs = [reading(rank=ranks[document_id], quote="Rental cars") for document_id in document_ids]
    citations = [
        {**citation, "is_medoid": place == 0} for place, one in enumerate(proofs) for citation in one["citations"]
    ]
    worker.finish(run_id, run["attempt"], interpretations=[{**proofs[0], "citations": citations}])
    return run_id


@pytest.mark.committed
def test_citations_have_the_date_of_their_document_and_readings_the_newest(
    connection: Connection, make_worker: MakeWorker
) -> None:
    connection.execute(MAKE_OPEN_CORPUS, ["c"])
    add(connection, "old", "2020-05-05T00:00:00Z")
    add(connection, "new", "2026-01-01T00:00:00Z")
    add(connection, "unknown")
    run_id = answered(connection, make_worker, "old", "new", "unknown")
    connection.execute("set timezone = 'Pacific/Auckland'")
    ((shown, citations),) = connection.execute("select dated, citations from pgclarify.result(%s)", [run_id]).fetchall()
    assert shown == NEW_YEAR
    told = {citation["document_id"]: citation["dated"] for citation in citations}
    assert told == {"old": "2020-05-05T00:00:00+00:00", "new": "2026-01-01T00:00:00+00:00", "unknown": None}
    assert scalar(connection, "select dated from pgclarify.interpretation where run_id = %s", run_id) == NEW_YEAR
    viewed = dict(
        connection.execute("select document_id, dated from pgclarify.citation where run_id = %s", [run_id]).fetchall()
    )
    assert viewed == {"old": datetime(2020, 5, 5, tzinfo=UTC), "new": NEW_YEAR, "unknown": None}
    (record,) = Client(connection).result(run_id)
    assert (record.dated, [one.dated for one in record.citations]) == (
        NEW_YEAR, [datetime(2020, 5, 5, tzinfo=UTC), NEW_YEAR, None]
    )  # fmt: skip
