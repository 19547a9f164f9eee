"""Whether the confidence of readings without a language model is calibrated, and the fit of its constants.

python -m benchmarks.quality.confidence DATA_DIR [--database DIR]. A worker clarifies the questions of ramdocs,
squad2.ambiguous and squad2.answerable. A reading is right if its answer contains a known one or agrees with it in
words; all are wrong if the pair of squad2.answerable has no answer. Each is predicted by a logistic regression that was
fitted on other questions: in ten folds, or on the other data. The error is the expected calibration error in ten bins;
"by chance" is its mean for predictions that are perfectly calibrated.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, cross_val_predict

from benchmarks import product
from benchmarks.data_sets import read
from benchmarks.figures import show_tables
from benchmarks.quality import kept
from benchmarks.quality.support import as_written
from pgclarify.algorithms.metrics import cover_exact_match
from pgclarify.language.english.answers import relate_answers
from pgclarify.language.relations import Relation

_SETS: Final = {"ramdocs.questions": 20, "squad2.ambiguous": 5, "squad2.answerable": 5}
_READINGS: Final = """
    select seen.question_ordinal, seen.question, seen.answer, seen.support, seen.is_contested, proof.score
    from pgclarify.clarify_many(%s, corpus => %s, top_k => %s) as seen
    inner join lateral (
        select max(verdict.score) as score from pgclarify.citation
        inner join pgclarify.verdict on verdict.run_id = citation.run_id and verdict.rank = citation.candidate_rank
        where citation.run_id = seen.run_id and citation.ordinal = seen.ordinal
    ) as proof on proof.score is not null
"""
_Floats: TypeAlias = NDArray[np.float64]
_Row: TypeAlias = tuple[str, str, bool, list[float]]


def _rows(connection: product.Connection, data_dir: Path) -> Iterator[_Row]:
    """Each reading: its data set, its question, whether it is right, and its signals."""
    texts = {row["id"]: row["text"] for row in read(data_dir / "squad2.corpus.jsonl.gz")}
    for name, top_k in _SETS.items():
        known: dict[str, list[str]] = {}
        for row in read(data_dir / f"{name}.jsonl.gz"):
            found = row.get("answers") or [row["answer"] or "No answer"]
            # A question about several passages has several answers.
            known.setdefault(row["question"], []).extend(
                as_written(one, texts[row["gold"][0]]) if "gold" in row else one for one in found
            )
        asked = list(known)
        for row in connection.execute(_READINGS, [asked, name.split(".")[0], top_k]):
            signals = [np.log(row["score"] / (1 - row["score"])), np.log(row["support"]), float(row["is_contested"])]
            names = known[asked[row["question_ordinal"] - 1]]
            is_right = any(relate_answers(row["answer"], one) is Relation.AGREE for one in names)
            yield name, row["question"], is_right or cover_exact_match(row["answer"], names), signals


def _error(said: _Floats, right: NDArray[Any]) -> float:
    return float(abs(np.bincount((said * 10).astype(int), said - right)).sum() / len(said))


def _figures(said: _Floats, right: NDArray[Any]) -> list[str]:
    chance = np.mean([_error(said, one < said) for one in np.random.default_rng(0).random((1000, len(said)))])
    shares = [right.mean(), said.mean(), _error(said, right), chance, roc_auc_score(right, said)]
    brier = f"{brier_score_loss(right, said):.3f}; by their share alone {right.var():.3f}"
    return [f"{len(right)}", *(f"{one:.2f}" for one in shares), brier]


def _tables(rows: list[_Row]) -> Iterator[Table]:
    names, right = np.array([one[0] for one in rows]), np.array([float(one[2]) for one in rows])
    signals, is_ramdocs = np.array([one[3] for one in rows]), names == "ramdocs.questions"
    asked = np.unique([f"{one[0]} {one[1]}" for one in rows], return_inverse=True)[1]
    model = LogisticRegression().fit(signals, right)
    fitted = np.r_[model.intercept_, model.coef_[0]]
    yield Table("constants", *[f"{one:.2f}" for one in fitted])
    said, crossed = (
        cross_val_predict(model, signals, right, groups=groups, cv=cv, method="predict_proba")[:, 1]
        for groups, cv in ((asked, GroupKFold(10, shuffle=True, random_state=0)), (is_ramdocs, LeaveOneGroupOut()))
    )
    shown = Table("fitted on", "tested on", "readings", "right", "said", "error", "by chance", "AUC", "Brier score")
    for name in ("", *_SETS):
        here = np.char.startswith(names, name)
        shown.add_row("other questions", name or "all", *_figures(said[here], right[here]))
    shown.add_row("squad2", "ramdocs.questions", *_figures(crossed[is_ramdocs], right[is_ramdocs]))
    shown.add_row("ramdocs.questions", "squad2", *_figures(crossed[~is_ramdocs], right[~is_ramdocs]))
    yield shown
    tenths = Table("confidence", "readings", "said", "right")
    for one in np.unique((said * 10).astype(int)):
        here = (said * 10).astype(int) == one
        tenths.add_row(f"0.{one}", f"{here.sum()}", f"{said[here].mean():.2f}", f"{right[here].mean():.2f}")
    yield tenths


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--database", type=Path, help="where the server's data stay; without it, start from nothing")
    given = parser.parse_args()
    with kept.database(given.database) as (dsn, _), product.connect(dsn) as connection:
        for corpus in ("squad2", "ramdocs"):
            kept.load(dsn, corpus, given.data_dir / f"{corpus}.corpus.jsonl.gz")
        environment = os.environ | {"PGCLARIFY_LLM_PROVIDER": "extractive", "PGCLARIFY_DATABASE_URL": dsn}
        with product.running_worker(dsn, environment):
            readings = list(_rows(connection, given.data_dir))
    show_tables(*_tables(readings), width=160)
