"""What an evaluation expects of the world: methods, judges, a search, a model for baselines and judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pgclarify.evaluated import Case, Output, Stated
from pgclarify.model import Completion, CompletionRequest, Passage
from pgclarify.protocols.completers import Completer


@dataclass(frozen=True, slots=True)
class ReadFromPassages:
    """A reading that was read out of several passages at once.

    Attributes:
        interpretation: A question that stands on its own.
        answer: Its answer, short.
        passages: The places of the passages that are cited, from 0, ascending; may be empty.
    """

    interpretation: str
    answer: str
    passages: tuple[int, ...]


class BaselineModel(Completer, Protocol):
    """Whoever stands behind the baselines. Renders requests, answers them, and reads the replies.

    With retry, a request differs from the first (sample 1) and reminds of the form.
    """

    def proposal_request(self, question: str, *, retry: bool = False) -> CompletionRequest:
        """Render "in which ways may this question be read?", without any passage.

        Source: VERDICT, Eq. 1 (the instruction I_P).
        """

    def read_proposal(self, completion: Completion) -> list[str]:
        """Read the readings, 1 to 5.

        Raises:
            InvalidReply: If the reply does not fit.
        """

    def verification_request(
        self, interpretation: str, passages: Sequence[Passage], *, retry: bool = False
    ) -> CompletionRequest:
        """Render "which of these passages answer this question?".

        Source: VERDICT, Eq. 3 (Verify).
        """

    def read_verification(self, completion: Completion, *, passages: int) -> list[int]:
        """Read the places of the passages, from 0, ascending.

        Raises:
            InvalidReply: If the reply does not fit, or names a passage that was not shown.
        """

    def answers_request(
        self, interpretations: Sequence[str], passages: Sequence[Passage], *, retry: bool = False
    ) -> CompletionRequest:
        """Render "what do these passages answer to each of these questions?"."""

    def read_answers(self, completion: Completion, *, interpretations: int) -> list[str | None]:
        """Read one answer for each question, in order; None where there is none.

        Raises:
            InvalidReply: If the reply does not fit, or has another number of answers.
        """

    def disambiguation_request(
        self, question: str, passages: Sequence[Passage], *, retry: bool = False
    ) -> CompletionRequest:
        """Render "which readings of this question do these passages answer, and how?", all at once.

        Source: VERDICT, Eq. 4 and Eq. 13 (the instruction I_G).
        """

    def read_disambiguation(self, completion: Completion, *, passages: int) -> list[ReadFromPassages]:
        """Read the readings.

        Raises:
            InvalidReply: If the reply does not fit, or names a passage that was not shown.
        """


class JudgeModel(Completer, Protocol):
    """Whoever judges what methods gave. Renders requests, answers them, and reads the replies.

    With retry, a request differs from the first (sample 1) and reminds of the form.
    """

    def support_request(
        self, interpretation: str, answer: str | None, passages: Sequence[Passage], *, retry: bool = False
    ) -> CompletionRequest:
        """Render "do these passages answer this question, and with this answer if there is one?".

        Source: VERDICT, Eq. 20 and Figure 8 (the instruction I_V).
        """

    def read_support(self, completion: Completion) -> bool:
        """Read the judgement.

        Raises:
            InvalidReply: If the reply does not fit.
        """

    def match_request(
        self, question: str, interpretations: Sequence[str], among: Sequence[str], *, retry: bool = False
    ) -> CompletionRequest:
        """Render "which of these readings of the question are among those?".

        Source: VERDICT, Eq. 17 and Figure 7 (the instruction I_M).
        """

    def read_match(self, completion: Completion, *, interpretations: int) -> list[bool]:
        """Read one judgement for each reading, in order.

        Raises:
            InvalidReply: If the reply does not fit, or has another number of judgements.
        """

    def distinct_request(
        self, question: str, interpretations: Sequence[str], *, retry: bool = False
    ) -> CompletionRequest:
        """Render "which of these readings remain if those that nearly repeat one are left out?".

        Source: VERDICT, §5.1.1 and Figure 9 (the instruction I_D).
        """

    def read_distinct(self, completion: Completion, *, interpretations: int) -> list[int]:
        """Read the places of those that remain, from 0, ascending; at least one.

        Raises:
            InvalidReply: If the reply does not fit, or names one that was not shown.
        """

    def relevance_request(
        self, question: str, interpretations: Sequence[str], *, retry: bool = False
    ) -> CompletionRequest:
        """Render "which of these are readings of the question at all?".

        Source: VERDICT, §5.2 and Figure 3.
        """

    def read_relevance(self, completion: Completion, *, interpretations: int) -> list[bool]:
        """Read one judgement for each reading, in order.

        Raises:
            InvalidReply: If the reply does not fit, or has another number of judgements.
        """


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
        """lexical, or the name of a model."""

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
