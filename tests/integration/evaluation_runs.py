"""Shared by tests that carry out evaluations: cases, configurations and their results."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import psycopg

from pgclarify.config import Provider, Settings
from pgclarify.evaluation.configurations import Configuration
from pgclarify.evaluation.data_sets import DataSet, read_data_set
from pgclarify.evaluation.estimate import ConfigurationEstimate, Estimator
from pgclarify.evaluation.opening import Bench
from pgclarify.evaluation.runner import Finished, Progress, Work, evaluate
from tests.openai_server import MODEL
from tests.workers import (
    API_KEY,
    PrivateService,
    Service,
)

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
BASELINES = ("dtv", "dtv_unverified", "rac", "one_pass", "self_ask", "list_at_once")


def settings_of(service: Service | PrivateService, **changes: Any) -> Settings:
    """The environment of the process of an evaluation."""
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
        await bench.method(configuration, data_set.cases),
        judging,
        bench.watch,
        concurrency,
        on_progress,
        evidence=bench.evidence,
        check=bench.check_corpus,
        compare_texts=partial(bench.compare_texts, configuration),
    )
    return await evaluate(bench.plan(configuration, data_set, judging), data_set.cases, work)


def of(method: str, **settings: Any) -> Configuration:
    return Configuration(method, method, None, settings)


def rows(service: Service | PrivateService, statement: str, *parameters: Any) -> list[Any]:
    with closing(psycopg.connect(service.dsn, autocommit=True)) as connection:
        return connection.execute(statement.encode(), parameters).fetchall()


def paid(service: Service) -> int:
    return int(rows(service, "select count(*) from pgclarify_private.completion where reply is not null")[0][0])


async def estimated(
    bench: Bench, data_set: DataSet, configuration: Configuration, judge: str = "lexical"
) -> ConfigurationEstimate:
    plan = bench.plan(configuration, data_set, await bench.judge(judge))
    return await Estimator(bench, data_set.cases).estimate(configuration, plan)
