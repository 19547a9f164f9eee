"""Predicts calls: what the ledger already has, and what would have to be paid for."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from pgclarify.data.estimates import Expected
from pgclarify.data.model_calls import Completion, CompletionKey, CompletionRequest, ModelCall
from pgclarify.data.runs import Run
from pgclarify.data.verdicts import KnownSaying
from pgclarify.data.vocabulary import Purpose
from pgclarify.database.run_tables import RunTables
from pgclarify.errors import InvalidReply
from pgclarify.ledger.completions import MOST_ATTEMPTS, may_be_asked_again, mended, read_reply, was_cut
from pgclarify.protocols import Completer

T = TypeVar("T")

_KEYS_AT_ONCE: Final = 5000
# The assumed input length of a purpose without known inputs; the prompt of an evaluation is about as long.
_INPUT_BYTES: Final = 2000


class Expectations:
    """Counts the calls for a run's questions; equal inputs count once.

    Args:
        run: The run of the estimate.
        store: Reads the ledger.
        completer: Would answer, unless another one is given.

    Attributes:
        looked_up: How many different inputs were looked up.
    """

    def __init__(self, run: Run, store: RunTables, completer: Completer) -> None:
        self._run = run
        self._store = store
        self._completer = completer
        self._counted: set[CompletionKey] = set()
        self._calls: Counter[str] = Counter()
        self._reused_calls: Counter[str] = Counter()
        # The model for a purpose, if it is another one.
        self._models: dict[str, str] = {}
        # Joint replies of which something is used, by the rows of the ledger.
        self._joint_replies: set[int] = set()
        # The total length of the inputs, their documents, and their number.
        self._bytes: Counter[str] = Counter()
        self._documents: Counter[str] = Counter()
        self._measured: Counter[str] = Counter()

    @property
    def looked_up(self) -> int:
        """How many different inputs were looked up."""
        return len(self._counted)

    @property
    def calls(self) -> int:
        """How many calls would be made, as counted so far."""
        return self._calls.total()

    @property
    def by_purpose(self) -> list[Expected]:
        """The counts, by purpose."""
        return [
            Expected(
                purpose,
                self._models.get(purpose, self._completer.model),
                self._calls[purpose],
                self._reused_calls[purpose],
                self._scaled(self._bytes, purpose, _INPUT_BYTES),
                self._scaled(self._documents, purpose, 1) if purpose == Purpose.JOINT_VERDICTS else 0,
            )
            for purpose in sorted(self._calls | self._reused_calls)
        ]

    def add(self, purpose: str, calls: int) -> None:
        """Count calls with unknown inputs."""
        self._calls[purpose] += calls

    async def known_passages(self, call: ModelCall[T], hashes: Sequence[str]) -> dict[int, KnownSaying]:
        """Look up what joint replies say of passages, and count these replies.

        Args:
            call: Any joint call.
            hashes: As of `RunTables.known_joint_verdicts`.

        Returns:
            By place in hashes.

        Raises:
            RunLost: If the run is no longer this worker's.
            DatabaseError: If the store fails.
        """
        known = await self._store.known_joint_verdicts(self._run, self._completer.request(call), hashes)
        for one in known.values():
            if one.completion_id not in self._joint_replies:
                self._joint_replies.add(one.completion_id)
                self._reused_calls[call.purpose] += 1
        return known

    async def have_replies(self, put: Callable[[], Sequence[ModelCall[T]]]) -> list[bool]:
        """Tell for each call whether the ledger has a reply, and count nothing.

        Args:
            put: As in `look`.

        Raises:
            RunLost: If the run is no longer this worker's.
            DatabaseError: If the store fails.
        """
        requests = await asyncio.to_thread(lambda: [_Rendered.of(self._completer.request(call)) for call in put()])
        return [one is not None for one in await self._known(requests)]

    async def look(
        self, put: Callable[[], Sequence[ModelCall[T]]], completer: Completer | None = None
    ) -> list[T | InvalidReply | None]:
        """Look up calls, and further attempts after invalid replies; count all of them.

        Args:
            put: Renders the calls, any number, also none. Called in its own thread.
            completer: Would answer them, always the same for a purpose; None for the one of the class.

        Returns:
            For each call, what was read from its reply; or the error, if neither that reply nor those of further
            attempts can be read; None if it would have to be made.

        Raises:
            RunLost: If the run is no longer this worker's.
            DatabaseError: If the store fails.
        """
        calls = await asyncio.to_thread(put)
        completer = completer or self._completer
        self._models.update((call.purpose, completer.model) for call in calls)
        known = await self._read(calls, completer)
        asked = dict(enumerate(calls))
        for attempt in range(1, MOST_ATTEMPTS):
            unfit = [place for place, one in enumerate(known) if may_be_asked_again(one)]
            again = {place: asked[place].retry() for place in unfit}
            asked = {
                place: call.with_more_tokens() if attempt == 1 and was_cut(known[place]) else call
                for place, call in again.items()
            }
            for place, one in zip(unfit, await self._read([*asked.values()], completer), strict=True):
                known[place] = one
        return known

    async def _read(self, calls: Sequence[ModelCall[T]], completer: Completer) -> list[T | InvalidReply | None]:
        requests = await asyncio.to_thread(lambda: [_Rendered.of(completer.request(call)) for call in calls])
        completions = await self._known(requests)
        for request, completion in zip(requests, completions, strict=True):
            self._count(request, is_known=completion is not None)
        return await asyncio.to_thread(lambda: [*_replies(calls, completions)])

    async def _known(self, requests: Sequence[_Rendered]) -> list[Completion | None]:
        completions: list[Completion | None] = []
        for start in range(0, len(requests), _KEYS_AT_ONCE):
            part = requests[start : start + _KEYS_AT_ONCE]
            completions += await self._store.known_completions(
                self._run, [request.key for request in part], [request.document_ids for request in part]
            )
        return completions

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
        self._documents[purpose] += len(request.document_ids)
        self._measured[purpose] += 1

    def _scaled(self, totals: Counter[str], purpose: str, otherwise: int) -> int:
        """Return a total of all calls, from that of the calls with known inputs."""
        measured = self._measured[purpose]
        each = totals[purpose] / measured if measured else otherwise
        return round(self._calls[purpose] * each)


@dataclass(frozen=True, slots=True)
class _Rendered:
    """A request in the ledger's form, without its text, which may be long."""

    key: CompletionKey
    input_bytes: int
    document_ids: tuple[str, ...]

    @classmethod
    def of(cls, request: CompletionRequest) -> _Rendered:
        length = sum(len(message.content.encode("utf-8", "surrogatepass")) for message in request.messages)
        return cls(request.key, length, request.document_ids)


def _replies(
    calls: Sequence[ModelCall[T]], completions: Sequence[Completion | None]
) -> Iterator[T | InvalidReply | None]:
    for call, completion in zip(calls, completions, strict=True):
        if completion is None:
            yield None
        else:
            yield read_reply(call, mended(completion, call.schema))
