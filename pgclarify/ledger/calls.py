"""The calls that one investigation asks for: counted, so that they can be bounded, and made through the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from pgclarify.errors import CompletionError, InvalidReply
from pgclarify.ledger.completions import Paid, PollInterval, ask_one, complete_all
from pgclarify.model_calls import ModelCall
from pgclarify.protocols import Completer, Ledger, Meter

T = TypeVar("T")

CALLS_TO_ANSWER = 2
"""What one answer may need, its second try included."""


class OutOfCalls(CompletionError):
    """There were not enough calls under the limit, and the call was not made."""

    def __init__(self) -> None:
        super().__init__("no calls were left for it")


class Unproven(InvalidReply):
    """A reply that fits its form, but whose proof is not there."""


class Calls:
    """The calls of one run, in a ledger, under a limit.

    What is counted is what is asked for, whether it has to be paid for or not: a run that is made again takes the same
    way.

    Args:
        ledger: Where replies are kept.
        completer: Who is asked.
        most: The limit, at least 1.
        poll: How often to look for replies that others are paying for.

    Attributes:
        were_short: True once something was left out for want of calls.
    """

    def __init__(self, ledger: Ledger, completer: Completer, *, most: int, poll: PollInterval) -> None:
        self._ledger = ledger
        self._completer = completer
        self._most = most
        self._poll = poll
        self._taken = 0
        self._kept = 0
        self.were_short = False

    @property
    def left(self) -> int:
        """How many can be taken, apart from those that are kept."""
        return max(self._most - self._taken - self._kept, 0)

    def shortage(self, kept: int) -> str:
        """Say that the calls did not suffice.

        Args:
            kept: How many of them were kept for the conclusion.
        """
        rest = f", of which {kept} are kept for the conclusion" if 0 < kept < self._most else ""
        return f"the calls left did not suffice (limit {self._most}{rest})"

    @contextmanager
    def keeping(self, count: int) -> Iterator[None]:
        """Keep calls for later: whoever takes some meanwhile has to leave as many."""
        self._kept += count
        try:
            yield
        finally:
            self._kept -= count

    def at_most(self, count: int) -> int:
        """Tell how many of some calls can be taken, and note if not all."""
        self.were_short |= count > self.left
        return min(count, self.left)

    def take(self, count: int) -> bool:
        """Take calls if there are as many, and note if not."""
        if self.at_most(count) < count:
            return False
        self._taken += count
        return True

    async def ask(self, render: Callable[[], ModelCall[T]], *, tally: Meter) -> T | CompletionError:
        """Ask, and once more if the reply cannot be read or proves nothing, and there is a call for that.

        Args:
            render: Renders the call, as things stand when it is made.
            tally: Where replies are counted.

        Returns:
            What was read, or why nothing was: OutOfCalls if there was no call left to take.

        Raises:
            DatabaseError: If the ledger fails.
        """
        if not self.take(1):
            return OutOfCalls()
        result = await ask_one(
            self._ledger,
            self._completer,
            render(),
            poll=self._poll,
            tally=tally,
            may_retry=partial(self.take, 1),
            retry=lambda _: render().retry(),
        )
        return result.value

    async def make(self, calls: Sequence[ModelCall[T]], tally: Meter) -> list[Paid | CompletionError]:
        """Make calls that have been taken, all at once.

        Raises:
            DatabaseError: If the ledger fails.
        """
        results: dict[int, Paid | CompletionError] = {}

        async def on_result(index: int, result: Paid | CompletionError) -> None:
            results[index] = result

        requests = [self._completer.request(call) for call in calls]
        await complete_all(self._ledger, self._completer, requests, on_result, poll=self._poll, tally=tally)
        return [results[index] for index in range(len(calls))]
