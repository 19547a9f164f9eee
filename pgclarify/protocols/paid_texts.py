"""Counts the texts that an endpoint embeds for each payer, until the sums are stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Payer:
    """The payer of embedded texts; both None if unknown.

    Attributes:
        run_id: The run that compares or searches with them.
        embedding_space_id: The space that is filled with them.
    """

    run_id: int | None = None
    embedding_space_id: int | None = None


# A context variable instead of an argument of Embedder.encode, so that the code between does not have to know the
# payer.
_payer: ContextVar[Payer] = ContextVar("payer", default=Payer())  # noqa: B039 - it is frozen


@contextmanager
def paid_by(payer: Payer) -> Iterator[None]:
    """Charge a payer for the texts that this task, and tasks that it creates, embed in the block."""
    token = _payer.set(payer)
    try:
        yield
    finally:
        _payer.reset(token)


def current_payer() -> Payer:
    """Return the payer of the texts that this task embeds."""
    return _payer.get()


@dataclass(frozen=True, slots=True)
class PaidTexts:
    """The texts that one model embedded for one payer.

    Attributes:
        payer: The payer.
        model: The model, as in `embedding_space.model`.
        texts: The number of texts.
        tokens: The number of their tokens.
    """

    payer: Payer
    model: str
    texts: int
    tokens: int


class EmbeddingTally:
    """Sums of embedded texts that are not stored yet."""

    def __init__(self) -> None:
        self._sums: dict[tuple[Payer, str], PaidTexts] = {}

    def add(self, paid: Iterable[PaidTexts]) -> None:
        """Add embedded texts, or sums that could not be stored."""
        for each in paid:
            key = (each.payer, each.model)
            known = self._sums.get(key, PaidTexts(*key, 0, 0))
            self._sums[key] = PaidTexts(*key, known.texts + each.texts, known.tokens + each.tokens)

    def take(self) -> list[PaidTexts]:
        """Return the sums, and start from zero."""
        taken = list(self._sums.values())
        self._sums.clear()
        return taken
