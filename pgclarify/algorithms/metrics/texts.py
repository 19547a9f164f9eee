"""How near texts of a method come to texts of people.

Source: Detect, then rewrite (summary), Key Results (BLEU); AT-CoT, §4.3 (BERTScore, whose greedy matching this is, over
vectors of sentences in place of those of tokens).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike two sets of texts are.

    Attributes:
        precision: The mean over the given texts of the cosine to the nearest known one.
        recall: The mean over the known texts of the cosine to the nearest given one.
        f1: Their harmonic mean; 0 if either is not positive.
    """

    precision: float
    recall: float
    f1: float


def bleu(given: str, known: Sequence[str]) -> float:
    """Compute the BLEU of one sentence by sacrebleu, in [0, 1].

    It is smoothed exponentially, and a short sentence is held to no longer n-grams than it has.

    Args:
        given: What a method gave.
        known: What people say; at least one.

    Raises:
        ImportError: If sacrebleu is not installed.
    """
    from sacrebleu import sentence_bleu

    return float(sentence_bleu(given, list(known), use_effective_order=True).score) / 100


def likeness(given: NDArray[np.float32], known: NDArray[np.float32]) -> Likeness:
    """Match texts greedily by their vectors, as BERTScore matches tokens.

    Args:
        given: float32, shape (n_given, n_dims), rows of unit length; at least one.
        known: float32, shape (n_known, n_dims), likewise.
    """
    cosines = given @ known.T
    precision, recall = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
    f1 = 2 * precision * recall / (precision + recall) if min(precision, recall) > 0 else 0.0
    return Likeness(precision, recall, f1)


def diversity(vectors: NDArray[np.float32]) -> float:
    """Give one minus the mean cosine between different texts; 0 of fewer than two.

    Args:
        vectors: float32, shape (n_texts, n_dims), rows of unit length.
    """
    if len(vectors) < 2:
        return 0.0
    return 1 - float((vectors @ vectors.T)[np.triu_indices(len(vectors), k=1)].mean())
