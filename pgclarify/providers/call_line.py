"""The line in which calls wait for an endpoint that takes only so many at once, and who goes first in it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from pgclarify.protocols import is_waited_for

# What a run asks many times over.
_MASS_PURPOSES: Final = frozenset({"verdict", "relevance", "entailment", "sample"})


class CallLine:
    """Calls that wait for their turn, in order of arrival, but for masses of them.

    A run asks some calls many times over, and everything else in it waits for those that it begins with. So these
    masses have lines of their own, of which no more calls than the limit stand in the common line at once. One is for
    runs that somebody waits for: their calls do not stand behind those of a batch.

    Args:
        most: Most calls that have their turn at once.
    """

    def __init__(self, most: int) -> None:
        self._limit = asyncio.Semaphore(most)
        self._masses = {waited: asyncio.Semaphore(most) for waited in (False, True)}

    @asynccontextmanager
    async def turn(self, purpose: str) -> AsyncIterator[None]:
        """Wait for the turn of a call, and keep it as long as the block lasts.

        Args:
            purpose: What the reply is for.
        """
        if purpose not in _MASS_PURPOSES:
            async with self._limit:
                yield
        else:
            async with self._masses[is_waited_for()], self._limit:
                yield
