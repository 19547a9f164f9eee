"""Evaluations end to end: a real server, a real worker, and a model that goes by rules."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pgclarify.errors import (
    ConfigurationError,
    InputError,
    PermissionDenied,
)
from pgclarify.evaluation.configurations import Configuration
from pgclarify.evaluation.data_sets import DataSet
from pgclarify.evaluation.opening import Bench, open_bench
from pgclarify.evaluation.runner import Progress
from pgclarify.vocabulary import RunStatus
from tests.integration.evaluation_runs import (
    BASELINES,
    CASES,
    OPERATIONS,
    TOP_K,
    carry_out,
    data_set_of,
    estimated,
    of,
    rows,
    settings_of,
)
from tests.openai_server import MODEL, Reply, Server
from tests.workers import (
    CORPUS,
    Service,
    as_role,
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
    assert metrics["answer_coverage"].cases == 3, "no answer of the last case is known"
    assert [one.done for one in told] == [0, 1, 2, 3, 4, 4]
    assert (told[-1].total, told[-1].calls, told[-1].coverage) == (4, 4 * (1 + TOP_K), metrics["answer_coverage"].value)

    (evaluation,) = [one for one in await bench.tables.evaluations(9) if one.eval_run_id == finished.eval_run_id]
    assert evaluation.finished_at is not None
    assert (evaluation.plan, evaluation.done_cases) == (finished.plan, 4)
    cases = await bench.tables.cases(finished.eval_run_id)
    assert [case.case_id for case in cases] == ["hail", "fees", "age", "nothing"]
    first = cases[0]
    assert first.run_id is not None
    runs = rows(
        service,
        "select question, settings ->> 'top_k', is_counted from pgclarify.run where run_id = %s",
        first.run_id,
    )
    assert runs == [(first.question, str(TOP_K), False)]
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


async def test_detection_searches_where_it_looks_at_the_corpus(bench: Bench, data_set: DataSet) -> None:
    finished = await carry_out(bench, data_set, of("detect_ambiguity", top_k=2))
    assert finished.summaries["retrievals"].value == 1


@pytest.mark.parametrize("method", [*OPERATIONS, *BASELINES, "human"])
async def test_every_method(bench: Bench, service: Service, model: Server, data_set: DataSet, method: str) -> None:
    await bench.check(of(method), ())
    calls = model.calls
    finished = await carry_out(bench, data_set, of(method))
    metrics = {name: one.value for name, one in finished.summaries.items()}
    cases = await bench.tables.cases(finished.eval_run_id)
    assert metrics["failed"] == 0, [case.error for case in cases]
    assert sum(case.usage.calls - case.usage.reused_calls for case in cases) == model.calls - calls
    searches = {"detect_ambiguity": 0.0, "dtv": 2.0, "dtv_unverified": 2.0}
    assert metrics["retrievals"] == searches.get(method, 1.0)
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
        assert {"answer_coverage", "recall", "grounded_recall"}.isdisjoint(metrics), "it is not compared with itself"
        assert (metrics["calls"], metrics["interpretations"]) == (0, 1.0)
        assert [len(case.output["interpretations"]) for case in cases] == [1, 2, 1, 0]
        assert all(case.output["retrieved"] for case in cases)
    else:
        assert metrics["calls"] > 0
        assert metrics["interpretations"] > 0
        assert "grounded_f1" in metrics
        assert any(case.output["retrieved"] for case in cases)
        assert ("step_mrr@10" in metrics) == (method in ("investigate", "self_ask"))


async def test_a_model_judges_through_the_ledger(
    bench: Bench, service: Service, model: Server, data_set: DataSet
) -> None:
    lexical = await carry_out(bench, data_set, of("clarify", top_k=TOP_K))
    calls = model.calls
    judged = await carry_out(bench, data_set, of("clarify", top_k=TOP_K), judge="model")
    asked = model.calls - calls
    assert asked > 0
    purposes = rows(service, "select distinct purpose from pgclarify_private.completion where purpose like 'judge%%'")
    assert ("judge_support",) in purposes
    assert (judged.plan.judge, lexical.plan.judge) == (MODEL, "lexical")
    assert judged.summaries["calls"].value == lexical.summaries["calls"].value, (
        "the judge's calls do not count for the method"
    )
    await carry_out(bench, data_set, of("clarify", top_k=TOP_K), judge="model")
    assert model.calls == calls + asked
    both = await carry_out(bench, data_set, of("clarify", top_k=TOP_K), judge="both")
    assert (both.plan.judge, both.plan.judges, both.plan.judging_model) == (f"lexical+{MODEL}", "both", MODEL)
    assert model.calls == calls + asked, "the judge's calls do not repeat those of the method"


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
@pytest.mark.wording
async def test_the_server_refuses_options_before_anything_is_asked(
    bench: Bench, service: Service, method: str, settings: dict[str, Any], told: str
) -> None:
    before = rows(service, "select count(*) from pgclarify.run")
    with pytest.raises(InputError, match=told):
        await bench.check(Configuration(method, method, None, settings), ())
    await bench.check(of(method), ())
    assert rows(service, "select count(*) from pgclarify.run") == before


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
    of_model, of_both = [(await estimated(bench, new, clarify, judge=judge)).judge_calls for judge in ("model", "both")]
    assert of_model > of_both > 0


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


async def test_another_model_verifies(bench: Bench, service: Service, model: Server, data_set: DataSet) -> None:
    configuration = of("dtv", verifier="rules-2")
    await bench.check(configuration, ())
    finished = await carry_out(bench, data_set, configuration)
    assert finished.summaries["failed"].value == 0
    asked = rows(
        service,
        "select distinct model from pgclarify_private.completion where purpose = 'baseline_verification'"
        " order by model",
    )
    assert ("rules-2",) in asked
    others = (
        "select count(*) from pgclarify_private.completion"
        " where purpose <> 'baseline_verification' and model = 'rules-2'"
    )
    assert rows(service, others) == [(0,)]


@pytest.mark.wording
async def test_baselines_ask_the_model_of_the_worker(service: Service, model: Server) -> None:
    for changes, told in (
        ({"llm_model": "another"}, "another"),
        ({"openai_base_url": None, "openai_api_key": None}, "OPENAI_BASE_URL"),
    ):
        async with open_bench(service.dsn, settings_of(service, **changes), CORPUS, concurrency=1) as bench:
            await bench.check(of("clarify"), ())
            for method in BASELINES:
                with pytest.raises(ConfigurationError) as caught:
                    await bench.check(of(method), ())
                assert told in (caught.value.detail or "") + (caught.value.hint or "")


async def test_who_may_ask_may_evaluate_but_for_baselines(service: Service, model: Server, data_set: DataSet) -> None:
    dsn = as_role(service.dsn, service.asker)
    async with open_bench(dsn, settings_of(service), CORPUS, concurrency=4) as bench:
        finished = await carry_out(bench, data_set, of("clarify", top_k=TOP_K))
        assert finished.summaries["interpretations"].value > 0
        with pytest.raises(PermissionDenied) as caught:
            await bench.check(of("rac"), ())
        assert caught.value.hint


async def test_a_list_that_fails_keeps_its_run(bench: Bench, service: Service, model: Server, tmp_path: Path) -> None:
    new = data_set_of(tmp_path, [{"question": "Why is it broken?", "answers": ["x"]}])
    model.behavior = lambda chat: Reply.error(400, "broken")
    finished = await carry_out(bench, new, of("list_answers"), concurrency=1)
    (case,) = await bench.tables.cases(finished.eval_run_id)
    assert (case.status, case.seconds > 0, case.run_id is not None) == (RunStatus.FAILED, True, True)
    why = rows(service, "select error_code from pgclarify.run_summary where run_id = %s", case.run_id)
    assert why == [("PC014",)]
    assert case.output["retrieved"], "the answers that it found before"


async def test_an_empty_list_is_that_of_its_own_run(
    bench: Bench, service: Service, model: Server, tmp_path: Path
) -> None:
    new = data_set_of(tmp_path, [{"question": "Which planets are there?", "answers": ["x"]}])
    model.behavior = lambda chat: Reply('{"answer": null, "quotes": []}')
    runs = []
    # The latest run with top_k also has the settings of the others, and must not be taken for theirs.
    for settings in ({"max_answers": 2}, {"max_answers": 2, "top_k": 3}, {"max_answers": 2}):
        finished = await carry_out(bench, new, of("list_answers", **settings), concurrency=1)
        (case,) = await bench.tables.cases(finished.eval_run_id)
        runs.append(case.run_id)
        ((kept,),) = rows(service, "select settings from pgclarify.run where run_id = %s", case.run_id)
        assert kept["top_k"] == settings.get("top_k", 20)
    assert len(set(runs)) == 3, "each question was executed"


async def test_connections_of_an_evaluation_say_what_they_are(bench: Bench, service: Service) -> None:
    await bench.asking.client.search("hail", corpus=CORPUS, method="lexical")
    names = rows(service, "select application_name from pg_stat_activity where datname = current_database()")
    assert ("pgclarify eval",) in names
    assert ("pgclarify client",) not in names
