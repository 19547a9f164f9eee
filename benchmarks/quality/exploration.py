"""The passages that exploration of the graph finds and a ranking does not, for questions in several steps.

python -m benchmarks.quality.exploration DATA_DIR, where musique.corpus.jsonl.gz and
musique.questions.jsonl.gz are. Intervals are 95 % intervals by a bootstrap over questions. A hash of its id puts each
question into the part development or held. All choices were made on development.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg.types.json import Jsonb
from rich.console import Console
from rich.table import Table

from benchmarks import product
from benchmarks.data_sets import MODEL, part_of, read
from benchmarks.figures import mean_of, step
from pgclarify.algorithms.exploration import Explorer
from pgclarify.data.vocabulary import Document
from pgclarify.embedding import load_embedder
from pgclarify.operations.retrieval.exploration import BATCH_SIZE, NEIGHBORS
from tests import openai_server

BUDGET = 100
_SEARCHES = ("hybrid", "dense", "lexical")
_DEPTHS = (5, 10, 20)
_GAIN_DEPTH = 10
_LINKED_AT_ONCE = 2000

Ranking = list[str]


@dataclass(frozen=True)
class Found:
    """What one method found.

    Attributes:
        method: How passages were found and scored.
        against: The method to compare with, or "".
        rankings: The passages of each question, best first.
    """

    method: str
    against: str
    rankings: Sequence[Ranking]


def measure(
    data_dir: Path, questions: Sequence[Mapping[str, Any]], searches: Sequence[str], budget: int
) -> Iterator[Found]:
    """Ask each question by each method. All methods score or rank the same number of passages."""
    passages = list(read(data_dir / "musique.corpus.jsonl.gz"))
    with step(f"embedding {len(passages):,} passages"):
        vectors = asyncio.run(_embed(passages))
    with product.database() as dsn:
        with step("storing and linking them"):
            _store(dsn, passages, vectors)
        with (
            openai_server.spawn() as endpoint,
            product.worker(dsn, endpoint, concurrency=1),
            product.connect(dsn) as connection,
        ):
            neighbors = _neighbors(connection)

            def find(**options: object) -> list[Ranking]:
                with step(str(options)):
                    return [_search(connection, row["question"], budget, options) for row in questions]

            for method in searches:
                plain = f"{method} search"
                ranked = find(method=method)
                yield Found(plain, "", ranked)
                yield Found(
                    f"{plain}, scored again", plain, find(method=method, reranker="signal", max_passages=budget)
                )
                explored = find(retrieval="adaptive", method=method, max_passages=budget)
                yield Found(f"adaptive after {plain}", plain, explored)
                known = [
                    _explore_by_gold(row["gold"], first, neighbors, budget)
                    for row, first in zip(questions, ranked, strict=True)
                ]
                yield Found(f"the same after {plain}, by a scorer that knows", plain, known)


async def _embed(passages: Sequence[Mapping[str, Any]]) -> Mapping[str, NDArray[np.float32]]:
    """Vectors of the texts that a worker would embed, by id: float32, shape (1, dimensions)."""
    embedder = load_embedder(MODEL)
    try:
        vectors = await embedder.encode([f"{row['title']}\n{_line(row['text'])}" for row in passages])
    finally:
        embedder.close()
    return {row["id"]: vectors[place : place + 1] for place, row in enumerate(passages)}


def _line(text: str) -> str:
    return " ".join(text.split())


def _store(dsn: str, passages: Sequence[Mapping[str, Any]], vectors: Mapping[str, NDArray[np.float32]]) -> None:
    """Make the corpus, and link it as a worker does."""
    documents = (Document(row["id"], _line(row["text"]), title=row["title"]) for row in passages)
    product.load(dsn, "musique", documents, vectors.__getitem__)
    with product.connect(dsn) as connection:
        statement = "select pgclarify_private.link_passages(%s) as passages"
        while connection.execute(statement, [_LINKED_AT_ONCE]).fetchall()[0]["passages"]:
            pass


def _search(connection: product.Connection, question: str, top_k: int, options: Mapping[str, object]) -> Ranking:
    rows = connection.execute(
        "select document_id from pgclarify.search(%s, top_k => %s, options => %s) order by rank",
        [question, top_k, Jsonb(options)],
    )
    return [row["document_id"] for row in rows]


def _neighbors(connection: product.Connection) -> Mapping[str, Ranking]:
    """The neighbors of each passage that are followed, nearest first."""
    rows = connection.execute(
        "select passage.document_id, array_agg(near.document_id order by near.rank) as neighbors"
        " from pgclarify.corpus inner join pgclarify.passage using (corpus_id)"
        " cross join lateral pgclarify.neighbors(corpus.corpus, passage.document_id, passage.id, %s) as near"
        " group by passage.document_id",
        [NEIGHBORS],
    )
    return {row["document_id"]: row["neighbors"] for row in rows}


def _explore_by_gold(gold: Sequence[str], first: Ranking, neighbors: Mapping[str, Ranking], budget: int) -> Ranking:
    explorer = Explorer(first, budget=budget, batch_size=BATCH_SIZE)
    while batch := explorer.next_batch():
        explorer.observe({one: float(one in gold) for one in batch}, {one: neighbors.get(one, []) for one in batch})
    return [one.id for one in explorer.results()]


def _recalls(found: Found, golds: Sequence[set[str]], depth: int | None) -> list[float]:
    """The share of each question's gold passages among the first ones; None means all scored passages."""
    return [len(gold.intersection(ids[:depth])) / len(gold) for gold, ids in zip(golds, found.rankings, strict=True)]


def _gain(gold: set[str], ids: Sequence[str]) -> float:
    """Normalized discounted cumulative gain of the first _GAIN_DEPTH, in [0, 1]."""
    discounts = [1 / math.log2(place + 2) for place in range(_GAIN_DEPTH)]
    gained = sum(discount for one, discount in zip(ids, discounts, strict=False) if one in gold)
    return gained / sum(discounts[: len(gold)])


def _table(title: str, methods: Sequence[Found], golds: Sequence[set[str]]) -> Table:
    """What each method finds, and the gain of its recall over the search that it starts with.

    Reach is the share of the gold passages among all scored ones: a perfect scorer could rank them first.
    """
    table = Table(
        "method",
        *(f"recall@{depth}" for depth in _DEPTHS),
        f"nDCG@{_GAIN_DEPTH}",
        "reach",
        f"recall@{_GAIN_DEPTH} over the search",
        "questions won, lost",
        title=f"{title}: {len(golds)} questions, {sum(map(len, golds))} passages that answer them",
    )
    at_ten = {one.method: _recalls(one, golds, _GAIN_DEPTH) for one in methods if not one.against}
    for one in methods:
        compared = ["", ""]
        if one.against:
            pairs = zip(_recalls(one, golds, _GAIN_DEPTH), at_ten[one.against], strict=True)
            differences = [mine - theirs for mine, theirs in pairs]
            compared = [
                mean_of(differences, "+.3f"),
                f"{sum(value > 0 for value in differences)}, {sum(value < 0 for value in differences)}",
            ]
        table.add_row(
            one.method,
            *(mean_of(_recalls(one, golds, depth), ".3f") for depth in _DEPTHS),
            f"{statistics.mean(_gain(gold, ids) for gold, ids in zip(golds, one.rankings, strict=True)):.3f}",
            f"{statistics.mean(_recalls(one, golds, None)):.3f}",
            *compared,
        )
    return table


def _main(given: argparse.Namespace) -> None:
    questions = list(read(given.data_dir / "musique.questions.jsonl.gz"))
    methods = list(measure(given.data_dir, questions, given.searches, given.budget))
    for title in ("development", "held", "all"):
        chosen = [title in ("all", part_of(row["id"])) for row in questions]
        golds = [set(row["gold"]) for row in compress(questions, chosen)]
        of_part = [replace(one, rankings=list(compress(one.rankings, chosen))) for one in methods]
        Console(width=230).print(_table(title, of_part, golds))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--budget", type=int, default=BUDGET, help="how many passages to score for each question")
    parser.add_argument("--searches", nargs="+", choices=_SEARCHES, default=_SEARCHES, help="the search to start with")
    _main(parser.parse_args())
