"""What a round trip between the server and its workers and clients costs: a proxy on loopback delays both.

One worker is asked at each delay in turn, so that other load on the machine slows all delays. A model call takes
200 ms, and each question makes two calls, one after the other.

python -m benchmarks.scale.far_server [--delays 0 2 10 40] [--rounds 20] [--questions 100] [--documents 1000]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from statistics import median

from rich.table import Table

import pgclarify
from benchmarks import made_up, product
from benchmarks.figures import show_tables, step
from pgclarify.data.vocabulary import Document
from tests import openai_server
from tests.integration.network_proxy import Network, network

_DELAYS = (0.0, 2.0, 10.0, 40.0)
_CALL_SECONDS = 0.2
_AT_ONCE = 64
_TOP_K = 20
_WORDS = 60
_PATIENCE_SECONDS = 600.0


def measure(dsn: str, corpus: str, delays: Sequence[float], *, rounds: int, at_once: int, documents: int) -> Table:
    """Ask and add through the proxies.

    Args:
        dsn: The database.
        corpus: A corpus with passages.
        delays: Milliseconds of a round trip.
        rounds: How often a question is asked at each delay.
        at_once: How many questions are asked at once, once in four rounds.
        documents: How many documents are added at each delay; 0 for none.
    """
    with (
        network(dsn) as (of_worker, worker_dsn),
        network(dsn) as (of_client, client_dsn),
        openai_server.spawn(latency=_CALL_SECONDS, concurrency=_AT_ONCE) as endpoint,
        product.worker(worker_dsn, endpoint, concurrency=_AT_ONCE),
        pgclarify.connect(client_dsn, corpus=corpus) as far,
        pgclarify.connect(dsn, corpus=corpus) as near,
    ):
        questions = iter(made_up.questions(10_000, seed=50))

        def ask_one(client: pgclarify.Client) -> Callable[[], object]:
            return lambda: client.clarify(next(questions), top_k=_TOP_K)

        def ask_many() -> None:
            answers = near.clarify_many(list(islice(questions, at_once)), top_k=_TOP_K)
            assert {answer.status for answer in answers} == {"succeeded"}

        (repeated,) = islice(questions, 1)
        measured: Mapping[str, tuple[int, Callable[[], object]]] = {
            "a question, ms": (rounds, ask_one(near)),
            "a question of a far client, ms": (rounds, ask_one(far)),
            "its repeat, ms": (rounds, lambda: far.clarify(repeated, top_k=_TOP_K)),
            f"{at_once} questions, ms": (rounds // 4, ask_many),
        }
        for _ in range(6):
            near.clarify(next(questions), top_k=_TOP_K)
        near.clarify(repeated, top_k=_TOP_K)
        ask_many()
        taken: dict[str, list[float]] = {}
        for what, (times, act) in measured.items():
            with step(what):
                if times:
                    taken[what] = _in_turn(act, (of_worker, of_client), delays, times)
        if documents:
            what = f"{documents:,} documents until searchable, ms"
            with step(what):
                taken[what] = [_add(far, near, delay, (of_worker, of_client), documents) for delay in delays]
    return _table(delays, taken)


def _in_turn(act: Callable[[], object], ways: Sequence[Network], delays: Sequence[float], times: int) -> list[float]:
    """Median milliseconds at each delay."""
    milliseconds: dict[float, list[float]] = {delay: [] for delay in delays}
    for _ in range(times):
        for delay in delays:
            _set(ways, delay)
            started = time.perf_counter()
            act()
            milliseconds[delay].append((time.perf_counter() - started) * 1000)
    return [median(each) for each in milliseconds.values()]


def _add(far: pgclarify.Client, near: pgclarify.Client, delay: float, ways: Sequence[Network], documents: int) -> float:
    """Milliseconds until new documents are searchable in a corpus of their own."""
    corpus = f"far {delay:g}"
    near.create_corpus(corpus)
    texts = made_up.phrases(_WORDS, seed=60)
    _set(ways, delay)
    started = time.perf_counter()
    far.add_documents(
        (Document(document_id=str(number), content=next(texts)) for number in range(documents)), corpus=corpus
    )
    near.wait_until_searchable(corpus, timeout=_PATIENCE_SECONDS)
    return (time.perf_counter() - started) * 1000


def _set(ways: Sequence[Network], delay: float) -> None:
    for way in ways:
        way.round_trip = delay / 1000
    # What began at the delay before.
    time.sleep(0.1)


def _table(delays: Sequence[float], taken: Mapping[str, Sequence[float]]) -> Table:
    table = Table("round trip", *(f"{delay:g} ms" for delay in delays), "round trips", "rate kept at the longest")
    for column in table.columns[1:]:
        column.justify = "right"
    for what, milliseconds in taken.items():
        first, last = milliseconds[0], milliseconds[-1]
        trips = (last - first) / (delays[-1] - delays[0])
        table.add_row(what, *(f"{value:.0f}" for value in milliseconds), f"{trips:.1f}", f"{first / last:.2f}")
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delays", type=float, nargs="+", default=_DELAYS)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--documents", type=int, default=1000)
    given = parser.parse_args()
    with product.made_up_corpus() as (dsn, corpus):
        show_tables(
            measure(dsn, corpus, given.delays, rounds=given.rounds, at_once=given.questions, documents=given.documents)
        )
