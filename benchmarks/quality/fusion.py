"""Ways to join the rankings by words and by vectors into one: recall on four data sets.

python -m benchmarks.quality.fusion DATA_DIR, where the corpora and questions of musique, ramdocs and squad2 are. The
fourth set has 200 questions for one of 700 similar notes and records by its identifier
(benchmarks.quality.other_things). A worker embeds all texts. Each ranking has the first 100 passages of one search, as
for the default top_k. Intervals are 95 % intervals of the difference to reciprocal rank fusion, by a bootstrap over
questions.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

from psycopg.types.json import Jsonb
from rich.table import Table

from benchmarks import product
from benchmarks.data_sets import read
from benchmarks.figures import mean_of, show_tables, step
from benchmarks.quality import other_things
from pgclarify.algorithms.fusion import fuse
from pgclarify.data.vocabulary import Document

_LONG: Final = 100
_DEPTHS: Final = (1, 5, 20)

Scores = Mapping[str, float]
Golds = Sequence[set[str]]


@dataclass(frozen=True)
class DataSet:
    """A corpus with questions.

    Attributes:
        name: Its name, also of the corpus.
        documents: All documents.
        questions: Each with the ids of the documents that answer it.
    """

    name: str
    documents: Sequence[Document]
    questions: Sequence[tuple[str, set[str]]]


def _data_sets(data_dir: Path) -> Iterator[DataSet]:
    for name, file in (("musique", "questions"), ("ramdocs", "questions"), ("squad2", "ambiguous")):
        documents = [
            Document(row["id"], " ".join(row["text"].split()), title=row["title"])
            for row in read(data_dir / f"{name}.corpus.jsonl.gz")
        ]
        rows = list(read(data_dir / f"{name}.{file}.jsonl.gz"))
        golds = [
            set(row["gold"]) if "gold" in row else {one["id"] for one in row["documents"] if one["type"] == "correct"}
            for row in rows
        ]
        yield DataSet(name, documents, [(row["question"], gold) for row, gold in zip(rows, golds, strict=True) if gold])
    for name, world in (("identifiers", other_things.development()), ("identifiers, held", other_things.held())):
        yield DataSet(name, world.documents, [(question, {document_id}) for question, document_id in world.named])


def _by_rank(dense: Scores, lexical: Scores) -> list[str]:
    return fuse(list(dense), list(lexical))


def _scaled(scores: Scores) -> Scores:
    """The scores of one list, brought to 0 to 1 by the least and the most of it."""
    if not scores:
        return {}
    least, most = min(scores.values()), max(scores.values())
    return {one: 1.0 if most == least else (score - least) / (most - least) for one, score in scores.items()}


def _bounded(scores: Scores, least: float) -> Scores:
    """The same, with the least score that the method can give instead of the least of the list."""
    most = max(scores.values(), default=least)
    return {one: (score - least) / ((most - least) or 1.0) for one, score in scores.items()}


def _mean(dense: Scores, lexical: Scores, share: float = 0.5) -> list[str]:
    """The convex combination of two lists of scores; share: the weight of dense."""
    both = {one: share * dense.get(one, 0.0) + (1 - share) * lexical.get(one, 0.0) for one in [*dense, *lexical]}
    return sorted(both, key=lambda one: -both[one])


def _sure_word_first(dense: Scores, lexical: Scores) -> list[str]:
    """By rank, but the first by words stays first if the second one has less than half of its score."""
    fused = _by_rank(dense, lexical)
    first, second = [*lexical, None, None][:2]
    if first is None or (second is not None and lexical[second] * 2 > lexical[first]):
        return fused
    return [first, *(one for one in fused if one != first)]


_WAYS: Final[Mapping[str, Callable[[Scores, Scores], list[str]]]] = {
    "reciprocal rank": _by_rank,
    "dense alone": lambda dense, _: list(dense),
    "words alone": lambda _, lexical: list(lexical),
    "mean of scores, least of the list to 0": lambda dense, lexical: _mean(_scaled(dense), _scaled(lexical)),
    "the same, dense weighs 0.7": lambda dense, lexical: _mean(_scaled(dense), _scaled(lexical), 0.7),
    "mean of scores, least possible to 0": lambda dense, lexical: _mean(_bounded(dense, -1.0), _bounded(lexical, 0.0)),
    "the same, dense weighs 0.8": lambda dense, lexical: _mean(_bounded(dense, -1.0), _bounded(lexical, 0.0), 0.8),
    "reciprocal rank, a sure word first": _sure_word_first,
}


def _search(connection: product.Connection, corpus: str, question: str, method: str) -> Scores:
    """The best score of each document, best first."""
    rows = connection.execute(
        "select document_id, score from pgclarify.search(%s, corpus => %s, top_k => %s, options => %s) order by rank",
        [question, corpus, _LONG, Jsonb({"method": method})],
    )
    found: dict[str, float] = {}
    for row in rows:
        found.setdefault(row["document_id"], row["score"])
    return found


def _recalls(found: Sequence[Sequence[str]], golds: Golds, depth: int) -> list[float]:
    return [len(gold.intersection(ids[:depth])) / len(gold) for gold, ids in zip(golds, found, strict=True)]


def _table(name: str, lists: Sequence[tuple[Scores, Scores]], golds: Golds) -> Table:
    table = Table("way", *(f"recall@{depth}" for depth in _DEPTHS), f"recall@{_DEPTHS[-1]}, difference", title=name)
    plain: list[float] = []
    for way, fused in _WAYS.items():
        found = [fused(dense, lexical) for dense, lexical in lists]
        recalls = [_recalls(found, golds, depth) for depth in _DEPTHS]
        plain = plain or recalls[-1]
        difference = mean_of([mine - theirs for mine, theirs in zip(recalls[-1], plain, strict=True)], "+.3f")
        table.add_row(way, *(f"{fmean(one):.3f}" for one in recalls), "" if way == "reciprocal rank" else difference)
    return table


def measure(data_dir: Path) -> Iterator[Table]:
    """Ask each question by words and by vectors, and join both lists in each way."""
    with product.database() as dsn:
        environment = os.environ | {"PGCLARIFY_LLM_PROVIDER": "extractive", "PGCLARIFY_DATABASE_URL": dsn}
        with product.running_worker(dsn, environment), product.connect(dsn) as connection:
            for data in _data_sets(data_dir):
                with step(f"{data.name}: {len(data.documents):,} documents, {len(data.questions)} questions"):
                    other_things.load(connection, data.name, data.documents)
                    lists = [
                        (
                            _search(connection, data.name, question, "dense"),
                            _search(connection, data.name, question, "lexical"),
                        )
                        for question, _ in data.questions
                    ]
                yield _table(data.name, lists, [gold for _, gold in data.questions])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    for shown in measure(parser.parse_args().data_dir):
        show_tables(shown)
