"""Worker processes that embed by an endpoint, whose server runs or does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg
import pytest

from tests.integration.counts import assert_counts_agree
from tests.openai_server import Reply, Server, bags_of_words
from tests.sessions import Connect, Connection, MakeRole, scalar
from tests.workers import DOCUMENTS, StartWorker, until, wait_until_searchable

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


def test_a_text_that_the_model_cannot_embed_fails_its_document_alone(
    database: str, connection: Connection, own_model: Server, run_worker: StartWorker
) -> None:
    # Ollama says so, if a model computes NaN. It can embed the beginning of the text.
    def embed(body: Mapping[str, Any]) -> Reply:
        if any("poison" in text for text in body["input"]):
            return Reply.error(500, "failed to encode response: json: unsupported value: NaN")
        return bags_of_words(body)

    own_model.embed = embed
    run_worker(database, own_model.base_url)
    scalar(connection, CREATE, "rental", MODEL)
    connection.execute(ADD, ["rental", "1", "Tolls are charged to the renter."])
    connection.execute(ADD, ["rental", "2", "Fuel is charged to the renter, and not the poison."])
    until(lambda: status(connection, "rental")[3] == 0)
    documents = "select id, has_failed, error is not null from pgclarify.document order by id"
    assert connection.execute(documents).fetchall() == [("1", False, False), ("2", True, True)]
    assert scalar(connection, "select failed from pgclarify.corpus where corpus = 'rental'") == 1
    assert scalar(connection, SEARCH, "fuel that is charged", "rental") == "1"
    assert scalar(connection, "select count(*) from pgclarify_private.passage_embedding") == 1


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
