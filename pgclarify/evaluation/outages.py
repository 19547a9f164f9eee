"""Failures that say nothing of a case: whoever should have answered it was away, or not set up."""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final


class Outage(Enum):
    """A failure that would have met any case."""

    # Nothing can be asked before somebody has mended it: the key, the address, the model.
    LASTING = auto()
    # A server that failed or was too slow: it may have been for this case alone.
    PASSING = auto()


# What errors say, in words of providers/endpoint.py, operations/missing_models.py and embedding/loading.py: all that is
# left of them where a worker met them. The first that is found speaks: after it may come what a server said, and
# quotations.
_SAYINGS: Final = {
    "the endpoint refused the request": None,
    "the endpoint refused the key": Outage.LASTING,
    "the endpoint cannot be reached": Outage.LASTING,
    "the endpoint does not know the model": Outage.LASTING,
    "the endpoint's rate limit or quota": Outage.LASTING,
    "the endpoint's answer is not a chat completion": Outage.LASTING,
    "no language model": Outage.LASTING,
    "takes a language model:": Outage.LASTING,
    "no cross-encoder": Outage.LASTING,
    "no embedding model": Outage.LASTING,
    "the endpoint did not answer in time": Outage.PASSING,
    "the endpoint failed": Outage.PASSING,
}
_SAYING: Final = re.compile("|".join(map(re.escape, _SAYINGS)))


def outage_of(error: str) -> Outage | None:
    """Which outage an error tells of.

    Args:
        error: As it is kept beside a run, or as `describe` words it.

    Returns:
        None if it belongs to its case: a reply of the wrong form, a question that is too long, whatever is not known.
    """
    found = _SAYING.search(error)
    return _SAYINGS[found[0]] if found else None
