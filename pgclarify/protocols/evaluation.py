"""The interfaces of an evaluation: methods, judges and a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pgclarify.evaluated import Case, Output, Stated
from pgclarify.model import Passage


class Retriever(Protocol):
    """Searches the corpus, in the same way for all methods."""

    async def search(self, question: str, top_k: int) -> list[Passage]:
        """Find the passages that match a question best, best first.

        Raises:
            PgclarifyError: If the search failed.
        """


class Method(Protocol):
    """A method under evaluation: one way to answer a question."""

    async def answer(self, case: Case) -> Output:
        """Answer one case. An error of this case alone is an Output with status failed.

        Raises:
            PgclarifyError: If no case can be answered: no worker, no server, no corpus.
        """


class Judge(Protocol):
    """Judges the readings of a method.

    If a model fails to judge, the answer is "not supported", "no match", "no repetition" or "not a reading", and
    `unjudged` counts it.
    """

    @property
    def name(self) -> str:
        """lexical, a model's name, or lexical+ and a model's name if both judge together."""

    @property
    def version(self) -> str:
        """Changes when judgements may."""

    @property
    def needs_answers(self) -> bool:
        """Whether it can only judge readings with an answer; it judges others as not supported."""

    @property
    def unjudged(self) -> int | None:
        """Number of judgements so far that a model failed to make; None if the judge asks no model."""

    def for_case(self) -> Judge:
        """Return this judge with a count of its own of failed judgements, because cases are judged concurrently."""

    async def supports(self, claims: Sequence[tuple[Stated, Sequence[Passage]]]) -> list[bool]:
        """Whether passages answer a reading, with one of its answers if it has any. One judgement each, in order.

        Source: VERDICT, Eq. 20 (V of a reading and its passage).
        """

    async def matches(self, question: str, readings: Sequence[Stated], among: Sequence[Stated]) -> list[bool]:
        """Whether each reading is among others. One judgement each, in order; False if there are no others.

        Source: VERDICT, Eq. 17.
        """

    async def distinct(self, question: str, readings: Sequence[Stated]) -> list[int]:
        """The places of the readings without those that nearly repeat another one, ascending.

        Source: VERDICT, §5.1.1 and Figure 9.
        """

    async def relevant(self, question: str, readings: Sequence[Stated]) -> list[bool]:
        """Whether each reading is a reading of the question at all. One judgement each, in order.

        Source: VERDICT, §5.2 and Figure 3.
        """
