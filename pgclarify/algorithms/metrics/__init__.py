"""How good answers and rankings are, and how much of a figure is chance. See docs/methods/evaluation.md."""

from pgclarify.algorithms.metrics.answers import (
    answer_coverage,
    answer_f1,
    cover_exact_match,
    covered_answers,
    exact_match,
    normalize_answer,
)
from pgclarify.algorithms.metrics.intervals import (
    PairedDifference,
    bootstrap_interval,
    f1_of_means,
    f1s_of_labels,
    mean,
    paired_bootstrap,
)
from pgclarify.algorithms.metrics.retrieval import recall_at

__all__ = [
    "PairedDifference",
    "answer_coverage",
    "answer_f1",
    "bootstrap_interval",
    "cover_exact_match",
    "covered_answers",
    "exact_match",
    "f1_of_means",
    "f1s_of_labels",
    "mean",
    "normalize_answer",
    "paired_bootstrap",
    "recall_at",
]
