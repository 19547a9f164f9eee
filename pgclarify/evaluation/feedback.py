"""Makes a data set of what people say of readings."""

from __future__ import annotations

from collections import Counter
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
            question = rank_of(one.question, *one.history)
            questions.setdefault(question, []).append(one)
    cases = [_case(given, unused) for given in questions.values()]
    lines = [case for case in cases if case is not None]
    return FeedbackCases(lines, unused)


def _case(given: Sequence[Rated], unused: Counter[str]) -> dict[str, Any] | None:
    """Return the case of a question; None if nothing is known of it."""
    right, wrong = _decided(given)
    # Else a right answer would count as a wrong one.
    sure = [one for one in wrong if not _is_among(right, one)]
    unused["is contradicted by other feedback"] += len(given) - len(right) - len(sure)
    if not right and not sure:
        return None
    case: dict[str, Any] = {"question": given[0].question}
    if given[0].history:
        case["history"] = list(given[0].history)
    if right:
        case["interpretations"] = _interpretations(right)
    if sure:
        stated = [one.stated for one in sure]
        case["wrong_answers"] = list(dict.fromkeys(stated))
    return case


def _decided(given: Sequence[Rated]) -> tuple[list[Rated], list[Rated]]:
    """Return the feedback that is in the majority for its answer: what says that it is right, and that it is wrong."""
    by_answer: dict[str, list[Rated]] = {}
    for one in given:
        answer = normalize_answer(one.stated)
        by_answer.setdefault(answer, []).append(one)
    right: list[Rated] = []
    wrong: list[Rated] = []
    for votes in by_answer.values():
        against = [one for one in votes if one.rating == Rating.WRONG]
        in_favor = [one for one in votes if one.rating != Rating.WRONG]
        if len(in_favor) > len(against):
            right += in_favor
        elif len(in_favor) < len(against):
            wrong += against
    return right, wrong


def _is_among(right: Iterable[Rated], one: Rated) -> bool:
    """Return whether an answer that is called wrong stands in one that is right."""
    return any(cover_exact_match(known.stated, [one.stated]) for known in right)


def _interpretations(right: Sequence[Rated]) -> list[dict[str, Any]]:
    """Return what is right: each reading with the answers that it had, and missing answers that no reading has."""
    readings: dict[int, list[Rated]] = {}
    missing = []
    for one in right:
        if one.interpretation is None:
            missing.append(one.stated)
        else:
            reading = rank_of(one.interpretation)
            readings.setdefault(reading, []).append(one)
    known = [_reading(same) for same in readings.values()]
    shown = {normalize_answer(answer) for one in known for answer in one["answers"]}
    further = [answer for answer in _distinct(missing) if normalize_answer(answer) not in shown]
    return [*known, *({"answers": [answer]} for answer in further)]


def _reading(same: Sequence[Rated]) -> dict[str, Any]:
    """Return a reading with all answers and documents that it had."""
    documents = [document_id for one in same for document_id in one.document_ids]
    return {
        "question": same[0].interpretation,
        "answers": _distinct(one.stated for one in same),
        "documents": list(dict.fromkeys(documents)),
    }


def _distinct(answers: Iterable[str]) -> list[str]:
    """Return answers without those that say the same as an earlier one."""
    found: dict[str, str] = {}
    for answer in answers:
        found.setdefault(normalize_answer(answer), answer)
    return list(found.values())
