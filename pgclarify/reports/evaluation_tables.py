"""Reads the data of the report of evaluations, as one role sees it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Protocol

from pgclarify.errors import InputError, NotFound
from pgclarify.evaluated import EvaluatedCase, Evaluation, Summary
from pgclarify.evaluation.summaries import summarize
from pgclarify.reports.evaluation_cases import choose_cases
from pgclarify.reports.evaluation_report import Evaluated, EvaluationReport
from pgclarify.reports.metric_table import leading_metric
from pgclarify.reports.verdict_curves import verdict_curves

# How many recent evaluations are searched for those of the latest data set.
_MOST_LOOKED_AT = 1000
MOST_EVALUATIONS = 30


class Evaluations(Protocol):
    """Where evaluations are kept: the part of EvaluationTables that a report needs."""

    async def find(self, reference: str) -> Evaluation:
        """An evaluation by its id or name."""

    async def evaluations(self, limit: int) -> list[Evaluation]:
        """The latest, newest first."""

    async def summaries(self, eval_run_ids: Sequence[int]) -> Mapping[int, Mapping[str, Summary]]:
        """The metrics of all cases together, by evaluation."""

    async def strata(self, eval_run_ids: Sequence[int]) -> Mapping[int, Mapping[str, Mapping[str, Summary]]]:
        """The metrics within each stratum, by evaluation."""

    async def values(self, eval_run_id: int) -> list[tuple[int, Mapping[str, float]]]:
        """The metrics of each case, by ordinal."""

    async def answers_by_call(self, eval_run_id: int) -> list[tuple[Mapping[str, Any], Sequence[Any]]]:
        """For each case, the known answers, and which answers were found after how many calls and tokens."""

    async def cases(self, eval_run_id: int, ordinals: Sequence[int]) -> list[EvaluatedCase]:
        """The cases of these ordinals."""


async def read_evaluations(tables: Evaluations, references: Sequence[str]) -> EvaluationReport:
    """Read evaluations of one data set: the metrics of all cases, and the outputs of the cases that are shown.

    Args:
        tables: Where they are kept; its role decides what is visible.
        references: Ids or names. If empty, those of the latest data set: for each name the latest finished evaluation,
            or else the latest.

    Raises:
        NotFound: If there is none, or a named one does not exist.
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
        named = _best_of_each_name(await tables.evaluations(_MOST_LOOKED_AT))
        there = [one for one in named if one.done_cases]
        left_out = len(named) - len(there[:MOST_EVALUATIONS])
        chosen = there[:MOST_EVALUATIONS][::-1]
    if not any(one.done_cases for one in chosen):
        raise NotFound(
            "there is nothing to report",
            detail="No evaluation that you may see has a case that is done.",
            hint="Make one: pgclarify eval run",
        )
    ids = [one.eval_run_id for one in chosen]
    summaries, strata = await tables.summaries(ids), await tables.strata(ids)
    members = [
        replace(await _read(tables, number, one, summaries[one.eval_run_id]), strata=strata[one.eval_run_id])
        for number, one in enumerate(chosen, start=1)
    ]
    metric = leading_metric(members)
    cases = await choose_cases(tables, members, metric)
    return EvaluationReport(tuple(members), metric, cases, left_out, datetime.now(UTC))


def _best_of_each_name(latest: Sequence[Evaluation]) -> list[Evaluation]:
    """For the latest data set, return the latest finished evaluation of each name, else the latest with a case."""
    named: dict[str, Evaluation] = {}
    for one in latest:
        if one.plan.data_set_hash == latest[0].plan.data_set_hash:
            # Sorted from newest, so max returns the newest of equals.
            named[one.plan.name] = max(named.get(one.plan.name, one), one, key=_how_far)
    return sorted(named.values(), key=lambda one: one.eval_run_id, reverse=True)


def _how_far(one: Evaluation) -> tuple[bool, bool]:
    return one.finished_at is not None, one.done_cases > 0


async def _read(tables: Evaluations, number: int, evaluation: Evaluation, known: Mapping[str, Summary]) -> Evaluated:
    # A cache, because thousands of cases have the same few names.
    values = {
        ordinal: {sys.intern(name): value for name, value in of_case.items()}
        for ordinal, of_case in await tables.values(evaluation.eval_run_id)
    }
    curves = None
    if evaluation.plan.method == "clarify":
        curves = verdict_curves(await tables.answers_by_call(evaluation.eval_run_id))
    return Evaluated(number, evaluation, known or summarize(list(values.values())), values, curves)


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
