"""How good answers, readings, citations and rankings are. docs/methods/evaluation.md has the formulas."""

from pgclarify.algorithms.metrics.answers import (
    AnswerSetScores,
    answer_coverage,
    answer_set_scores,
    cover_exact_match,
    covered_answers,
    exact_match,
    normalize_answer,
)
from pgclarify.algorithms.metrics.citations import CitationScores, citation_scores, supported_citation_scores
from pgclarify.algorithms.metrics.classification import (
    accuracies,
    accuracy,
    average_precision,
    average_precisions,
    f1_of_labels,
    f1s_of_labels,
)
from pgclarify.algorithms.metrics.coverage import coverage_curve
from pgclarify.algorithms.metrics.grounding import (
    Quadrants,
    f1,
    grounded_gold,
    grounded_precision,
    grounded_recall,
    quadrants,
    recall,
    sufficient,
)
from pgclarify.algorithms.metrics.intervals import (
    PairedDifference,
    bootstrap_interval,
    bootstrap_means,
    f1_of_means,
    mean,
    paired_bootstrap,
    ratio_of_sums,
)
from pgclarify.algorithms.metrics.retrieval import mrecall_at, ndcg_at, pooled, recall_at, reciprocal_rank_at

__all__ = [
    "AnswerSetScores",
    "CitationScores",
    "PairedDifference",
    "Quadrants",
    "accuracies",
    "accuracy",
    "answer_coverage",
    "answer_set_scores",
    "average_precision",
    "average_precisions",
    "bootstrap_interval",
    "bootstrap_means",
    "citation_scores",
    "cover_exact_match",
    "coverage_curve",
    "covered_answers",
    "exact_match",
    "f1",
    "f1_of_labels",
    "f1_of_means",
    "f1s_of_labels",
    "grounded_gold",
    "grounded_precision",
    "grounded_recall",
    "mean",
    "mrecall_at",
    "ndcg_at",
    "normalize_answer",
    "paired_bootstrap",
    "pooled",
    "quadrants",
    "ratio_of_sums",
    "recall",
    "recall_at",
    "reciprocal_rank_at",
    "sufficient",
    "supported_citation_scores",
]
