"""The rates of endpoints, which all workers share."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from pgclarify.database.pool import Pool, fetch_value
from pgclarify.errors import DatabaseError
from pgclarify.protocols import Booking

_logger = logging.getLogger(__name__)


class EndpointRates:
    """The rates of endpoints. Implements protocols.Rates, and is opened before the database is."""

    def __init__(self) -> None:
        self._pool: Pool | None = None

    @contextmanager
    def shared(self, pool: Pool) -> Iterator[None]:
        """Share the rates through a database in this block."""
        self._pool = pool
        try:
            yield
        finally:
            self._pool = None

    async def book(self, endpoint: str, requests: Booking, tokens: Booking) -> float:
        """Book requests and tokens; see protocols.Rates. Without the database, this process keeps the rate alone."""
        alone = max(requests.seconds, tokens.seconds)
        if self._pool is None:
            return alone
        arguments = {
            f"{unit}_{name}": None if seconds is None else timedelta(seconds=seconds)
            for unit, booking in (("requests", requests), ("tokens", tokens))
            for name, seconds in (("time", booking.seconds), ("accepted", booking.accepted), ("spare", booking.spare))
        }
        try:
            wait: timedelta = await fetch_value(self._pool, "book_endpoint", endpoint=endpoint, **arguments)
        except DatabaseError as error:
            _logger.warning("the rate of %s is not shared with other workers now: %s", endpoint, error.message)
            return alone
        return wait.total_seconds()
