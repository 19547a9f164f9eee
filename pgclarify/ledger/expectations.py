"""What the ledger would say to calls, and what would have to be paid for: counted, and not asked."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from pgclarify.errors import InvalidReply
from pgclarify.estimated import Expected
from pgclarify.model import Run
from pgclarify.model_calls import Completion, CompletionRequest, ModelCall
from pgclarify.protocols import Completer, CompletionKey, EstimateStore

T = TypeVar("T")

_KEYS_AT_ONCE: Final = 5000
# Of a purpose of which no input is known: an evaluation's prompt has about as many.
_INPUT_BYTES: Final = 2000


@dataclass(frozen=True, slots=True)
class Known(Generic[T]):
    """What the ledger says to a call.

    Attributes:
        value: What is read, or that neither the reply nor that to the retry can be.
    """

    value: T | InvalidReply


class Expectations:
    """Counts what a run's questions would ask; inputs that are equal are counted once, whoever asks them.

    Args:
        run: The run that estimates.
        store: Where the ledger is.
        completer: Who would answer, unless another one is named.

    Attributes:
        looked_up: How many different inputs were looked up.
    """

    def __init__(self, run: Run, store: EstimateStore, completer: Completer) -> None:
        self._run = run
        self._store = store
        self._completer = completer
        self._counted: set[CompletionKey] = set()
        self._calls: Counter[str] = Counter()
        self._reused_calls: Counter[str] = Counter()
        # Who is asked for a purpose, if it is another one.
        self._models: dict[str, str] = {}
        # How long the inputs are, and of how many calls.
        self._bytes: Counter[str] = Counter()
        self._measured: Counter[str] = Counter()

    @property
    def looked_up(self) -> int:
        """How many different inputs were looked up."""
        return len(self._counted)

    @property
    def calls(self) -> int:
        """How many calls would be made, as far as it is counted."""
        return self._calls.total()

    @property
    def by_purpose(self) -> list[Expected]:
        """What was counted, by purpose."""
        return [
            Expected(
                purpose,
                self._models.get(purpose, self._completer.model),
                self._calls[purpose],
                self._reused_calls[purpose],
                self._input_bytes(purpose),
            )
            for purpose in sorted(self._calls | self._reused_calls)
        ]

    def add(self, purpose: str, calls: int) -> None:
        """Count calls whose inputs are not known."""
        self._calls[purpose] += calls

    async def look(
        self, put: Callable[[], Sequence[ModelCall[T]]], completer: Completer | None = None
    ) -> list[Known[T] | None]:
        """Look calls up, and what would be asked again because a known reply does not fit; count all of it.

        Args:
            put: Renders them, any number, also none. It is called in a thread of its own.
            completer: Who would answer them, always the same one for a purpose; None for the one of the class.

        Returns:
            For each call, what the ledger says, or None if it would have to be asked.

        Raises:
            RunLost: If the run is no longer this worker's.
            DatabaseError: If the store fails.
        """
        calls = await asyncio.to_thread(put)
        completer = completer or self._completer
        self._models.update((call.purpose, completer.model) for call in calls)
        known = await self._read(calls, completer)
        unfit = [place for place, one in enumerate(known) if one is not None and isinstance(one.value, InvalidReply)]
        if unfit:
            again = [calls[place].retry() for place in unfit]
            for place, one in zip(unfit, await self._read(again, completer), strict=True):
                known[place] = one
        return known

    async def _read(self, calls: Sequence[ModelCall[T]], completer: Completer) -> list[Known[T] | None]:
        requests = await asyncio.to_thread(lambda: [_Rendered.of(completer.request(call)) for call in calls])
        completions: list[Completion | None] = []
        for start in range(0, len(requests), _KEYS_AT_ONCE):
            keys = [request.key for request in requests[start : start + _KEYS_AT_ONCE]]
            completions += await self._store.known_completions(self._run, keys)
        for request, completion in zip(requests, completions, strict=True):
            self._count(request, is_known=completion is not None)
        return await asyncio.to_thread(lambda: [*_replies(calls, completions)])

    def _count(self, request: _Rendered, *, is_known: bool) -> None:
        if request.key in self._counted:
            return
        self._counted.add(request.key)
        purpose = request.key[0]
        if is_known:
            self._reused_calls[purpose] += 1
            return
        self._calls[purpose] += 1
        self._bytes[purpose] += request.input_bytes
        self._measured[purpose] += 1

    def _input_bytes(self, purpose: str) -> int:
        measured = self._measured[purpose]
        each = self._bytes[purpose] / measured if measured else _INPUT_BYTES
        return round(self._calls[purpose] * each)


@dataclass(frozen=True, slots=True)
class _Rendered:
    """A request as the ledger knows it, without its text, of which there may be much."""

    key: CompletionKey
    input_bytes: int

    @classmethod
    def of(cls, request: CompletionRequest) -> _Rendered:
        length = sum(len(message.content.encode("utf-8", "surrogatepass")) for message in request.messages)
        return cls(request.key, length)


def _replies(calls: Sequence[ModelCall[T]], completions: Sequence[Completion | None]) -> Iterator[Known[T] | None]:
    for call, completion in zip(calls, completions, strict=True):
        if completion is None:
            yield None
            continue
        try:
            yield Known(call.read(completion))
        except InvalidReply as error:
            yield Known(error)
