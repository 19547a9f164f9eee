"""Classify questions as ambiguous or clear. Pure: vectors and texts in, judgements out."""

from pgclarify.algorithms.ambiguity.classifier import AmbiguityClassifier
from pgclarify.algorithms.ambiguity.judgement import AmbiguityKind, Judgement, Reason

__all__ = ["AmbiguityClassifier", "AmbiguityKind", "Judgement", "Reason"]
