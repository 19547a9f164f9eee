"""The time of one `clarify`, over one call of the model, and over a script that makes the same calls.

The script has no database: it asks for 20 verdicts at once, with the openai client as its authors document it, and
reads the JSON. Questions of both alternate, so that other work on the machine slows both.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import Sequence
from typing import Any

import openai

from benchmarks import made_up, product
from benchmarks.figures import Figure, show, step
from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import ModelCall
from pgclarify.prompts.verdict import verdict
from tests import openai_server

CALL_SECONDS = 0.2
TOP_K = 20
_QUESTIONS = 40


def measure(dsn: str, corpus: str) -> list[Figure]:
    """Ask one question after another, each for the first time."""
    with (
        openai_server.spawn(latency=CALL_SECONDS) as endpoint,
        product.worker(dsn, endpoint, concurrency=64),
        product.connect(dsn) as connection,
        asyncio.Runner() as runner,
    ):
        client = openai.AsyncOpenAI(base_url=endpoint.base_url, api_key="none")
        passages = _some_passages()
        for question in made_up.questions(5, seed=10):
            product.clarify(connection, question, corpus, TOP_K)
            runner.run(_by_script(client, question, passages))
        calls_before = endpoint.stats["calls"]
        seconds, seconds_of_script = [], []
        with step(f"{_QUESTIONS} questions, one after the other"):
            for question in made_up.questions(_QUESTIONS, seed=11):
                started = time.perf_counter()
                product.clarify(connection, question, corpus, TOP_K)
                answered = time.perf_counter()
                runner.run(_by_script(client, question, passages))
                seconds.append(answered - started)
                seconds_of_script.append(time.perf_counter() - answered)
        calls = (endpoint.stats["calls"] - calls_before) / (2 * _QUESTIONS)
        runner.run(client.close())
    least = CALL_SECONDS
    return [
        Figure("clarify over a call of 200 ms, median", statistics.median(seconds) / least),
        Figure("the same, 95th percentile", statistics.quantiles(seconds, n=20)[-1] / least),
        Figure("a script with the same calls over them, median", statistics.median(seconds_of_script) / least),
        Figure(
            "clarify over the script", statistics.median(seconds) / statistics.median(seconds_of_script), aim="<= 1.15"
        ),
        Figure("calls of the model, each question", calls, "calls", aim=f"{TOP_K}"),
    ]


def _some_passages() -> list[Passage]:
    document = next(made_up.documents())
    return [
        Passage(
            str(number),
            number,
            f"{document.content.splitlines()[number % made_up.PASSAGES_A_DOCUMENT]} {number}",
            document.title,
        )
        for number in range(TOP_K)
    ]


async def _by_script(client: openai.AsyncOpenAI, question: str, passages: Sequence[Passage]) -> None:
    await asyncio.gather(*(_call(client, verdict(question, passage)) for passage in passages))


async def _call(client: openai.AsyncOpenAI, call: ModelCall[object]) -> None:
    body: dict[str, Any] = {
        "model": openai_server.MODEL,
        "messages": [{"role": message.role, "content": message.content} for message in call.messages],
        "max_tokens": call.max_tokens,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": call.purpose, "strict": True, "schema": dict(call.schema)},
        },
    }
    reply = await client.chat.completions.create(**body)
    json.loads(reply.choices[0].message.content or "")


if __name__ == "__main__":
    with product.made_up_corpus() as (dsn, corpus):
        show(measure(dsn, corpus))
