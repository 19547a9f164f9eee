"""A call from its lease to its end: which of its requests are sent, and which of them the endpoint may charge for."""

from __future__ import annotations

import asyncio

from pgclarify.data.model_calls import CompletionRequest
from pgclarify.database.ledger import LedgerTables
from pgclarify.database.presence import LEASE
from pgclarify.ledger.tasks import to_the_end

# A call that has waited longer for its turn renews its lease: its worker may have been frozen, and counts as dead. A
# heartbeat may be a quarter of LEASE older than the lease of the call.
_RENEWAL_SECONDS = LEASE.total_seconds() * 3 / 4


class NotOurs(Exception):
    """The lease of the call is lost: another run has stored the reply, or is making the call."""


class RunOver(Exception):
    """The run is over, so that no further request is sent."""


class LeasedCall:
    """A call that this run has leased, until its reply is stored or its lease released. Implements protocols.Sending.

    Args:
        ledger: The store of replies.
        request: The request.
        completion_id: The row of the ledger.
        is_noted: Whether the claim has noted it as sent.

    Attributes:
        request: As given.
        completion_id: As given.
        may_be_charged: Whether the endpoint may charge for the last request.
        is_left: Whether its run is over.
    """

    def __init__(self, ledger: LedgerTables, request: CompletionRequest, completion_id: int, *, is_noted: bool) -> None:
        self._ledger = ledger
        self.request = request
        self.completion_id = completion_id
        self.may_be_charged = False
        self.is_left = False
        # Whether the call may be sent, once it is noted as sent; and when its lease began.
        self._noting: asyncio.Future[bool] | None = None
        self._leased_at = asyncio.get_running_loop().time()
        if is_noted:
            self._noting = asyncio.get_running_loop().create_future()
            self._noting.set_result(True)

    def prepare(self) -> None:
        """Begin to note the call as sent."""
        if self._noting is None:
            self._leased_at = asyncio.get_running_loop().time()
            self._noting = asyncio.ensure_future(self._ledger.note_sent(self.completion_id))
            # If the call is given up before its turn, its error does not matter.
            self._noting.add_done_callback(lambda noting: noting.cancelled() or noting.exception())

    async def begin(self) -> None:
        """Note a request as sent.

        Raises:
            NotOurs: If the lease is lost.
            RunOver: If the run is over.
            NotAllowed: If a budget does not allow another call.
        """
        if self.is_left:
            raise RunOver
        if self.may_be_charged:
            is_ours = await to_the_end(self._ledger.note_sent_again(self.completion_id))
        else:
            if asyncio.get_running_loop().time() - self._leased_at >= _RENEWAL_SECONDS:
                # Another worker may have taken the row over. Then both would pay.
                await self.noted()
                self._noting = None
            self.prepare()
            is_ours = self._noting is not None and await asyncio.shield(self._noting)
        if not is_ours:
            raise NotOurs
        self.may_be_charged = True

    def note_free(self) -> None:
        """Note that the last request costs nothing."""
        self.may_be_charged = False

    async def noted(self) -> None:
        """Wait until the call is noted, if that has begun. Its lease is another one then."""
        if self._noting is not None:
            await asyncio.wait([self._noting])
