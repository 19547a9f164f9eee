"""What a cheap score before each verdict would save: calls against recall and coverage, beside a smaller top_k.

python -m benchmarks.quality.cascade DATA_DIR FILE scores the first 20 passages of a hybrid search for 100 questions
each of squad2.ambiguous and ramdocs (--questions), and writes the scores to FILE; if it exists, it is read. No language
model is asked. A perfect reader stands for it, which grounds a verdict on each passage that the data set names for the
question, right or misinformed. With --verdicts FILES, JSON lines with data_set, question, rank and outcome, the
verdicts of a real model count instead, for the questions whose passages all have one.

A cascade leaves out the passages whose score is below a threshold. Each row of the first table gives all ways the same
number of calls. The score "fitted" is a logistic model of the others; its weights come from the other data set. Recall
is the share of the grounded verdicts of a question that are kept, as a mean over questions.

The second table promises a recall. The threshold, or top_k, comes from as many questions as there are, drawn with
replacement, by the bound in `threshold`. It is drawn 2,000 times, and 5 % of the draws may miss the promise.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression

from benchmarks import product
from benchmarks.data_sets import MODEL, read
from benchmarks.figures import mean_of, step
from benchmarks.quality import kept
from pgclarify.data.runs import Run
from pgclarify.database.exploration import ExplorationTables
from pgclarify.database.pool import open_pool
from pgclarify.database.presence import Presence
from pgclarify.database.runs import Runs
from pgclarify.embedding import load_embedder, load_span_reader

_TOP_K: Final = 20
_SIZES: Final = (3, 5, 8, 10, 15)
_FILES: Final = {"squad2": "squad2.ambiguous", "ramdocs": "ramdocs.questions"}
_RECALLS: Final = (0.90, 0.95)
_RISK: Final = 0.05
_DRAWS: Final = 2000

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Passages:
    """All passages of one data set, 20 for each question.

    Attributes:
        question: The number of each passage's question.
        rank: Its rank.
        features: The score of the search, the reader's logit that there is an answer, and the cosine of the embeddings
            of question and passage: shape (passages, 3).
        is_grounded: Whether the model grounds a verdict on it.
        answer: The known answer that it gives; None if none.
    """

    question: NDArray[np.int64]
    rank: NDArray[np.int64]
    features: Floats
    is_grounded: NDArray[np.bool_]
    answer: Sequence[str | None]

    def recalls(self, is_read: NDArray[np.bool_]) -> Floats:
        """The share of grounded verdicts that is kept, for each question that has any."""
        every, read_ = (np.bincount(self.question[mask]) for mask in (self.is_grounded, self.is_grounded & is_read))
        read_ = np.pad(read_, (0, len(every) - len(read_)))
        return np.asarray(read_[every > 0] / every[every > 0])

    def coverage(self, is_read: NDArray[np.bool_]) -> tuple[int, int]:
        """How many known answers are found, and how many there are in all passages."""
        known, found = set(), set()
        for place in np.flatnonzero(self.is_grounded).tolist():
            if (answer := self.answer[place]) is not None:
                known.add((self.question[place], answer))
                if is_read[place]:
                    found.add((self.question[place], answer))
        return len(found), len(known)


def threshold(labels: Floats, recall: float) -> float:
    """The highest score below which, with probability .95, at most the share 1 - recall of all labels lies.

    Args:
        labels: Scores of independent labels, shape (n,).
        recall: The share to keep, in (0, 1).

    Returns:
        Minus infinity if there are too few labels: for .95 fewer than 59.

    Source: Wilks (1941): tolerance limits by order statistics. Clopper and Pearson (1934) have the binomial tail.
    """
    # If more than 1 - recall of all labels lie below the place-th of n, then at most place of n lie in that share.
    risks = binom.cdf(np.arange(len(labels)), len(labels), 1.0 - recall)
    places = np.flatnonzero(risks <= _RISK)
    return float(np.sort(labels)[places[-1]]) if len(places) else -np.inf


async def _score(dsn: str, questions: Sequence[tuple[str, str]], file: TextIO) -> None:
    """Search and score passages, and write them to a file. questions: each with its data set."""
    entry: dict[str, Any] = {"provider": "none", "model": "none", "prompt_version": ""}
    with closing(load_embedder(MODEL)) as embedder, closing(load_span_reader()) as reader:
        async with open_pool(dsn) as pool, Presence.enter(dsn, version="", **entry) as presence:
            runs = Runs(pool, presence.worker_id)
            for data_set, text in questions:
                with product.connect(dsn) as connection:
                    (row,) = connection.execute(
                        "select pgclarify.submit_many('clarify', %s, %s) as ids", [[text], data_set]
                    ).fetchall()
                run = await runs.start(row["ids"][0])
                assert isinstance(run, Run)
                (vector,) = await embedder.encode([text])
                found = await ExplorationTables(runs).find_passages(run, text, vector, method="hybrid", depth=_TOP_K)
                passages = [one.passage for one in found]
                spans = await asyncio.gather(*(reader.read(text, one.title or "", one.content) for one in passages))
                vectors = await embedder.encode([f"{one.title}\n{one.content}" for one in passages])
                scores = zip(found, spans, vectors @ vector, strict=True)
                candidates = [
                    (rank, one.passage.document_id, one.score, span.answerable if span else -20.0, float(similarity))
                    for rank, (one, span, similarity) in enumerate(scores, start=1)
                ]
                file.write(json.dumps({"data_set": data_set, "question": text, "candidates": candidates}) + "\n")


def _given(row: Mapping[str, Any], document_id: str) -> tuple[bool, str | None]:
    """Whether a perfect reader grounds a verdict on a document, and the known answer in it."""
    if "gold" in row:
        return (True, row["answer"]) if document_id in row["gold"] else (False, None)
    for one in row["documents"]:
        if one["id"] == document_id and one["type"] != "noise":
            return True, one["answer"] if one["answer"] in row["answers"] else None
    return False, None


def _passages(
    scored: Iterable[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], said: Mapping[Any, bool]
) -> Passages:
    known = {row["question"]: row for row in rows}
    table: list[tuple[Any, ...]] = []
    for one in scored:
        keys = [(one["data_set"], one["question"], candidate[0]) for candidate in one["candidates"]]
        if said and not all(key in said for key in keys):
            continue
        number = table[-1][0] + 1 if table else 0
        for key, (rank, document_id, *features) in zip(keys, one["candidates"], strict=True):
            is_grounded, answer = _given(known[one["question"]], document_id)
            table.append((number, rank, features, said[key] if said else is_grounded, answer))
    question, rank, scores, grounded, answers = zip(*table, strict=True)
    return Passages(np.array(question), np.array(rank), np.array(scores), np.array(grounded), answers)


def _ways(passages: Passages, other: Passages) -> dict[str, Floats]:
    scale = other.features.std(axis=0)
    fitted = LogisticRegression().fit(other.features / scale, other.is_grounded)
    return {
        "smaller top_k": -passages.rank.astype(np.float64),
        "search score": passages.features[:, 0],
        "reader": passages.features[:, 1],
        "fitted": passages.features @ (fitted.coef_[0] / scale),
    }


def curve(title: str, passages: Passages, ways: Mapping[str, Floats]) -> Table:
    """Recall and coverage of each way with the calls of a smaller top_k, and the difference in recall to that."""
    shown = Table("top_k", "calls", *ways, title=title)
    for size in _SIZES:
        calls = int((passages.rank <= size).sum())
        cells = []
        for way, score in ways.items():
            is_read = score >= np.sort(score)[-calls]
            recalls = passages.recalls(is_read)
            if way == "smaller top_k":
                by_rank, difference = recalls, ""
            else:
                difference = "\n" + mean_of((recalls - by_rank).tolist(), "+.3f")
            cells.append(f"{recalls.mean():.3f}, {'/'.join(map(str, passages.coverage(is_read)))}{difference}")
        shown.add_row(str(size), f"{calls / len(passages.rank):.2f}", *cells)
    return shown


def promise(title: str, passages: Passages, ways: Mapping[str, Floats]) -> Table:
    """How often a promised recall is missed, and what it costs."""
    shown = Table("promised", "way", "missed", "recall", "calls", title=title)
    generator = np.random.default_rng(0)
    grounded = [np.flatnonzero(passages.is_grounded & (passages.question == one)) for one in set(passages.question)]
    grounded = [one for one in grounded if len(one)]
    for recall in _RECALLS:
        for way, score in ways.items():
            reached, calls = [], []
            for _ in range(_DRAWS):
                drawn = generator.integers(len(grounded), size=len(grounded))
                # One label of each question: those of one question are not independent.
                labels = np.array([score[generator.choice(grounded[one])] for one in drawn])
                is_read = score >= threshold(labels, recall)
                reached.append(passages.recalls(is_read).mean())
                calls.append(is_read.mean())
            missed = (np.array(reached) < recall).mean()
            cells = f"{missed:.3f}", f"{np.mean(reached):.3f}", f"{np.mean(calls):.2f}"
            shown.add_row(f"{recall:.2f}", way, *cells)
    return shown


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("file", type=Path, help="where the scores stay (.jsonl.gz)")
    parser.add_argument("--questions", type=int, default=100, help="the first N questions of each data set")
    parser.add_argument("--verdicts", type=Path, nargs="+", default=[], help="JSON lines of a real model's verdicts")
    options = parser.parse_args()
    rows = {name: list(read(options.data_dir / f"{file}.jsonl.gz")) for name, file in _FILES.items()}
    if not options.file.exists():
        asked = [(name, row["question"]) for name, some in rows.items() for row in some[: options.questions]]
        with kept.database(None) as (dsn, _):
            for name in rows:
                kept.load(dsn, name, options.data_dir / f"{name}.corpus.jsonl.gz")
            with step("scoring passages"), gzip.open(options.file, "wt", encoding="utf-8") as file:
                asyncio.run(_score(dsn, asked, file))
    scored = list(read(options.file))
    said = {
        (row["data_set"], row["question"], row["rank"]): row["outcome"] == "grounded"
        for path in options.verdicts
        for row in map(json.loads, path.read_text().splitlines())
    }
    sets = {
        name: _passages((one for one in scored if one["data_set"] == name), some, said) for name, some in rows.items()
    }
    console = Console(width=130)
    for (name, passages), other in zip(sets.items(), reversed(sets.values()), strict=True):
        ways = _ways(passages, other)
        title = f"{passages.question.max() + 1} questions of {name}, {passages.is_grounded.sum()} grounded"
        console.print(curve(title, passages, ways), promise(f"{title}, {_DRAWS} draws", passages, ways))


if __name__ == "__main__":
    _main()
