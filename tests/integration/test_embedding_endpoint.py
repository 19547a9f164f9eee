"""Worker processes that embed by an endpoint, whose server runs or does not, and that change the model of a corpus."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.integration.by_hand import Connect, Connection, MakeRole
from tests.integration.counts import assert_counts_agree
from tests.openai_server import Reply, Server, bags_of_words
from tests.unit.embedding.small_model import save_small_model
from tests.workers import DOCUMENTS, StartWorker, load, scalar, until, wait_until_searchable

MODEL = "endpoint:words-1@48"
STATUS = "select embedding_model, next_embedding_model, error, pending from pgclarify.corpus where corpus = %s"
CREATE = 'select pgclarify.create_corpus(%s, %s, \'{"reader": "pgclarify_user"}\')'
ADD = "select pgclarify.add_document(%s, %s, %s)"
SEARCH = 'select document_id from pgclarify.search(%s, %s, top_k => 1, options => \'{"method": "dense"}\')'


def is_away(_: object) -> Reply:
    return Reply.error(401, "no key")


def status(connection: Connection, corpus: str) -> tuple[Any, ...]:
    row = connection.execute(STATUS, [corpus]).fetchone()
    assert row is not None
    return tuple(row)


def test_from_a_server_that_is_away_to_an_answer(
    database: str,
    connection: Connection,
    connect: Connect,
    make_role: MakeRole,
    own_model: Server,
    run_worker: StartWorker,
) -> None:
    asker = connect(make_role("pgclarify_user"))
    own_model.embed = is_away
    first = run_worker(database, own_model.base_url)
    scalar(connection, CREATE, "rental", MODEL)
    for document_id, (title, content) in DOCUMENTS.items():
        connection.execute(
            "select pgclarify.add_document('rental', %s, %s, title => %s)", [str(document_id), content, title]
        )
    until(lambda: status(connection, "rental")[2])
    assert status(connection, "rental")[3] == len(DOCUMENTS)
    with pytest.raises(psycopg.Error) as caught:
        asker.execute(SEARCH, ["tolls", "rental"])
    assert caught.value.sqlstate == "PC003"
    assert scalar(connection, "select error_code from pgclarify.run") == "PC011"

    # A worker tries again after half a minute, a new one at once.
    first.stop()
    own_model.embed = bags_of_words
    second = run_worker(database, own_model.base_url)
    wait_until_searchable(connection, "rental")
    assert status(connection, "rental") == (MODEL, None, None, 0)
    assert scalar(connection, "select distinct dimensions from pgclarify_private.embedding_space") == 48
    assert scalar(asker, SEARCH, "tolls with an administrative fee", "rental") == "107"
    assert scalar(asker, "select count(*) from pgclarify.clarify('what does a rental cost', 'rental', top_k => 4)") > 0

    own_model.embed = is_away
    connection.execute(ADD, ["rental", "113", "A rental boat costs ninety dollars a day."])
    until(lambda: status(connection, "rental")[2])
    assert status(connection, "rental")[3] == 1
    assert scalar(connection, "select count(*) from pgclarify.document where error is not null") == 0
    with pytest.raises(psycopg.Error):
        asker.execute(SEARCH, ["a boat", "rental"])
    assert scalar(connection, "select error_code from pgclarify.run order by run_id desc limit 1") == "PC013"

    second.stop()
    own_model.embed = bags_of_words
    run_worker(database, own_model.base_url)
    until(lambda: status(connection, "rental")[2:] == (None, 0))
    assert scalar(asker, SEARCH, "a boat costs ninety dollars", "rental") == "113"
    assert_counts_agree(connection)


def test_an_address_of_its_own_and_none(
    database: str, connection: Connection, own_model: Server, run_worker: StartWorker
) -> None:
    worker = run_worker(database)
    scalar(connection, CREATE, "rental", MODEL)
    until(lambda: status(connection, "rental")[2])
    assert own_model.embedding_calls == 0
    worker.stop()
    settings = {"PGCLARIFY_EMBEDDING_BASE_URL": own_model.base_url, "PGCLARIFY_EMBEDDING_API_KEY": "sk-embeddings"}
    worker = run_worker(database, settings=settings)
    connection.execute(ADD, ["rental", "1", "Tolls are charged to the renter."])
    wait_until_searchable(connection, "rental")
    assert scalar(connection, SEARCH, "who pays tolls", "rental") == "1"
    assert own_model.keys == {"sk-embeddings"}
    assert own_model.calls == 0
    assert "sk-embeddings" not in worker.log.read_text()


def test_costs_are_counted_and_a_spent_budget_makes_documents_wait(
    database: str, connection: Connection, own_model: Server, run_worker: StartWorker
) -> None:
    used = "select sum(prompt_tokens)::bigint, sum(cost_usd), sum(embedded_texts)::bigint from pgclarify.usage"
    of = " where operation = %s"
    # A dollar a token.
    connection.execute(
        "insert into pgclarify_private.model_price (model, input_usd, output_usd) values ('words-1', 1000000, 0)"
    )
    connection.execute('select pgclarify.set_budget(\'all\', options => \'{"period": "total", "max_cost_usd": 1}\')')
    worker = run_worker(database, own_model.base_url)
    scalar(connection, CREATE, "rental", MODEL)
    connection.execute(ADD, ["rental", "1", "Tolls are charged to the renter."])
    wait_until_searchable(connection, "rental")
    until(lambda: scalar(connection, used.replace("sum(prompt_tokens)::bigint", "count(*)") + of, "embed_passages"))
    # The server counts a token for four characters.
    assert connection.execute(used + of, ["embed_passages"]).fetchone() == (8, 8, 1)

    connection.execute(ADD, ["rental", "2", "Fuel is charged to the renter."])
    until(lambda: status(connection, "rental")[2])
    assert status(connection, "rental")[3] == 1
    assert scalar(connection, SEARCH, "who pays tolls", "rental") == "1"
    worker.stop()
    # Also what the worker embedded just before it ended.
    assert connection.execute(used + of, ["embed_questions"]).fetchone() == (3, 3, 1)
    assert scalar(connection, "select spent_usd from pgclarify.budget") == 11


SET = "select pgclarify_private.set_embedding_model(caller, 'rental', %s) from pgclarify_private.caller"


@pytest.fixture(scope="module")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Path of a model of 24 dimensions that reads 64 tokens."""
    return save_small_model(tmp_path_factory.mktemp("models"))


def has_switched(connection: Connection, model: str) -> bool:
    used, following, error, _ = status(connection, "rental")
    assert error is None
    return (used, following) == (model, None)


def test_a_worker_fills_and_switches(
    database: str,
    connection: Connection,
    connect: Connect,
    make_role: MakeRole,
    own_model: Server,
    run_worker: StartWorker,
    small_model: str,
) -> None:
    run_worker(database, own_model.base_url)
    load(connection)
    # Runs are reused among roles with equal rights. A superuser gets each role that another test makes meanwhile.
    asker = connect(make_role("pgclarify_user"))
    wait_until_searchable(connection)
    ask = "select count(*) from pgclarify.clarify('what does a rental cost', top_k => 4, timeout => '5min')"
    assert scalar(asker, ask) > 0
    runs = scalar(connection, "select count(*) from pgclarify.run")

    assert scalar(connection, SET, "/no/such/model") is not None
    until(lambda: scalar(connection, "select error from pgclarify.corpus"))
    assert scalar(asker, ask) > 0
    assert scalar(connection, "select count(*) from pgclarify.run") == runs, "served again: nothing has changed"

    scalar(connection, SET, small_model)
    connection.execute("select pgclarify.add_document('rental', '113', 'A rental boat costs ninety dollars a day.')")
    connection.execute("select pgclarify.remove_document('rental', '101')")
    until(lambda: has_switched(connection, small_model))
    wait_until_searchable(connection)

    assert (
        scalar(connection, "select distinct dimensions from pgclarify_private.embedding_space where state = 'active'")
        == 24
    )
    assert scalar(asker, ask) > 0
    assert scalar(connection, "select count(*) from pgclarify.run") == runs + 1, "answers may differ now"
    run = "select vector_dims(question_vector) from pgclarify_private.run order by run_id desc limit 1"
    assert scalar(connection, run) == 24
    assert_counts_agree(connection)
