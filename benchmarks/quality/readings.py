"""Whether the readings that a corpus supports separate ambiguous questions from clear ones.

python -m benchmarks.quality.readings DATA_DIR, where the data sets are (.jsonl.gz): squad2.corpus,
squad2.ambiguous, squad2.answerable, ambignq.corpus and ambignq.questions.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks import product
from benchmarks.data_sets import MODEL, read
from benchmarks.figures import step
from pgclarify.data.runs import Run
from pgclarify.database.exploration import ExplorationTables
from pgclarify.database.pool import open_pool
from pgclarify.database.presence import Presence
from pgclarify.database.run_tables import RunTables
from pgclarify.database.runs import Runs
from pgclarify.embedding import load_span_reader
from pgclarify.embedding.registry import Embedders
from pgclarify.operations.ambiguity.readings import count_readings
from pgclarify.providers.extractive import ExtractiveVerifier
from pgclarify.providers.extractive.verifier import PROMPT_VERSION
from tests import openai_server
from tests.fakes.context import context_of

_TOP_K = 8
NO_ANSWER = "No answer"
_DRAWS = 2000


@dataclass(frozen=True)
class Signals:
    """Measures of one question in a corpus. If they work, they are higher for ambiguous questions.

    Attributes:
        count: How many readings there are.
        spread: One minus the mean cosine between two readings; 0 for fewer than two.
        evenness: The score of the second passage divided by that of the first.
    """

    count: float
    spread: float
    evenness: float


@dataclass(frozen=True)
class Group:
    """Questions of one kind, and their corpus."""

    name: str
    corpus: str
    is_ambiguous: bool
    questions: tuple[str, ...]


def groups(data_dir: Path) -> list[Group]:
    """The groups of questions, ambiguous ones before clear ones."""
    answerable = list(read(data_dir / "squad2.answerable.jsonl.gz"))
    ambignq = list(read(data_dir / "ambignq.questions.jsonl.gz"))
    return [
        _group("squad2.ambiguous", "squad2", True, read(data_dir / "squad2.ambiguous.jsonl.gz")),
        _group("squad2.answerable", "squad2", False, (row for row in answerable if row["answer"] != NO_ANSWER)),
        _group("ambignq, several readings", "ambignq", True, (row for row in ambignq if row["interpretations"])),
        _group("ambignq, one", "ambignq", False, (row for row in ambignq if not row["interpretations"])),
    ]


async def signals(dsn: str, asked: Sequence[Group], top_k: int) -> dict[str, list[Signals]]:
    """Measure each question as detect_ambiguity does, by name of the group."""
    embedders = Embedders()
    found: dict[str, list[Signals]] = {}
    try:
        embedder = await embedders.get(MODEL)
        verifier = ExtractiveVerifier(embedder, load_span_reader())
        entry: dict[str, Any] = {
            "provider": verifier.provider,
            "model": verifier.model,
            "prompt_version": PROMPT_VERSION,
        }
        async with open_pool(dsn) as pool, Presence.enter(dsn, version="", **entry) as presence:
            runs = Runs(pool, presence.worker_id)
            exploration = ExplorationTables(runs)
            for group in asked:
                with step(f"{len(group.questions)} questions: {group.name}"):
                    found[group.name] = []
                    for run_id in _submit(dsn, group):
                        run = await runs.start(run_id)
                        assert isinstance(run, Run)
                        run = replace(run, settings={**run.settings, "top_k": top_k})
                        context = context_of(
                            run, RunTables(runs, run), verifier, passages=exploration, embedder=embedder
                        )
                        readings = await count_readings(context)
                        (vector,) = await embedder.encode([run.question])
                        passages = await exploration.find_passages(run, run.question, vector, method="hybrid", depth=2)
                        texts = [
                            f"{reading} {answer}"
                            for reading, answer in zip(readings.interpretations, readings.answers, strict=True)
                        ]
                        vectors = await embedder.encode(texts)
                        found[group.name].append(
                            Signals(readings.count, _spread(vectors), passages[-1].score / passages[0].score)
                        )
    finally:
        embedders.close()
    return found


def auc(positives: NDArray[np.float64], negatives: NDArray[np.float64]) -> float:
    """The probability that a value of the first group is above one of the second; ties count half (AUC)."""
    above = positives[:, None] > negatives[None, :]
    equal = positives[:, None] == negatives[None, :]
    return float(above.mean() + equal.mean() / 2)


def interval(positives: NDArray[np.float64], negatives: NDArray[np.float64]) -> tuple[float, float]:
    """The 95 % bootstrap interval of the area."""
    generator = np.random.default_rng(0)
    drawn = [
        auc(generator.choice(positives, len(positives)), generator.choice(negatives, len(negatives)))
        for _ in range(_DRAWS)
    ]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def tables(asked: Sequence[Group], found: dict[str, list[Signals]]) -> list[Table]:
    """The measures of each group, and how well they separate ambiguous questions."""
    counted = Table("questions", "number", "readings, mean", "none", "one", "several", title="Readings a question")
    for group in asked:
        counts = [one.count for one in found[group.name]]
        shares = [statistics.mean(test) for test in ([c == 0 for c in counts], [c == 1 for c in counts])]
        counted.add_row(
            group.name,
            str(len(counts)),
            f"{statistics.mean(counts):.2f}",
            *(f"{share:.2f}" for share in (*shares, 1 - sum(shares))),
        )
    told = Table("corpus", "signal", "area under the curve", "95 %", title="Ambiguous against clear")
    for corpus in dict.fromkeys(group.corpus for group in asked):
        for signal in ("count", "spread", "evenness"):
            sides = [
                np.array(
                    [
                        getattr(one, signal)
                        for group in asked
                        if group.corpus == corpus and group.is_ambiguous == side
                        for one in found[group.name]
                    ],
                    dtype=np.float64,
                )
                for side in (True, False)
            ]
            low, high = interval(sides[0], sides[1])
            told.add_row(corpus, signal, f"{auc(sides[0], sides[1]):.2f}", f"{low:.2f} to {high:.2f}")
    return [counted, told]


def _group(name: str, corpus: str, is_ambiguous: bool, rows: Iterable[Mapping[str, Any]]) -> Group:
    return Group(name, corpus, is_ambiguous, tuple(dict.fromkeys(row["question"] for row in rows)))


def _submit(dsn: str, group: Group) -> list[int]:
    with product.connect(dsn) as connection:
        (row,) = connection.execute(
            "select pgclarify.submit_many('clarify', %s, %s) as ids", [list(group.questions), group.corpus]
        ).fetchall()
        return list(row["ids"])


def _spread(vectors: NDArray[np.float32]) -> float:
    n = len(vectors)
    if n < 2:
        return 0.0
    return float(1 - ((vectors @ vectors.T).sum() - n) / (n * (n - 1)))


def load(dsn: str, data_dir: Path) -> None:
    """Load the documents with a running worker, and wait until they are searchable."""
    with product.connect(dsn) as connection:
        for corpus in ("squad2", "ambignq"):
            with step(f"loading {corpus}"):
                connection.execute("select pgclarify.create_corpus(%s)", [corpus])
                for row in read(data_dir / f"{corpus}.corpus.jsonl.gz"):
                    connection.execute(
                        "select pgclarify.add_document(%s, %s, %s, %s)",
                        [corpus, str(row["id"]), row["text"], row["title"]],
                    )
                pending = "select pending from pgclarify.corpus where corpus = %s"
                while connection.execute(pending, [corpus]).fetchall()[0]["pending"]:
                    time.sleep(0.2)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--top-k", type=int, default=_TOP_K, help="how many passages to judge for each question")
    arguments = parser.parse_args()
    asked = groups(arguments.data_dir)
    with product.database() as dsn:
        with openai_server.spawn() as idle, product.worker(dsn, idle, concurrency=1):
            load(dsn, arguments.data_dir)
        Console(width=120).print(*tables(asked, asyncio.run(signals(dsn, asked, arguments.top_k))))


if __name__ == "__main__":
    _main()
