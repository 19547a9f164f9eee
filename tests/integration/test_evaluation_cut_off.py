"""What interrupts an evaluation, and how it continues, with a real server and real workers."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgclarify.config import Provider, Settings
from pgclarify.database.presence import Presence
from pgclarify.errors import (
    ConfigurationError,
    NotReady,
    NoWorker,
    RunFailed,
)
from pgclarify.evaluation import opening
from pgclarify.evaluation.data_sets import DataSet
from pgclarify.evaluation.opening import Bench, open_bench
from pgclarify.evaluation.runner import Progress
from pgclarify.protocols import PaidTexts, Payer
from pgclarify.vocabulary import RunStatus
from tests.integration.by_hand import MakeRole
from tests.integration.evaluation_runs import carry_out, data_set_of, estimated, of, rows, settings_of
from tests.openai_server import HANG, MODEL, Chat, Reply, Server
from tests.workers import (
    API_KEY,
    CORPUS,
    Service,
    Worker,
    as_role,
    load,
    scalar,
    until,
    wait_until_searchable,
)

pytestmark = pytest.mark.xdist_group("evaluation")


@pytest.fixture
def data_set(tmp_path: Path) -> DataSet:
    return data_set_of(tmp_path)


@pytest.fixture
async def bench(service: Service, model: Server) -> AsyncIterator[Bench]:
    """As a superuser, who may do everything."""
    async with open_bench(service.dsn, settings_of(service), CORPUS, concurrency=4) as opened:
        yield opened


async def test_cut_off_it_goes_on_where_it_was(bench: Bench, service: Service, model: Server, tmp_path: Path) -> None:
    new = data_set_of(
        tmp_path, [{"question": f"What about question {number}?", "answers": ["x"]} for number in range(6)]
    )
    clarify = of("clarify", top_k=3)
    half = asyncio.Event()
    by_rules = model.behavior
    # In any order of the cases, two can be finished, and the third is started.
    model.behavior = lambda chat: by_rules(chat) if re.search(r"question [01]\b", chat.user) else HANG

    def told(progress: Progress) -> None:
        if progress.done == 2:
            half.set()

    started = asyncio.create_task(carry_out(bench, new, clarify, concurrency=2, on_progress=told))
    await asyncio.wait_for(half.wait(), 300)
    await asyncio.to_thread(until, lambda: model.in_flight > 0)
    estimate_now = await estimated(bench, new, clarify)
    with pytest.raises(NotReady):
        await carry_out(bench, new, clarify)
    started.cancel()
    with pytest.raises(asyncio.CancelledError):
        await started
    left = "select count(*) from pgclarify.run where status in ('queued', 'running')"
    await asyncio.to_thread(until, lambda: rows(service, left) == [(0,)])
    assert estimate_now.done == 2

    model.behavior = Server().behavior
    told_again: list[Progress] = []
    finished = await carry_out(bench, new, clarify, concurrency=2, on_progress=told_again.append)
    assert finished.resumed_cases == 2
    assert (told_again[0].done, told_again[0].coverage) == (2, 0.0)
    cases = await bench.tables.cases(finished.eval_run_id)
    assert [case.ordinal for case in cases] == [1, 2, 3, 4, 5, 6]
    repeated = (
        "select count(*) from pgclarify_private.eval_case"
        " join pgclarify_private.eval_run using (eval_run_id) where data_set_hash = %s"
    )
    assert rows(service, repeated, new.hash) == [(6,)]


async def test_an_endpoint_that_is_gone_ends_it_and_spoils_nothing(
    bench: Bench, service: Service, model: Server, tmp_path: Path
) -> None:
    new = data_set_of(tmp_path, [{"question": f"Who is number {number}?", "answers": ["x"]} for number in range(14)])
    gone = Reply.error(401, "the key is no longer valid")

    def told(progress: Progress) -> None:
        if progress.done == 2:
            model.behavior = lambda chat: gone

    with pytest.raises(RunFailed):
        await carry_out(bench, new, of("clarify", top_k=2), concurrency=1, on_progress=told)
    why = "select distinct error_code from pgclarify.run_summary where question like 'Who is number%%' and error <> ''"
    assert rows(service, why) == [("PC013",)]
    model.behavior = Server().behavior
    finished = await carry_out(bench, new, of("clarify", top_k=2), concurrency=4)
    assert finished.resumed_cases == 2
    assert finished.summaries["failed"].value == 0


async def test_an_endpoint_that_is_gone_in_the_middle_of_a_case_ends_it(
    bench: Bench, service: Service, model: Server, tmp_path: Path
) -> None:
    new = data_set_of(tmp_path, [{"question": "Who comes in the middle?", "answers": ["x"]}])
    by_rules, left = model.behavior, iter(["the relaxed question", "one verdict"])
    model.behavior = lambda chat: by_rules(chat) if next(left, None) else Reply.error(401, "the key is no longer valid")
    with pytest.raises(RunFailed) as caught:
        await carry_out(bench, new, of("clarify", top_k=3), concurrency=1)
    assert "status 401" in (caught.value.detail or "")
    how = "select status, error_code from pgclarify.run_summary where question = 'Who comes in the middle?'"
    assert rows(service, how) == [("partial", "PC013")]
    model.behavior = by_rules
    finished = await carry_out(bench, new, of("clarify", top_k=3))
    assert (finished.resumed_cases, finished.summaries["failed"].value) == (0, 0)


async def test_a_call_that_always_takes_too_long_costs_a_case_only_its_passage(
    bench: Bench, service: Service, model: Server, tmp_path: Path
) -> None:
    new = data_set_of(tmp_path, [{"question": "Who waits for one passage?", "answers": ["x"]}])
    by_rules, slow = model.behavior, list[str | None]()

    def all_but_one(chat: Chat) -> Reply:
        if chat.purpose == "verdict":
            slow.append(chat.passage)
        return Reply.error(503, retry_after=0.01) if chat.passage in slow[:1] else by_rules(chat)

    model.behavior = all_but_one
    finished = await carry_out(bench, new, of("clarify", top_k=8), concurrency=1)
    (case,) = await bench.tables.cases(finished.eval_run_id)
    assert (case.status, case.error, finished.summaries["failed"].value) == (RunStatus.PARTIAL, None, 0)
    assert case.output["interpretations"]
    asked = "from pgclarify.run_summary where question ~ 'waits for one' and operation = 'clarify'"
    assert rows(service, f"select status, error_code {asked}") == [("partial", "PC017")] * 2, "it was asked once more"


@pytest.fixture
def loaded(database: str, run_worker: Callable[..., Worker], own_model: Server) -> tuple[str, Worker, Settings]:
    """A separate database, with a worker that the test may kill."""
    alive = run_worker(database, own_model.base_url)
    with closing(psycopg.connect(database, autocommit=True)) as connection:
        load(connection)
        wait_until_searchable(connection)
    settings = Settings(
        _env_file=None,
        database_url=database,
        llm_provider=Provider.OPENAI,
        openai_base_url=own_model.base_url,
        openai_api_key=API_KEY,
        llm_model=MODEL,
    )
    return database, alive, settings


async def test_an_evaluation_is_no_worker(bench: Bench, monkeypatch: pytest.MonkeyPatch, service: Service) -> None:
    await bench.judge("model")
    assert await bench.tables.serving_workers() == [bench.living]
    assert len(rows(service, "select from pgclarify.worker_status where is_alive")) == 1
    assert len(rows(service, "select from pgclarify_private.living_workers()")) == 2, "its leases have not expired"


async def test_a_worker_that_dies_ends_it_and_another_goes_on(
    loaded: tuple[str, Worker, Settings],
    own_model: Server,
    run_worker: Callable[..., Worker],
    data_set: DataSet,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dsn, alive, settings = loaded
    monkeypatch.setattr(opening, "_PATIENCE_SECONDS", 1.0)
    monkeypatch.setattr(opening, "_WATCH_SECONDS", 0.2)

    def told(progress: Progress) -> None:
        if progress.done == 1:
            alive.kill()

    async with open_bench(dsn, settings, None, concurrency=1) as bench:
        # It registers with the ledger like a worker, but does not count as one.
        await bench.judge("model")
        with pytest.raises(NoWorker):
            await carry_out(bench, data_set, of("clarify", top_k=2), concurrency=1, on_progress=told)
    with pytest.raises(NoWorker):
        async with open_bench(dsn, settings, None, concurrency=1):
            pass
    run_worker(dsn, own_model.base_url)
    async with open_bench(dsn, settings, None, concurrency=1) as bench:
        finished = await carry_out(bench, data_set, of("clarify", top_k=2), concurrency=1)
    assert finished.resumed_cases == 1


async def test_what_an_evaluation_has_embedded_is_counted_while_it_goes_on(
    bench: Bench, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_WATCH_SECONDS", 0.1)
    (await bench._embedders_of_ours()).tally.add([PaidTexts(Payer(), "endpoint:counted", 1, 7)])
    tokens = "select sum(tokens) from pgclarify_private.embedding_usage where model = 'endpoint:counted'"
    with closing(psycopg.connect(service.dsn, autocommit=True)) as connection:
        async with asyncio.TaskGroup() as tasks:
            watching = tasks.create_task(bench.watch())
            await asyncio.to_thread(until, lambda: scalar(connection, tokens) == 7)
            watching.cancel()


async def test_workers_of_two_models_are_no_subject(
    bench: Bench, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_WATCH_SECONDS", 0.1)
    other: dict[str, Any] = {"version": "0", "provider": "extractive", "model": "another", "prompt_version": "0"}
    async with Presence.enter(service.dsn, **other):
        with pytest.raises(ConfigurationError):
            await asyncio.wait_for(bench.watch(), 300)
        with pytest.raises(ConfigurationError):
            async with open_bench(service.dsn, settings_of(service), CORPUS, concurrency=1):
                pass


async def test_a_corpus_that_changes_ends_it(
    loaded: tuple[str, Worker, Settings], own_model: Server, data_set: DataSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn, _, settings = loaded
    monkeypatch.setattr(opening, "_WATCH_SECONDS", 0.2)

    def told(progress: Progress) -> None:
        if progress.done == 1 and own_model.behavior is by_rules:
            own_model.behavior = lambda chat: HANG
            with closing(psycopg.connect(dsn, autocommit=True)) as connection:
                connection.execute("select pgclarify.add_document(%s, 'new', 'Hail is free.')", [CORPUS])

    by_rules = own_model.behavior
    async with open_bench(dsn, settings, None, concurrency=1) as bench:
        with pytest.raises(NotReady):
            await asyncio.wait_for(
                carry_out(bench, data_set, of("clarify", top_k=2), concurrency=1, on_progress=told), 300
            )
        own_model.behavior = by_rules
        with pytest.raises(NotReady):
            # Another configuration of the same command.
            await carry_out(bench, data_set, of("clarify", top_k=3))
    async with open_bench(dsn, settings, None, concurrency=1) as bench:
        finished = await carry_out(bench, data_set, of("clarify", top_k=2))
    assert finished.resumed_cases == 0, "judged cases belong to the old revision"


async def test_what_a_role_cannot_read_does_not_keep_it_from_going_on(
    loaded: tuple[str, Worker, Settings], data_set: DataSet, make_role: MakeRole
) -> None:
    dsn, _, settings = loaded
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        connection.execute("select pgclarify.add_document(%s, 'own', 'Hail is free.', readers => '{}')", [CORPUS])
        wait_until_searchable(connection)
    async with open_bench(as_role(dsn, make_role("pgclarify_user")), settings, None, concurrency=1) as bench:
        plan = bench.plan(of("search"), data_set, await bench.judge("lexical"))
        first = await bench.tables.begin(plan)
        await bench.tables.leave(first.eval_run_id)
        with closing(psycopg.connect(dsn, autocommit=True)) as connection:
            connection.execute("select pgclarify.add_document(%s, 'another', 'Hail.', readers => '{}')", [CORPUS])
            wait_until_searchable(connection)
        plan = bench.plan(of("search"), data_set, await bench.judge("lexical"))
        second = await bench.tables.begin(plan)
        assert (second.is_resumed, second.eval_run_id) == (True, first.eval_run_id)
        await bench.tables.leave(second.eval_run_id)
