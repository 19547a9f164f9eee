"""Single cases on the page of evaluations: which are shown, and what of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from pgclarify.evaluated import EvaluatedCase
from pgclarify.evaluation.changes import is_known, known_answers, readings
from pgclarify.reports.evaluation_report import Evaluated

# How many the lists of the slowest and of the worst hold.
_LISTED = 10
# Characters of what methods gave: a page of more is slow to open.
_MOST_CHARS = 2_500_000
_MOST_READINGS = 20
_MOST_CITATIONS = 5


@dataclass(frozen=True, slots=True)
class GivenReading:
    """A reading that a method gave.

    Attributes:
        is_known: Whether a known answer stands in its answer; None if none is known.
        is_grounded: Whether the judge found it grounded; None if nobody judged that.
        left_out: How many citations are not shown.
    """

    interpretation: str
    answer: str | None
    support: int
    is_known: bool | None
    is_grounded: bool | None
    citations: Sequence[Mapping[str, Any]]
    left_out: int


@dataclass(frozen=True, slots=True)
class Given:
    """What one evaluation has of a case.

    Attributes:
        readings: The first ones.
        left_out: How many more there are.
    """

    member: Evaluated
    case: EvaluatedCase
    readings: tuple[GivenReading, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class ShownCase:
    """A case with what all evaluations gave for it.

    Attributes:
        place: Unique on the page; part of ids.
        known: Its known answers, each in all its spellings.
        known_readings: Its known readings, each a question (or None) and its answers.
        known_documents: Documents that are known to be relevant.
        score: The mean of the leading metric; None if no evaluation has it here.
        seconds: The longest that an evaluation took.
        model_seconds: The longest that the model took, when it was asked.
    """

    place: int
    case_id: str
    question: str
    known: Sequence[Sequence[str]]
    known_readings: Sequence[Mapping[str, Any]]
    known_documents: Sequence[str]
    score: float | None
    seconds: float
    model_seconds: float
    given: tuple[Given, ...]


@dataclass(frozen=True, slots=True)
class Cases:
    """The cases of a page.

    Attributes:
        shown: In the order of the data set.
        left_out: How many are not shown, for want of room: the best ones.
        worst: Those with the lowest mean of the leading metric, worst first.
        slowest: Slowest first.
        is_by_model: Whether slow means that the model took long; otherwise, that the answer did.
    """

    shown: tuple[ShownCase, ...]
    left_out: int
    worst: tuple[ShownCase, ...]
    slowest: tuple[ShownCase, ...]
    is_by_model: bool


def choose_cases(members: Sequence[Evaluated], metric: str | None, *, most_chars: int = _MOST_CHARS) -> Cases:
    """Choose what the page shows: all cases if there is room, else the worst and the slowest.

    Args:
        members: At least one, all of the same data set.
        metric: What cases are ranked by, where more is better; None ranks none.
        most_chars: Room, in characters.
    """
    by_place: dict[int, list[tuple[Evaluated, EvaluatedCase]]] = {}
    for member in members:
        for case in member.cases:
            by_place.setdefault(case.ordinal, []).append((member, case))
    everything = [_shown(place, of_case, metric) for place, of_case in sorted(by_place.items())]
    # Without a score, nothing is known to be bad.
    ranked = sorted(everything, key=lambda case: (case.score is None, case.score or 0.0, case.place))
    worst = [case for case in ranked if case.score is not None and case.score < 1][:_LISTED]
    # What was paid for before comes at once, and its wait says nothing.
    is_by_model = any(case.model_seconds > 0 for case in everything)
    slowest = sorted(everything, key=lambda case: (-(case.model_seconds if is_by_model else case.seconds), case.place))
    room = most_chars
    kept: set[int] = set()
    listed = {case.place for case in (*worst, *slowest[:_LISTED])}
    for one in sorted(ranked, key=lambda case: case.place not in listed):
        room -= _size(one)
        # What the lists link to is there, whatever it takes.
        if room < 0 and one.place not in listed:
            break
        kept.add(one.place)
    shown = tuple(case for case in everything if case.place in kept)
    return Cases(shown, len(everything) - len(shown), tuple(worst), tuple(slowest[:_LISTED]), is_by_model)


def _shown(place: int, of_case: Sequence[tuple[Evaluated, EvaluatedCase]], metric: str | None) -> ShownCase:
    first = of_case[0][1]
    known = known_answers(first.gold)
    scores = [case.values[metric] for _, case in of_case if metric is not None and metric in case.values]
    return ShownCase(
        place=place,
        case_id=first.case_id,
        question=first.question,
        known=known,
        known_readings=[one for one in first.gold.get("interpretations", ()) if one.get("interpretation")],
        known_documents=first.gold.get("document_ids", ()),
        score=fmean(scores) if scores else None,
        seconds=max(case.seconds for _, case in of_case),
        model_seconds=max(case.usage.model_seconds for _, case in of_case),
        given=tuple(_given(member, case, known) for member, case in of_case),
    )


def _given(member: Evaluated, case: EvaluatedCase, known: Sequence[Sequence[str]]) -> Given:
    everything = readings(case)
    given = tuple(
        GivenReading(
            interpretation=one["interpretation"],
            answer=one.get("answer"),
            support=one.get("support", 0),
            is_known=is_known(one, known) if known else None,
            is_grounded=one.get("is_grounded"),
            citations=one.get("citations", ())[:_MOST_CITATIONS],
            left_out=max(len(one.get("citations", ())) - _MOST_CITATIONS, 0),
        )
        for one in everything[:_MOST_READINGS]
    )
    return Given(member, case, given, len(everything) - len(given))


def _size(case: ShownCase) -> int:
    """About how many characters it takes on the page."""
    texts = sum(len(str(part)) for one in case.given for reading in one.readings for part in reading.citations)
    return texts + sum(400 + 300 * len(one.readings) for one in case.given) + len(json.dumps(case.known)) + 500
