"""Scores of the papers that are no figures of `pgclarify eval`."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from benchmarks.papers import Column, each
from pgclarify.algorithms.metrics import answer_f1, exact_match, recall_at
from pgclarify.database.evaluations import EvaluatedCase
from pgclarify.evaluation.records import Case


def ndcg_at(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Normalized discounted cumulative gain of the first k different ids, where an id is relevant or is not.

    Args:
        ranking: Best first.
        relevant: The ids to find, at least one.
        k: The depth, from 1.

    Source: Järvelin and Kekäläinen (TOIS 2002); SUNAR, §4, and AT-CoT, §4.3.
    """
    places = list(dict.fromkeys(ranking))[:k]
    gained = sum(1 / math.log2(place + 2) for place, one in enumerate(places) if one in relevant)
    return gained / sum(1 / math.log2(place + 2) for place in range(min(k, len(relevant))))


def reciprocal_rank_at(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """1 / the rank of the first relevant id among the first k different ones; 0 if there is none.

    Source: AT-CoT, §4.3 ("MRR@10" is the mean).
    """
    places = list(dict.fromkeys(ranking))[:k]
    return next((1 / place for place, one in enumerate(places, start=1) if one in relevant), 0.0)


_OF_RANKINGS: Final[Mapping[str, Callable[[Sequence[str], Collection[str], int], float]]] = {
    "recall": recall_at,
    "ndcg": ndcg_at,
    "mrr": reciprocal_rank_at,
}


def ranking_of(stored: EvaluatedCase) -> list[str]:
    """Return the documents that a method retrieved, best first."""
    return [one["document_id"] for one in stored.output.get("retrieved", ())]


def of_ranking(name: str, k: int) -> Column:
    """Make a column of a score of rankings: recall, ndcg or mrr, at k."""
    score = _OF_RANKINGS[name]

    def value(case: Case, stored: EvaluatedCase) -> float | None:
        relevant = case.relevant_documents
        return score(ranking_of(stored), relevant, k) if relevant else None

    return each(f"{name}@{k}", value)


def answers_of(stored: EvaluatedCase) -> list[str]:
    """Return the answers of a method, in its order."""
    given: Sequence[Mapping[str, Any]] = stored.output.get("interpretations", ())
    return [one["answer"] for one in given if one["answer"]]


def multi_f1(case: Case, stored: EvaluatedCase) -> float | None:
    """F1 of answers, of questions with several known answers alone. Source: AmbigPrompt, §4.2 ("multi")."""
    people = case.known_answers
    return answer_f1(answers_of(stored), people) if max(map(len, people), default=0) > 1 else None


def answer_precision(case: Case, stored: EvaluatedCase) -> float | None:
    """Share of the given answers that are known, of the person whose answers fit best. Source: AmbigPrompt, §5.4."""
    given = answers_of(stored)
    people = case.known_answers
    if not given or not people:
        return None
    return max(sum(any(exact_match(one, names) for names in golds) for one in given) for golds in people) / len(given)


def answer_recall(case: Case, stored: EvaluatedCase) -> float | None:
    """Share of the known answers that are given, of the person whose answers fit best. Source: AmbigPrompt, §5.4."""
    given = answers_of(stored)
    shares = [
        sum(any(exact_match(one, names) for one in given) for names in golds) / len(golds)
        for golds in case.known_answers
    ]
    return max(shares, default=None)
