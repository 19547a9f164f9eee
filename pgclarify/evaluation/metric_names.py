"""All metrics. A new metric needs its name here and its value in scoring.py."""

from __future__ import annotations

# In display order.
METRICS = (
    "interpretations",
    "answer_coverage",
    "quote_coverage",
    "verbatim_grounding",
    "grounded_precision",
    "grounded_recall",
    "grounded_f1",
    "recall",
    "sufficient",
    "relevant",
    "relevant_answerable",
    "relevant_unanswerable",
    "irrelevant_answerable",
    "irrelevant_unanswerable",
    "relevant_answerable_right",
    "answer_correctness",
    "answer_precision",
    "answer_recall",
    "answer_f1",
    "cover_em",
    "citation_precision",
    "citation_recall",
    "recall@5",
    "recall@10",
    "recall@20",
    "ndcg@10",
    "mrr@10",
    "step_recall@5",
    "step_recall@10",
    "step_mrr@10",
    "mrecall@1",
    "mrecall@5",
    "mrecall@10",
    "bleu",
    "rewrite_similarity",
    "rewritten",
    "asked_back",
    "question_precision",
    "question_recall",
    "question_f1",
    "question_diversity",
    *(f"turn_{turn}_{metric}" for metric in ("recall@10", "ndcg@10", "mrr@10") for turn in range(4)),
    "accuracy",
    "f1",
    "average_precision",
    "probability",
    "predicted",
    "calls",
    "retrievals",
    "prompt_tokens",
    "completion_tokens",
    "model_seconds",
    "seconds",
    "failed",
    "unjudged",
)
LOWER_IS_BETTER = frozenset({"calls", "retrievals", "prompt_tokens", "completion_tokens", "model_seconds", "failed"})
# These describe what a method does, and not how well: more readings are not better, and a method without readings has
# no bad ones. Seconds depend on the order of methods, because replies that were paid for earlier come at once.
# Failed judgements are the judge's.
NEITHER_IS_BETTER = frozenset(
    {
        "seconds",
        "unjudged",
        "interpretations",
        "rewritten",
        "asked_back",
        "relevant_unanswerable",
        "irrelevant_answerable",
        "irrelevant_unanswerable",
        "probability",
        "predicted",
    }
)
# Metrics from judgements; citation_precision and citation_recall belong to them if no documents are known.
JUDGED = frozenset(
    {
        "sufficient",
        "recall",
        "grounded_precision",
        "grounded_recall",
        "grounded_f1",
        "relevant",
        "relevant_answerable_right",
        "answer_correctness",
        "relevant_answerable",
        "relevant_unanswerable",
        "irrelevant_answerable",
        "irrelevant_unanswerable",
    }
)
