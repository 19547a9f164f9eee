"""Failures that say nothing of a case: the model was not there, or not set up."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from pgclarify.errors import ConfigurationError, EndpointFailed, EndpointUnavailable, ModelNotFound


class Outage(Enum):
    """A failure that would have met any case."""

    # Nothing can be asked before somebody has mended it: the key, the address, the model.
    LASTING = auto()
    # A server that failed or was too slow: it may have been for this case alone.
    PASSING = auto()


# All others belong to their case: a reply of the wrong form, a question that is too long.
_OUTAGES: Final = {
    ConfigurationError.sqlstate: Outage.LASTING,
    ModelNotFound.sqlstate: Outage.LASTING,
    EndpointUnavailable.sqlstate: Outage.LASTING,
    EndpointFailed.sqlstate: Outage.PASSING,
}


def outage_of(error_code: str | None) -> Outage | None:
    """Which outage an error_code stands for; None if the failure belongs to its case.

    Args:
        error_code: As a run keeps it, or as `code_of` has it; None for what did not fail.
    """
    return _OUTAGES.get(error_code or "")
