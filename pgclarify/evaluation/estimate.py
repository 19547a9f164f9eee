"""Estimates the calls of an evaluation before it starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pgclarify.config import Provider
from pgclarify.database.evaluations import Plan
from pgclarify.declared import operations as declared
from pgclarify.evaluation.baselines import BASELINES
from pgclarify.evaluation.bench import Bench
from pgclarify.evaluation.data_sets import DataSet
from pgclarify.operations.table import OPERATIONS


@dataclass(frozen=True, slots=True)
class CallEstimate:
    """The calls of one method, without those of a judge.

    Attributes:
        cases: How many cases would be asked.
        calls: About how many calls would be made and paid for; None if it depends on what the method finds.
        at_most: Most calls, without second tries after replies that do not fit; None if there is no such limit.
        reused: How many further calls are paid for already; None if unknown.
        cost_usd: What the calls cost; None if unknown.
    """

    cases: int
    calls: int | None
    at_most: int | None
    reused: int | None = None
    cost_usd: float | None = None


async def estimate(bench: Bench, plan: Plan, data_set: DataSet) -> CallEstimate:
    """Estimate the calls of an evaluation. For clarify, the server counts what the ledger has.

    Raises:
        PgclarifyError: If the server refuses.
    """
    count = len(data_set.cases)
    if plan.method in BASELINES:
        calls = count * BASELINES[plan.method].calls
        return CallEstimate(count, calls, calls)
    if bench.serving.provider == Provider.EXTRACTIVE:
        return CallEstimate(count, 0, 0, cost_usd=0.0)
    if declared.OPERATIONS[plan.method].is_estimated:
        found = await bench.asking.client.estimate(
            [case.question for case in data_set.cases], corpus=plan.corpus_name, timeout=None, **plan.settings
        )
        cost = None if found.cost_usd is None else float(found.cost_usd)
        return CallEstimate(count, found.calls, found.calls_at_most, found.reused_calls, cost)
    each = most_calls(plan.method, plan.settings)
    return CallEstimate(count, 0 if each == 0 else None, None if each is None else count * each)


def most_calls(operation: str, settings: Mapping[str, Any]) -> int | None:
    """Return the most calls of an operation for one case; None without a limit that is known here."""
    return OPERATIONS[operation].most_calls({**declared.OPERATIONS[operation].defaults, **settings})
