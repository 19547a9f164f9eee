"""Whether the signals of a reading that was found without a language model tell how probably it is right.

python -m benchmarks.quality.confidence DATA_DIR FILE [--database DIR]. FILE keeps what the extractive provider reads in
the first ten passages of each question of ramdocs, squad2.ambiguous and squad2.answerable. If it exists, nothing is
read again. A reading is right if its answer contains a known one, or agrees with it in words. Questions whose answer a
spreadsheet has turned into a date ("Jul-15") are left out. Each reading is predicted by a logistic regression that was
fitted on other questions, in ten folds. The error is the expected calibration error in ten bins of equal size; "error
by chance" is its mean for predictions that are perfectly calibrated.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import re
from collections.abc import Callable, Iterator, Sequence
from math import log
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks import product
from benchmarks.data_sets import MODEL, read
from benchmarks.quality import kept
from benchmarks.quality.judged import embed
from benchmarks.quality.readings import auc
from pgclarify.algorithms import Relation, relate_answers
from pgclarify.algorithms.metrics import cover_exact_match
from pgclarify.data.documents import Passage
from pgclarify.data.interpretations import Interpretation
from pgclarify.data.runs import Run
from pgclarify.data.verdicts import AnswerSpan, Refusal
from pgclarify.database.exploration import ExplorationTables
from pgclarify.database.pool import open_pool
from pgclarify.database.presence import Presence
from pgclarify.database.runs import Runs
from pgclarify.embedding import load_embedder, load_span_reader
from pgclarify.operations.clarification.interpretations import Grounded, interpret, reading_text
from pgclarify.operations.judging.quotes import check_quote
from pgclarify.operations.judging.verdicts import counts_at
from pgclarify.protocols import SpanReader
from pgclarify.providers.extractive import ExtractiveVerifier
from pgclarify.providers.extractive.scoring import THRESHOLD
from pgclarify.providers.extractive.verifier import PROMPT_VERSION

_TOP_K, _FOLDS, _BINS, _DRAWS, _PENALTY = 10, 10, 10, 1000, 1.0
_CORPORA: Final = {"ramdocs": "ramdocs", "squad2.ambiguous": "squad2", "squad2.answerable": "squad2"}
_DAMAGED: Final = re.compile(r"(\d{1,2}-)?[A-Z][a-z]{2}-\d\d|\d{1,2}-[A-Z][a-z]{2}")
_MODELS: Final = {"probability": [0], "span, quote": [2, 3], "all signals": list(range(9))}
_Figure: TypeAlias = Callable[[NDArray[np.float64], NDArray[np.float64]], float]
Row: TypeAlias = dict[str, Any]


class _Remembering:
    """The trained reader; it remembers its last span."""

    def __init__(self, reader: SpanReader) -> None:
        self._reader = reader
        self.span: AnswerSpan | None = None

    async def read(self, question: str, title: str, passage: str) -> AnswerSpan | None:
        self.span = await self._reader.read(question, title, passage)
        return self.span


def _questions(data_dir: Path) -> Iterator[Row]:
    for name in _CORPORA:
        file = "ramdocs.questions" if name == "ramdocs" else name
        for row in read(data_dir / f"{file}.jsonl.gz"):
            known = [one for one in row.get("answers", [row.get("answer")]) if one not in (None, "No answer")]
            if not any(_DAMAGED.fullmatch(one) for one in known):
                yield {"data_set": name, "question": row["question"], "known": known}


async def _read_all(dsn: str, data_dir: Path) -> list[Row]:
    """Each question with the readings that pass all checks."""
    embedder, reader = load_embedder(MODEL), _Remembering(load_span_reader())
    verifier = ExtractiveVerifier(embedder, reader)
    entry: Row = {"provider": verifier.provider, "model": verifier.model, "prompt_version": PROMPT_VERSION}
    questions = list(_questions(data_dir))
    async with open_pool(dsn) as pool, Presence.enter(dsn, version="", **entry) as presence:
        runs = Runs(pool, presence.worker_id)
        for asked in questions:
            with product.connect(dsn) as connection:
                arguments = [[asked["question"]], _CORPORA[asked["data_set"]]]
                submit = "select pgclarify.submit_many('clarify', %s, %s) as ids"
                (row,) = connection.execute(submit, arguments).fetchall()
            run = await runs.start(row["ids"][0])
            assert isinstance(run, Run)
            (vector,) = await embedder.encode([run.question])
            passages = ExplorationTables(runs)
            found = await passages.find_passages(run, run.question, vector, method="hybrid", depth=_TOP_K)
            asked["readings"] = []
            for rank, one in enumerate(found, start=1):
                reader.span = None
                rated = await verifier.rate(run.question, one.passage)
                if rated is None or rated[0] < THRESHOLD or not counts_at(rated[1], rank):
                    continue
                if isinstance(check_quote(rated[1], run.question, one.passage), Refusal):
                    continue
                asked["readings"].append(
                    {"rank": rank, "score": one.score, "probability": rated[0]}
                    | {name: getattr(reader.span, name, 0.0) for name in ("answerable", "log_probability")}
                    | {name: getattr(rated[1], name) for name in ("interpretation", "answer", "quote")}
                    | {name: getattr(one.passage, name) for name in ("document_id", "title", "content")}
                )
    embedder.close()
    return questions


async def _rows(asked: Row, vectors: dict[str, NDArray[np.float32]]) -> list[Row]:
    """The readings of a question, consolidated as a run does it, each with its signals."""
    readings = {one["rank"]: one for one in asked["readings"]}
    grounded = [
        Grounded(
            Passage(one["document_id"], 1, one["content"], title=one["title"]),
            one["rank"],
            one["interpretation"],
            one["answer"],
            one["quote"],
            start_char=0,
            end_char=len(one["quote"]),
        )
        for one in readings.values()
    ]
    run = Run(1, 1, "clarify", asked["question"], {}, None, None, None)
    shown = await interpret(run, grounded, np.array([vectors[_text(one)] for one in readings.values()]))
    return [
        {
            "part": asked["data_set"],
            "question": asked["question"],
            "is_right": cover_exact_match(one.answer, asked["known"])
            or any(relate_answers(one.answer, known) is Relation.AGREE for known in asked["known"]),
            "signals": _signals(one, [readings[cited.candidate_rank] for cited in one.citations]),
        }
        for one in shown
    ]


def _signals(shown: Interpretation, cited: Sequence[Row]) -> dict[str, float]:
    return {
        "probability": max(one["probability"] for one in cited),
        "reader: there is an answer": cited[0]["answerable"],
        "reader: it is this span": cited[0]["log_probability"],
        "short quote": -log(len(cited[0]["quote"].split())),
        "support": log(shown.support),
        "cohesion": shown.cohesion,
        "not contested": -float(shown.is_contested),
        "best rank": -log(min(one["rank"] for one in cited)),
        "retrieval score": max(one["score"] for one in cited),
    }


def _text(reading: Row) -> str:
    return reading_text(reading["interpretation"], reading["answer"])


def _held(signals: NDArray[np.float64], right: NDArray[np.float64], groups: NDArray[np.intp]) -> NDArray[np.float64]:
    """Predict each reading by a model of the questions in the other folds; Newton's method with a small penalty."""
    folds = np.random.default_rng(0).permutation(groups.max() + 1)[groups] % _FOLDS
    inputs = np.c_[np.ones(len(right)), (signals - signals.mean(axis=0)) / (signals.std(axis=0) + 1e-9)]
    penalty = _PENALTY * np.diag([0.0, *np.ones(signals.shape[1])])
    predicted = np.empty(len(right))
    for fold in range(_FOLDS):
        given, weights = inputs[folds != fold], np.zeros(inputs.shape[1])
        for _ in range(30):
            said = 1 / (1 + np.exp(-given @ weights))
            curve = (given * (said * (1 - said))[:, None]).T @ given + penalty
            weights -= np.linalg.solve(curve, given.T @ (said - right[folds != fold]) + penalty @ weights)
        predicted[folds == fold] = 1 / (1 + np.exp(-inputs[folds == fold] @ weights))
    return predicted


def _error(predicted: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    bins = np.array_split(np.argsort(predicted, kind="stable"), _BINS)
    return float(sum(abs(predicted[one].sum() - right[one].sum()) for one in bins) / len(right))


def _auc(predicted: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    return auc(predicted[right == 1], predicted[right == 0])


def _brier(predicted: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    return float(np.mean((predicted - right) ** 2))


def _shown(
    figure: _Figure, predicted: NDArray[np.float64], right: NDArray[np.float64], groups: NDArray[np.intp]
) -> str:
    """A figure with its 95 % bootstrap interval over questions."""
    places = [np.flatnonzero(groups == one) for one in np.unique(groups)]
    generator, drawn = np.random.default_rng(0), []
    for _ in range(_DRAWS):
        chosen = np.concatenate([places[one] for one in generator.integers(len(places), size=len(places))])
        drawn.append(figure(predicted[chosen], right[chosen]))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return f"{figure(predicted, right):.2f} ({low:.2f} to {high:.2f})"


def _tables(rows: Sequence[Row]) -> Iterator[Table]:
    right = np.array([one["is_right"] for one in rows], dtype=np.float64)
    groups = np.unique([f"{one['part']} {one['question']}" for one in rows], return_inverse=True)[1]
    names = np.array([one["part"] for one in rows])
    parts = {name: names == name for name in _CORPORA}
    parts |= {"squad2, both": names != "ramdocs", "all": names != ""}
    signals = np.array([list(one["signals"].values()) for one in rows])
    single = Table("signal", *parts, title="AUC")
    for place, name in enumerate(rows[0]["signals"]):
        of_parts = (_shown(_auc, signals[part, place], right[part], groups[part]) for part in parts.values())
        single.add_row(name, *of_parts)
    yield single
    tested = Table("model", "part", "readings", "right", "predicted", "AUC", "error", "error by chance", "Brier")
    for model, places in _MODELS.items():
        predicted = _held(signals[:, places], right, groups)
        for name, part in parts.items():
            said, true, whose = predicted[part], right[part], groups[part]
            drawn = np.random.default_rng(0).random((_DRAWS, len(said))) < said
            chance = np.mean([_error(said, one.astype(np.float64)) for one in drawn])
            figures = (_shown(_auc, said, true, whose), _shown(_error, said, true, whose), f"{chance:.2f}")
            brier = f"{_brier(said, true):.3f}; {true.mean() * (1 - true.mean()):.3f} by the share alone"
            tested.add_row(model, name, str(len(true)), f"{true.mean():.2f}", f"{said.mean():.2f}", *figures, brier)
    yield tested


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--database", type=Path, help="where the server's data stay; without it, start from nothing")
    options = parser.parse_args()
    if not options.file.exists():
        with kept.database(options.database) as (dsn, _):
            for corpus in ("squad2", "ramdocs"):
                kept.load(dsn, corpus, options.data_dir / f"{corpus}.corpus.jsonl.gz")
            lines = [json.dumps(one, ensure_ascii=False) for one in asyncio.run(_read_all(dsn, options.data_dir))]
        with gzip.open(options.file, "wt", encoding="utf-8") as stream:
            stream.write("\n".join(lines))
    questions = [one for one in read(options.file) if one["readings"]]
    vectors = embed(_text(reading) for one in questions for reading in one["readings"])
    rows = [row for one in questions for row in asyncio.run(_rows(one, vectors))]
    Console(width=160).print(*_tables(rows))
