"""Failures that are unrelated to a case: the model was unavailable or not configured, or a budget is spent."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from pgclarify.database.evaluated_runs import RunFacts
from pgclarify.errors import BudgetSpent, EndpointFailed
from pgclarify.evaluated import Usage
from pgclarify.operations.context import OF_A_BUDGET, OUTAGES
from pgclarify.vocabulary import RunStatus, StopCode


class Outage(Enum):
    """A failure that could happen with any case."""

    # A person must correct the key, the address, the model, a price or a budget before any call can succeed.
    LASTING = auto()
    # The server failed or was too slow, possibly only for this case.
    PASSING = auto()


# All other failures belong to their case: a reply of the wrong form, a question that is too long.
_KINDS: Final = {
    **dict.fromkeys((*OUTAGES, *OF_A_BUDGET), Outage.LASTING),
    EndpointFailed.sqlstate: Outage.PASSING,
}


def outage_of(error_code: str | None) -> Outage | None:
    """Return the outage of an error_code; None if the failure belongs to its case.

    Args:
        error_code: The code of a run, or of `code_of`; None if there was no failure.
    """
    return _KINDS.get(error_code or "")


def outage_code(facts: RunFacts) -> str | None:
    """Return the code of the outage during a run, also a partial one; None if there was none.

    If a budget refused calls, the stop code shows it. The error code is of other calls that failed, so it comes second.
    """
    if facts.stop_code == StopCode.BUDGET:
        return BudgetSpent.sqlstate
    return facts.error_code if outage_of(facts.error_code) is not None else None


def is_lost(facts: RunFacts, code: str, usage: Usage) -> bool:
    """Return whether a run with an outage has no result that counts.

    A partial run counts if the outage passes and the server answered other calls of the run.

    Args:
        facts: The run.
        code: The result of `outage_code`.
        usage: The calls that were answered.
    """
    return facts.status is not RunStatus.PARTIAL or outage_of(code) is Outage.LASTING or not usage.calls


def describe_outage(facts: RunFacts, code: str) -> str:
    """Describe the outage during a run that is partial."""
    if facts.stop_reason and facts.stop_code == StopCode.BUDGET:
        return facts.stop_reason
    return f"calls failed with {code}" + (f": {facts.failure}" if facts.failure else "")
