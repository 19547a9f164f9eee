"""Classify questions as ambiguous or clear. Pure: vectors and texts in, judgements out."""

from pgclarify.algorithms.ambiguity.classifier import AmbiguityClassifier, Seen
from pgclarify.algorithms.ambiguity.correction import WEIGHTS
from pgclarify.algorithms.ambiguity.judgement import AmbiguityKind, Judgement

__all__ = ["WEIGHTS", "AmbiguityClassifier", "AmbiguityKind", "Judgement", "Seen"]
