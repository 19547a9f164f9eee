"""Estimates the calls of an evaluation before it starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pgclarify.database.evaluations import Plan
from pgclarify.evaluation.bench import EXTRACTIVE, Bench
from pgclarify.evaluation.data_sets import DataSet
from pgclarify.operations.clarification import bounds

# The most calls of a case, for methods whose number of calls does not depend on what they find.
_FIXED: Final[Mapping[str, int]] = {"direct": 1, "dtv": 7, "dtv_unverified": 2, "rac": 2, "rewrite": 1}
# Defaults of options that bound the calls of an operation, as in SQL.
_MAX_CALLS: Final = 60
_TOP_K: Final = 20
_REFORMULATIONS: Final = 5
_CHECKED: Final = 4


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
    count, settings = len(data_set.cases), dict(plan.settings)
    if bench.serving.provider == EXTRACTIVE and plan.method not in _FIXED:
        return CallEstimate(count, 0, 0, cost_usd=0.0)
    if plan.method == "clarify":
        found = await bench.asking.client.estimate(
            [case.question for case in data_set.cases], corpus=plan.corpus_name, timeout=None, **settings
        )
        cost = None if found.cost_usd is None else float(found.cost_usd)
        return CallEstimate(count, found.calls, found.calls_at_most, found.reused_calls, cost)
    each = most_calls(plan.method, settings)
    at_most = None if each is None else count * each
    return CallEstimate(count, at_most if plan.method in _FIXED or each == 0 else None, at_most)


def most_calls(method: str, settings: Mapping[str, Any]) -> int | None:
    """Return the most calls of a method for one case; None without a limit that is known here."""
    match method:
        case "search":
            return None if "reranker" in settings else 0
        case "detect_ambiguity":
            return 0
        case "investigate":
            return int(settings.get("max_calls", _MAX_CALLS))
        case "list_answers":
            return sum(bounds.most_calls({"top_k": _TOP_K, **settings}, relaxes=True).values())
        case "clarifying_questions":
            is_checked = settings.get("form") == "select" and settings.get("check") != "none"
            each = settings.get("count", _REFORMULATIONS) * settings.get("top_k", _CHECKED)
            return 1 + each if is_checked else 1
        case _:
            return _FIXED.get(method)
