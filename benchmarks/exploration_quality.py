"""What exploring the graph finds that a ranking does not: passages that answer questions in several steps.

python -m benchmarks.exploration_quality DATA_DIR, where musique.corpus.jsonl.gz and
musique.questions.jsonl.gz are.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg.types.json import Jsonb
from rich.console import Console
from rich.table import Table

from benchmarks import product
from benchmarks.figures import step
from benchmarks.ingest import MODEL
from benchmarks.lexical_quality import read
from pgclarify.algorithms import explore
from pgclarify.embedding import load_embedder
from pgclarify.model import Document
from pgclarify.operations.retrieval.exploration import BATCH_SIZE, NEIGHBORS
from tests import openai_server

BUDGET = 100
_GRAPHS = ("dense", "lexical")
_SEARCHES = ("hybrid", "dense", "lexical")
_DEPTHS = (5, 10, 20)
_GAIN_DEPTH = 10
_LINKED_AT_ONCE = 2000

Ranking = list[str]


@dataclass(frozen=True)
class Row:
    """What one method finds: means over all questions.

    Attributes:
        method: How passages were found and scored.
        graph: What makes neighbors, or "" if none are followed.
        recalls: The part of the gold passages among the first of each of _DEPTHS.
        gain: nDCG@_GAIN_DEPTH.
        reach: The part of the gold passages among all that were scored: what a perfect scorer could rank first.
    """

    method: str
    graph: str
    recalls: tuple[float, ...]
    gain: float
    reach: float


def measure(data_dir: Path, budget: int = BUDGET) -> Iterator[Row]:
    """Ask every question by each method; each scores or ranks as many passages as the others."""
    passages = list(read(data_dir / "musique.corpus.jsonl.gz"))
    questions = list(read(data_dir / "musique.questions.jsonl.gz"))
    with step(f"embedding {len(passages):,} passages"):
        vectors = asyncio.run(_embed(passages))
    with product.database() as dsn:
        for graph in _GRAPHS:
            with step(f"storing and linking them, {graph}"):
                _store(dsn, graph, passages, vectors)
        with (
            openai_server.spawn() as endpoint,
            product.worker(dsn, endpoint, concurrency=1),
            product.connect(dsn) as connection,
        ):

            def find(corpus: str, **options: object) -> list[Ranking]:
                with step(f"{corpus} {options}"):
                    return [_search(connection, corpus, row["question"], budget, options) for row in questions]

            for method in _SEARCHES:
                ranked = find("dense", method=method)
                yield _row(f"{method} search", "", ranked, questions)
                scored = find("dense", method=method, reranker="signal", budget=budget)
                yield _row(f"{method} search, scored again", "", scored, questions)
                for graph in _GRAPHS:
                    explored = find(graph, method="adaptive", search=method, budget=budget)
                    yield _row(f"adaptive after {method} search", graph, explored, questions)
                    neighbors = _neighbors(connection, graph)
                    known = [
                        _explore_by_gold(row["gold"], first, neighbors, budget)
                        for row, first in zip(questions, ranked, strict=True)
                    ]
                    yield _row("the same, scored by who knows", graph, known, questions)


async def _embed(passages: Sequence[Mapping[str, Any]]) -> Mapping[str, NDArray[np.float32]]:
    """Vectors by id, float32, shape (1, dimensions), of what a worker would embed."""
    embedder = load_embedder(MODEL)
    try:
        vectors = await embedder.encode([f"{row['title']}\n{_line(row['text'])}" for row in passages])
    finally:
        embedder.close()
    return {row["id"]: vectors[place : place + 1] for place, row in enumerate(passages)}


def _line(text: str) -> str:
    return " ".join(text.split())


def _store(
    dsn: str, graph: str, passages: Sequence[Mapping[str, Any]], vectors: Mapping[str, NDArray[np.float32]]
) -> None:
    """Make a corpus, named after what makes neighbors in it, and link it as a worker does."""
    documents = (Document(row["id"], _line(row["text"]), title=row["title"]) for row in passages)
    product.load(dsn, graph, documents, vectors.__getitem__, graph_similarity=graph)
    with product.connect(dsn) as connection:
        statement = "select pgclarify_private.link_passages(%s) as passages"
        while connection.execute(statement, [_LINKED_AT_ONCE]).fetchall()[0]["passages"]:
            pass


def _search(
    connection: product.Connection, corpus: str, question: str, top_k: int, options: Mapping[str, object]
) -> Ranking:
    rows = connection.execute(
        "select document_id from pgclarify.search(%s, corpus => %s, top_k => %s, options => %s) order by rank",
        [question, corpus, top_k, Jsonb(options)],
    )
    return [row["document_id"] for row in rows]


def _neighbors(connection: product.Connection, corpus: str) -> Mapping[str, Ranking]:
    """The neighbors of each passage that are followed, nearest first."""
    rows = connection.execute(
        "select document_id, array_agg(neighbor_document_id order by rank) as neighbors from pgclarify.edge"
        " where corpus = %s and rank <= %s group by document_id",
        [corpus, NEIGHBORS],
    )
    return {row["document_id"]: row["neighbors"] for row in rows}


def _explore_by_gold(gold: Sequence[str], first: Ranking, neighbors: Mapping[str, Ranking], budget: int) -> Ranking:
    explored = explore(
        first,
        lambda ids: {one: neighbors.get(one, []) for one in ids},
        lambda ids: [float(one in gold) for one in ids],
        budget=budget,
        batch_size=BATCH_SIZE,
    )
    return [one.id for one in explored]


def _row(method: str, graph: str, found: Sequence[Ranking], questions: Sequence[Mapping[str, Any]]) -> Row:
    golds = [set(row["gold"]) for row in questions]

    def recall(depth: int | None) -> float:
        return statistics.mean(
            len(gold.intersection(ids[:depth])) / len(gold) for gold, ids in zip(golds, found, strict=True)
        )

    return Row(
        method,
        graph,
        tuple(map(recall, _DEPTHS)),
        statistics.mean(_gain(gold, ids) for gold, ids in zip(golds, found, strict=True)),
        recall(None),
    )


def _gain(gold: set[str], ids: Sequence[str]) -> float:
    """Normalized discounted cumulative gain of the first _GAIN_DEPTH, in [0, 1]."""
    discounts = [1 / math.log2(place + 2) for place in range(_GAIN_DEPTH)]
    gained = sum(discount for one, discount in zip(ids, discounts, strict=False) if one in gold)
    return gained / sum(discounts[: len(gold)])


def _show(rows: Sequence[Row]) -> None:
    table = Table("method", "graph", *(f"recall@{depth}" for depth in _DEPTHS), f"nDCG@{_GAIN_DEPTH}", "reach")
    for row in rows:
        table.add_row(row.method, row.graph, *(f"{value:.3f}" for value in (*row.recalls, row.gain, row.reach)))
    Console(width=120).print(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--budget", type=int, default=BUDGET, help="passages that are scored for each question")
    arguments = parser.parse_args()
    _show(list(measure(arguments.data_dir, arguments.budget)))
