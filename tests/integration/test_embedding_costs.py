"""The cost of embeddings: how they are counted, who sees it, which budgets pay, and what waits when they are spent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import pytest

from pgclarify.config import Provider, Settings
from pgclarify.corpora.embedders import open_embedders
from pgclarify.corpora.ingestion import Ingestion
from pgclarify.database.embedding_usage import try_to_count_embeddings
from pgclarify.database.endpoint_rates import EndpointRates
from pgclarify.database.pool import open_pool
from pgclarify.embedding.cross_encoder import CrossEncoders
from pgclarify.protocols import EmbeddingTally, PaidTexts, Payer
from pgclarify.worker import serving
from pgclarify.worker.language_models import open_language_models
from pgclarify.worker.monitor import Monitor
from pgclarify.worker.rerank_endpoint import open_rerank_endpoint
from tests.integration.manual_worker import DIMENSIONS, MakeWorker, ManualWorker
from tests.integration.spending import budget, enter, price, status
from tests.sessions import Connect, Connection, MakeRole, scalar

pytestmark = pytest.mark.rolled_back

# The price depends only on the name at the endpoint.
MODEL = f"endpoint:words-1@{DIMENSIONS}"
PRICED = "words-1"
# At a dollar a million tokens.
TOKENS = 1_000_000
USAGE = """
    select corpus, requested_by, operation, model, runs, prompt_tokens, cost_usd, embedded_texts, unpriced_tokens
    from pgclarify.usage where embedded_texts > 0 order by corpus, requested_by, operation
"""


def corpus(connection: Connection, worker: ManualWorker, name: str = "cars", model: str = MODEL) -> int:
    """Create a corpus, open its space, and return the id of the space."""
    create(connection, worker, name, model)
    return newest_space(connection)


def create(connection: Connection, worker: ManualWorker, name: str = "cars", model: str = MODEL) -> None:
    scalar(connection, 'select pgclarify.create_corpus(%s, %s, \'{"reader": "pgclarify_user"}\')', name, model)
    worker.open_spaces()


def newest_space(connection: Connection) -> int:
    return int(scalar(connection, "select max(embedding_space_id) from pgclarify_private.embedding_space"))


def add(connection: Connection, document_id: str, name: str = "cars") -> None:
    connection.execute("select pgclarify.add_document(%s, %s, 'Cars.')", [name, document_id])


def count(
    worker: ManualWorker,
    *,
    run_id: int | None = None,
    space_id: int | None = None,
    tokens: int = TOKENS,
    model: str = MODEL,
) -> None:
    worker.send(
        "count_embeddings",
        run_ids=[run_id],
        embedding_space_ids=[space_id],
        models=[model],
        texts=[2],
        tokens=[tokens],
    )


def why(connection: Connection, name: str = "cars") -> Any:
    return scalar(connection, "select error from pgclarify.corpus where corpus = %s", name)


class TestUsage:
    def test_passages_are_the_owners_and_questions_of_who_asks(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
    ) -> None:
        owner, asker, analyst = (make_role("pgclarify_user", name=name) for name in ("owner", "asker", "analyst"))
        price(connection, PRICED, "2", "0")
        worker = make_worker()
        create(connect(owner), worker)
        space_id = newest_space(connection)
        connect(owner).execute("select pgclarify.grant_access('cars', %s, 'analyst')", [analyst])
        run_id = enter(connection, asker, "cars")
        for _ in range(2):
            count(worker, space_id=space_id)
        count(worker, run_id=run_id, tokens=500_000)

        passages = ("cars", owner, "embed_passages", MODEL, 0, 2 * TOKENS, Decimal(4), 4, 0)
        questions = ("cars", asker, "embed_questions", MODEL, 0, 500_000, Decimal(1), 2, 0)
        for role, expected in (
            (owner, [passages]),
            (asker, [questions]),
            (analyst, sorted([passages, questions])),
            (make_role("pgclarify_user"), []),
        ):
            assert sorted(connect(role).execute(USAGE).fetchall()) == expected

    def test_outlives_its_corpus_and_its_run(self, connection: Connection, make_worker: MakeWorker) -> None:
        price(connection, PRICED)
        worker = make_worker()
        space_id = corpus(connection, worker)
        count(worker, space_id=space_id)
        connection.execute("select pgclarify.drop_corpus('cars')")
        # Work that was under way is still paid for, by the worker's role.
        count(worker, space_id=10**9, run_id=None)
        rows = connection.execute(USAGE).fetchall()
        assert [(row[0], row[5]) for row in rows] == [("cars", TOKENS), (None, TOKENS)]

    def test_embeddings_without_a_price_are_priced_later(self, connection: Connection, make_worker: MakeWorker) -> None:
        worker = make_worker()
        space_id = corpus(connection, worker)
        count(worker, space_id=space_id)
        assert connection.execute(USAGE).fetchall()[0][5:] == (TOKENS, Decimal(0), 2, TOKENS)
        price(connection, PRICED, "3", "0")
        count(worker, space_id=space_id)
        scalar(connection, "select pgclarify_private.price_runs(since => now() + interval '2 days')")
        assert connection.execute(USAGE).fetchall()[0][5:] == (2 * TOKENS, Decimal(3), 4, TOKENS)
        assert scalar(connection, "select pgclarify_private.price_runs()") == 0
        assert connection.execute(USAGE).fetchall()[0][5:] == (2 * TOKENS, Decimal(6), 4, 0)

    def test_a_role_that_was_made_anew_gets_the_sums_of_its_name_when_it_is_adopted(
        self, connection: Connection, make_worker: MakeWorker
    ) -> None:
        worker = make_worker()
        space_id = corpus(connection, worker)
        count(worker, space_id=space_id)
        connection.execute("update pgclarify_private.embedding_usage set requested_by_oid = 1")
        count(worker, space_id=space_id)
        kinds = "select kind, count from pgclarify_private.orphaned_roles()"
        assert connection.execute(kinds).fetchall() == [("sum of embeddings", 1)]
        connection.execute("select pgclarify_private.adopt_roles()")
        assert [row[5] for row in connection.execute(USAGE).fetchall()] == [2 * TOKENS]
        assert connection.execute(kinds).fetchall() == []


class TestBudgets:
    @pytest.mark.parametrize(
        ("limits", "is_charged"),
        [({}, True), ({"corpus": "cars"}, True), ({"corpus": "boats"}, False), ({"role_name": "nobody"}, False)],
    )
    def test_those_of_the_owner_and_the_corpus_are_charged_dollars_and_no_calls(
        self, connection: Connection, make_worker: MakeWorker, limits: Mapping[str, str], is_charged: bool
    ) -> None:
        price(connection, PRICED)
        worker = make_worker()
        corpus(connection, worker, "boats")
        space_id = corpus(connection, worker)
        of = {
            "role_name": limits.get("role_name"),
            "corpus_id": scalar(
                connection, "select max(corpus_id) from pgclarify.corpus where corpus = %s", limits.get("corpus")
            ),
        }
        budget(connection, max_cost_usd=10, max_calls=0, **of)
        count(worker, space_id=space_id)
        assert status(connection)[:2] == ((1, 0) if is_charged else (0, 0))

    def test_a_corpus_waits_while_one_is_spent_and_goes_on_when_it_is_raised(
        self, connection: Connection, make_worker: MakeWorker
    ) -> None:
        price(connection, PRICED)
        worker = make_worker()
        space_id = corpus(connection, worker)
        corpus(connection, worker, "local", "all-MiniLM-L6-v2")
        budget(connection, max_cost_usd=2)
        add(connection, "1")
        count(worker, space_id=space_id)
        worker.store(worker.claim())
        count(worker, space_id=space_id)

        add(connection, "2")
        add(connection, "3", "local")
        assert [document["document_id"] for document in worker.claim()] == ["3"]
        assert why(connection)
        assert why(connection, "local") is None
        worker.release()
        assert [document["document_id"] for document in worker.claim(after_corpus_id=10**9)] == ["3"]
        assert worker.claim() == []

        connection.execute("select pgclarify.set_budget('all', options => '{\"max_cost_usd\": 2.5}')")
        worker.store(worker.claim())
        assert why(connection) is None
        assert scalar(connection, "select indexed_at is not null from pgclarify.document where id = '2'")

    def test_corpora_of_one_owner_and_model_are_decided_together_but_for_those_with_their_own_budget(
        self, connection: Connection, make_worker: MakeWorker
    ) -> None:
        price(connection, PRICED)
        worker = make_worker()
        spaces = {name: corpus(connection, worker, name) for name in ("boats", "cars", "vans")}
        for name in spaces:
            add(connection, "1", name)
        budget(connection, max_cost_usd=1)
        cars = scalar(connection, "select corpus_id from pgclarify.corpus where corpus = 'cars'")
        budget(connection, max_cost_usd=0, corpus_id=cars)
        delayed = "select pgclarify_private.delay_unpaid_spaces()"
        with connection.transaction():
            connection.execute("set local track_functions = 'all'")
            assert scalar(connection, delayed) == [spaces["cars"]]
            decided = "select calls from pg_stat_xact_user_functions where funcname = 'embedding_refusal'"
            assert scalar(connection, decided) == 2
        assert [bool(why(connection, name)) for name in spaces] == [False, True, False]

        count(worker, space_id=spaces["boats"])
        assert sorted(scalar(connection, delayed)) == sorted(spaces.values())
        assert all(why(connection, name) for name in spaces)

    def test_a_budget_of_calls_stops_no_corpus(self, connection: Connection, make_worker: MakeWorker) -> None:
        worker = make_worker()
        space_id = corpus(connection, worker)
        budget(connection, max_calls=0)
        count(worker, space_id=space_id)
        add(connection, "1")
        assert worker.claim() != []

    def test_a_model_without_a_price_is_not_asked(self, connection: Connection, make_worker: MakeWorker) -> None:
        worker = make_worker()
        corpus(connection, worker)
        budget(connection, max_cost_usd=100)
        add(connection, "1")
        assert worker.claim() == []
        assert f'"{PRICED}"' in why(connection)
        # Free models may be used under any budget.
        price(connection, PRICED, "0", "0")
        connection.execute("select pgclarify.set_budget('all', options => '{\"max_cost_usd\": 0}')")
        assert worker.claim() != []

    def test_another_model_waits_likewise_and_searches_go_on_with_the_first(
        self, connection: Connection, make_worker: MakeWorker
    ) -> None:
        price(connection, PRICED)
        worker = make_worker()
        corpus(connection, worker, "cars", "all-MiniLM-L6-v2")
        add(connection, "1")
        worker.index_everything()
        budget(connection, max_cost_usd=0)
        scalar(
            connection,
            "select pgclarify_private.set_embedding_model(caller, 'cars', %s) from pgclarify_private.caller",
            MODEL,
        )
        worker.open_spaces()
        worker.advance_spaces()
        assert worker.claim_passages() == []
        assert why(connection)
        add(connection, "2")
        worker.index_everything()
        assert scalar(connection, "select pending from pgclarify.corpus") == 0
        connection.execute("select pgclarify.remove_budget('all')")
        while passages := worker.claim_passages():
            worker.store_vectors(passages)
        assert why(connection) is None
        assert scalar(connection, "select next_embedded from pgclarify.corpus") == 2

    def test_long_documents_wait_likewise(self, connection: Connection, make_worker: MakeWorker) -> None:
        price(connection, PRICED)
        worker = make_worker()
        corpus(connection, worker)
        connection.execute("select pgclarify.add_document('cars', '1', repeat('Cars. ', 40000))")
        budget(connection, max_cost_usd=0)
        assert worker.claim(are_long=True) == []
        connection.execute("select pgclarify.remove_budget('all')")
        assert worker.claim() == []
        assert len(worker.claim(are_long=True)) == 1


PAID: Sequence[PaidTexts] = [PaidTexts(Payer(), "endpoint:words-1", 2, 100)]


def counted(connection: Connection) -> list[tuple[object, ...]]:
    return connection.execute("select texts, tokens from pgclarify_private.embedding_usage").fetchall()


@pytest.mark.committed
async def test_embeddings_are_counted_until_ingestion_is_closed(
    database: str, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(provider=Provider.EXTRACTIVE)
    stopping = asyncio.Event()
    cross_encoders = CrossEncoders(device=settings.torch_device)
    async with (
        open_embedders(settings) as embedders,
        open_language_models(settings, embedders) as models,
        open_rerank_endpoint(settings) as at_endpoint,
    ):
        close = Ingestion.close

        async def answered_meanwhile(ingestion: Ingestion) -> None:
            embedders.tally.add(PAID)
            await close(ingestion)

        monkeypatch.setattr(Ingestion, "close", answered_meanwhile)
        world = serving._World(
            settings,
            database,
            serving._check(database),
            models,
            embedders,
            cross_encoders,
            at_endpoint,
            EndpointRates(),
            Monitor(),
        )
        await asyncio.wait_for(serving._serve(world, stopping, stopping.set, grace=10.0), 60)
    cross_encoders.close()
    # Once for long documents, and once for the others.
    assert counted(connection) == [(4, 200)]


@pytest.mark.committed
async def test_while_budgets_are_locked_it_is_kept_and_a_warning_names_who_holds_them(
    database: str, connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    tally = EmbeddingTally()
    tally.add(PAID)
    async with open_pool(database) as pool:
        with connection.transaction(), caplog.at_level(logging.WARNING):
            connection.execute("lock table pgclarify_private.budget_counter")
            await try_to_count_embeddings(pool, tally)
        assert f"process {connection.info.backend_pid}" in caplog.text
        assert counted(connection) == []
        await try_to_count_embeddings(pool, tally)
    assert counted(connection) == [(2, 100)]
    assert tally.take() == []
