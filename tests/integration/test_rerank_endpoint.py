"""Rerankers behind an endpoint: a real worker, a server that plays one, and the ledger between them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from psycopg.rows import dict_row

from tests.integration.spending import price
from tests.openai_server import Reply, Server, by_rules
from tests.sessions import Connection, scalar
from tests.workers import API_KEY, CORPUS, Service, StartWorker, wait_until_searchable

RERANKER = "endpoint:words-1"
RERANKED = {"reranker": RERANKER}


@pytest.fixture(autouse=True)
def no_prices_before(service: Service, superuser: Connection) -> Iterator[None]:
    yield
    superuser.execute("delete from pgclarify_private.model_price where model = 'words-1'")


def search(connection: Connection, question: str, **options: object) -> list[tuple[str, float]]:
    return connection.execute(
        "select document_id, score from pgclarify.search(%s, %s, 3, %s) order by rank",
        [question, CORPUS, json.dumps({**RERANKED, **options})],
    ).fetchall()


def last_run(connection: Connection, *columns: str) -> tuple[Any, ...]:
    with connection.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute("select * from pgclarify.run order by run_id desc limit 1").fetchone()
    assert row is not None
    return tuple(row[column] for column in columns)


def ledger(connection: Connection) -> list[tuple[Any, ...]]:
    """The calls of the last run."""
    return connection.execute(
        """
        select purpose, model, parameters, reply is not null, completion_tokens
        from pgclarify_private.completion
        where run_id = (select max(run_id) from pgclarify.run) and finished_at is not null
        """
    ).fetchall()


def test_a_search_is_one_call_at_the_price_of_the_reranker(
    asker: Connection, superuser: Connection, model: Server
) -> None:
    price(superuser, "words-1", "2", "0")
    before = model.rerank_calls, model.calls
    rows = search(asker, "an administrative fee for tolls", max_passages=6)
    assert (model.rerank_calls, model.calls) == (before[0] + 1, before[1])
    assert rows[0][0] == "107"
    assert 0 < rows[2][1] <= rows[1][1] <= rows[0][1] < 1
    assert ledger(superuser) == [("reranking", "words-1", {}, True, 0)]
    # It is called at the language model's endpoint, with the same key.
    assert model.keys == {API_KEY}
    completions, prompt_tokens, cost = last_run(superuser, "completions", "prompt_tokens", "cost_usd")
    assert completions == 1
    assert cost == Decimal(prompt_tokens) * 2 / 1_000_000 > 0
    # A new run on the same passages costs nothing.
    asker.execute("set pgclarify.reuse_runs = off")
    assert search(asker, "an administrative fee for tolls", max_passages=6) == rows
    assert last_run(superuser, "completions", "reused_completions", "cost_usd") == (0, 1, 0)
    assert model.rerank_calls == before[0] + 1


@pytest.mark.parametrize(
    ("call", "more"),
    [
        ("clarify('who may drive in Canada', top_k => 2, options => %s)", {}),
        ("clarify('who may drive in Mexico', top_k => 2, options => %s)", {"retrieval": "adaptive"}),
        ("clarify('the price of hail damage', top_k => 2, options => %s)", {"ask_back": "when_vague"}),
        ("list_answers('Which fees are there?', options => %s)", {}),
        ("investigate('Who pays the fee for tolls?', options => %s)", {}),
        ("search('free upgrade', options => %s)", {"retrieval": "adaptive"}),
    ],
)
def test_every_operation_that_ranks_passages_takes_one(
    asker: Connection, model: Server, call: str, more: dict[str, str]
) -> None:
    before = model.rerank_calls
    asker.execute(b"select * from pgclarify." + call.encode(), [json.dumps({**RERANKED, **more})])
    assert model.rerank_calls > before


def test_answers_are_compared_by_a_model_for_natural_language_inference(
    asker: Connection, superuser: Connection, model: Server
) -> None:
    numbers = itertools.count()
    model.behavior = lambda chat: (
        Reply(json.dumps({"answer": f"answer {next(numbers)}"})) if chat.purpose == "sample" else by_rules(chat)
    )
    before = model.predict_calls
    options = json.dumps({"entailment": "endpoint:nli-1"})
    asker.execute(
        "select * from pgclarify.investigate('Who pays for towing to a repair shop?', options => %s)", [options]
    )
    assert model.predict_calls > before
    called = superuser.execute(
        """
        select distinct purpose from pgclarify_private.completion
        where model = 'nli-1' and run_id = (select max(run_id) from pgclarify.run)
        """
    ).fetchall()
    assert called == [("inference",)]


def test_an_estimate_asks_nobody_and_knows_both_prices(asker: Connection, superuser: Connection, model: Server) -> None:
    questions = ["What does the collision damage waiver cost?"]
    statement = "select calls, calls_at_most, reused_calls, cost_usd from pgclarify.estimate(%s, %s, 3, %s)"

    def estimate() -> tuple[Any, ...]:
        row = asker.execute(statement.encode(), [questions, CORPUS, json.dumps(RERANKED)]).fetchone()
        assert row is not None
        return tuple(row)

    before = model.calls, model.rerank_calls
    # One call of the reranker, three verdicts; no price is known.
    assert estimate() == (4, 4, 0, None)
    assert (model.calls, model.rerank_calls) == before
    asker.execute(
        "select * from pgclarify.clarify(%s, %s, 3, options => %s)", [*questions, CORPUS, json.dumps(RERANKED)]
    )
    assert (model.calls, model.rerank_calls) == (before[0] + 3, before[1] + 1)
    asker.execute("set pgclarify.reuse_runs = off")
    # What the reranker ranks first is not predicted. Of what the search ranks first, two passages were judged.
    assert estimate() == (1, 4, 3, None)
    questions = ["What do members get on their birthday?"]
    price(superuser, model="rules-1", input_usd="1", output_usd="1")
    try:
        assert estimate()[3] is None
        price(superuser, "words-1", "1000", "0")
        cost = estimate()[3]
        price(superuser, "words-1", "0", "0")
        assert cost > estimate()[3] > 0
    finally:
        superuser.execute("delete from pgclarify_private.model_price where model = 'rules-1'")


def test_scores_are_erased_with_a_document_that_they_are_of(
    asker: Connection, superuser: Connection, model: Server
) -> None:
    superuser.execute(
        "select pgclarify.add_document(%s, '900', 'The harbor ferry takes rental bicycles on Sundays.')", [CORPUS]
    )
    wait_until_searchable(superuser)
    assert search(asker, "ferry bicycles")[0][0] == "900"
    assert ledger(superuser)[0][3]
    assert scalar(superuser, "select pgclarify.erase_document(%s, '900')", CORPUS)
    assert not ledger(superuser)[0][3]


@pytest.mark.loaded
def test_a_worker_without_a_language_model_may_have_rerankers(
    database: str, connection: Connection, own_model: Server, run_worker: StartWorker
) -> None:
    settings = {"PGCLARIFY_RERANK_BASE_URL": own_model.base_url, "PGCLARIFY_RERANK_API_KEY": "sk-rerank"}
    worker = run_worker(database, settings=settings)
    wait_until_searchable(connection)
    assert search(connection, "an administrative fee for tolls")[0][0] == "107"
    assert (own_model.rerank_calls, own_model.calls, own_model.keys) == (1, 0, {"sk-rerank"})
    assert (
        scalar(
            connection,
            "select calls from pgclarify.estimate(array['fuel'], %s, 3, %s)",
            CORPUS,
            json.dumps(RERANKED),
        )
        == 1
    )
    assert "sk-rerank" not in worker.log.read_text()
