"""Classify questions as ambiguous or clear. Pure: vectors and texts in, judgements out."""

from pgclarify.algorithms.ambiguity.classifier import AmbiguityClassifier, Judgement, Seen
from pgclarify.algorithms.ambiguity.correction import WEIGHTS

__all__ = ["WEIGHTS", "AmbiguityClassifier", "Judgement", "Seen"]
