"""Evaluations end to end: a real server, a real worker, and a model that goes by rules."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgclarify.config import Provider, Settings
from pgclarify.database import Presence
from pgclarify.errors import (
    ConfigurationError,
    InputError,
    NotReady,
    NoWorker,
    PermissionDenied,
    PgclarifyError,
    RunFailed,
    ServerUnavailable,
)
from pgclarify.evaluation import opening
from pgclarify.evaluation.configurations import Configuration
from pgclarify.evaluation.data_sets import DataSet, read_data_set
from pgclarify.evaluation.estimate import Estimate, Estimator
from pgclarify.evaluation.opening import Bench, open_bench
from pgclarify.evaluation.runner import Finished, Progress, Work, evaluate
from pgclarify.model import RunStatus
from tests.openai_server import HANG, MODEL, Reply, Server
from tests.workers import (
    API_KEY,
    CORPUS,
    PrivateService,
    Service,
    Worker,
    as_role,
    load,
    scalar,
    until,
    wait_until_searchable,
)

pytestmark = pytest.mark.xdist_group("evaluation")

TOP_K = 4
CASES: list[dict[str, Any]] = [
    {"id": "hail", "question": "How high is the deductible after hail?", "answers": ["by hail"], "gold": ["102"]},
    {
        "id": "fees",
        "question": "Which fees are due for a rental car?",
        "interpretations": [
            {"question": "What is due without a full tank?", "answers": ["is due"], "documents": ["104"]},
            {"question": "What costs smoking?", "answers": ["two hundred dollars"], "documents": ["108"]},
        ],
        "is_ambiguous": 1,
    },
    {
        "id": "age",
        "question": "What do young drivers pay?",
        "answers": [["nineteen dollars"], ["19 dollars", "$19"]],
        "is_ambiguous": 0,
    },
    {"id": "nothing", "question": "Is it far?"},
]
OPERATIONS = ("clarify", "list_answers", "investigate", "search", "detect_ambiguity")
BASELINES = ("dtv", "dtv_unverified", "rac")


def settings_of(service: Service | PrivateService, **changes: Any) -> Settings:
    """What the process of an evaluation has in its environment."""
    given: dict[str, Any] = {
        "database_url": service.dsn,
        "llm_provider": Provider.OPENAI,
        "openai_base_url": service.model.base_url,
        "openai_api_key": API_KEY,
        "llm_model": MODEL,
    }
    return Settings(_env_file=None, **(given | changes))


def data_set_of(folder: Path, cases: Sequence[dict[str, Any]] = CASES) -> DataSet:
    path = folder / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, cases)))
    return read_data_set(path)


@pytest.fixture
def data_set(tmp_path: Path) -> DataSet:
    return data_set_of(tmp_path)


@pytest.fixture
async def bench(service: Service, model: Server) -> AsyncIterator[Bench]:
    """As a superuser, who may do all."""
    async with open_bench(service.dsn, settings_of(service), CORPUS, concurrency=4) as opened:
        yield opened


async def carry_out(
    bench: Bench,
    data_set: DataSet,
    configuration: Configuration,
    *,
    judge: str = "lexical",
    concurrency: int = 4,
    on_progress: Callable[[Progress], object] = lambda progress: None,
) -> Finished:
    judging = await bench.judge(judge)
    work = Work(
        bench.tables,
        await bench.method(configuration),
        judging,
        bench.watch,
        concurrency,
        on_progress,
        evidence=bench.evidence,
        check=bench.check_corpus,
    )
    return await evaluate(bench.plan(configuration, data_set, judging), data_set.cases, work)


def of(method: str, **settings: Any) -> Configuration:
    return Configuration(method, method, None, settings)


def rows(service: Service | PrivateService, statement: str, *parameters: Any) -> list[Any]:
    with closing(psycopg.connect(service.dsn, autocommit=True)) as connection:
        return connection.execute(statement.encode(), parameters).fetchall()


def paid(service: Service) -> int:
    return int(rows(service, "select count(*) from pgclarify.completion where reply is not null")[0][0])


async def test_clarify_is_asked_and_judged_and_kept(bench: Bench, service: Service, data_set: DataSet) -> None:
    told: list[Progress] = []
    finished = await carry_out(bench, data_set, of("clarify", top_k=TOP_K), on_progress=told.append)
    metrics = finished.summaries
    assert {"answer_coverage", "grounded_precision", "grounded_recall", "grounded_f1", "recall@10", "calls"} <= set(
        metrics
    )
    assert metrics["interpretations"].value > 0
    assert (metrics["calls"].value, metrics["calls"].cases) == (1 + TOP_K, len(CASES))
    assert metrics["prompt_tokens"].value > 100
    assert metrics["failed"].value == 0
    assert 0 < metrics["answer_coverage"].value <= 1
    assert metrics["answer_coverage"].cases == 3, "the last case has no answer that is known"
    assert [one.done for one in told] == [0, 1, 2, 3, 4, 4]
    assert (told[-1].total, told[-1].calls, told[-1].coverage) == (4, 4 * (1 + TOP_K), metrics["answer_coverage"].value)

    (evaluation,) = [one for one in await bench.tables.evaluations(9) if one.eval_run_id == finished.eval_run_id]
    assert evaluation.finished_at is not None
    assert (evaluation.plan, evaluation.done_cases) == (finished.plan, 4)
    cases = await bench.tables.cases(finished.eval_run_id)
    assert [case.case_id for case in cases] == ["hail", "fees", "age", "nothing"]
    first = cases[0]
    assert first.run_id is not None
    runs = rows(service, "select question, settings ->> 'top_k' from pgclarify.run where run_id = %s", first.run_id)
    assert runs == [(first.question, str(TOP_K))]
    steps = first.output["notes"]["answers_by_call"]
    assert [calls for calls, _, _ in steps] == [2, 3, 4, 5], "the question was relaxed first"
    assert steps[-1][1] == first.usage.prompt_tokens + first.usage.completion_tokens
    assert [tokens for _, tokens, _ in steps] == sorted({tokens for _, tokens, _ in steps})
    assert first.output["notes"]["relaxed_question"] == f"{first.question} overview"
    assert len(first.output["retrieved"]) == TOP_K
    reading = next(one for case in cases for one in case.output["interpretations"])
    assert reading["citations"][0]["quote"]


async def test_the_same_again_pays_for_nothing_and_finds_the_same(
    bench: Bench, service: Service, model: Server, data_set: DataSet
) -> None:
    first = await carry_out(bench, data_set, of("clarify", top_k=TOP_K))
    before = model.calls
    second = await carry_out(bench, data_set, of("clarify", top_k=TOP_K))
    assert model.calls == before
    assert second.eval_run_id != first.eval_run_id
    assert second.usage.reused_calls == second.usage.calls == 4 * (1 + TOP_K)
    timed = {"seconds"}
    values = [
        {name: one.value for name, one in each.summaries.items() if name not in timed} for each in (first, second)
    ]
    assert values[0] == values[1]


@pytest.mark.parametrize("method", [*OPERATIONS, *BASELINES, "human"])
async def test_every_method(bench: Bench, service: Service, model: Server, data_set: DataSet, method: str) -> None:
    await bench.check(of(method))
    calls = model.calls
    finished = await carry_out(bench, data_set, of(method))
    metrics = {name: one.value for name, one in finished.summaries.items()}
    cases = await bench.tables.cases(finished.eval_run_id)
    assert metrics["failed"] == 0, [case.error for case in cases]
    assert sum(case.usage.calls - case.usage.reused_calls for case in cases) == model.calls - calls
    assert metrics["calls"] * len(CASES) == pytest.approx(sum(case.usage.calls for case in cases))
    if method == "detect_ambiguity":
        assert {"accuracy", "f1", "average_precision"} <= set(metrics)
        assert "interpretations" not in metrics
        assert finished.summaries["accuracy"].cases == 2
        assert all(0 <= case.output["probability"] <= 1 for case in cases)
    elif method == "search":
        assert metrics["recall@10"] > 0
        assert "interpretations" not in metrics
        assert metrics["calls"] == 0
    elif method == "human":
        assert {"answer_coverage", "recall", "grounded_recall"}.isdisjoint(metrics), "it is not held against itself"
        assert (metrics["calls"], metrics["interpretations"]) == (0, 1.0)
        assert [len(case.output["interpretations"]) for case in cases] == [1, 2, 1, 0]
        assert all(case.output["retrieved"] for case in cases)
    else:
        assert metrics["calls"] > 0
        assert metrics["interpretations"] > 0
        assert "grounded_f1" in metrics
        assert any(case.output["retrieved"] for case in cases)


async def test_a_model_judges_through_the_ledger(
    bench: Bench, service: Service, model: Server, data_set: DataSet
) -> None:
    lexical = await carry_out(bench, data_set, of("clarify", top_k=TOP_K))
    calls = model.calls
    judged = await carry_out(bench, data_set, of("clarify", top_k=TOP_K), judge="model")
    asked = model.calls - calls
    assert asked > 0
    purposes = rows(service, "select distinct purpose from pgclarify.completion where purpose like 'judge%%'")
    assert ("judge_support",) in purposes
    assert (judged.plan.judge, lexical.plan.judge) == (MODEL, "lexical")
    assert judged.summaries["calls"].value == lexical.summaries["calls"].value, "the judge's are not the method's"
    await carry_out(bench, data_set, of("clarify", top_k=TOP_K), judge="model")
    assert model.calls == calls + asked


@pytest.mark.parametrize(
    ("method", "settings", "told"),
    [
        ("clarify", {"topk": 3}, "topk"),
        ("clarify", {"consolidation": "wild"}, "consolidation"),
        ("clarify", {"budget": 30}, "budget"),
        ("list_answers", {"max_answers": 51}, "max_answers"),
        ("investigate", {"max_calls": 1}, "max_calls"),
        ("search", {"method": "magic"}, "method"),
        ("search", {"budget": 30}, "budget"),
        ("detect_ambiguity", {"threshold": 2}, "threshold"),
    ],
)
async def test_the_server_refuses_options_before_anything_is_asked(
    bench: Bench, service: Service, method: str, settings: dict[str, Any], told: str
) -> None:
    before = rows(service, "select count(*) from pgclarify.run")
    with pytest.raises(InputError, match=told):
        await bench.check(Configuration(method, method, None, settings))
    await bench.check(of(method))
    assert rows(service, "select count(*) from pgclarify.run") == before


async def estimated(bench: Bench, data_set: DataSet, configuration: Configuration, judge: str = "lexical") -> Estimate:
    plan = bench.plan(configuration, data_set, await bench.judge(judge))
    return await Estimator(bench, data_set.cases).estimate(configuration, plan)


async def test_what_it_will_take_is_what_it_took(bench: Bench, model: Server, tmp_path: Path) -> None:
    new = data_set_of(tmp_path, [{"question": f"How much is number {number}?"} for number in range(3)])
    clarify = of("clarify", top_k=3)
    before = await estimated(bench, new, clarify)
    assert (before.cases, before.done, before.calls, before.paid) == (3, 0, 12, 0)
    assert before.may_cost
    calls = model.calls
    finished = await carry_out(bench, new, clarify)
    assert model.calls - calls <= before.calls
    spent = sum(case.usage.prompt_tokens for case in await bench.tables.cases(finished.eval_run_id))
    assert before.prompt_tokens == pytest.approx(spent, rel=0.5)
    assert before.measured_calls > 0
    after = await estimated(bench, new, clarify)
    assert (after.calls, after.paid, after.may_cost) == (12, 12, False)
    assert (await estimated(bench, new, of("search"))).calls == 0
    assert (await estimated(bench, new, of("rac"))).calls == 6
    assert (await estimated(bench, new, clarify, judge="model")).judge_calls > 0


async def test_cut_off_it_goes_on_where_it_was(bench: Bench, service: Service, model: Server, tmp_path: Path) -> None:
    new = data_set_of(
        tmp_path, [{"question": f"What about question {number}?", "answers": ["x"]} for number in range(6)]
    )
    clarify = of("clarify", top_k=3)
    half = asyncio.Event()

    def told(progress: Progress) -> None:
        if progress.done == 2:
            model.behavior = lambda chat: HANG
            half.set()

    started = asyncio.create_task(carry_out(bench, new, clarify, concurrency=2, on_progress=told))
    await asyncio.wait_for(half.wait(), 60)
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
        "select count(*) from pgclarify.eval_case join pgclarify.eval_run using (eval_run_id) where data_set_hash = %s"
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

    with pytest.raises(RunFailed) as caught:
        await carry_out(bench, new, of("clarify", top_k=2), concurrency=1, on_progress=told)
    assert "refused the key" in (caught.value.detail or "")
    model.behavior = Server().behavior
    finished = await carry_out(bench, new, of("clarify", top_k=2), concurrency=4)
    assert finished.resumed_cases == 2
    assert finished.summaries["failed"].value == 0


async def test_a_case_that_fails_counts_as_nothing(bench: Bench, model: Server, tmp_path: Path) -> None:
    new = data_set_of(tmp_path, [{"question": q, "answers": ["hail"]} for q in ("Does hail hurt?", "Is hail broken?")])
    by_rules = model.behavior
    model.behavior = lambda chat: Reply.error(400, "broken") if "broken" in chat.user else by_rules(chat)
    finished = await carry_out(bench, new, of("clarify", top_k=12), concurrency=1)
    cases = await bench.tables.cases(finished.eval_run_id)
    assert [case.status for case in cases] == ["succeeded", "failed"]
    assert "broken" in (cases[1].error or "")
    assert (cases[1].values["failed"], cases[1].values["answer_coverage"]) == (1.0, 0.0)
    assert finished.summaries["answer_coverage"].cases == 2
    assert [*finished.failures.values()] == [1]


async def test_baselines_ask_the_model_of_the_worker(service: Service, model: Server) -> None:
    for changes, told in (
        ({"llm_model": "another"}, "another"),
        ({"openai_base_url": None, "openai_api_key": None}, "OPENAI_BASE_URL"),
    ):
        async with open_bench(service.dsn, settings_of(service, **changes), CORPUS, concurrency=1) as bench:
            await bench.check(of("clarify"))
            for method in BASELINES:
                with pytest.raises(ConfigurationError) as caught:
                    await bench.check(of(method))
                assert told in (caught.value.detail or "") + (caught.value.hint or "")


async def test_who_may_ask_may_evaluate_but_for_baselines(service: Service, model: Server, data_set: DataSet) -> None:
    dsn = as_role(service.dsn, service.asker)
    async with open_bench(dsn, settings_of(service), CORPUS, concurrency=4) as bench:
        finished = await carry_out(bench, data_set, of("clarify", top_k=TOP_K))
        assert finished.summaries["interpretations"].value > 0
        with pytest.raises(PermissionDenied) as caught:
            await bench.check(of("rac"))
        assert "pgclarify_worker" in (caught.value.hint or "")


async def test_an_evaluation_is_no_worker(bench: Bench, monkeypatch: pytest.MonkeyPatch, service: Service) -> None:
    await bench.judge("model")
    assert await bench.tables.serving_workers() == [bench.living]
    assert len(rows(service, "select from pgclarify.worker_status where is_alive")) == 1
    assert len(rows(service, "select from pgclarify._living_workers()")) == 2, "its leases hold"


def scalar_of(service: Service, statement: str) -> Any:
    with closing(psycopg.connect(service.dsn, autocommit=True)) as connection:
        return scalar(connection, statement)


@pytest.fixture
def loaded(database: str, run_worker: Callable[..., Worker], own_model: Server) -> tuple[str, Worker, Settings]:
    """A database of the test's own, with a worker that may be killed."""
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
        # It is entered into the ledger like a worker, and does not pass for one.
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


async def test_workers_of_two_models_are_no_subject(
    bench: Bench, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_WATCH_SECONDS", 0.1)
    other: dict[str, Any] = {"version": "0", "provider": "extractive", "model": "another", "prompt_version": "0"}
    async with Presence.enter(service.dsn, **other):
        with pytest.raises(ConfigurationError, match="do not all answer"):
            await asyncio.wait_for(bench.watch(), 30)
        with pytest.raises(ConfigurationError, match="do not all answer"):
            async with open_bench(service.dsn, settings_of(service), CORPUS, concurrency=1):
                pass


async def test_a_server_that_restarts_ends_it_with_what_was_done(
    private_service: PrivateService, data_set: DataSet
) -> None:
    clarify = of("clarify", top_k=2)
    reached = asyncio.Event()

    def told(progress: Progress) -> None:
        if progress.done == 2:
            reached.set()
            private_service.model.behavior = lambda chat: HANG

    async with open_bench(private_service.dsn, settings_of(private_service), None, concurrency=1) as bench:
        started = asyncio.create_task(carry_out(bench, data_set, clarify, concurrency=1, on_progress=told))
        await asyncio.wait_for(reached.wait(), 60)
        await asyncio.to_thread(private_service.restart)
        with pytest.raises(PgclarifyError) as caught:
            await asyncio.wait_for(started, 60)
        assert isinstance(caught.value, ServerUnavailable)
    private_service.model.behavior = Server().behavior

    def is_served() -> bool:
        return rows(private_service, "select from pgclarify.worker_status where is_alive") != []

    await asyncio.to_thread(until, is_served)
    async with open_bench(private_service.dsn, settings_of(private_service), None, concurrency=1) as bench:
        finished = await carry_out(bench, replace(data_set), clarify, concurrency=1)
    assert finished.resumed_cases == 2


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
        with pytest.raises(NotReady, match="the corpus has changed"):
            await asyncio.wait_for(
                carry_out(bench, data_set, of("clarify", top_k=2), concurrency=1, on_progress=told), 60
            )
        own_model.behavior = by_rules
        with pytest.raises(NotReady, match="the corpus has changed"):
            # Another configuration of the same command.
            await carry_out(bench, data_set, of("clarify", top_k=3))
    async with open_bench(dsn, settings, None, concurrency=1) as bench:
        finished = await carry_out(bench, data_set, of("clarify", top_k=2))
    assert finished.resumed_cases == 0, "what was judged is of the old one"


async def test_who_may_not_know_the_revision_begins_anew(
    loaded: tuple[str, Worker, Settings], data_set: DataSet
) -> None:
    dsn, _, settings = loaded
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        connection.execute("select pgclarify.add_document(%s, 'own', 'Hail is free.', readers => '{}')", [CORPUS])
        wait_until_searchable(connection)
        asker = f"asker_{abs(hash(dsn))}"
        connection.execute(f"create role {asker} login in role pgclarify_user".encode())
    async with open_bench(as_role(dsn, asker), settings, None, concurrency=1) as bench:
        plan = bench.plan(of("search"), data_set, await bench.judge("lexical"))
        assert (plan.corpus_revision, plan.may_be_resumed) == (0, False)
        first = await bench.tables.begin(plan)
        await bench.tables.leave(first.eval_run_id)
        assert await bench.tables.done(plan) == 0
        second = await bench.tables.begin(plan)
        assert (second.is_resumed, second.eval_run_id > first.eval_run_id) == (False, True)
        await bench.tables.leave(second.eval_run_id)


async def test_a_list_that_fails_keeps_its_run(bench: Bench, model: Server, tmp_path: Path) -> None:
    new = data_set_of(tmp_path, [{"question": "Why is it broken?", "answers": ["x"]}])
    model.behavior = lambda chat: Reply.error(400, "broken")
    finished = await carry_out(bench, new, of("list_answers"), concurrency=1)
    (case,) = await bench.tables.cases(finished.eval_run_id)
    assert (case.status, case.seconds > 0, case.run_id is not None) == (RunStatus.FAILED, True, True)
    assert "refused the request" in (case.error or "")
    assert case.output["retrieved"], "what it found before"


async def test_an_empty_list_is_that_of_its_own_run(
    bench: Bench, service: Service, model: Server, tmp_path: Path
) -> None:
    new = data_set_of(tmp_path, [{"question": "Which planets are there?", "answers": ["x"]}])
    model.behavior = lambda chat: Reply('{"answer": null, "quotes": []}')
    runs = []
    # A run of more parameters, asked last, has those of fewer, too.
    for settings in ({"max_answers": 2}, {"max_answers": 2, "top_k": 3}, {"max_answers": 2}):
        finished = await carry_out(bench, new, of("list_answers", **settings), concurrency=1)
        (case,) = await bench.tables.cases(finished.eval_run_id)
        runs.append(case.run_id)
        ((kept,),) = rows(service, "select settings from pgclarify.run where run_id = %s", case.run_id)
        assert kept["top_k"] == settings.get("top_k", 20)
    assert len(set(runs)) == 3, "each was carried out"


async def test_connections_of_an_evaluation_say_what_they_are(bench: Bench, service: Service) -> None:
    await bench.asking.client.search("hail", corpus=CORPUS, method="lexical")
    names = rows(service, "select application_name from pg_stat_activity where datname = current_database()")
    assert ("pgclarify eval",) in names
    assert ("pgclarify client",) not in names
