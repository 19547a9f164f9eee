"""What the ledger does when calls are sent, in memory."""

from __future__ import annotations

from collections.abc import Callable


class FakeSending:
    """Records the requests of a call.

    Args:
        on_begin: Called before each request; it may raise.

    Attributes:
        is_prepared: Whether the call was told to prepare.
        begun: For each request, whether the one before may be charged.
        may_be_charged: Whether the last one may be charged.
    """

    def __init__(self, on_begin: Callable[[], object] = lambda: None) -> None:
        self.is_prepared = False
        self.begun: list[bool] = []
        self.may_be_charged = False
        self._on_begin = on_begin

    def prepare(self) -> None:
        """Note that the call is told to prepare."""
        self.is_prepared = True

    async def begin(self) -> None:
        """Note a request."""
        self._on_begin()
        self.begun.append(self.may_be_charged)
        self.may_be_charged = True

    def note_free(self) -> None:
        """Note that the last request costs nothing."""
        self.may_be_charged = False
