"""Evaluations of dialogue end to end: rewriting, asking back, and a simulated user."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgclarify.config import Provider
from pgclarify.errors import ConfigurationError, InputError, RunFailed
from pgclarify.evaluation.configurations import check_provider
from pgclarify.evaluation.data_sets import DataSet
from pgclarify.evaluation.opening import Bench, open_bench
from tests.integration.evaluation_runs import carry_out, data_set_of, estimated, of, rows, settings_of
from tests.openai_server import Reply, Server
from tests.questioning_rules import SUBJECTS
from tests.workers import CORPUS, Service

pytestmark = pytest.mark.xdist_group("evaluation")

# The model of the tests replaces the first pronoun by the first name in the conversation.
CASES: list[dict[str, Any]] = [
    {
        "id": "leans",
        "question": "Where was she born?",
        "history": ["Who painted it?", "It was Ida Holm."],
        "is_ambiguous": True,
        "rewrites": ["Where was Ida Holm born?"],
        "documents": ["105"],
    },
    *(
        {
            "id": f"clear {number}",
            "question": f"Which fee is due for a refueling of vehicle number {number}?",
            "history": ["Who painted it?", "It was Ida Holm."],
            "is_ambiguous": False,
            "documents": [str(106 + number)],
        }
        for number in range(4)
    ),
    *(
        {"id": f"vague {number}", "question": f"How much is it for the {number}?", "is_ambiguous": True}
        for number in range(4)
    ),
]
USERS: list[dict[str, Any]] = [
    {"id": "hail", "question": "zebra", "intent": "the deductible after hail", "documents": ["102"]},
    {"id": "smoke", "question": "okapi", "intent": SUBJECTS[1], "documents": ["108"]},
]


@pytest.fixture
def data_set(tmp_path: Path) -> DataSet:
    return data_set_of(tmp_path, CASES)


@pytest.fixture
async def bench(service: Service, model: Server) -> AsyncIterator[Bench]:
    async with open_bench(service.dsn, settings_of(service), CORPUS, concurrency=4) as opened:
        yield opened


@pytest.mark.parametrize(
    "method", ["rewrite", "rewrite_ambiguous", "always_rewrite", "few_shot", "logistic_regression"]
)
async def test_every_way_to_rewrite(bench: Bench, model: Server, data_set: DataSet, method: str) -> None:
    configuration = of(method)
    await bench.check(configuration, data_set.cases)
    before, estimate = model.calls, await estimated(bench, data_set, configuration)
    finished = await carry_out(bench, data_set, configuration)
    metrics = {name: one.value for name, one in finished.summaries.items()}
    cases = await bench.tables.cases(finished.eval_run_id)

    assert metrics["failed"] == 0, [case.error for case in cases]
    assert sum(case.usage.calls - case.usage.reused_calls for case in cases) == model.calls - before <= estimate.calls
    assert {"accuracy", "f1", "average_precision", "bleu", "rewrite_similarity", "recall@10", "mrr@10"} <= set(metrics)
    assert "interpretations" not in metrics
    first = cases[0]
    # The detectors of these two call the first question clear.
    if method not in ("rewrite_ambiguous", "logistic_regression"):
        assert first.output["questions"] == ["Where was Ida Holm born?"]
        assert first.values["bleu"] == pytest.approx(1)
        assert first.values["rewritten"] == 1
    assert finished.summaries["bleu"].cases == 1, "other cases have no rewrite by people"
    assert finished.summaries["recall@10"].cases == 5
    # Only questions with known documents are searched.
    assert metrics["retrievals"] == pytest.approx(5 / len(CASES))


async def test_only_what_is_ambiguous_goes_to_the_model(bench: Bench, data_set: DataSet) -> None:
    shares = {}
    for method in ("always_rewrite", "rewrite", "few_shot"):
        finished = await carry_out(bench, data_set, of(method))
        by_purpose = await bench.tables.cases(finished.eval_run_id)
        shares[method] = sum(case.values["predicted"] for case in by_purpose)
    assert shares["few_shot"] < shares["always_rewrite"] == len(CASES)


async def test_the_classifier_alone_decides_what_is_rewritten(bench: Bench, tmp_path: Path) -> None:
    """It decides as `detect_ambiguity` does. What only leans on the conversation stays as it is."""
    said = ["Who painted the altar?", "It was Ida Holm.", "And who painted the door?", "It was Ada Berg."]
    vague = {"id": "vague", "question": "Which one?", "history": said, "is_ambiguous": True}
    data_set = data_set_of(tmp_path, [CASES[0], vague, CASES[-1]])
    made = {}
    for method in ("detect_ambiguity", "rewrite_ambiguous"):
        finished = await carry_out(bench, data_set, of(method))
        made[method] = await bench.tables.cases(finished.eval_run_id)
    judged = {name: [(one.values["predicted"], one.values["probability"]) for one in made[name]] for name in made}
    assert judged["rewrite_ambiguous"] == judged["detect_ambiguity"]
    leans, _, _ = made["rewrite_ambiguous"]
    assert leans.output["questions"] == [CASES[0]["question"]]
    # The last question is ambiguous, too, but nothing was said before it.
    assert [(one.values["predicted"], one.usage.calls) for one in made["rewrite_ambiguous"]] == [(0, 0), (1, 1), (1, 0)]


@pytest.mark.parametrize("method", ["detect_ambiguity", "rewrite", "rewrite_ambiguous"])
async def test_the_rules_of_the_corpus_count(
    bench: Bench, superuser: psycopg.Connection[Any], tmp_path: Path, method: str
) -> None:
    question = {"question": "Which fee is due for a vehicle without a full tank?", "is_ambiguous": True}
    data_set = data_set_of(tmp_path, [question])
    without = await carry_out(bench, data_set, of(method))
    add = "insert into pgclarify_private.ambiguity_rule (pattern, kind, corpus) values ('full tank', 'lexical', %s)"
    superuser.execute(add, [CORPUS])
    try:
        finished = await carry_out(bench, data_set, of(method))
    finally:
        superuser.execute("delete from pgclarify_private.ambiguity_rule")
    assert [one.summaries["accuracy"].value for one in (without, finished)] == [0, 1]


async def test_an_outage_ends_an_evaluation_of_rewriting(bench: Bench, model: Server, tmp_path: Path) -> None:
    """The run itself is partial: its question came back as it was."""
    model.behavior = lambda _: Reply.error(401, "the key is no longer valid")
    leans = {"question": "Where was she buried?", "history": ["It was Ida Holm."], "is_ambiguous": True}
    with pytest.raises(RunFailed) as caught:
        await carry_out(bench, data_set_of(tmp_path, [leans]), of("rewrite"))
    assert "status 401" in (caught.value.detail or "")


async def test_what_is_asked_back_is_held_against_people(bench: Bench, tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = [
        {"question": "zebra", "clarifying_questions": [f"is it about {SUBJECTS[0]}"]},
        {"question": "okapi"},
    ]
    data_set = data_set_of(tmp_path, asked)
    for scheme in ("at_standard", "at_types"):
        configuration = of("clarifying_questions", check="none", scheme=scheme, examples=False, count=2)
        await bench.check(configuration, data_set.cases)
        finished = await carry_out(bench, data_set, configuration)
        metrics = {name: one.value for name, one in finished.summaries.items()}
        assert (metrics["asked_back"], metrics["calls"], metrics["failed"]) == (2, 1, 0)
        assert metrics["question_recall"] == pytest.approx(1, abs=1e-3)
        assert finished.summaries["question_f1"].cases == 1
        assert 0 < metrics["question_diversity"] < 1
        first, _ = await bench.tables.cases(finished.eval_run_id)
        assert first.output["notes"]["types"] == [None, None] if scheme == "at_standard" else ["semantic", "specify"]


async def test_what_no_document_answers_is_not_asked(bench: Bench, service: Service, tmp_path: Path) -> None:
    data_set = data_set_of(tmp_path, [{"question": "zebra"}])
    finished = await carry_out(bench, data_set, of("clarifying_questions", form="select", search="lexical"))
    (case,) = await bench.tables.cases(finished.eval_run_id)
    assert case.values["asked_back"] == len(SUBJECTS) - 1, "no document mentions unicorns"
    assert case.values["retrievals"] == len(SUBJECTS), "one search for each reformulation"
    assert rows(service, "select operation from pgclarify.run where run_id = %s", case.run_id) == [
        ("clarifying_questions",)
    ]


@pytest.mark.parametrize("settings", [{}, {"check": "none"}, {"form": "select", "check": "none"}])
async def test_a_simulated_user_finds_more_with_each_turn(
    bench: Bench, service: Service, model: Server, tmp_path: Path, settings: dict[str, Any]
) -> None:
    data_set = data_set_of(tmp_path, USERS)
    configuration = of("simulated_user", **settings)
    await bench.check(configuration, data_set.cases)
    before, estimate = model.calls, await estimated(bench, data_set, configuration)
    finished = await carry_out(bench, data_set, configuration)
    metrics = {name: one.value for name, one in finished.summaries.items()}
    cases = await bench.tables.cases(finished.eval_run_id)

    assert metrics["failed"] == 0, [case.error for case in cases]
    assert sum(case.usage.calls - case.usage.reused_calls for case in cases) == model.calls - before <= estimate.calls
    assert metrics["turn_1_mrr@10"] > metrics["turn_0_mrr@10"]
    assert metrics["turn_3_ndcg@10"] == metrics["ndcg@10"]
    for case in cases:
        assert len(case.output["questions"]) == len(case.output["notes"]["turns"])
        assert case.output["questions"]
    talks = "select count(*) from pgclarify.conversation_turn where first_question in ('zebra', 'okapi')"
    assert rows(service, talks)[0][0] >= len(USERS)


async def test_what_is_missing_is_said_before_anything_is_asked(bench: Bench, service: Service, tmp_path: Path) -> None:
    before = rows(service, "select count(*) from pgclarify.run")
    unlabelled = data_set_of(tmp_path, [{"question": "Is it far?"}, {"question": "Is it near?"}])
    for method in ("simulated_user", "logistic_regression"):
        with pytest.raises(InputError) as caught:
            await bench.check(of(method), unlabelled.cases)
        assert caught.value.hint
    for method, settings in (
        ("simulated_user", {"scheme": "none"}),
        ("clarifying_questions", {"count": 11}),
        ("rewrite", {"threshold": 2}),
    ):
        with pytest.raises(InputError):
            await bench.check(of(method, **settings), unlabelled.cases)
    assert rows(service, "select count(*) from pgclarify.run") == before


def test_what_takes_a_language_model_is_refused_without() -> None:
    for method in ("clarifying_questions", "simulated_user"):
        with pytest.raises(InputError):
            check_provider(of(method), "extractive")
    for method in ("rewrite", "logistic_regression"):
        check_provider(of(method), "extractive")


async def test_whoever_plays_asks_the_model_of_the_worker(service: Service, model: Server, data_set: DataSet) -> None:
    settings = settings_of(service, openai_base_url=None, openai_api_key=None, llm_provider=Provider.EXTRACTIVE)
    async with open_bench(service.dsn, settings, CORPUS, concurrency=1) as bench:
        await bench.check(of("rewrite"), data_set.cases)
        for method in ("rewrite_ambiguous", "always_rewrite", "few_shot", "logistic_regression"):
            with pytest.raises(ConfigurationError):
                await bench.check(of(method), data_set.cases)
