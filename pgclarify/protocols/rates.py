"""The interface through which workers share the limits of an endpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Booking:
    """What a worker books of one limit, in seconds: of a limit of 60 calls a minute, a call is a second.

    Attributes:
        seconds: What the worker wants to send; 0 if it needs nothing of this limit now.
        accepted: What the endpoint reported that it still accepts, less a reserve; negative if it accepts nothing for
            so long. None if it did not report it.
        spare: What may be sent at once if no worker has called for so long; None for no more than usual.
    """

    seconds: float = 0.0
    accepted: float | None = None
    spare: float | None = None


class Rates(Protocol):
    """The rates at which all workers together may call endpoints."""

    async def book(self, endpoint: str, requests: Booking, tokens: Booking) -> float:
        """Book requests and tokens of an endpoint for this worker, after what all workers have booked before.

        It does not fail: without the database, the worker's runs fail elsewhere.

        Args:
            endpoint: The name of the endpoint.
            requests: What is booked of the limit of requests.
            tokens: What is booked of the limit of tokens.

        Returns:
            Seconds after which they may be sent; 0 or less for at once.
        """
