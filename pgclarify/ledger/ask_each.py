"""Many calls of one form, through the ledger: where a reply that cannot be read is no catastrophe, and where it is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypeVar

from pgclarify.errors import CompletionError, InvalidReply, NotAllowed
from pgclarify.ledger.calls import Calls, OutOfCalls
from pgclarify.ledger.completions import CallResult, PollInterval, ask_all
from pgclarify.model_calls import ModelCall
from pgclarify.protocols import Completer, Ledger, Meter

T = TypeVar("T")


async def ask_each(
    ledger: Ledger,
    completer: Completer,
    asked: Sequence[ModelCall[T]],
    otherwise: T,
    *,
    poll: PollInterval,
    tally: Meter | None = None,
    calls: Calls | None = None,
    may_be_refused: bool = True,
) -> list[T]:
    """Ask everything, all in flight at once, and put up with some replies that are not to be had.

    Those are replies that cannot be read even the second time, and calls that a budget does not let through.

    Args:
        ledger: Where replies are kept.
        completer: Who is asked.
        asked: Any number, also none.
        otherwise: What stands in the place of a reply that is not to be had; the tally's note says how many.
        poll: How often to look for replies that others are paying for.
        tally: Where replies are counted; None to count nowhere.
        calls: Those of the run, from which these are taken; None if there is no limit.
        may_be_refused: False if one call that a budget does not let through is an error.

    Returns:
        What was read, in order.

    Raises:
        CompletionError: If a call failed, or no reply at all was to be had. The other calls are made all the same: what
            is paid for is kept. OutOfCalls if there are not enough, and none is made.
        RunLost: If the run is no longer this worker's.
        DatabaseError: If the ledger fails.
    """
    if calls is not None and not calls.take(len(asked)):
        raise OutOfCalls
    values: dict[int, T] = {}
    missing: list[InvalidReply | NotAllowed] = []
    failed: list[CompletionError] = []

    async def on_result(index: int, result: CallResult[T]) -> None:
        match result.value:
            case NotAllowed() as error if not may_be_refused:
                failed.append(error)
            case InvalidReply() | NotAllowed() as error:
                missing.append(error)
            case CompletionError() as error:
                failed.append(error)
            case value:
                values[index] = value

    may_retry = None if calls is None else partial(calls.take, 1)
    await ask_all(ledger, completer, asked, on_result, poll=poll, tally=tally, may_retry=may_retry)
    if failed or len(missing) == len(asked) > 0:
        raise (failed or missing)[0]
    if missing and tally is not None:
        refusal = next((error for error in missing if isinstance(error, NotAllowed)), None)
        why = "could not be read" if refusal is None else f"are not to be had: {refusal.message}"
        tally.note = f"{len(missing)} of {len(asked)} replies {why}"
    return [values.get(index, otherwise) for index in range(len(asked))]


async def ask_every(
    ledger: Ledger,
    completer: Completer,
    asked: Sequence[ModelCall[T]],
    *,
    poll: PollInterval,
    tally: Meter | None = None,
) -> list[T]:
    """Ask everything, all in flight at once, where one reply that is not to be had is an error.

    Args:
        ledger: Where replies are kept.
        completer: Who is asked.
        asked: Any number, also none.
        poll: How often to look for replies that others are paying for.
        tally: Where replies are counted; None to count nowhere.

    Returns:
        What was read, in order.

    Raises:
        CompletionError: If a reply is not to be had; NotAllowed if a budget did not let the call through. The other
            calls are made all the same: what is paid for is kept.
        RunLost: If the run is no longer this worker's.
        DatabaseError: If the ledger fails.
    """
    results: dict[int, T | CompletionError] = {}

    async def on_result(index: int, result: CallResult[T]) -> None:
        results[index] = result.value

    await ask_all(ledger, completer, asked, on_result, poll=poll, tally=tally)
    values: list[T] = []
    for index in range(len(asked)):
        value = results[index]
        if isinstance(value, CompletionError):
            raise value
        values.append(value)
    return values
