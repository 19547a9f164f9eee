"""The calls of one investigation: counted under a limit, and made through the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from pgclarify.data.model_calls import ModelCall
from pgclarify.data.runs import Tally
from pgclarify.database.ledger import LedgerTables
from pgclarify.errors import CompletionError, InvalidReply
from pgclarify.ledger.completions import CallResult, ask_all, ask_one
from pgclarify.protocols import Completer

T = TypeVar("T")

CALLS_TO_ANSWER = 2
"""Most calls for one answer, with its second attempt."""


class OutOfCalls(CompletionError):
    """Too few calls were left under the limit, so the call was not made."""

    def __init__(self) -> None:
        super().__init__("no calls were left for it")


class Unproven(InvalidReply):
    """A valid reply without proof."""


class Calls:
    """The calls of one run through a ledger, under a limit.

    Every call counts, whether it has to be paid for or not, so that a repeated run takes the same way.

    Args:
        ledger: The store of replies.
        completer: Makes the calls.
        most: The limit, at least 1.

    Attributes:
        were_short: True if something was skipped because too few calls were left.
    """

    def __init__(self, ledger: LedgerTables, completer: Completer, *, most: int) -> None:
        self._ledger = ledger
        self._completer = completer
        self._most = most
        self._taken = 0
        self._kept = 0
        self.were_short = False

    @property
    def left(self) -> int:
        """How many calls can be taken, without the reserved ones."""
        return max(self._most - self._taken - self._kept, 0)

    def shortage(self, kept: int) -> str:
        """Say that there were too few calls.

        Args:
            kept: How many calls were reserved for the question as a whole.
        """
        rest = f", of which {kept} are kept for the question as a whole" if 0 < kept < self._most else ""
        return f"the calls left did not suffice (limit {self._most}{rest})"

    @contextmanager
    def keeping(self, count: int) -> Iterator[None]:
        """Reserve calls for later: code in the block must leave this many."""
        self._kept += count
        try:
            yield
        finally:
            self._kept -= count

    def at_most(self, count: int) -> int:
        """Return how many of some calls can be taken; note if that is not all."""
        self.were_short |= count > self.left
        return min(count, self.left)

    def take(self, count: int) -> bool:
        """Take calls if that many are left; note if not."""
        if self.at_most(count) < count:
            return False
        self._taken += count
        return True

    async def ask(self, call: ModelCall[T], *, tally: Tally) -> T | CompletionError:
        """Make a call, and once more if the reply cannot be read or proves nothing, and a call is left.

        Args:
            call: The call.
            tally: Counts the replies.

        Returns:
            The result or the error: OutOfCalls if no call was left.

        Raises:
            DatabaseError: If the ledger fails.
        """
        if not self.take(1):
            return OutOfCalls()
        may_retry = partial(self.take, 1)
        result = await ask_one(self._ledger, self._completer, call, tally=tally, may_retry=may_retry)
        return result.value

    async def make(self, calls: Sequence[ModelCall[T]], tally: Tally) -> list[CallResult[T]]:
        """Make calls that were taken, all at once, without a second attempt.

        Raises:
            DatabaseError: If the ledger fails.
        """
        return await ask_all(self._ledger, self._completer, calls, tally=tally, may_retry=lambda: False)
