"""Verdicts on the first passages of many questions, kept in a file, for top_k.

python -m benchmarks.quality.judged DATA_DIR FILE lets the extractive verifier judge the first 50 passages (--depth) of
a hybrid search for each question of ambignq, squad2.ambiguous and musique (--corpora, --questions). It starts a server,
whose data stay with --database DIR. With --runs URL it judges nothing, but reads the verdicts of runs of `clarify` in
that database.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import product
from benchmarks.data_sets import MODEL, read
from benchmarks.figures import step
from benchmarks.quality import kept
from benchmarks.quality.adaptive_clarify import CORPORA, Question, load_questions
from pgclarify.data.candidates import Found
from pgclarify.data.runs import Run
from pgclarify.database.exploration import ExplorationTables
from pgclarify.database.pool import open_pool
from pgclarify.database.presence import Presence
from pgclarify.database.runs import Runs
from pgclarify.embedding import load_embedder, load_span_reader
from pgclarify.language.quotes import find_quote
from pgclarify.providers.extractive import ExtractiveVerifier
from pgclarify.providers.extractive.scoring import THRESHOLD
from pgclarify.providers.extractive.verifier import PROMPT_VERSION

_DRAWS = 2000


@dataclass(frozen=True)
class Reading:
    """One grounded verdict.

    Attributes:
        rank: Place of its passage in the search, from 1.
        document_id: The passage's document.
        interpretation: The reading of the question.
        answer: Its answer.
        quote: The quote that proves the answer.
        probability: The extractive verifier's probability (it abstains below a threshold); 1 for others.
    """

    rank: int
    document_id: str
    interpretation: str
    answer: str
    quote: str
    probability: float = 1.0


@dataclass(frozen=True)
class Judged:
    """A question, the passages that a search found, and the readings of a verifier in them.

    Attributes:
        question: The question with its known answers.
        document_ids: Documents of the passages, best first.
        contents: Texts of the passages.
        readings: Readings by rank, including improbable ones.
    """

    question: Question
    document_ids: tuple[str, ...]
    contents: tuple[str, ...]
    readings: tuple[Reading, ...]

    def first(self, top_k: int, threshold: float = THRESHOLD) -> tuple[Reading, ...]:
        """Readings in the first passages, if they are probable enough."""
        return tuple(one for one in self.readings if one.rank <= top_k and one.probability >= threshold)


def read_judged(path: Path, data_dir: Path) -> list[Judged]:
    """Read a file that this module wrote. The known answers come from the data sets."""
    asked = {(one.corpus, one.text): one for one in load_questions(data_dir, CORPORA)}
    return [
        Judged(
            asked[row["corpus"], row["question"]],
            tuple(row["document_ids"]),
            tuple(row["contents"]),
            tuple(Reading(**reading) for reading in row["readings"]),
        )
        for row in read(path)
        if (row["corpus"], row["question"]) in asked
    ]


def share_interval(parts: Sequence[int], wholes: Sequence[int]) -> tuple[float, float]:
    """The 95 % bootstrap interval over questions of the ratio of two sums."""
    generator = np.random.default_rng(0)
    drawn = generator.integers(len(parts), size=(_DRAWS, len(parts)))
    above, below = np.array(parts)[drawn].sum(axis=1), np.array(wholes)[drawn].sum(axis=1)
    low, high = np.quantile(above[below > 0] / below[below > 0], [0.025, 0.975])
    return float(low), float(high)


def _write(path: Path, judged: Iterable[Judged]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        for one in judged:
            row = {
                "corpus": one.question.corpus,
                "question": one.question.text,
                "document_ids": one.document_ids,
                "contents": one.contents,
                "readings": [vars(reading) for reading in one.readings],
            }
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")


async def _judge(dsn: str, questions: Sequence[Question], depth: int) -> list[Judged]:
    embedder = load_embedder(MODEL)
    verifier = ExtractiveVerifier(embedder, load_span_reader())
    entry: dict[str, Any] = {
        "provider": verifier.provider,
        "model": verifier.model,
        "prompt_version": PROMPT_VERSION,
    }
    judged = []
    try:
        async with open_pool(dsn) as pool, Presence.enter(dsn, version="", **entry) as presence:
            runs = Runs(pool, presence.worker_id)
            passages = ExplorationTables(runs)
            for question in questions:
                with product.connect(dsn) as connection:
                    (row,) = connection.execute(
                        "select pgclarify.submit_many('clarify', %s, %s) as ids", [[question.text], question.corpus]
                    ).fetchall()
                run = await runs.start(row["ids"][0])
                assert isinstance(run, Run)
                (vector,) = await embedder.encode([question.text])
                found = await passages.find_passages(run, question.text, vector, method="hybrid", depth=depth)
                readings = await asyncio.gather(
                    *(_read(verifier, question, rank, one) for rank, one in enumerate(found, start=1))
                )
                judged.append(
                    Judged(
                        question,
                        tuple(one.passage.document_id for one in found),
                        tuple(one.passage.content for one in found),
                        tuple(reading for reading in readings if reading is not None),
                    )
                )
    finally:
        embedder.close()
    return judged


async def _read(verifier: ExtractiveVerifier, question: Question, rank: int, found: Found) -> Reading | None:
    rated = await verifier.rate(question.text, found.passage)
    if rated is None or find_quote(rated[1].quote, found.passage.content) is None:
        return None
    probability, one = rated
    return Reading(rank, found.passage.document_id, one.interpretation, one.answer, one.quote, probability)


def _of_runs(dsn: str, questions: Sequence[Question]) -> list[Judged]:
    """Verdicts of clarify, from the last run of each question that retrieved a fixed number of passages."""
    known = {(one.corpus, one.text): one for one in questions}
    judged = []
    with product.connect(dsn) as connection:
        runs = connection.execute(_RUNS).fetchall()
        for run in runs:
            question = known.get((run["corpus"], run["question"]))
            if question is None:
                continue
            rows = connection.execute(_VERDICTS, [run["run_id"]]).fetchall()
            grounded = (row for row in rows if row["outcome"] == "grounded")
            judged.append(
                Judged(
                    question,
                    tuple(row["document_id"] for row in rows),
                    tuple(row["content"] for row in rows),
                    tuple(Reading(**{name: row[name] for name in _VERDICT}) for row in grounded),
                )
            )
    return judged


_VERDICT = ("rank", "document_id", "interpretation", "answer", "quote")
_RUNS = """
    select distinct on (corpus, question) run_id, corpus, question from pgclarify.run
    where operation = 'clarify' and status in ('succeeded', 'partial')
        and coalesce(settings ->> 'retrieval', 'fixed') = 'fixed'
    order by corpus, question, (settings ->> 'top_k')::integer desc, run_id desc
"""
_VERDICTS = """
    select candidate.rank, candidate.document_id, passage.content, outcome, interpretation, answer, quote
    from pgclarify.candidate
    inner join pgclarify.passage
        on passage.corpus_id = candidate.corpus_id and passage.document_id = candidate.document_id
        and passage.id = candidate.passage_id
    left join pgclarify.verdict using (run_id, rank)
    where run_id = %s
    order by rank
"""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--database", type=Path, help="where the server's data stay; without it, start from nothing")
    parser.add_argument("--runs", metavar="URL", help="read the verdicts of runs of clarify in this database")
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=CORPORA[:3], help="whose questions")
    parser.add_argument("--depth", type=int, default=50, help="how many passages of each question")
    parser.add_argument("--questions", type=int, help="use only the first N questions of each corpus")
    options = parser.parse_args()
    asked = [
        question
        for corpus in options.corpora
        for question in load_questions(options.data_dir, [corpus])[: options.questions]
    ]
    if options.runs:
        _write(options.file, _of_runs(options.runs, asked))
        sys.exit()
    with kept.database(options.database) as (dsn, _):
        for corpus in options.corpora:
            kept.load(dsn, corpus, options.data_dir / f"{corpus}.corpus.jsonl.gz")
        with step(f"judging {options.depth} passages of each of {len(asked)} questions"):
            _write(options.file, asyncio.run(_judge(dsn, asked, options.depth)))
