"""The calls that one investigation asks for: counted, so that they can be bounded, and made through the ledger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from pgclarify.errors import CompletionError, InvalidReply
from pgclarify.model import Completion, CompletionRequest
from pgclarify.pipelines.completions import Pace, Paid, complete_all, is_storable
from pgclarify.pipelines.trace import Tally
from pgclarify.protocols import Completer, Ledger

T = TypeVar("T")


class OutOfCalls(CompletionError):
    """The limit on calls was reached, and the call was not made."""


class Unproven(InvalidReply):
    """A reply that fits its form, but whose proof is not there."""


class Render(Protocol):
    """Renders a request, or the same once more with a reminder of the form."""

    def __call__(self, *, retry: bool = False) -> CompletionRequest:
        """Render it."""


class Calls:
    """The calls of one run, in a ledger, under a limit.

    What is counted is what is asked for, whether it has to be paid for or not: a run that is made again takes the same
    way.

    Args:
        ledger: Where replies are kept.
        completer: Who is asked.
        most: The limit, at least 1.
        pace: How often to look for replies that others are paying for.

    Attributes:
        were_short: True once something was left out for want of calls.
    """

    def __init__(self, ledger: Ledger, completer: Completer, *, most: int, pace: Pace) -> None:
        self._ledger = ledger
        self._completer = completer
        self._most = most
        self._pace = pace
        self._taken = 0
        self.were_short = False

    @property
    def most(self) -> int:
        """The limit."""
        return self._most

    def take(self, count: int, *, keep: int = 0) -> bool:
        """Take calls if there are as many, and note if not.

        Args:
            count: How many.
            keep: How many have to be left after it.
        """
        if self._taken + count + keep > self._most:
            self.were_short = True
            return False
        self._taken += count
        return True

    def note(self, count: int) -> None:
        """Count calls that were made elsewhere."""
        self._taken += count

    async def ask(
        self, render: Render, read: Callable[[Completion], T], *, tally: Tally, keep: int = 0
    ) -> T | CompletionError:
        """Ask, and once more if the reply cannot be read or proves nothing.

        Args:
            render: What is asked.
            read: Reads the reply, or raises InvalidReply.
            tally: Where replies are counted.
            keep: How many calls have to be left after it.

        Returns:
            What was read, or why nothing was: OutOfCalls if there was no call left to take.

        Raises:
            DatabaseError: If the ledger fails.
        """
        value: T | CompletionError = OutOfCalls("the limit on calls was reached")
        for retry in (False, True):
            if not self.take(1, keep=keep):
                break
            (result,) = await self.make([render(retry=retry)], tally)
            value = result if isinstance(result, CompletionError) else _read(read, result.completion)
            if not isinstance(value, InvalidReply):
                break
        return value

    async def make(self, requests: list[CompletionRequest], tally: Tally) -> list[Paid | CompletionError]:
        """Make calls that have been taken, all at once.

        Raises:
            DatabaseError: If the ledger fails.
        """
        results: dict[int, Paid | CompletionError] = {}

        async def land(index: int, result: Paid | CompletionError) -> None:
            results[index] = result

        await complete_all(self._ledger, self._completer, requests, land, pace=self._pace, tally=tally)
        return [results[index] for index in range(len(requests))]


def check_storable(*texts: str | None) -> None:
    """Refuse what PostgreSQL cannot keep: a reply of plain characters can spell it out, as JSON does.

    Raises:
        InvalidReply: If a text holds such characters.
    """
    if not all(text is None or is_storable(text) for text in texts):
        raise InvalidReply("a reply holds characters that are no text")


def _read(read: Callable[[Completion], T], completion: Completion) -> T | CompletionError:
    try:
        return read(completion)
    except InvalidReply as error:
        return error
