"""The filter of a grant limits what a role finds and sees of a corpus, whatever it asks.

test_hidden_documents shows that documents outside of it change nothing that the role sees, and test_closed_documents
that earlier runs show nothing of them.
"""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from tests.integration.manual_worker import MakeWorker
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.sessions import Connect, Connection, MakeRole, scalar

pytestmark = pytest.mark.rolled_back

GRANT = "select pgclarify.grant_access('tickets', %s, filter => %s)"
FILTERS = "select reader_filters from pgclarify.corpus"
TENANTS: dict[str, dict[str, Any]] = {
    "shared": {"tenant": None},
    "acme 1": {"tenant": "acme", "year": 2025},
    "acme 2": {"tenant": "acme", "year": 2026},
    "bolt 1": {"tenant": "bolt", "year": 2025},
    "without": {},
}


def of(*tenants: str | None) -> str:
    return json.dumps({"tenant": list(tenants)} if len(tenants) > 1 else {"tenant": tenants[0]})


@pytest.fixture
def corpus(connection: Connection, make_worker: MakeWorker) -> Connection:
    connection.execute("select pgclarify.create_corpus('tickets')")
    for document_id, metadata in TENANTS.items():
        connection.execute(
            "select pgclarify.add_document('tickets', %s, 'Rental cars are paid.', metadata => %s)",
            [document_id, json.dumps(metadata)],
        )
    make_worker().index_everything()
    return connection


def found(session: Connection, **part: Any) -> set[str]:
    """The documents that a search by words finds, which needs no worker."""
    named = "".join(f", {name} => %({name})s" for name in part)
    rows = session.execute(
        "select document_id from pgclarify.search('rental cars', 'tickets', 1000, '{\"method\": \"lexical\"}'"  # noqa: S608
        f"{named})".encode(),
        part,
    ).fetchall()
    return {document_id for (document_id,) in rows}


def listed(session: Connection) -> set[str]:
    return {one for (one,) in session.execute("select id from pgclarify.document").fetchall()}


def test_a_reader_finds_and_reads_what_fits_its_filter(
    corpus: Connection, connect: Connect, make_role: MakeRole
) -> None:
    acme, bolt = (make_role("pgclarify_user", name=name) for name in ("acme", "bolt"))
    corpus.execute(GRANT, [acme, of("acme")])
    corpus.execute(GRANT, [bolt, of("bolt")])

    for name, expected in ((acme, {"acme 1", "acme 2"}), (bolt, {"bolt 1"})):
        session = connect(name)
        assert found(session) == listed(session) == expected
        assert {one for (one,) in session.execute("select document_id from pgclarify.passage").fetchall()} == expected
        assert found(session, filter=of("acme", "bolt")) == expected
        assert found(session, document_ids=["acme 2", "bolt 1"]) == expected & {"acme 2", "bolt 1"}
        assert scalar(session, "select count(*) from pgclarify.get_document('tickets', 'acme 1')") == (name == acme)
        assert scalar(session, "select count(*) from pgclarify.get_document('tickets', 'without')") == 0
    assert found(connect(acme), filter='{"year": 2025}') == {"acme 1"}


def test_metadata_take_effect_at_once(corpus: Connection, connect: Connect, make_role: MakeRole) -> None:
    bolt = make_role("pgclarify_user", name="bolt")
    corpus.execute(GRANT, [bolt, of("bolt")])

    corpus.execute(
        "select pgclarify.add_document('tickets', 'acme 1', 'Rental cars are paid.', metadata => %s)", [of("bolt")]
    )

    assert found(connect(bolt)) == {"bolt 1", "acme 1"}


def test_of_several_filters_one_must_fit(corpus: Connection, connect: Connect, make_role: MakeRole) -> None:
    acme, bolt = (make_role(name=name) for name in ("acme", "bolt"))
    both = make_role("pgclarify_user", acme, bolt, name="both")
    corpus.execute(GRANT, [acme, of("acme")])
    corpus.execute(GRANT, [bolt, of("bolt")])
    assert found(connect(both)) == {"acme 1", "acme 2", "bolt 1"}

    corpus.execute("select pgclarify.revoke_access('tickets', %s)", [bolt])
    assert found(connect(both)) == listed(connect(both)) == {"acme 1", "acme 2"}

    corpus.execute("select pgclarify.grant_access('tickets', %s)", [both])
    assert found(connect(both)) == listed(connect(both)) == set(TENANTS)


def test_a_grant_sets_the_filter_and_says_whether_that_is_new(
    corpus: Connection, connect: Connect, make_role: MakeRole
) -> None:
    acme = make_role("pgclarify_user", name="acme")
    assert [scalar(corpus, GRANT, acme, of("acme")) for _ in range(2)] == [True, False]
    assert scalar(corpus, FILTERS) == {acme: {"tenant": "acme"}}
    assert scalar(connect(acme), FILTERS) == {acme: {"tenant": "acme"}}

    assert scalar(corpus, GRANT, acme, of("acme", None)) is True
    assert found(connect(acme)) == {"shared", "without", "acme 1", "acme 2"}

    assert scalar(corpus, GRANT, acme, None) is True
    assert scalar(corpus, FILTERS) is None
    assert found(connect(acme)) == set(TENANTS)


def test_filters_are_shown_to_owners_analysts_and_whom_they_limit(
    corpus: Connection, connect: Connect, make_role: MakeRole
) -> None:
    acme, bolt, analyst = (make_role("pgclarify_user", name=name) for name in ("acme", "bolt", "analyst"))
    corpus.execute(GRANT, [acme, of("acme")])
    corpus.execute(GRANT, [bolt, of("bolt")])
    corpus.execute("select pgclarify.grant_access('tickets', %s, 'analyst')", [analyst])

    assert scalar(connect(bolt), FILTERS) == {bolt: {"tenant": "bolt"}}
    assert scalar(connect(analyst), FILTERS).keys() == {acme, bolt}


def test_counts_of_the_corpus_are_not_shown(corpus: Connection, connect: Connect, make_role: MakeRole) -> None:
    acme = make_role("pgclarify_user", name="acme")
    corpus.execute(GRANT, [acme, of("acme")])
    counts = "select documents, passages, pending, embedded, linked, pending_passages from pgclarify.corpus"
    assert set(connect(acme).execute(counts).fetchone() or ()) == {None}


def test_a_role_that_reads_all_by_other_rights_is_told(corpus: Connection, make_role: MakeRole) -> None:
    staff = make_role("pgclarify_user", name="staff")
    ann = make_role(staff, name="ann")
    corpus.execute("select pgclarify.grant_access('tickets', %s)", [staff])
    notices: list[str] = []
    corpus.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))

    corpus.execute(GRANT, [ann, of("acme")])

    assert notices == [f'role "{ann}" reads all of corpus "tickets" still']


@parametrize_in_one_test(
    "access, given, told",
    [
        ("analyst", {"tenant": "acme"}, "An analyst sees all runs"),
        ("reader", {"title": "acme"}, "It asks for title"),
        ("reader", {"any": [{"origin": "acme"}]}, "It asks for title"),
        ("reader", {"tenant": {"is": "acme"}}, "Its value is"),
    ],
)
def test_a_filter_that_cannot_limit_a_role_is_an_error(
    corpus: Connection, access: str, given: dict[str, Any], told: str
) -> None:
    with pytest.raises(psycopg.Error) as refused:
        corpus.execute(
            "select pgclarify.grant_access('tickets', 'pgclarify_user', %s, %s)", [access, json.dumps(given)]
        )
    assert refused.value.sqlstate == "22023"
    assert told in str(refused.value.diag.message_detail)


def test_a_run_is_answered_again_after_metadata_changed(
    corpus: Connection, connect: Connect, make_role: MakeRole, make_worker: MakeWorker
) -> None:
    acme = make_role("pgclarify_user", name="acme")
    corpus.execute(GRANT, [acme, of("acme")])
    worker = make_worker()
    asked = "select pgclarify.submit('clarify', 'rental cars', 'tickets')"

    first = scalar(connect(acme), asked)
    worker.answer(first)

    assert scalar(connect(acme), asked) != first


def test_equal_texts_are_paid_for_again_where_a_filter_separates_them(
    corpus: Connection, connect: Connect, make_role: MakeRole, make_worker: MakeWorker
) -> None:
    worker = make_worker()
    runs = []
    for name in ("acme", "bolt"):
        role = make_role("pgclarify_user", name=name)
        corpus.execute(GRANT, [role, of(name, None)])
        runs.append(int(scalar(connect(role), "select pgclarify.submit('clarify', 'rental cars', 'tickets')")))
    read = "select (pgclarify_private.read_calls(%s, %s, null))[1].input_hash"

    def hash_of(run_id: int, document_id: str) -> bytes:
        call = worker.call("rental cars", document_ids=[document_id])
        return bytes(scalar(corpus, read, json.dumps([call]), run_id))

    assert hash_of(runs[0], "acme 1") == hash_of(runs[0], "acme 2")
    assert hash_of(runs[0], "acme 1") != hash_of(runs[1], "bolt 1")
    assert hash_of(runs[0], "shared") == hash_of(runs[1], "shared")
