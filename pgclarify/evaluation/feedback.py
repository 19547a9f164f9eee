"""Makes a data set of what people say of readings."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pgclarify.algorithms.metrics import cover_exact_match, normalize_answer
from pgclarify.data.vocabulary import Rating
from pgclarify.database.evaluations import Rated
from pgclarify.evaluation.data_sets import rank_of


@dataclass(frozen=True, slots=True)
class FeedbackCases:
    """The cases that feedback makes.

    Attributes:
        lines: A case each, as `eval run` reads it.
        unused: How much feedback says nothing that a case can have, by reason.
    """

    lines: Sequence[Mapping[str, Any]]
    unused: Mapping[str, int]


def cases_from(feedback: Iterable[Rated]) -> FeedbackCases:
    """Make a case of each question: what is right and what is missing is known, and what is wrong is known to be wrong.

    Feedback that contradicts other feedback on the same answer to a question is decided by the majority.
    """
    questions: dict[int, list[Rated]] = {}
    unused: Counter[str] = Counter()
    for one in feedback:
        if one.is_of_part:
            unused["is on a question of a part of the corpus"] += 1
        elif one.rating == Rating.USELESS:
            unused["calls a reading useless"] += 1
        else:
            questions.setdefault(rank_of(one.question, *one.history), []).append(one)
    lines = [_case(given, unused) for given in questions.values()]
    return FeedbackCases([line for line in lines if len(line) > 1], unused)


def _case(given: Sequence[Rated], unused: Counter[str]) -> dict[str, Any]:
    """Return the case of a question. It has nothing but the question and its history if nothing is known."""
    said: defaultdict[str, list[Rated]] = defaultdict(list)
    for one in given:
        said[normalize_answer(one.stated)].append(one)
    right: list[Rated] = []
    wrong: list[Rated] = []
    for votes in said.values():
        against = [one for one in votes if one.rating == Rating.WRONG]
        for_it = [one for one in votes if one.rating != Rating.WRONG]
        if len(for_it) > len(against):
            right += for_it
        elif len(against) > len(for_it):
            wrong += against
        unused["is contradicted by other feedback"] += min(len(for_it), len(against)) * (
            2 if len(for_it) == len(against) else 1
        )
    # Else a right answer would count as a wrong one.
    sure = [one for one in wrong if not any(cover_exact_match(known.stated, [one.stated]) for known in right)]
    unused["is contradicted by other feedback"] += len(wrong) - len(sure)
    case: dict[str, Any] = {"question": given[0].question}
    if given[0].history:
        case["history"] = list(given[0].history)
    if known := _interpretations(right):
        case["interpretations"] = known
    if sure:
        case["wrong_answers"] = list(dict.fromkeys(one.stated for one in sure))
    return case if known or sure else {"question": given[0].question}


def _interpretations(right: Sequence[Rated]) -> list[dict[str, Any]]:
    """Return what is right: each reading with the answers that it had, and missing answers that no reading has."""
    readings: dict[int, list[Rated]] = {}
    for one in right:
        if one.interpretation is not None:
            readings.setdefault(rank_of(one.interpretation), []).append(one)
    known: list[dict[str, Any]] = [
        {
            "question": same[0].interpretation,
            "answers": _distinct(one.stated for one in same),
            "documents": list(dict.fromkeys(document_id for one in same for document_id in one.document_ids)),
        }
        for same in readings.values()
    ]
    shown = {normalize_answer(answer) for one in known for answer in one["answers"]}
    missing = _distinct(one.stated for one in right if one.interpretation is None)
    return [*known, *({"answers": [answer]} for answer in missing if normalize_answer(answer) not in shown)]


def _distinct(answers: Iterable[str]) -> list[str]:
    """Return answers without those that say the same as an earlier one."""
    return list({normalize_answer(answer): answer for answer in reversed([*answers])}.values())[::-1]
