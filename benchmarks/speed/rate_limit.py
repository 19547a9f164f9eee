"""Two workers at an endpoint of 200,000 tokens a minute: how much of that they use, and how many calls get 429.

The endpoint is on this machine, and enforces its limit with real answers of status 429. Three kinds: one that fills up
steadily and says in headers what remains, as OpenAI does; one with fixed minutes and the same headers; and one with
fixed minutes and no headers, whose limit the settings name. Each is measured from half a minute after the first call,
so that the tokens that it had at the beginning do not count.

python -m benchmarks.speed.rate_limit [--seconds N]
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Mapping
from contextlib import ExitStack

from benchmarks import made_up, product
from benchmarks.figures import Figure, show, step
from tests.openai_server import MODEL
from tests.rate_limited import Limited
from tests.workers import model_server

TOKENS_PER_MINUTE = 200_000
SECONDS = 150
_WORKERS = 2
_CONCURRENCY = 16
_CALL_SECONDS = 0.5
_TOP_K = 20
_WARM_UP_SECONDS = 30
# More than the endpoint answers in the time.
_QUESTIONS = 120
_KINDS: Mapping[str, tuple[bool, bool]] = {
    "fills up steadily, headers": (False, True),
    "fixed minutes, headers": (True, True),
    "fixed minutes, settings": (True, False),
}


def measure(dsn: str, corpus: str, seconds: float = SECONDS) -> list[Figure]:
    """Keep two workers busy at each kind of endpoint."""
    figures = []
    for seed, (kind, (is_window, has_headers)) in enumerate(_KINDS.items(), start=40):
        limits = Limited(TOKENS_PER_MINUTE, is_window=is_window, has_headers=has_headers)
        with ExitStack() as stack:
            server = stack.enter_context(model_server(latency=_CALL_SECONDS, behavior=limits.behavior()))
            environment = os.environ | {
                "PGCLARIFY_DATABASE_URL": dsn,
                "PGCLARIFY_LLM_PROVIDER": "openai",
                "PGCLARIFY_LLM_MODEL": MODEL,
                "PGCLARIFY_LLM_CONCURRENCY": str(_CONCURRENCY),
                "OPENAI_BASE_URL": server.base_url,
                "OPENAI_API_KEY": "none",
            }
            if not has_headers:
                environment["PGCLARIFY_LLM_TOKENS_PER_MINUTE"] = str(TOKENS_PER_MINUTE)
            for _ in range(_WORKERS):
                stack.enter_context(product.running_worker(dsn, environment))
            connection = stack.enter_context(product.connect(dsn))
            with step(kind):
                questions = made_up.questions(_QUESTIONS, seed=seed)
                submitted = connection.execute(
                    "select pgclarify.submit_many('clarify', %s, corpus => %s, options => %s) as run_ids",
                    [questions, corpus, f'{{"top_k": {_TOP_K}}}'],
                ).fetchone()
                assert submitted is not None
                bookings_before = _bookings(connection)
                time.sleep(_WARM_UP_SECONDS + seconds)
            ended = limits.clock()
            bookings = _bookings(connection) - bookings_before
            connection.execute("select pgclarify.cancel(%s)", list(submitted.values()))
        began = limits.accepted[0][0] + _WARM_UP_SECONDS
        assert limits.accepted[-1][0] > ended - 2, "the endpoint had too little to do"
        figures += [
            Figure(f"{kind}: tokens over the limit", limits.used(began, ended), aim=">= 0.95"),
            Figure(
                f"{kind}: calls with 429",
                100 * limits.refused / (limits.refused + len(limits.accepted)),
                "%",
                aim="< 1",
            ),
            Figure(f"{kind}: calls", len(limits.accepted)),
            Figure(f"{kind}: statements for each call", bookings / len(limits.accepted)),
        ]
    return figures


def _bookings(connection: product.Connection) -> int:
    """How often workers booked since the server was started."""
    row = connection.execute(
        "select coalesce(sum(n_tup_upd), 0)::integer as count from pg_stat_user_tables where relname = 'endpoint_rate'"
    ).fetchone()
    assert row is not None
    return int(row["count"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="seconds to measure each kind of endpoint")
    arguments = parser.parse_args()
    with product.made_up_corpus() as (dsn, corpus):
        show(measure(dsn, corpus, arguments.seconds))
