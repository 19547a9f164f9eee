"""Texts that an endpoint has embedded, and for what: their costs are added up here until somebody writes them down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Payer:
    """For what texts are embedded; both None if it is neither.

    Attributes:
        run_id: The run that compares or searches with them.
        embedding_space_id: The space that is filled with them.
    """

    run_id: int | None = None
    embedding_space_id: int | None = None


# Not an argument of Embedder.encode: nothing between a run and its endpoint has to do with who pays.
_payer: ContextVar[Payer] = ContextVar("payer", default=Payer())  # noqa: B039 - it is frozen


@contextmanager
def paid_by(payer: Payer) -> Iterator[None]:
    """Charge texts to somebody: those that this task embeds in the block, and tasks that are made in it."""
    token = _payer.set(payer)
    try:
        yield
    finally:
        _payer.reset(token)


def current_payer() -> Payer:
    """Who pays for what this task embeds."""
    return _payer.get()


@dataclass(frozen=True, slots=True)
class PaidTexts:
    """What one payer has had one model embed.

    Attributes:
        payer: The payer.
        model: The model, as in `embedding_space.model`.
        texts: How many texts.
        tokens: How many tokens they had.
    """

    payer: Payer
    model: str
    texts: int
    tokens: int


class EmbeddingTally:
    """Sums of what endpoints have embedded and nobody has written down yet."""

    def __init__(self) -> None:
        self._sums: dict[tuple[Payer, str], PaidTexts] = {}

    def add(self, paid: Iterable[PaidTexts]) -> None:
        """Add what was embedded, or what could not be written down."""
        for each in paid:
            key = (each.payer, each.model)
            known = self._sums.get(key, PaidTexts(*key, 0, 0))
            self._sums[key] = PaidTexts(*key, known.texts + each.texts, known.tokens + each.tokens)

    def take(self) -> list[PaidTexts]:
        """Take the sums, and begin anew."""
        taken = list(self._sums.values())
        self._sums.clear()
        return taken
