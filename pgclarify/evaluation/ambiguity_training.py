"""Trains a correction of the shipped ambiguity classifier on a labelled log, and compares the two.

Source: Detect, then rewrite (summary): a classifier that is trained on the questions of one's own users, with a
    sentence embedding and features of the wording. Training from the shipped classifier is ours.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.ambiguity import WEIGHTS, AmbiguityClassifier, Seen
from pgclarify.algorithms.metrics import bootstrap_interval, f1s_of_labels, paired_bootstrap
from pgclarify.data.dialogue import TrainedVersion
from pgclarify.errors import ConfigurationError, InputError
from pgclarify.evaluation.data_sets import PARTS, rank_of, read_case, read_lines, read_records
from pgclarify.language.languages import is_foreign
from pgclarify.protocols import Embedder

LEAST_OF_EACH: Final = 50
"""Least number of ambiguous questions, and of clear ones, of a kind that can be trained on and compared."""

# The hash of a question puts it into one of ten parts. Three are held out; the others form five folds.
_PARTS, _HELD, _FOLDS = 10, 3, 5
_AT_ONCE: Final = 256
# Factors of columns. Biases and the shipped log odds are large, so that the penalty hardly draws their weights to 0.
_FREE_SCALE: Final = 10.0
_FEATURE_SCALE: Final = 0.2
_GRAM_SCALE: Final = 4.0
_STRENGTHS: Final = (0.003, 0.03, 0.3, 3.0)
_ROUNDS: Final = 300
_SAMPLES: Final = 2_000
_LABELS: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("true", "t", "yes", "y", "1", "ambiguous"), True),
    **dict.fromkeys(("false", "f", "no", "n", "0", "clear"), False),
}

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question with the earlier turns, oldest first, and its label."""

    question: str
    history: tuple[str, ...]
    is_ambiguous: bool

    @property
    def is_within(self) -> bool:
        """Return whether it has history."""
        return any(turn.strip() for turn in self.history)

    @property
    def rank(self) -> int:
        """Return its rank: only the question decides, so a question is never on both sides."""
        return rank_of(self.question)


@dataclass(frozen=True, slots=True)
class Examples:
    """Labelled questions as inputs of training.

    Attributes:
        labels: Whether each is ambiguous, shape (n,).
        is_held: Whether it is held out for comparing, shape (n,).
        folds: Its fold in cross-validation, shape (n,).
        seen: The inputs of the shipped classifier for each.
    """

    labels: NDArray[np.bool_]
    is_held: NDArray[np.bool_]
    folds: NDArray[np.intp]
    seen: Seen


def read_log(path: Path) -> list[LabelledQuestion]:
    """Read a labelled log: JSON lines or CSV with the columns question, is_ambiguous and maybe history.

    Returns:
        Each English question once, with the label of most of its lines; without questions that have as many of both.

    Raises:
        UnreadableFile: If it is no file that can be read to its end.
        InputError: If a line has no question or label.
    """
    records = _cells(path) if ".csv" in path.suffixes else read_records(path)
    votes: dict[tuple[str, tuple[str, ...]], Counter[bool]] = {}
    for number, record in records:
        try:
            read = _labelled_question(record)
        except ValueError as error:
            raise InputError(
                f"line {number} of {path.name} is no labelled question",
                detail=str(error),
                hint='Give one a line: {"question": "How old is he?", "history": ["…"], "is_ambiguous": true}.',
            ) from None
        votes.setdefault((read.question, read.history), Counter())[read.is_ambiguous] += 1
    questions = []
    for (question, history), both in votes.items():
        if both[True] != both[False] and not is_foreign(question):
            is_ambiguous = both[True] > both[False]
            questions.append(LabelledQuestion(question, history, is_ambiguous))
    return questions


def _labelled_question(record: Mapping[str, Any]) -> LabelledQuestion:
    """Read one line of a log.

    Raises:
        ValueError: If it has no question or no label; the message is a sentence.
    """
    names = [name for name in PARTS["is_ambiguous"] if record.get(name) is not None]
    name = names[0] if names else "is_ambiguous"
    value = record.get(name)
    label = _LABELS.get(str(value).strip().lower())
    if label is None:
        raise ValueError(f"Its {name} is {value!r}, and not true or false.")
    case = read_case({**record, name: label})
    return LabelledQuestion(case.question, case.history, label)


def _cells(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read CSV: each row with the number of its line, without blank cells."""
    rows = csv.DictReader(line for _, line in read_lines(path))
    for number, row in enumerate(rows, start=2):
        record: dict[str, Any] = {name: cell for name, cell in row.items() if name and cell and cell.strip()}
        if "history" in record:
            record["history"] = _turns(record["history"])
        yield number, record


def _turns(history: str) -> Any:  # noqa: ANN401 - any value of JSON
    """Return the turns in a cell: JSON, or one on each line."""
    if history.lstrip().startswith("["):
        return json.loads(history)
    return history.splitlines()


def trainable(questions: Sequence[LabelledQuestion]) -> list[LabelledQuestion]:
    """Choose the kinds of questions, with or without history, that have enough questions for training.

    Raises:
        InputError: If neither kind has enough.
        ConfigurationError: If scikit-learn is not installed.
    """
    try:
        import sklearn  # noqa: F401 - only whether it is there
    except ImportError:
        raise ConfigurationError(
            "training needs scikit-learn, which is not installed", hint="Run: pip install 'pgclarify[eval]'"
        ) from None
    counts = Counter((one.is_within, one.is_ambiguous) for one in questions)
    kinds = []
    for kind in (False, True):
        rarer = min(counts[kind, False], counts[kind, True])
        if rarer >= LEAST_OF_EACH:
            kinds.append(kind)
    if not kinds:
        raise InputError(
            "there are too few labelled questions to train on",
            detail=f"Without history {counts[False, True]} different ones are ambiguous and {counts[False, False]} are "
            f"clear; with history {counts[True, True]} and {counts[True, False]}.",
            hint=f"Label more: at least {LEAST_OF_EACH} ambiguous and {LEAST_OF_EACH} clear ones, without history or "
            "with it. Some hundred of each are better.",
        )
    return [one for one in questions if one.is_within in kinds]


async def see(
    classifier: AmbiguityClassifier,
    embedder: Embedder,
    questions: Sequence[LabelledQuestion],
    *,
    on_progress: Callable[[int], object] = lambda done: None,
) -> Examples:
    """Embed questions and compute their features, some hundred at a time.

    Args:
        classifier: The shipped classifier.
        embedder: The model of its vectors.
        questions: From `trainable`.
        on_progress: Called with the number of finished questions.
    """
    asked = [(one.question, one.history) for one in questions]
    vectors = []
    for start in range(0, len(asked), _AT_ONCE):
        some = asked[start : start + _AT_ONCE]
        vectors.append(await embedder.encode([text for one in some for text in classifier.inputs(*one)]))
        on_progress(start + len(some))
    return Examples(
        labels=np.array([one.is_ambiguous for one in questions]),
        is_held=np.array([one.rank % _PARTS < _HELD for one in questions]),
        folds=np.array([one.rank // _PARTS % _FOLDS for one in questions], dtype=np.intp),
        seen=classifier.see(asked, np.concatenate(vectors)),
    )


def _design(seen: Seen) -> tuple[Any, Floats]:
    """Return the scaled columns in the order of a correction, as a sparse matrix, and the scale of each column."""
    from scipy.sparse import csr_matrix, hstack

    kinds = np.column_stack([~seen.is_within, seen.is_within]).astype(np.float64)
    dense: list[NDArray[Any]] = [kinds, kinds * seen.odds[:, None], seen.features, seen.vectors]
    wide = sum(part.shape[1] for part in dense)
    lengths = np.array([len(places) for places in seen.places])
    # The pieces of text of one question have unit length together.
    values = np.repeat(1 / np.sqrt(np.maximum(1, lengths)), lengths)
    places = np.fromiter(chain.from_iterable(seen.places), dtype=np.int32)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    grams = csr_matrix((values, places, starts), shape=(len(lengths), WEIGHTS - wide))
    widths = [*(part.shape[1] for part in dense), grams.shape[1]]
    scales = np.repeat([_FREE_SCALE, _FREE_SCALE, _FEATURE_SCALE, 1.0, _GRAM_SCALE], widths)
    columns = hstack([csr_matrix(np.hstack(dense)), grams]).tocsr()
    return columns.multiply(scales).tocsr(), scales


def train(examples: Examples, shipped: AmbiguityClassifier) -> TrainedVersion:
    """Train on the questions that are not held out. On one machine, the same questions give the same version.

    A logistic regression sees the log odds of the shipped classifier, features, vector and pieces of text. Five-fold
    cross-validation chooses its strength; its judgements there set the threshold with the best expected F1.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss
    from sklearn.model_selection import PredefinedSplit, cross_val_predict
    from threadpoolctl import threadpool_limits

    used = ~examples.is_held
    rows, scales = _design(examples.seen)
    rows, labels = rows[used], examples.labels[used]
    folds = PredefinedSplit(examples.folds[used])
    # One thread adds in a fixed order.
    with threadpool_limits(1):
        models = [LogisticRegression(C=one, fit_intercept=False, max_iter=_ROUNDS) for one in _STRENGTHS]
        judged = [cross_val_predict(one, rows, labels, cv=folds, method="predict_proba")[:, 1] for one in models]
        best = int(np.argmin([log_loss(labels, one) for one in judged]))
        weights = models[best].fit(rows, labels).coef_[0] * scales
    is_within = examples.seen.is_within[used]
    return TrainedVersion(
        version=0,
        shipped_version=shipped.version,
        threshold=_threshold(judged[best]),
        judges_questions=not is_within.all(),
        judges_conversations=bool(is_within.any()),
        weights=weights.astype(np.float32).tolist(),
    )


def _threshold(probabilities: Floats) -> float:
    """Return the threshold of the probability that has the best expected F1."""
    falling = np.sort(probabilities)[::-1]
    # For each number of questions that are called ambiguous: how many of them are expected to be ambiguous.
    called = np.arange(1, len(falling) + 1)
    correct = np.cumsum(falling)
    expected_f1 = 2 * correct / (called + falling.sum())
    best = int(np.argmax(expected_f1))
    # Halfway to the next probability, because later questions may lie between the two.
    return float(falling[best : best + 2].mean())


def judge(examples: Examples, by: TrainedVersion | None) -> NDArray[np.bool_]:
    """Judge questions: whether each is ambiguous for its judge, shape (n,).

    Args:
        examples: The questions.
        by: A version that corrects the shipped classifier; None for the shipped classifier itself.
    """
    seen = examples.seen
    odds = seen.odds
    threshold = np.full(len(odds), AmbiguityClassifier.threshold)
    if by is not None:
        is_judged = np.where(seen.is_within, by.judges_conversations, by.judges_questions)
        rows, scales = _design(seen)
        weights = np.asarray(by.weights) / scales
        odds = np.where(is_judged, rows @ weights, odds)
        threshold = np.where(is_judged, by.threshold, threshold)
    odds = np.clip(odds, -30, 30)
    probability = 1 / (1 + np.exp(-odds))
    called: NDArray[np.bool_] = probability >= threshold
    return called


def compare(examples: Examples, before: TrainedVersion | None, trained: TrainedVersion) -> dict[str, Any]:
    """Compare two versions on the questions that are held out.

    Returns:
        questions and ambiguous: how many there are. f1: before, trained and their difference, each with the ends of its
        95 % interval.
    """
    held = examples.is_held
    labels = examples.labels[held]
    one = _judged(labels, judge(examples, before)[held])
    other = _judged(labels, judge(examples, trained)[held])
    drawn = paired_bootstrap(one, other, _f1, samples=_SAMPLES)
    return {
        "questions": len(labels),
        "ambiguous": int(labels.sum()),
        "f1": {
            "before": _f1_and_interval(one),
            "trained": _f1_and_interval(other),
            "difference": [drawn.difference, drawn.low, drawn.high],
        },
    }


def _judged(labels: NDArray[np.bool_], called: NDArray[np.bool_]) -> Floats:
    """Return a row for each question: its label, and how it was judged."""
    return np.column_stack([labels, called]).astype(np.float64)


def _f1_and_interval(judged: Floats) -> list[float]:
    f1 = float(_f1(judged[None])[0])
    return [f1, *bootstrap_interval(judged, _f1, samples=_SAMPLES)]


def is_better(compared: Mapping[str, Any]) -> bool:
    """Return whether the F1 of the trained version is higher: the whole interval of the difference is above 0."""
    _, low, _ = compared["f1"]["difference"]
    return bool(low > 0)


def usable(in_use: TrainedVersion | None, shipped: AmbiguityClassifier) -> TrainedVersion | None:
    """Return the version that judges now; None if workers use the shipped classifier instead of it."""
    if in_use is None:
        return None
    is_usable = in_use.shipped_version == shipped.version and len(in_use.weights) == WEIGHTS
    return in_use if is_usable else None


def _f1(rows: Floats) -> Floats:
    labels = rows[..., 0] > 0
    called = rows[..., 1] > 0
    return f1s_of_labels(labels, called)
