"""Scores of the papers that are no figures of `pgclarify eval`."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from benchmarks.papers import Column, each
from pgclarify.algorithms.metrics import answer_f1, cover_exact_match, covered_answers, exact_match, recall_at
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


def _readings(stored: EvaluatedCase) -> Sequence[Mapping[str, Any]]:
    given: Sequence[Mapping[str, Any]] = stored.output.get("interpretations", ())
    return given


def answers_of(stored: EvaluatedCase) -> list[str]:
    """Return the answers of a method, in its order."""
    return [one["answer"] for one in _readings(stored) if one["answer"]]


def is_right(reading: Mapping[str, Any], case: Case) -> bool:
    """Tell whether the answer of a reading contains a known one."""
    known = (names for golds in case.known_answers for names in golds)
    return bool(reading["answer"]) and any(cover_exact_match(reading["answer"], names) for names in known)


def citing(stored: EvaluatedCase, documents: Collection[str]) -> list[Mapping[str, Any]]:
    """Return the readings that cite one of these documents first."""
    return [one for one in _readings(stored) if one["citations"] and one["citations"][0]["document_id"] in documents]


def right(case: Case, stored: EvaluatedCase) -> float | None:
    """Share of the readings that are right; None without readings."""
    given = _readings(stored)
    return sum(is_right(one, case) for one in given) / len(given) if given and case.known_answers else None


def right_and_grounded(case: Case, stored: EvaluatedCase) -> float | None:
    """Share of the readings that are right, and that the passage which they cite supports; None without readings."""
    given = _readings(stored)
    proven = [one for one in given if one["is_grounded"]]
    return sum(is_right(one, case) for one in proven) / len(given) if given and case.known_answers else None


def strict(case: Case, stored: EvaluatedCase) -> float | None:
    """1 if the answers contain all known ones and none that is known to be wrong, contested or not.

    Source: RAMDocs (Wang et al., arXiv 2504.13079), "exact match".
    """
    answers = answers_of(stored)
    if not case.known_answers:
        return None
    is_complete = any(all(covered_answers(golds, answers)) for golds in case.known_answers)
    is_wrong = any(cover_exact_match(one, [wrong]) for one in answers for wrong in case.wrong_answers)
    return float(is_complete and not is_wrong)


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
