"""Failures that are unrelated to a case: the model was unavailable or not configured, or a budget is spent."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from pgclarify.database.evaluated_runs import RunFacts
from pgclarify.errors import (
    BudgetSpent,
    ConfigurationError,
    EndpointFailed,
    EndpointUnavailable,
    ModelNotFound,
    PriceMissing,
)
from pgclarify.vocabulary import StopCode


class Outage(Enum):
    """A failure that could happen with any case."""

    # A person must correct the key, the address, the model, a price or a budget before any call can succeed.
    LASTING = auto()
    # The server failed or was too slow, possibly only for this case.
    PASSING = auto()


# All other failures belong to their case: a reply of the wrong form, a question that is too long.
_OUTAGES: Final = {
    ConfigurationError.sqlstate: Outage.LASTING,
    ModelNotFound.sqlstate: Outage.LASTING,
    EndpointUnavailable.sqlstate: Outage.LASTING,
    BudgetSpent.sqlstate: Outage.LASTING,
    PriceMissing.sqlstate: Outage.LASTING,
    EndpointFailed.sqlstate: Outage.PASSING,
}


def outage_of(error_code: str | None) -> Outage | None:
    """Return the outage of an error_code; None if the failure belongs to its case.

    Args:
        error_code: The code of a run, or of `code_of`; None if there was no failure.
    """
    return _OUTAGES.get(error_code or "")


def outage_code(facts: RunFacts) -> str | None:
    """Return the code of the outage during a run, also a partial one; None if there was none.

    A partial run of which a budget refused calls has no error code, but a stop code.
    """
    if outage_of(facts.error_code) is not None:
        return facts.error_code
    return BudgetSpent.sqlstate if facts.stop_code == StopCode.BUDGET else None


def describe_outage(facts: RunFacts, code: str) -> str:
    """Describe the outage during a run that is partial."""
    if facts.stop_reason and facts.stop_code == StopCode.BUDGET:
        return facts.stop_reason
    return f"calls failed with {code}" + (f": {facts.stop_reason}" if facts.stop_reason else "")
