"""The gain from a user's own log: `pgclarify eval train-ambiguity`, compared with the classifier from which it starts.

python -m benchmarks.quality.trained_ambiguity DATA_DIR [--classifier FILE] [--examples N ...], where clamber, abg-coqa
and squad2.* are. FILE is trained like the classifier that ships, but on 60 % of the rows (--part training of
training.train_ambiguity_classifier). The other 40 % of each data set are the log, which FILE has not seen. Without
FILE, a classifier is trained on SQuAD 2 instead of Clamber, and the log is all of Clamber: a kind of questions that the
classifier does not know.

A classifier that is trained on two thirds of a log judges the last third, in three turns, so that each row is judged
once. Rows from one template stay together, and so do conversations about one story. --examples also trains on fewer
rows.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.figures import step
from pgclarify.algorithms.ambiguity import AmbiguityClassifier, AmbiguityKind
from pgclarify.algorithms.ambiguity.shipped import pack
from pgclarify.algorithms.ambiguity.wording import take_apart
from pgclarify.embedding import load_embedder
from pgclarify.evaluation.ambiguity_training import Examples, LabelledQuestion, compare_judgements, judge, see, train
from pgclarify.evaluation.data_sets import rank_of
from training.examples import Example, borrowed, clamber, coqa, everyday, made
from training.splits import is_for_training
from training.train_ambiguity_classifier import prepare, scale_of
from training.train_ambiguity_classifier import train as train_all

_TURNS = 3


def measure(
    classifier: AmbiguityClassifier, looked: Examples, groups: Sequence[str], examples: int | None
) -> tuple[dict[str, Any], int]:
    """Train on two thirds and judge the last one, in turns. Also returns the training rows of the first turn."""
    turns = np.array([rank_of(group) % _TURNS for group in groups])
    ranks = np.array([rank_of(group) // _TURNS for group in groups], dtype=np.float64)
    folds = np.array([rank_of(group) // _TURNS % 5 for group in groups], dtype=np.intp)
    probabilities, is_called = np.zeros(len(groups)), np.zeros(len(groups), dtype=np.bool_)
    learned = 0
    for turn in range(_TURNS):
        is_out = turns == turn
        kept = np.flatnonzero(~is_out)
        if examples is not None:
            kept = kept[np.argsort(ranks[kept], kind="stable")[:examples]]
        learned = learned or len(kept)
        chosen = np.concatenate([kept, np.flatnonzero(is_out)])
        is_held = np.arange(len(chosen)) >= len(kept)
        part = _take(replace(looked, folds=folds), chosen, is_held)
        by = train(part, classifier)
        judged, called = judge(part, by)
        probabilities[is_out], is_called[is_out] = judged[is_held], called[is_held]
    return compare_judgements(looked.labels, judge(looked, None), (probabilities, is_called)), learned


def _take(looked: Examples, rows: NDArray[np.intp], is_held: NDArray[np.bool_]) -> Examples:
    seen = looked.seen
    return Examples(
        labels=looked.labels[rows],
        is_held=is_held,
        folds=looked.folds[rows],
        seen=replace(
            seen,
            is_within=seen.is_within[rows],
            odds=seen.odds[rows],
            features=seen.features[rows],
            vectors=seen.vectors[rows],
            places=[seen.places[row] for row in rows],
        ),
    )


async def _look(classifier: AmbiguityClassifier, rows: Sequence[Example]) -> Examples:
    embedder = load_embedder(classifier.embedding_model)
    try:
        questions = [LabelledQuestion(row.question, row.history, row.is_ambiguous) for row in rows]
        return await see(classifier, embedder, questions)
    finally:
        embedder.close()


def _cell(figure: Sequence[float], sign: str = "") -> str:
    value, *ends = (format(number, f"{sign}.3f") for number in figure)
    return f"{value} ({ends[0]} to {ends[1]})" if ends else value


def fitted_elsewhere(data_dir: Path) -> AmbiguityClassifier:
    """Train like the classifier that ships, but with the questions of SQuAD 2 instead of Clamber's."""
    with step("training without clamber"):
        # Training calibrates on the data set with the name clamber.
        real = [*(replace(row, source="clamber", weight=1.0) for row in borrowed(data_dir)), *coqa(data_dir)]
        scale = scale_of([take_apart(row.question, row.history) for row in real])
        examples = [*real, *made(real), *everyday()]
        alone, within = ([row for row in examples if bool(row.history) == has_history] for has_history in (False, True))
        trained = train_all(prepare(alone, scale), prepare(within, scale), scale)
        # These data have only two kinds of ambiguity. The kind does not change the probability.
        kinds = np.zeros((len(AmbiguityKind), trained.kinds.shape[1]), dtype=np.float32)
        return AmbiguityClassifier(pack(replace(trained, kinds=kinds)))


def main(data_dir: Path, given: Path | None, examples: Sequence[int]) -> Table:
    """Measure each log, with few and with all of its rows."""
    if given is None:
        classifier, logs = fitted_elsewhere(data_dir), {"clamber": clamber(data_dir)}
    else:
        classifier = AmbiguityClassifier(given.read_bytes())
        logs = {"clamber": clamber(data_dir), "abg-coqa": coqa(data_dir), "squad2": borrowed(data_dir)}
        logs = {name: [row for row in rows if not is_for_training(row.group)] for name, rows in logs.items()}
    table = Table("log", "rows", "learned of", "figure", "before", "trained", "difference")
    for name, log in logs.items():
        with step(f"{name}: {len(log)} rows"):
            looked = asyncio.run(_look(classifier, log))
            found = [measure(classifier, looked, [row.group for row in log], most) for most in (*examples, None)]
        for comparison, learned in found:
            for figure in ("f1", "auc", "calibration_error"):
                sides = comparison[figure]
                table.add_row(
                    name,
                    f"{comparison['questions']} ({comparison['ambiguous']} ambiguous)",
                    str(learned),
                    figure,
                    _cell(sides["before"]),
                    _cell(sides["trained"]),
                    _cell(sides["difference"], "+") if figure == "f1" else "",
                )
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--classifier", type=Path, help="a classifier that was trained on the training side only")
    parser.add_argument("--examples", type=int, nargs="*", default=[], help="also train on at most N rows")
    arguments = parser.parse_args()
    Console(width=160).print(main(arguments.data_dir, arguments.classifier, arguments.examples))
