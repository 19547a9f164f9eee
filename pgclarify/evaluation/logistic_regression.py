"""A logistic regression that detects ambiguity, trained on other cases of the data set that it is evaluated on.

Source: Detect, then rewrite (summary), a baseline of detection. The summary does not say what it sees. Here it
sees the vector of the question and three features of its words, and no conversation.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.ambiguity.wording import coleman_liau, take_apart
from pgclarify.errors import ConfigurationError, InputError
from pgclarify.evaluated import Case
from pgclarify.evaluation.judging import relevant_documents
from pgclarify.protocols import Embedder

FOLDS: Final = 5
# Chosen in benchmarks.ambiguity_quality.
_STRENGTH: Final = 0.001
_ROUNDS: Final = 2_000


def check_labels(cases: Sequence[Case]) -> None:
    """Check that a regression can be trained for each case, on other cases that are ambiguous and clear.

    Raises:
        InputError: If there are too few labels.
        ConfigurationError: If scikit-learn is not installed.
    """
    try:
        import sklearn  # noqa: F401 - only whether it is there
    except ImportError:
        raise ConfigurationError(
            "the method logistic_regression needs scikit-learn, which is not installed",
            hint="Run: pip install 'pgclarify[eval]'",
        ) from None
    folds = _folds(cases)
    for fold in sorted({*folds}):
        labels = {case.is_ambiguous for case, other in zip(cases, folds, strict=True) if other != fold}
        if not labels >= {True, False}:
            raise InputError(
                "the method logistic_regression has too few labels for training",
                detail="It is trained on four fifths of the cases at a time. These must include both labels.",
                hint="Ask more cases that have is_ambiguous.",
            )


async def foretell(cases: Sequence[Case], embedder: Embedder) -> dict[str, float]:
    """Return the probability that each case is ambiguous, by a regression that was trained without similar cases.

    Cases are split into five folds. Cases about the same documents, or else with the same question, are in one fold. A
    regression on the labelled cases of the other four folds judges the cases of a fold.

    Args:
        cases: The cases of an evaluation; see check_labels.
        embedder: Computes the vectors of questions.

    Returns:
        Probabilities by case id.

    Raises:
        EmbeddingError: If a question could not be embedded.
    """
    vectors = await embedder.encode([case.question for case in cases])
    inputs = np.hstack([vectors, np.array([_features(case.question) for case in cases], dtype=np.float32)])
    probabilities = await asyncio.to_thread(_cross_fitted, cases, inputs)
    return {case.case_id: float(one) for case, one in zip(cases, probabilities, strict=True)}


def _cross_fitted(cases: Sequence[Case], inputs: NDArray[np.float32]) -> NDArray[np.float64]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    folds = np.array(_folds(cases))
    is_labelled = np.array([case.is_ambiguous is not None for case in cases])
    labels = np.array([bool(case.is_ambiguous) for case in cases])
    found = np.empty(len(cases))
    for fold in np.unique(folds):
        rows = is_labelled & (folds != fold)
        regression = LogisticRegression(C=_STRENGTH, max_iter=_ROUNDS, class_weight="balanced")
        model = make_pipeline(StandardScaler(), regression).fit(inputs[rows], labels[rows])
        found[folds == fold] = model.predict_proba(inputs[folds == fold])[:, 1]
    return found


def _folds(cases: Sequence[Case]) -> list[int]:
    """Return the fold of each case, from 0, by the hash of what similar cases have in common."""
    shared = ("\0".join(sorted(relevant_documents(case))) or case.question.casefold() for case in cases)
    return [int.from_bytes(hashlib.sha256(one.encode("utf-8", "surrogatepass")).digest()[:8]) % FOLDS for one in shared]


def _features(question: str) -> list[float]:
    wording = take_apart(question, ())
    return [float(len(wording.words)), float(len(wording.referential)), coleman_liau(question)]
