"""The speed of `detect_ambiguity` on a log of searches, compared with a plain encode of the same texts.

python -m benchmarks.speed.detection [--questions 20000]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from sentence_transformers import SentenceTransformer

from benchmarks import made_up, product
from benchmarks.figures import Figure, show, step
from pgclarify.embedding.loading import load_model
from tests import openai_server

QUESTIONS = 20_000
MODEL = "all-MiniLM-L6-v2"
_PARTS = 4


def measure(questions: int = QUESTIONS) -> list[Figure]:
    """Judge questions in turns with the plain model, which embeds as many other questions in between.

    If the machine slows down meanwhile, it slows down for both.
    """
    texts = list(dict.fromkeys(made_up.questions(2 * questions + 1_000, seed=31)))[: 2 * questions]
    judged, encoded = texts[::2], texts[1::2]
    plain = load_model(MODEL)
    plain.encode(encoded[:32])
    judging = encoding = 0.0
    with (
        openai_server.spawn() as endpoint,
        product.database() as dsn,
        product.worker(dsn, endpoint, concurrency=1),
        product.connect(dsn) as connection,
    ):
        connection.execute("select pgclarify.detect_ambiguity('How much is it?')")
        for part in range(_PARTS):
            encoding += _encode(plain, encoded[part::_PARTS])
            with step(f"{len(judged[part::_PARTS]):,} questions judged"):
                judging += _judge(connection, judged[part::_PARTS])
        calls = endpoint.stats["calls"]
    assert calls == 0
    return [
        Figure("detect_ambiguity: questions a second over plain encode", encoding / judging, aim="about 1"),
        Figure(f"{len(judged):,} questions", 1000 * judging / len(judged), "ms a question"),
    ]


def _judge(connection: product.Connection, questions: Sequence[str]) -> float:
    started = time.perf_counter()
    with connection.transaction():
        (submitted,) = connection.execute(
            "select pgclarify.submit_many('detect_ambiguity', %s) as run_ids", [list(questions)]
        ).fetchall()
    run_ids = list(dict.fromkeys(submitted["run_ids"]))
    outcomes = connection.execute("select status from pgclarify.wait(%s::bigint[], null)", [run_ids]).fetchall()
    seconds = time.perf_counter() - started
    assert {row["status"] for row in outcomes} == {"succeeded"}
    return seconds


def _encode(model: SentenceTransformer, texts: Sequence[str]) -> float:
    with step(f"{len(texts):,} questions encoded"):
        started = time.perf_counter()
        model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return time.perf_counter() - started


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="how many questions")
    show(measure(parser.parse_args().questions))
