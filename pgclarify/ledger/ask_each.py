"""Makes many calls of one form through the ledger, with or without tolerance for unreadable replies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypeVar

from pgclarify.data.model_calls import ModelCall
from pgclarify.data.runs import Tally
from pgclarify.database.ledger import LedgerTables
from pgclarify.errors import CompletionError, InvalidReply, NotAllowed
from pgclarify.ledger.calls import Calls, OutOfCalls
from pgclarify.ledger.completions import ask_all
from pgclarify.protocols import Completer

T = TypeVar("T")


async def ask_each(
    ledger: LedgerTables,
    completer: Completer,
    asked: Sequence[ModelCall[T]],
    otherwise: T,
    *,
    tally: Tally | None = None,
    calls: Calls | None = None,
    may_be_refused: bool = True,
) -> list[T]:
    """Make all calls at once, and tolerate missing replies.

    A reply is missing if it cannot be read even at the second attempt, or if a budget refuses the call.

    Args:
        ledger: The store of replies.
        completer: Makes the calls.
        asked: Any number, also none.
        otherwise: Replaces a missing reply; the tally's note says how many there are.
        tally: Counts the replies; None counts nothing.
        calls: The run's remaining calls; None if there is no limit.
        may_be_refused: False if a call that a budget refuses is an error.

    Returns:
        The results, in order.

    Raises:
        CompletionError: If a call failed, or all replies are missing. The other calls are still made, and replies that
            are paid for are kept. OutOfCalls if too few calls are left; then none is made.
        RunLost: If the run is no longer this worker's.
        DatabaseError: If the ledger fails.
    """
    if calls is not None and not calls.take(len(asked)):
        raise OutOfCalls
    missing: list[InvalidReply | NotAllowed] = []
    failed: list[CompletionError] = []
    values: list[T] = []
    may_retry = None if calls is None else partial(calls.take, 1)
    for result in await ask_all(ledger, completer, asked, tally=tally, may_retry=may_retry):
        match result.value:
            case NotAllowed() as error if not may_be_refused:
                failed.append(error)
            case InvalidReply() | NotAllowed() as error:
                missing.append(error)
                values.append(otherwise)
            case CompletionError() as error:
                failed.append(error)
            case value:
                values.append(value)
    if failed or len(missing) == len(asked) > 0:
        raise (failed or missing)[0]
    if missing and tally is not None:
        refusal = next((error for error in missing if isinstance(error, NotAllowed)), None)
        why = "could not be read" if refusal is None else f"are not to be had: {refusal.message}"
        tally.note = f"{len(missing)} of {len(asked)} replies {why}"
    return values
