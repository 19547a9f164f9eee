"""The Python client against a real server and a real worker, blocking and awaited."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from psycopg_pool import AsyncConnectionPool, ConnectionPool

import pgclarify
from pgclarify import AsyncClient, Client
from pgclarify.data.vocabulary import Outcome, RunStatus
from pgclarify.database.errors import CLIENT_REFUSALS
from pgclarify.errors import (
    AlreadyExists,
    DatabaseBusy,
    DatabaseError,
    InputError,
    NotCommitted,
    NotFound,
    NotReady,
    NoWorker,
    PermissionDenied,
    PgclarifyError,
    RunTimeout,
    SchemaMismatch,
    ServerUnavailable,
)
from tests.integration.attaching import make_outdated_corpus
from tests.integration.held_replies import hold_replies
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.openai_server import HANG, PROSE, Chat, Reply, Server, by_rules
from tests.pages import CHECKOUT, blocks, tables
from tests.sessions import Connection, scalar
from tests.workers import CORPUS, DOCUMENTS, Service, as_role, until

pytestmark = pytest.mark.xdist_group("client")

PYTHON_PAGE = CHECKOUT / "docs" / "python.md"
PYTHON_TUTORIAL = CHECKOUT / "docs" / "tutorials" / "python.md"
ABSTENTION = Reply('{"interpretation": null, "answer": null, "quote": null}')


@pytest.fixture
def client(service: Service, model: Server) -> Iterator[Client]:
    """A client of a role that may only ask."""
    with pgclarify.connect(as_role(service.dsn, service.asker)) as connected:
        yield connected


@pytest.fixture
async def async_client(service: Service, model: Server) -> AsyncIterator[AsyncClient]:
    """The asynchronous client of the same role."""
    async with pgclarify.connect_async(as_role(service.dsn, service.asker)) as connected:
        yield connected


def hang_on_canada(chat: Chat) -> Reply:
    """Never answer for one of the passages."""
    return HANG if chat.passage is not None and "Canada" in chat.passage else by_rules(chat)


def release(model: Server) -> None:
    """Let the model answer the call that hangs, and all others. The run of that call is over."""
    model.behavior = by_rules
    model.releases += 1
    until(lambda: model.in_flight == 0)


def status_of(connection: Connection, question: str) -> str | None:
    status: str | None = scalar(connection, "select status from pgclarify.run where question = %s", question)
    return status


def test_readings_are_the_rows_of_sql(client: Client, asker: Connection) -> None:
    readings = client.clarify("what does a rental cost", corpus=CORPUS, top_k=len(DOCUMENTS), method="hybrid")

    assert len(readings) > 1
    rows = asker.execute(
        "select ordinal, interpretation, answer from pgclarify.result(%s)", [readings[0].run_id]
    ).fetchall()
    assert rows == [(reading.ordinal, reading.interpretation, reading.answer) for reading in readings]
    assert client.result(readings[0].run_id) == readings


def test_the_passages_that_a_run_cites_have_its_quotes(service: Service, model: Server) -> None:
    with pgclarify.connect(as_role(service.dsn, service.asker), corpus=CORPUS) as client:
        readings = client.clarify("what does a rental cost", top_k=len(DOCUMENTS))
        passages = {(one.document_id, one.passage_id): one for one in client.cited_passages(readings[0].run_id)}
        shown = readings._repr_html_()

    citations = [citation for reading in readings for citation in reading.citations]
    assert {(citation.document_id, citation.passage_id) for citation in citations} == set(passages)
    for citation in citations:
        passage = passages[citation.document_id, citation.passage_id]
        start = citation.start_char - passage.start_char
        assert passage.content[start:].startswith(citation.quote)
    assert shown.count("<mark>") == len(citations)
    # After the connection is closed, quotes stand alone.
    assert readings._repr_html_().count("<mark>") == len(citations)


def test_verdicts_land_before_the_run_is_over(client: Client, model: Server) -> None:
    model.behavior = hang_on_canada
    run_id = client.submit("clarify", "client watched", top_k=len(DOCUMENTS))
    watched = client.verdicts(run_id)

    verdicts = [next(watched) for _ in range(len(DOCUMENTS) - 1)]
    with pytest.raises(NotReady):
        client.result(run_id)
    assert client.wait([run_id], timeout=0.01)[0].status is RunStatus.RUNNING
    assert {verdict.document_id for verdict in verdicts} == {str(key) for key in DOCUMENTS} - {"105"}
    for verdict in verdicts:
        assert verdict.title == DOCUMENTS[int(verdict.document_id)][0]
        assert (verdict.outcome is Outcome.GROUNDED) == (verdict.answer is not None) == (verdict.reason is None)
    assert {verdict.outcome for verdict in verdicts} == {Outcome.GROUNDED, Outcome.ABSTAINED}

    assert client.cancel([run_id]) == 1
    assert list(watched) == []
    assert client.cancel([run_id]) == 0


def test_after_the_timeout_the_run_goes_on(client: Client, model: Server) -> None:
    with hold_replies(model):
        with pytest.raises(RunTimeout) as caught:
            client.clarify("client late", top_k=4, timeout=0.1)
        (run_id,) = caught.value.run_ids
        with pytest.raises(RunTimeout) as watched:
            list(client.verdicts(run_id, timeout=0.05))
    assert watched.value.run_ids == (run_id,)
    assert client.wait([run_id])[0].status is RunStatus.SUCCEEDED
    assert client.result(run_id)


def test_a_corpus_from_beginning_to_end(client: Client) -> None:
    name = "client's own"
    client.create_corpus(name, search_config="simple")
    documents = [
        pgclarify.Document(str(key), content, title, metadata={"key": key})
        for key, (title, content) in list(DOCUMENTS.items())[:3]
    ]
    assert client.add_documents(documents, corpus=name) == 3
    status = client.wait_until_searchable(name, timeout=60)
    assert (status.corpus, status.documents, status.pending, status.failed) == (name, 3, 0, 0)
    assert client.add_documents(documents, corpus=name) == 0
    assert client.remove_document("101", corpus=name) is True
    assert client.remove_document("101", corpus=name) is False
    assert [found.document_id for found in client.search("hail", corpus=name, method="lexical")] == ["102"]
    assert client.erase_document("103", corpus=name) is True
    assert client.erase_document("103", corpus=name) is False
    assert client.corpus_status(name).documents == 1
    assert {CORPUS, name} <= {found.corpus for found in client.corpora()}
    assert client.corpus_status().corpus == CORPUS
    with pytest.raises(AlreadyExists):
        client.create_corpus(name)
    client.drop_corpus(name)
    with pytest.raises(NotFound):
        client.corpus_status(name)


def test_a_corpus_follows_a_table_and_is_opened_to_others(service: Service, superuser: Connection) -> None:
    superuser.execute("create table public.note (id int primary key, body text)")
    superuser.execute("insert into public.note values (1, 'Hail is covered.'), (2, 'Theft is not covered.')")
    with pgclarify.connect(service.dsn, corpus="client's notes") as owner:
        owner.create_corpus("client's notes")
        source_id = owner.attach_table("public.note", "id", "body", title="body")
        assert owner.wait_until_searchable(timeout=60).documents == 2
        superuser.execute("alter table public.note disable trigger user")
        superuser.execute("delete from public.note where id = 2")
        superuser.execute("alter table public.note enable trigger user")
        assert owner.resync("public.note") == source_id
        until(lambda: owner.corpus_status().documents == 1)

        assert owner.alter_corpus("client's notes", ambiguity_classifier=None) is False
        with pgclarify.connect(as_role(service.dsn, service.asker), corpus="client's notes") as other:
            with pytest.raises(NotFound):
                other.search("hail", method="lexical")
            assert owner.grant_access(service.asker) is True
            assert owner.grant_access(service.asker) is False
            assert len(other.search("hail", method="lexical")) == 1
            with pytest.raises(PermissionDenied):
                other.revoke_access(service.asker)
            assert owner.revoke_access(service.asker, "reader") is True
            with pytest.raises(NotFound):
                other.corpus_status()
        assert owner.detach_table("public.note", documents="remove") == source_id
        owner.drop_corpus("client's notes")
    superuser.execute("drop table public.note")


def test_a_run_is_grouped_again_and_its_passages_have_neighbors(client: Client) -> None:
    first = client.clarify("what does a rental cost", top_k=len(DOCUMENTS))
    again = client.consolidate(first[0].run_id, consolidation="conservative")
    assert again[0].run_id != first[0].run_id
    assert {one.answer for one in again} <= {one.answer for one in first}
    cited = first[0].citations[0]
    found = client.neighbors(cited.document_id, cited.passage_id, k=2)
    assert [one.rank for one in found] == [1, 2]
    assert found[0].similarity >= found[1].similarity


@parametrize_in_one_test(
    "call, kind, sqlstate",
    [
        (lambda client: client.clarify("q", top_k=0), InputError, "22023"),
        (lambda client: client.clarify("q\x00"), InputError, "22000"),
        (lambda client: client.clarify("q\ud800"), InputError, "22021"),
        (lambda client: client.result(2**40), NotFound, "42704"),
    ],
)
def test_errors_of_the_server_have_their_kind_and_sqlstate(
    client: Client, call: Callable[[Client], object], kind: type[PgclarifyError], sqlstate: str
) -> None:
    with pytest.raises(kind) as caught:
        call(client)
    assert caught.value.sqlstate == sqlstate
    assert "\n" not in caught.value.message


def test_every_sqlstate_has_its_class(connection: Connection) -> None:
    # The client sends its own statement, and a function with this error answers it.
    connection.execute("drop function pgclarify.cancel(bigint[])")
    connection.execute("""
        create function pgclarify.cancel(run_ids bigint[]) returns integer language plpgsql as $$ begin
            raise exception 'it was refused'
                using errcode = current_setting('test.sqlstate'), detail = 'Facts.', hint = 'Advice.';
        end $$
    """)
    kinds = {code.ljust(5, "0"): kind for code, kind in CLIENT_REFUSALS.items()}
    kinds |= {"40001": DatabaseBusy, "PC006": DatabaseError}
    # A node of a cluster is gone or ends, and not this server.
    kinds |= {"08006": DatabaseBusy, "57P01": DatabaseBusy, "08P01": ServerUnavailable}
    for sqlstate, kind in kinds.items():
        connection.execute("select set_config('test.sqlstate', %s, false)", [sqlstate])
        with pytest.raises(PgclarifyError) as caught:
            Client(connection).cancel([1])
        assert type(caught.value) is kind
        assert (caught.value.message, caught.value.detail) == ("it was refused", "Facts.")
        assert caught.value.sqlstate == sqlstate
        assert caught.value.hint
        assert isinstance(caught.value.__cause__, psycopg.Error)


def test_a_database_without_pgclarify(make_database: Callable[..., str]) -> None:
    with pgclarify.connect(make_database()) as client:
        for call in (lambda: client.clarify("q"), client.corpora, lambda: client.submit("clarify", "q")):
            with pytest.raises(SchemaMismatch) as caught:
                call()
            assert "pgclarify init" in (caught.value.hint or "")


def test_calls_without_a_worker_or_server_are_errors(
    connection: Connection, connect: Callable[..., Connection]
) -> None:
    client = Client(connection, corpus="empty")
    client.create_corpus("empty")
    with pytest.raises(NoWorker):
        client.clarify("nobody there")
    assert client.search("nobody there", method="lexical") == []
    client.close()
    assert not connection.closed
    with closing(connect()) as other, pytest.raises(ServerUnavailable):
        other.close()
        Client(other).corpora()


def test_a_session_that_is_cut_off(client: Client, superuser: Connection, service: Service) -> None:
    superuser.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pgclarify client'"
        " and datname = current_database()"
    )
    for _ in range(2):  # the first call learns of it, the second knows
        with pytest.raises(ServerUnavailable) as caught:
            client.corpora()
        assert "\n" not in caught.value.message


def test_ctrl_c_cancels_the_run(client: Client, model: Server, asker: Connection) -> None:
    model.behavior = hang_on_canada

    def press() -> None:
        until(lambda: model.in_flight == 1 and status_of(asker, "client interrupted") == "running")
        os.kill(os.getpid(), signal.SIGINT)

    pressing = threading.Thread(target=press)
    pressing.start()
    with pytest.raises(KeyboardInterrupt):
        client.clarify("client interrupted", top_k=len(DOCUMENTS), timeout=None)
    pressing.join()

    assert status_of(asker, "client interrupted") == "cancelled"
    release(model)
    assert client.clarify("client interrupted", top_k=len(DOCUMENTS)), "the connection still works"


async def test_a_cancelled_task_cancels_the_run(async_client: AsyncClient, model: Server, asker: Connection) -> None:
    model.behavior = hang_on_canada
    asking = asyncio.create_task(async_client.clarify("client's task", top_k=len(DOCUMENTS), timeout=None))
    await asyncio.to_thread(until, lambda: model.in_flight == 1 and status_of(asker, "client's task") == "running")
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking

    assert status_of(asker, "client's task") == "cancelled"
    await asyncio.to_thread(release, model)
    assert await async_client.clarify("client's task", top_k=len(DOCUMENTS))


async def test_the_awaited_client(async_client: AsyncClient, model: Server) -> None:
    run_id = await async_client.submit("clarify", "client awaited", top_k=4)
    verdicts = [verdict async for verdict in async_client.verdicts(run_id)]
    assert sorted(verdict.rank for verdict in verdicts) == [1, 2, 3, 4]
    readings = await async_client.result(run_id)
    assert readings == await async_client.clarify("client awaited", top_k=4)
    (answer,) = await async_client.clarify_many(["client awaited"], top_k=4)
    assert list(answer.interpretations) == readings
    filters = [None, {"product": "of no document"}]
    whole, part = await async_client.clarify_many(["client awaited"] * 2, top_k=4, filters=filters)
    assert [reading.answer for reading in whole.interpretations] == [reading.answer for reading in readings]
    assert not part.interpretations
    assert (await async_client.wait_until_searchable()).corpus == CORPUS
    with pytest.raises(NotFound):
        await async_client.result(2**40)
    with pytest.raises(NotFound):
        async for _ in async_client.verdicts(2**40):
            pass


async def test_connecting_can_be_awaited(service: Service) -> None:
    client = await pgclarify.connect_async(as_role(service.dsn, service.asker), corpus=CORPUS)
    assert (await client.corpus_status()).corpus == CORPUS
    await client.close()
    with pytest.raises(ServerUnavailable):
        await client.corpora()


async def test_calls_over_a_pool_run_at_the_same_time(service: Service, model: Server) -> None:
    # Each waits for the other's call. One after the other, they would never end.
    model.behavior = hang_on_canada
    async with AsyncConnectionPool(as_role(service.dsn, service.asker), min_size=2, open=False) as pool:
        client = AsyncClient(pool, corpus=CORPUS)
        run_id = await client.submit("clarify", "client pooled", top_k=len(DOCUMENTS))
        waiting = asyncio.create_task(client.wait([run_id]))
        assert await client.corpora()
        assert not waiting.done()
        assert await client.cancel([run_id]) == 1
        assert (await waiting)[0].status is RunStatus.CANCELLED
    with pytest.raises(ServerUnavailable):
        await client.corpora()


def test_a_blocking_client_over_a_pool(service: Service, model: Server) -> None:
    with ConnectionPool(as_role(service.dsn, service.asker), min_size=1, open=True) as pool:
        client = Client(pool)
        run_id = client.submit("clarify", "client pooled too", top_k=4)
        assert len(list(client.verdicts(run_id))) == 4, "each call is committed by itself"
        client.close()
        assert client.result(run_id)


def test_inside_a_transaction_of_the_application(service: Service, model: Server) -> None:
    with closing(psycopg.connect(as_role(service.dsn, service.asker))) as connection:
        client = Client(connection)
        run_id = client.submit("clarify", "client uncommitted", top_k=4)
        for call in (lambda: client.wait([run_id]), lambda: list(client.verdicts(run_id))):
            with pytest.raises(NotCommitted), connection.transaction():
                call()
        assert client.clarify("client in a transaction", top_k=4)
        connection.rollback()
        with pytest.raises(NotFound):
            client.result(run_id)
        connection.rollback()

        run_id = client.submit("clarify", "client committed", top_k=4)
        connection.commit()
        assert client.wait([run_id])[0].status is RunStatus.SUCCEEDED


def test_a_partial_run_is_logged(client: Client, model: Server, caplog: pytest.LogCaptureFixture) -> None:
    def behavior(chat: Chat) -> Reply:
        if chat.passage is None:
            return by_rules(chat)
        return PROSE if "Canada" in chat.passage else ABSTENTION

    model.behavior = behavior
    with caplog.at_level(logging.WARNING, logger="pgclarify.client"):
        assert client.clarify("client partial", top_k=len(DOCUMENTS)) == []
    assert "partial" in caplog.text


def test_an_answer_that_may_be_out_of_date_is_logged(
    client: Client, superuser: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    make_outdated_corpus(superuser, "outdated")
    with caplog.at_level(logging.WARNING, logger="pgclarify.client"):
        assert client.search("tug", corpus="outdated", method="lexical")
    assert "source_status" in caplog.text


@pytest.mark.parametrize(("page", "corpus"), [(PYTHON_TUTORIAL, "my_notes"), (PYTHON_PAGE, "garage")])
def test_the_pages_on_python_run(
    service: Service, model: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, page: Path, corpus: str
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "leave.md").write_text("Paid parental leave lasts sixteen weeks.")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", as_role(service.dsn, service.asker))
    code = [block.code for block in blocks(page, "python")]
    assert code
    try:
        for example in code:
            exec(compile(example, page.name, "exec"), {"__name__": "__main__"})  # noqa: S102
    finally:
        with pgclarify.connect() as client:
            client.drop_corpus(corpus)


def test_the_page_on_python_has_every_exception() -> None:
    told = tables(PYTHON_PAGE, "SQLSTATE")["Errors"]
    assert dict(told) == {code: kind.__name__ for code, kind in CLIENT_REFUSALS.items()}
