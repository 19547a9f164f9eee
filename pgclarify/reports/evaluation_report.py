"""Which evaluations a report is of, and what they come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from pgclarify.errors import InputError, NotFound
from pgclarify.evaluated import EvaluatedCase, Evaluation, Summary
from pgclarify.evaluation.summaries import summarize
from pgclarify.reports.marks import Mark, mark

# Further back nobody looks for evaluations of the latest data set.
_MOST_LOOKED_AT = 1000
MOST_EVALUATIONS = 30


class Evaluations(Protocol):
    """Where evaluations are kept: EvaluationTables, as far as a report needs them."""

    async def find(self, reference: str) -> Evaluation:
        """An evaluation by its id or name."""

    async def evaluations(self, limit: int) -> list[Evaluation]:
        """The latest, newest first."""

    async def summaries(self, eval_run_ids: Sequence[int]) -> Mapping[int, Mapping[str, Summary]]:
        """The metrics of all cases together, by evaluation."""

    async def cases(self, eval_run_id: int) -> list[EvaluatedCase]:
        """The cases of one, by ordinal."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One evaluation with all that it came to.

    Attributes:
        number: What it is called by in charts, from 1.
        evaluation: The evaluation.
        summaries: Its metrics by name; of one that is not finished, over the cases that it has.
        cases: By ordinal.
    """

    number: int
    evaluation: Evaluation
    summaries: Mapping[str, Summary]
    cases: tuple[EvaluatedCase, ...]

    @property
    def mark(self) -> Mark:
        """How it is drawn."""
        return mark(self.number - 1, 7)


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """Everything that the page of evaluations shows.

    Attributes:
        members: At least one; all of the same cases, oldest first unless they were named in another order.
        left_out: How many evaluations of these cases are not shown, for want of a case or of room.
        written_at: When it was read.
    """

    members: tuple[Evaluated, ...]
    left_out: int
    written_at: datetime


async def read_evaluations(tables: Evaluations, references: Sequence[str]) -> EvaluationReport:
    """Read evaluations of one data set.

    Args:
        tables: Where they are kept; its role decides what is seen.
        references: Ids or names; none means those of the latest data set, of each name the latest.

    Raises:
        NotFound: If there is none, or one that is named does not exist.
        InputError: If they are of different cases, or too many.
    """
    left_out = 0
    if references:
        chosen = list({one.eval_run_id: one for one in [await tables.find(name) for name in references]}.values())
        _check_same_cases(chosen)
        if len(chosen) > MOST_EVALUATIONS:
            raise InputError(
                "there are too many evaluations for one page",
                detail=f"They are {len(chosen)}; {MOST_EVALUATIONS} is the most.",
                hint="Name fewer.",
            )
    else:
        latest = await tables.evaluations(_MOST_LOOKED_AT)
        # Newest first: the first of a name is its latest.
        named: dict[str, Evaluation] = {}
        for one in latest:
            if one.plan.data_set_hash == latest[0].plan.data_set_hash:
                named.setdefault(one.plan.name, one)
        there = [one for one in named.values() if one.done_cases]
        left_out = len(named) - len(there[:MOST_EVALUATIONS])
        chosen = there[:MOST_EVALUATIONS][::-1]
    if not any(one.done_cases for one in chosen):
        raise NotFound(
            "there is nothing to report",
            detail="No evaluation that you may see has a case that is done.",
            hint="Make one: pgclarify eval run",
        )
    summaries = await tables.summaries([one.eval_run_id for one in chosen])
    members = []
    for number, one in enumerate(chosen, start=1):
        cases = tuple(await tables.cases(one.eval_run_id))
        known = summaries.get(one.eval_run_id) or summarize([case.values for case in cases])
        members.append(Evaluated(number, one, known, cases))
    return EvaluationReport(tuple(members), left_out, datetime.now(UTC))


def _check_same_cases(chosen: Sequence[Evaluation]) -> None:
    first = chosen[0]
    for other in chosen[1:]:
        if other.plan.data_set_hash != first.plan.data_set_hash:
            raise InputError(
                "these evaluations are of different cases",
                detail=(
                    f"{first.eval_run_id} is of {first.plan.data_set} ({first.plan.planned_cases} cases), "
                    f"{other.eval_run_id} of {other.plan.data_set} ({other.plan.planned_cases} cases)."
                ),
                hint="Name evaluations of one data set, and of the same selection of its cases.",
            )
