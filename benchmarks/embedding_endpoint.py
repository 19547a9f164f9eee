"""How fast documents become searchable with an embedding endpoint, compared with the limits of endpoint and database.

The endpoint is a stub that works on one request at a time and takes 50 ms for each, independent of its size. A stub
that takes no time measures the limit of the worker and the database. If that limit is below the endpoint's, a longer
latency shows how well the worker keeps the endpoint busy.

python -m benchmarks.embedding_endpoint [--passages N] [--latency SECONDS]
"""

from __future__ import annotations

import argparse
import time
from contextlib import ExitStack
from itertools import islice

from benchmarks import made_up, product
from benchmarks.figures import Figure, show, step
from benchmarks.ingest import add, wait_until_searchable
from tests import openai_server

PASSAGES = 10_000
LATENCY = 0.05
_MODEL = "endpoint:stub@384"
_TEXTS_A_REQUEST = 32


def measure(passages: int = PASSAGES, latency: float = LATENCY) -> list[Figure]:
    """Load the same documents with an endpoint with a latency, and with one without."""
    limit = _TEXTS_A_REQUEST / latency
    with product.database() as dsn:
        with step(f"{passages:,} passages, {latency * 1000:.0f} ms a request"):
            speed, texts, memory = _load(dsn, passages, latency)
        with step(f"{passages:,} passages, no time a request"):
            without, _, _ = _load(dsn, passages, 0.0)
    return [
        Figure("embedding endpoint: passages a second over its limit", speed / limit, aim="≥ 0.9"),
        Figure("over the slower one of it and the database", speed / min(limit, without), aim="≥ 0.9"),
        Figure("limit of the endpoint", limit, "passages/s"),
        Figure("limit of worker and database", without, "passages/s"),
        Figure("embedding endpoint", speed, "passages/s"),
        Figure("texts in a request", texts, "texts", aim=f"about {_TEXTS_A_REQUEST}"),
        Figure("worker's memory at the end over that after a tenth", memory, aim="about 1"),
    ]


def _load(dsn: str, passages: int, latency: float) -> tuple[float, float, float]:
    """Passages a second, texts in a request, and the growth of the worker's memory after the model is open."""
    corpus = f"latency {latency}"
    documents = made_up.documents()
    count = passages // made_up.PASSAGES_A_DOCUMENT
    with ExitStack() as stack:
        connection = stack.enter_context(product.connect(dsn))
        endpoint = stack.enter_context(openai_server.spawn(latency=latency, concurrency=1))
        process = stack.enter_context(product.worker(dsn, endpoint, concurrency=16))
        connection.execute("select pgclarify.create_corpus(%s, %s)", [corpus, _MODEL])
        add(connection, corpus, islice(documents, count // 10))
        before, calls = wait_until_searchable(connection, corpus), endpoint.stats["embedding_calls"]
        memory = product.megabytes(process)
        started = time.perf_counter()
        add(connection, corpus, islice(documents, count - count // 10))
        made = wait_until_searchable(connection, corpus) - before
        seconds = time.perf_counter() - started
        texts = made / (endpoint.stats["embedding_calls"] - calls)
        return made / seconds, texts, product.megabytes(process) / memory


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=PASSAGES)
    parser.add_argument("--latency", type=float, default=LATENCY)
    arguments = parser.parse_args()
    show(measure(arguments.passages, arguments.latency))
