"""How similar a method's texts are to texts by people.

Source: Detect, then rewrite (summary), Key Results (BLEU); AT-CoT, §4.3 (BERTScore: this is its greedy matching, with
vectors of sentences instead of tokens).
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
        precision: The mean cosine of each given text to its nearest known text.
        recall: The mean cosine of each known text to its nearest given text.
        f1: Their harmonic mean; 0 if either is not positive.
    """

    precision: float
    recall: float
    f1: float


def bleu(given: str, known: Sequence[str]) -> float:
    """Compute the BLEU of one sentence by sacrebleu, in [0, 1].

    It is smoothed exponentially. For a short sentence, the longest n-grams are as long as the sentence.

    Args:
        given: A method's text.
        known: Texts by people; at least one.

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
    """Return one minus the mean cosine between different texts; 0 for fewer than two texts.

    Args:
        vectors: float32, shape (n_texts, n_dims), rows of unit length.
    """
    if len(vectors) < 2:
        return 0.0
    return 1 - float((vectors @ vectors.T)[np.triu_indices(len(vectors), k=1)].mean())
