"""Failures that are unrelated to a case: the model was unavailable or not configured."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from pgclarify.errors import ConfigurationError, EndpointFailed, EndpointUnavailable, ModelNotFound


class Outage(Enum):
    """A failure that could happen with any case."""

    # A person must correct the key, the address or the model before any call can succeed.
    LASTING = auto()
    # The server failed or was too slow, possibly only for this case.
    PASSING = auto()


# All other failures belong to their case: a reply of the wrong form, a question that is too long.
_OUTAGES: Final = {
    ConfigurationError.sqlstate: Outage.LASTING,
    ModelNotFound.sqlstate: Outage.LASTING,
    EndpointUnavailable.sqlstate: Outage.LASTING,
    EndpointFailed.sqlstate: Outage.PASSING,
}


def outage_of(error_code: str | None) -> Outage | None:
    """Return the outage of an error_code; None if the failure belongs to its case.

    Args:
        error_code: The code of a run, or of `code_of`; None if there was no failure.
    """
    return _OUTAGES.get(error_code or "")
