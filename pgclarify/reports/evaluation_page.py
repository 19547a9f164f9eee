"""The page of evaluations: figures side by side, and single cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from pgclarify.algorithms.metrics import cover_exact_match
from pgclarify.database.evaluations import EvaluatedCase, Evaluation, EvaluationTables
from pgclarify.errors import NotFound
from pgclarify.evaluation.figures import FIGURES, Difference, Figure, compare, summarize
from pgclarify.reports.formats import shortened
from pgclarify.reports.pages import render

_MOST_EVALUATIONS: Final = 12
_MOST_CASES: Final = 200
_NO_CHANGE: Final = ("may be chance", "the same")
# Cases are sorted by the first of these that the evaluations have.
_QUALITY: Final = ("coverage", "answer_f1", "grounded_f1", "recall@10", "ambiguity_f1")


@dataclass(frozen=True, slots=True)
class Member:
    """An evaluation of the page, with its cases by id and its figures."""

    number: int
    evaluation: Evaluation
    cases: Mapping[str, EvaluatedCase]
    figures: Mapping[str, Figure]


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure of an evaluation, and how it differs from the first one; None for the first, or without a difference."""

    figure: Figure | None
    verdict: str | None = None


async def read_evaluations(tables: EvaluationTables, references: Sequence[str]) -> list[Member]:
    """Read evaluations; without references, those of the latest data set, the latest of each name.

    Raises:
        NotFound: If there is none.
    """
    if references:
        chosen = [await tables.find(one) for one in references]
    else:
        every = [one for one in await tables.evaluations() if one.finished_at is not None]
        same = [one for one in every if one.data_set_hash == every[0].data_set_hash]
        chosen = list({one.name: one for one in reversed(same)}.values())[-_MOST_EVALUATIONS:]
    if not chosen:
        raise NotFound("there is no finished evaluation", hint="Start one with: pgclarify eval run DATA_SET")
    members = []
    for place, one in enumerate({one.eval_run_id: one for one in chosen}.values()):
        cases = {case.case_id: case for case in await tables.cases(one.eval_run_id)}
        figures = summarize([case.figures for case in cases.values()])
        members.append(Member(place + 1, one, cases, figures))
    return members


def evaluation_page(members: Sequence[Member]) -> str:
    """Render the page of evaluations as self-contained HTML. All text in them may be hostile."""
    first = members[0].evaluation
    quality = next((name for name in _QUALITY if all(name in one.figures for one in members)), None)
    ids = list(dict.fromkeys(case_id for one in members for case_id in one.cases))
    ids.sort(key=lambda case_id: _worth(members, case_id, quality))
    return render(
        "evaluation.html",
        title=f"Evaluation: {shortened(first.data_set, 80)}",
        written_at=datetime.now(UTC),
        data_set=shortened(first.data_set, 160),
        members=members,
        rows=_rows(members),
        quality=quality,
        cases=[_case(members, case_id) for case_id in ids[:_MOST_CASES]],
        left_out=max(0, len(ids) - _MOST_CASES),
        conditions=sorted({name for one in members for name in one.evaluation.conditions}),
    )


def _rows(members: Sequence[Member]) -> list[tuple[str, list[Cell]]]:
    differences = [_differences(members[0], one) for one in members]
    return [
        (
            name,
            [
                Cell(one.figures.get(name), _verdict(found.get(name)))
                for one, found in zip(members, differences, strict=True)
            ],
        )
        for name in FIGURES
        if any(name in one.figures for one in members)
    ]


def _differences(first: Member, other: Member) -> Mapping[str, Difference]:
    if first is other:
        return {}
    pairs = [
        (case.figures, other.cases[case_id].figures) for case_id, case in first.cases.items() if case_id in other.cases
    ]
    return {one.figure: one for one in compare(pairs)}


def _verdict(difference: Difference | None) -> str | None:
    return difference.verdict if difference is not None and difference.verdict not in _NO_CHANGE else None


def _worth(members: Sequence[Member], case_id: str, quality: str | None) -> float:
    """Return the mean quality of a case, so that the worst cases come first."""
    values = [one.cases[case_id].figures.get(quality or "", 0.0) for one in members if case_id in one.cases]
    return sum(values) / len(values)


def _case(members: Sequence[Member], case_id: str) -> Mapping[str, Any]:
    given = [(one, one.cases[case_id]) for one in members if case_id in one.cases]
    gold = given[0][1].gold
    stated = [one["answers"] for one in gold.get("interpretations", ()) if one["answers"]]
    known = stated or [names for person in gold.get("answer_sets", ()) for names in person]
    wrong = gold.get("wrong_answers", ())
    return {
        "case_id": case_id,
        "question": given[0][1].question,
        "known": known,
        "wrong": wrong,
        "given": [
            {
                "member": one,
                "case": case,
                "readings": [
                    reading | {"is_known": _is_among(reading, known), "is_wrong": _is_among(reading, [wrong])}
                    for reading in case.output["interpretations"]
                ],
            }
            for one, case in given
        ],
    }


def _is_among(reading: Mapping[str, Any], answers: Sequence[Sequence[str]]) -> bool:
    """Return whether the answer of a reading is one of these, each in all its spellings."""
    return any(cover_exact_match(reading["answer"] or "", names) for names in answers)
