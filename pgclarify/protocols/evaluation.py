"""What an evaluation expects of the world: methods, judges and a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pgclarify.evaluated import Case, Output, Stated
from pgclarify.model import Passage


class Retriever(Protocol):
    """Whoever searches the corpus, in the same way for all methods."""

    async def search(self, question: str, top_k: int) -> list[Passage]:
        """Find the passages that fit a question best, best first.

        Raises:
            PgclarifyError: If it could not be searched.
        """


class Method(Protocol):
    """What is evaluated: one way to answer a question."""

    async def answer(self, case: Case) -> Output:
        """Answer one case. What goes wrong with this case alone is an Output with status failed.

        Raises:
            PgclarifyError: If no case can be answered: no worker, no server, no corpus.
        """


class Judge(Protocol):
    """Whoever says what a method's readings are worth.

    Its judgements may be wrong, but never missing: what a model fails to judge is judged as unfounded, or as no match.
    """

    @property
    def name(self) -> str:
        """lexical, the name of a model, or this behind lexical+ if both judge together."""

    @property
    def version(self) -> str:
        """Changes when judgements may."""

    @property
    def needs_answers(self) -> bool:
        """Whether it can only say of a reading with an answer whether it is supported; others are not, to it."""

    async def supports(self, claims: Sequence[tuple[Stated, Sequence[Passage]]]) -> list[bool]:
        """Whether passages answer a reading, with one of its answers if it has any. One judgement each, in order.

        Source: VERDICT, Eq. 20 (V of a reading and its passage).
        """

    async def matches(self, question: str, readings: Sequence[Stated], among: Sequence[Stated]) -> list[bool]:
        """Which of the readings are among others. One judgement each, in order; none is among nothing.

        Source: VERDICT, Eq. 17.
        """

    async def distinct(self, question: str, readings: Sequence[Stated]) -> list[int]:
        """The places of the readings that remain if those that nearly repeat one are left out, ascending.

        Source: VERDICT, §5.1.1 and Figure 9.
        """

    async def relevant(self, question: str, readings: Sequence[Stated]) -> list[bool]:
        """Which readings are readings of the question at all. One judgement each, in order.

        Source: VERDICT, §5.2 and Figure 3.
        """
