"""Single cases on the page of evaluations: which cases are shown, and how much of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

from pgclarify.evaluated import EvaluatedCase
from pgclarify.evaluation.changes import is_known, known_answers, readings
from pgclarify.reports.evaluation_report import Cases, Evaluated, Given, GivenReading, ShownCase

# Length of the lists of the slowest and of the worst cases.
_LISTED = 10
# Most characters of outputs. A larger page is slow to open.
_MOST_CHARS = 2_500_000
_MOST_READINGS = 20
_MOST_CITATIONS = 5
# How many cases are read at once, each with the outputs of all evaluations.
_AT_ONCE = 50


class CaseTables(Protocol):
    """Where cases are kept."""

    async def cases(self, eval_run_id: int, ordinals: Sequence[int]) -> list[EvaluatedCase]:
        """The cases of these ordinals, with what their method gave."""


@dataclass(frozen=True, slots=True)
class _Rank:
    """What is known of a case before its outputs are read.

    Attributes:
        score: The mean of the leading metric; None if no evaluation has it.
        seconds: The longest time of an evaluation.
        model_seconds: The longest time of the model, if it was called.
    """

    place: int
    score: float | None
    seconds: float
    model_seconds: float


async def choose_cases(
    tables: CaseTables, members: Sequence[Evaluated], metric: str | None, *, most_chars: int = _MOST_CHARS
) -> Cases:
    """Choose the cases of the page: all if there is room, else the worst and the slowest.

    Their metrics decide. Outputs are read only for the chosen cases, and for a few that turn out not to fit.

    Args:
        tables: Where cases are kept.
        members: At least one, all of the same data set.
        metric: The metric that ranks cases, where more is better; None ranks none.
        most_chars: The room, in characters.
    """
    everything = [_rank(place, members, metric) for place in sorted({place for one in members for place in one.values})]
    # Without a score, a case is not known to be bad.
    ranked = sorted(everything, key=lambda case: (case.score is None, case.score or 0.0, case.place))
    worst = [case for case in ranked if case.score is not None and case.score < 1][:_LISTED]
    # A reply from the ledger arrives at once, so its time says nothing.
    is_by_model = any(case.model_seconds > 0 for case in everything)
    slowest = sorted(everything, key=lambda case: (-(case.model_seconds if is_by_model else case.seconds), case.place))
    slowest = slowest[:_LISTED]
    listed = {case.place for case in (*worst, *slowest)}
    order = sorted(ranked, key=lambda case: case.place not in listed)
    kept: dict[int, ShownCase] = {}
    room = most_chars
    for begin in range(0, len(order), _AT_ONCE):
        if room < 0:
            break
        for one in await _read(tables, members, order[begin : begin + _AT_ONCE]):
            room -= _size(one)
            # The lists link to these cases, so they are always included.
            if room < 0 and one.place not in listed:
                break
            kept[one.place] = one
    return Cases(
        shown=tuple(kept[place] for place in sorted(kept)),
        left_out=len(everything) - len(kept),
        worst=tuple(kept[case.place] for case in worst if case.place in kept),
        slowest=tuple(kept[case.place] for case in slowest if case.place in kept),
        is_by_model=is_by_model,
    )


def _rank(place: int, members: Sequence[Evaluated], metric: str | None) -> _Rank:
    of_case = [one.values[place] for one in members if place in one.values]
    scores = [values[metric] for values in of_case if metric is not None and metric in values]
    return _Rank(
        place,
        fmean(scores) if scores else None,
        max(values.get("seconds", 0.0) for values in of_case),
        max(values.get("model_seconds", 0.0) for values in of_case),
    )


async def _read(tables: CaseTables, members: Sequence[Evaluated], ranked: Sequence[_Rank]) -> list[ShownCase]:
    """Read cases in order. Cases that were deleted meanwhile are skipped."""
    given: dict[int, list[tuple[Evaluated, EvaluatedCase]]] = {one.place: [] for one in ranked}
    for member in members:
        # Cases that finished after the metrics were read are skipped.
        wanted = [place for place in given if place in member.values]
        for case in await tables.cases(member.evaluation.eval_run_id, wanted) if wanted else ():
            given[case.ordinal].append((member, case))
    return [_shown(one, given[one.place]) for one in ranked if given[one.place]]


def _shown(rank: _Rank, of_case: Sequence[tuple[Evaluated, EvaluatedCase]]) -> ShownCase:
    first = of_case[0][1]
    known = known_answers(first.gold)
    return ShownCase(
        place=rank.place,
        case_id=first.case_id,
        question=first.question,
        known=known,
        known_readings=[one for one in first.gold.get("interpretations", ()) if one.get("interpretation")],
        known_documents=first.gold.get("document_ids", ()),
        score=rank.score,
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
    """Estimate how many characters a case needs on the page."""
    texts = sum(len(str(part)) for one in case.given for reading in one.readings for part in reading.citations)
    return texts + sum(400 + 300 * len(one.readings) for one in case.given) + len(json.dumps(case.known)) + 500
