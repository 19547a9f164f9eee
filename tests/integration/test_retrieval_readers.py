"""Retrieval for roles that may see little."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tests.integration.counts import assert_counts_agree
from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, ManualWorker, vector_of
from tests.integration.retrieving import add_all, cosine, lexical, retrieve
from tests.sessions import Connect, Connection, MakeRole, scalar

pytestmark = pytest.mark.rolled_back

QUESTION = [1.0, 0.0, 0.0, 0.0]
SECRET, REDACTED, KEPT = "Cars cost 70 dollars.", "Cars cost money.", "Vans and cars differ."


@pytest.mark.parametrize("visible", [12, 500])
def test_dense_finds_what_is_visible(
    connection: Connection,
    connect: Connect,
    make_worker: MakeWorker,
    make_role: MakeRole,
    visible: int,
) -> None:
    """The visible ones are far from the question, behind all those that are not.

    If few passages are visible, all are compared. If more than 20,000 are visible, they are not. A test has no time to
    make that many, so the counter pretends that there are more. A stranger, who may read none of them, finds none.
    """
    alice, bob = make_role("pgclarify_user", name="alice"), make_role(name="bob")
    chance = random.Random(7)  # noqa: S311 - not for secrets
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    hers = [f"hers {number}" for number in range(visible)]
    his = [f"his {number}" for number in range(500)]
    vectors = {
        text: [direction, *(chance.gauss(0, 0.3) for _ in range(3))]
        for direction, texts in ((-1.0, hers), (1.0, his))
        for text in texts
    }
    add_all(
        connection, {text: text for text in vectors}, {text: [alice if text[:3] == "her" else bob] for text in vectors}
    )
    worker = make_worker()
    worker.index_everything(vectors)
    nearest = sorted(hers, key=lambda text: cosine(QUESTION, vectors[text]), reverse=True)[:10]
    # In half precision, passages of nearly equal distance may change places.
    worst = min(cosine(QUESTION, vectors[text]) for text in nearest) - 0.002
    session, stranger = connect(alice), connect(make_role("pgclarify_user"))

    def recall() -> float:
        assert retrieve(stranger, worker, "question", QUESTION, method="dense", top_k=10) == []
        found = [
            passage["document_id"]
            for passage in retrieve(session, worker, "question", QUESTION, method="dense", top_k=10)
        ]
        assert len(found) == len(set(found)) == 10
        assert set(found) <= set(hers)
        near = sum(cosine(QUESTION, vectors[text]) >= worst for text in found)
        return near / len(nearest)

    assert recall() == 1.0
    connection.execute("insert into pgclarify_private.corpus_tally (corpus_id, passages) values (1, 20001)")
    assert recall() >= 0.9


def test_dense_where_some_have_no_readers(
    connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
) -> None:
    """A scan of the index meets only what is invisible, so everything visible is compared."""
    alice, bob = make_role("pgclarify_user", name="alice"), make_role(name="bob")
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    everyones = [f"open {number}" for number in range(5)]
    his = [f"his {number}" for number in range(500)]
    vectors = {text: [1.0 if text in his else -1.0, 0.1, 0.2, 0.3] for text in everyones + his}
    add_all(connection, {text: text for text in vectors}, {text: [bob] for text in his})
    worker = make_worker()
    worker.index_everything(vectors)
    connection.execute("insert into pgclarify_private.corpus_tally (corpus_id, passages) values (1, 20000)")

    found = retrieve(connect(alice), worker, "question", QUESTION, method="dense", top_k=10)

    assert sorted(passage["document_id"] for passage in found) == everyones


def test_every_method_asks_who_reads(
    connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
) -> None:
    alice, bob = make_role("pgclarify_user", name="alice"), make_role("pgclarify_user", name="bob")
    team = make_role("pgclarify_user", name="team")
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    readers: dict[str, list[Any]] = {
        "hers": [alice],
        "his": [bob],
        "nobody's": [],
        "a stranger's": ["no such role"],
        # Readers that the index treats as everyone, and readers that it treats as no role.
        "of no name": [""],
        "of no name at all": [None],
        "both": [alice, bob, "no such role"],
        "team's": [team],
    }
    add_all(connection, {one: f"Cars, {one}." for one in [*readers, "everyone's"]}, readers)
    worker = make_worker()
    worker.index_everything()

    for role, readable in (
        (alice, {"hers", "everyone's", "both"}),
        (bob, {"his", "everyone's", "both"}),
        (team, {"team's", "everyone's"}),
        (make_role(team), {"team's", "everyone's"}),
        (make_role("pgclarify_user"), {"everyone's"}),
    ):
        user = connect(role)
        assert {key for key, _ in lexical(user, "cars")} == readable
        for search in ("lexical", "hybrid", "dense"):
            found = retrieve(user, worker, "cars", vector_of("x"), method=search)
            assert {passage["document_id"] for passage in found} == readable


def test_lexical_misses_nothing_of_the_little_that_is_visible(
    connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
) -> None:
    """Many passages have the words of the question, but few of those that the role may read."""
    alice, bob = make_role("pgclarify_user", name="alice"), make_role(name="bob")
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    readers = {f"his {number}": [bob] for number in range(20)} | {"car": [alice], "van": [alice]}
    contents = {f"his {number}": "Cars and vans." for number in range(20)}
    contents |= {"car": "A car.", "van": "A van.", "open": "Cars and trucks."}
    add_all(connection, contents, readers)
    make_worker().index_everything()
    # Pretend that each lexeme is in too many passages to score all of them.
    connection.execute("update pgclarify_private.term set passages = passages + 6000")
    connection.execute(
        "insert into pgclarify_private.corpus_tally (corpus_id, passages, restricted_passages) values (1, 9000, 9000)"
    )

    assert {key for key, _ in lexical(connect(alice), "car van")} == {"car", "open", "van"}


def test_a_new_reader_reads_at_once(
    connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
) -> None:
    alice = make_role("pgclarify_user", name="alice")
    user = connect(alice)
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    add_all(connection, {"1": "Cars."}, {"1": []})
    worker = make_worker()
    worker.index_everything()

    for readers, readable in (([], []), ([alice], ["1"]), (["no such role"], []), (None, ["1"])):
        add_all(connection, {"1": "Cars."}, {} if readers is None else {"1": readers})
        assert [key for key, _ in lexical(user, "cars")] == readable
        found = retrieve(user, worker, "cars", vector_of("x"), method="dense")
        assert [passage["document_id"] for passage in found] == readable


def put(connection: Connection, contents: list[str], readers: list[str] | None) -> None:
    add_all(connection, {"memo": "\n\n".join(contents)}, {} if readers is None else {"memo": readers})


def seen(user: Connection, worker: ManualWorker) -> list[str]:
    """The passages that a role reads in the table; a search by words and one by vectors find the same."""
    contents = [row[0] for row in user.execute("select content from pgclarify.passage order by content")]
    for search in ("lexical", "dense"):
        found = retrieve(user, worker, "cars", vector_of("x"), method=search)
        assert sorted(passage["content"] for passage in found) == contents
    return contents


@pytest.mark.parametrize("is_for_everyone", [True, False])
@pytest.mark.parametrize("is_redacted_before", [True, False])
def test_new_readers_never_find_an_earlier_content(
    connection: Connection,
    connect: Connect,
    make_worker: MakeWorker,
    make_role: MakeRole,
    is_redacted_before: bool,
    is_for_everyone: bool,
) -> None:
    boss, alice = make_role("pgclarify_user", name="boss"), make_role("pgclarify_user", name="alice")
    manager, user = connect(boss), connect(alice)
    wider = None if is_for_everyone else [boss, alice]
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    put(connection, [SECRET, KEPT], [boss])
    worker = make_worker()
    worker.index_everything()

    if is_redacted_before:
        put(connection, [REDACTED, KEPT], [boss])
    put(connection, [REDACTED, KEPT], wider)
    assert seen(user, worker) == []
    assert seen(manager, worker) == [SECRET, KEPT]
    assert_counts_agree(connection)

    worker.fail(worker.claim()[0])
    assert seen(user, worker) == []
    assert_counts_agree(connection)

    put(connection, [REDACTED, KEPT], wider)
    assert seen(user, worker) == []
    worker.index_everything()
    assert seen(user, worker) == seen(manager, worker) == [REDACTED, KEPT]
    assert_counts_agree(connection)


def put_for(connection: Connection, tenant: str, text: str) -> None:
    add = "select pgclarify.add_document('insurance', 'memo', %s, metadata => %s)"
    connection.execute(add, [f"{text}\n\n{KEPT}", json.dumps({"tenant": tenant})])


def grant(connection: Connection, role: str, tenant: str | None) -> None:
    part = None if tenant is None else json.dumps({"tenant": tenant})
    connection.execute("select pgclarify.grant_access('insurance', %s, filter => %s)", [role, part])


@pytest.mark.parametrize("is_redacted_before", [True, False])
def test_who_may_read_a_document_by_new_metadata_never_finds_an_earlier_content(
    connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole, is_redacted_before: bool
) -> None:
    tenants = {name: make_role("pgclarify_user", name=name) for name in ("bolt", "acme", "all")}
    users = {name: connect(role) for name, role in tenants.items()}
    connection.execute("select pgclarify.create_corpus('insurance')")
    for name, role in tenants.items():
        grant(connection, role, None if name == "all" else name)
    worker = make_worker()
    put_for(connection, "bolt", SECRET)
    worker.index_everything()
    put_for(connection, "bolt", f"{SECRET} Ask.")
    # The same fence: the earlier content is found until the new one is.
    assert seen(users["bolt"], worker) == [SECRET, KEPT]
    if is_redacted_before:
        put_for(connection, "bolt", REDACTED)
    put_for(connection, "acme", REDACTED)
    for user in users.values():
        assert seen(user, worker) == []
    assert_counts_agree(connection)
    worker.index_everything()
    assert seen(users["acme"], worker) == seen(users["all"], worker) == [REDACTED, KEPT]
    assert seen(users["bolt"], worker) == []
    assert_counts_agree(connection)
    # Nothing waits, so a document that only moves is found at once.
    put_for(connection, "bolt", REDACTED)
    assert seen(users["bolt"], worker) == [REDACTED, KEPT]
    assert seen(users["acme"], worker) == []


@pytest.mark.parametrize("has_failed", [True, False])
def test_who_is_granted_a_part_never_finds_an_earlier_content_of_it(
    connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole, has_failed: bool
) -> None:
    acme = make_role("pgclarify_user", name="acme")
    user = connect(acme)
    connection.execute("select pgclarify.create_corpus('insurance')")
    put_for(connection, "bolt", SECRET)
    worker = make_worker()
    worker.index_everything()
    put_for(connection, "acme", REDACTED)
    if has_failed:
        worker.fail(worker.claim()[0])

    grant(connection, acme, "acme")
    assert seen(user, worker) == []
    put_for(connection, "acme", REDACTED)
    worker.index_everything()
    assert seen(user, worker) == [REDACTED, KEPT]
    assert_counts_agree(connection)


def test_readers_of_an_earlier_content_only_become_fewer(connection: Connection, make_worker: MakeWorker) -> None:
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    put(connection, [SECRET, KEPT], None)
    worker = make_worker()
    worker.index_everything()
    readers = "select jsonb_agg(distinct readers) from pgclarify_private.passage"

    for given, left in (
        (["boss", "staff"], ["boss", "staff"]),
        (["guest", "staff"], ["staff"]),
        (None, ["staff"]),
        (["boss"], []),
        (["boss", "guest"], []),
    ):
        put(connection, [REDACTED, KEPT], given)
        assert scalar(connection, readers) == [left]
        assert_counts_agree(connection)
    worker.index_everything()
    assert scalar(connection, readers) == [["boss", "guest"]]
    assert_counts_agree(connection)


def test_no_wrong_count_shows_a_passage(
    connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
) -> None:
    alice, bob = make_role("pgclarify_user", name="alice"), make_role(name="bob")
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    add_all(connection, {"hers": "Cars.", "his": "Cars."}, {"hers": [alice], "his": [bob]})
    worker = make_worker()
    worker.index_everything()
    connection.execute("insert into pgclarify_private.corpus_tally (corpus_id, restricted_passages) values (1, -2)")

    for method in ("dense", "lexical", "hybrid"):
        found = retrieve(connect(alice), worker, "cars", QUESTION, method=method, top_k=10)
        assert [passage["document_id"] for passage in found] == ["hers"]


def test_chosen_passages_are_read_by_who_may(
    connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
) -> None:
    alice, bob = make_role("pgclarify_user", name="alice"), make_role("pgclarify_user", name="bob")
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    connection.execute(
        "select pgclarify.create_corpus('closed', options => jsonb_build_object('reader', %s::text))", [bob]
    )
    add_all(connection, {"open": "For all.", "hers": "For Alice."}, {"hers": [alice]})
    connection.execute("select pgclarify.add_document('closed', 'his', 'For Bob.')")
    make_worker().index_everything()
    chosen = connection.execute(
        "select corpus_id, array_agg(document_id), array_agg(id) from pgclarify.passage group by corpus_id order by 1"
    ).fetchall()

    def contents(role: str) -> list[str]:
        session = connect(role)
        return [
            content
            for which in chosen
            for (content,) in session.execute(
                "select passage.content from pgclarify_private.caller as caller cross join lateral"
                " pgclarify_private.readable_passages(caller, %s, %s, %s) as passage order by 1",
                which,
            ).fetchall()
        ]

    assert contents(alice) == ["For Alice.", "For all."]
    assert contents(bob) == ["For all.", "For Bob."]
