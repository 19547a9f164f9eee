"""How well, and how fast, the classifier separates ambiguous questions from clear ones.

python -m benchmarks.quality.ambiguity DATA_DIR [--classifier FILE]. DATA_DIR has clamber, abg-coqa and squad2.*. The
classifier that ships is trained on all rows, so no row can test it. This benchmark trains a classifier with the same
script on the training side of the split, which takes some minutes, and measures it on the other side. FILE is a
classifier that was trained so before.

The baselines are a logistic regression and the constant answer "clear". The regression uses the vector of the question
and three features (words, referential words, Coleman-Liau index). It is trained on the training side of the same data
set, once with equal weights for both classes and once without weights. --baselines measures the baselines alone, which
takes a minute.

With --base-url, a chat model judges --questions of each data set, too, with a few examples in its prompt. --replies
keeps its replies, so that an interrupted benchmark continues where it was.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import SecretStr
from rich.table import Table
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, average_precision_score, f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.figures import Figure, show, show_tables, step
from benchmarks.papers.rewrite import three_features
from benchmarks.prompts.dialogue import ambiguity
from benchmarks.quality.kept_replies import KeptReplies
from pgclarify.algorithms.ambiguity import AmbiguityClassifier
from pgclarify.data.vocabulary import AmbiguityKind
from pgclarify.embedding import LocalEmbedder, load_embedder
from pgclarify.providers.client import Address
from pgclarify.providers.endpoint import Endpoint
from training.classifier_file import pack
from training.examples import Example, clamber, coqa
from training.splits import is_for_training
from training.train_ambiguity_classifier import train, training_data

_RESAMPLES = 2_000
_BATCH = 256
_ONE_BY_ONE = 100

Scores = NDArray[np.float64]


def trained_on_one_side(data_dir: Path) -> AmbiguityClassifier:
    """Train a classifier as the one that ships, on fewer rows."""
    with step("training on one side of the split"):
        return AmbiguityClassifier(pack(train(*training_data(data_dir, only_training_side=True))))


async def measure(data_dir: Path, classifier: AmbiguityClassifier) -> tuple[Table, list[Figure]]:
    """Judge the test side, and measure the time."""
    table = _table()
    embedder = load_embedder(AmbiguityClassifier.embedding_model)
    try:
        for name, rows in (("clamber", clamber(data_dir)), ("abg-coqa", coqa(data_dir))):
            unseen = [row for row in rows if not is_for_training(row.group)]
            with step(f"{name}: {len(unseen)} of {len(rows)} questions"):
                ours = await _judge(classifier, embedder, unseen)
            _add(table, name, "pgclarify", _labels(unseen), ours, classifier.threshold)
            await _add_baselines(table, name, embedder, rows)
        unseen = [row for row in clamber(data_dir) if not is_for_training(row.group)]
        return table, [*await _kinds(classifier, embedder, unseen), *await _time(classifier, embedder, unseen)]
    finally:
        embedder.close()


async def baselines(data_dir: Path) -> Table:
    """Measure the baselines on the test side."""
    table = _table()
    embedder = load_embedder(AmbiguityClassifier.embedding_model)
    try:
        for name, rows in (("clamber", clamber(data_dir)), ("abg-coqa", coqa(data_dir))):
            await _add_baselines(table, name, embedder, rows)
        return table
    finally:
        embedder.close()


async def _add_baselines(table: Table, name: str, embedder: LocalEmbedder, rows: Sequence[Example]) -> None:
    trained_on = [row for row in rows if is_for_training(row.group)]
    unseen = [row for row in rows if not is_for_training(row.group)]
    labels = _labels(unseen)
    with step(f"{name}: baselines"):
        for method, strength, class_weight in (
            ("logistic regression", 0.001, "balanced"),
            # The value from 0.001 to 100 with the best F1 on the test rows themselves, which favors the baseline.
            ("logistic regression, classes as they are", 0.1, None),
        ):
            plain = await _plain(embedder, trained_on, unseen, strength, class_weight)
            _add(table, name, method, labels, plain, 0.5)
    _add(table, name, "always clear", labels, np.zeros(len(labels)), 0.5)


async def _judge(classifier: AmbiguityClassifier, embedder: LocalEmbedder, rows: Sequence[Example]) -> Scores:
    asked = [(row.question, row.history) for row in rows]
    vectors = await embedder.encode([text for question in asked for text in classifier.inputs(*question)])
    return np.array([judgement.probability for judgement in classifier.judge(asked, vectors)])


async def _plain(
    embedder: LocalEmbedder,
    trained_on: Sequence[Example],
    rows: Sequence[Example],
    strength: float,
    class_weight: str | None,
) -> Scores:
    """A standard logistic regression. "balanced" gives both classes the same weight: few questions are ambiguous."""
    model = make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=2_000, class_weight=class_weight))
    model.fit(await three_features(embedder, [row.question for row in trained_on]), _labels(trained_on))
    probabilities: Scores = model.predict_proba(await three_features(embedder, [row.question for row in rows]))[:, 1]
    return probabilities


async def _kinds(classifier: AmbiguityClassifier, embedder: LocalEmbedder, rows: Sequence[Example]) -> list[Figure]:
    """How often the kind of an ambiguous question is right."""
    ambiguous = [row for row in rows if row.is_ambiguous]
    asked = [(row.question, row.history) for row in ambiguous]
    vectors = await embedder.encode([text for question in asked for text in classifier.inputs(*question)])
    named = [judgement.kind for judgement in classifier.judge(asked, vectors)]
    figures = []
    for kind in AmbiguityKind:
        right = sum(one is kind and row.kind is kind for one, row in zip(named, ambiguous, strict=True))
        figures += [
            Figure(f"{kind}: recall among ambiguous ones", right / sum(row.kind is kind for row in ambiguous)),
            Figure(f"{kind}: precision", right / max(1, sum(one is kind for one in named))),
        ]
    return figures


async def _time(classifier: AmbiguityClassifier, embedder: LocalEmbedder, rows: Sequence[Example]) -> list[Figure]:
    """Milliseconds for a question without history."""
    asked: list[tuple[str, Sequence[str]]] = [(row.question, ()) for row in rows[:_BATCH]]
    texts = [text for question in asked for text in classifier.inputs(*question)]
    vectors = await embedder.encode(texts)
    classifier.judge(asked, vectors)

    started = time.perf_counter()
    for question, vector in zip(asked[:_ONE_BY_ONE], vectors, strict=False):
        classifier.judge([question], vector[None])
    alone = time.perf_counter() - started

    started = time.perf_counter()
    classifier.judge(asked, vectors)
    together = time.perf_counter() - started

    started = time.perf_counter()
    for question in asked[:_ONE_BY_ONE]:
        classifier.judge([question], await embedder.encode(classifier.inputs(*question)))
    embedded_alone = time.perf_counter() - started

    started = time.perf_counter()
    classifier.judge(asked, await embedder.encode(texts))
    embedded_together = time.perf_counter() - started
    return [
        Figure("classifier, one at a time", 1000 * alone / _ONE_BY_ONE, "ms a question"),
        Figure(f"classifier, {len(asked)} at once", 1000 * together / len(asked), "ms a question"),
        Figure("with the embedder, one at a time", 1000 * embedded_alone / _ONE_BY_ONE, "ms a question"),
        Figure(f"with the embedder, {len(asked)} at once", 1000 * embedded_together / len(asked), "ms a question"),
    ]


async def ask(given: argparse.Namespace, classifier: AmbiguityClassifier) -> Table:
    """Let a chat model and our classifier judge the same questions."""
    table = _table()
    key = SecretStr(os.environ.get("OPENAI_API_KEY", "none"))
    embedder = load_embedder(AmbiguityClassifier.embedding_model)
    try:
        async with Endpoint(Address(given.base_url, key), given.model, concurrency=1) as endpoint:
            kept = KeptReplies(endpoint, given.replies)
            for name, rows in (("clamber", clamber(given.data_dir)), ("abg-coqa", coqa(given.data_dir))):
                unseen = [row for row in rows if not is_for_training(row.group)]
                chosen = sorted(unseen, key=_digest)[: given.questions]
                judged: list[bool | None] = []
                for row in chosen:
                    # The judgement in the reply; None if it cannot be parsed.
                    said, _ = await kept.ask(ambiguity(row.question, row.history))
                    judged.append(said)
                    if given.verbose:
                        print(f"{row.is_ambiguous!s:5} {judged[-1]!s:5} {row.history} {row.question}", file=sys.stderr)
                labels = _labels(chosen)
                _add(table, name, "pgclarify", labels, await _judge(classifier, embedder, chosen), classifier.threshold)
                # A reply that cannot be parsed counts as clear, because the product would not ask back.
                _add(
                    table, name, f"{given.model}, few-shot", labels, np.array([float(bool(one)) for one in judged]), 0.5
                )
                print(f"{name}: {sum(one is None for one in judged)} of {len(judged)} replies could not be read")
    finally:
        embedder.close()
    return table


def _digest(row: Example) -> str:
    return hashlib.sha256("\0".join((*row.history, row.question)).encode()).hexdigest()


def _labels(rows: Sequence[Example]) -> NDArray[np.bool_]:
    return np.array([row.is_ambiguous for row in rows])


def _table() -> Table:
    return Table("data", "method", "questions", *_MEASURES)


def _add(table: Table, data: str, method: str, labels: NDArray[np.bool_], scores: Scores, threshold: float) -> None:
    """A row with 95 % intervals (percentile bootstrap over questions)."""
    chance = np.random.default_rng(7)
    draws = [chance.integers(len(labels), size=len(labels)) for _ in range(_RESAMPLES)]
    draws = [draw for draw in draws if labels[draw].any()]
    cells = []
    for measured in _MEASURES.values():
        value = measured(labels, scores, threshold)
        low, high = np.quantile([measured(labels[draw], scores[draw], threshold) for draw in draws], [0.025, 0.975])
        cells.append(f"{value:.3f} ({low:.2f} to {high:.2f})")
    table.add_row(data, method, str(len(labels)), *cells)


def _accuracy(labels: NDArray[np.bool_], scores: Scores, threshold: float) -> float:
    return float(accuracy_score(labels, scores >= threshold))


def _precision(labels: NDArray[np.bool_], scores: Scores, threshold: float) -> float:
    called = scores >= threshold
    return float((called & labels).sum() / max(1, called.sum()))


def _recall(labels: NDArray[np.bool_], scores: Scores, threshold: float) -> float:
    return float(((scores >= threshold) & labels).sum() / labels.sum())


def _f1(labels: NDArray[np.bool_], scores: Scores, threshold: float) -> float:
    return float(f1_score(labels, scores >= threshold))


def _average_precision(labels: NDArray[np.bool_], scores: Scores, _: float) -> float:
    return float(average_precision_score(labels, scores))


_MEASURES: Mapping[str, Callable[[NDArray[np.bool_], Scores, float], float]] = {
    "accuracy": _accuracy,
    "F1": _f1,
    "precision": _precision,
    "recall": _recall,
    "average precision": _average_precision,
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--classifier", type=Path, help="a classifier that was trained with --part training")
    parser.add_argument("--baselines", action="store_true", help="measure the baselines alone")
    parser.add_argument("--base-url")
    parser.add_argument("--model", default="local")
    parser.add_argument("--questions", type=int, default=100, help="questions of each data set that the model judges")
    parser.add_argument("--replies", type=Path, help="file that keeps the model's replies between runs")
    parser.add_argument("--verbose", action="store_true", help="print each question that the model judges")
    given = parser.parse_args()
    if given.baselines:
        show_tables(asyncio.run(baselines(given.data_dir)), width=160)
        parser.exit()
    if given.classifier:
        tested = AmbiguityClassifier(given.classifier.read_bytes())
    else:
        tested = trained_on_one_side(given.data_dir)
    if given.base_url:
        show_tables(asyncio.run(ask(given, tested)), width=160)
    else:
        table, figures = asyncio.run(measure(given.data_dir, tested))
        show_tables(table, width=160)
        show(figures)
