"""Whoever answers rendered requests: what a language model is asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeAlias

from pgclarify.dialogue import Form, PromptScheme, ProposedQuestion, Turn
from pgclarify.model import Completion, CompletionRequest, Passage, Reading, StopCode
from pgclarify.steps import Finding, FollowUp, Step

Begin: TypeAlias = Callable[[], Awaitable[None]]
"""Awaited when the turn of a call has come, right before it is made; what it raises ends the call unmade."""


class Completer(Protocol):
    """Whoever answers rendered requests; keeps no state between them."""

    @property
    def provider(self) -> str:
        """Who answers: openai or extractive."""

    @property
    def model(self) -> str:
        """Name of the model that answers."""

    @property
    def prompt_version(self) -> str:
        """One version for all prompts; changes when any of them does."""

    async def complete(self, request: CompletionRequest, begin: Begin | None = None) -> Completion:
        """Make the call, unless begin raises.

        Raises:
            EndpointUnavailable: If the endpoint does not answer, after all retries.
        """


class Verifier(Completer, Protocol):
    """Whoever judges passages. Renders requests, answers them, and reads the replies."""

    def relaxation_request(self, question: str) -> CompletionRequest | None:
        """Render "relax this question for recall"; None if this verifier uses the question as it is.

        Source: VERDICT, Eq. 6.
        """

    def verdict_request(self, question: str, passage: Passage, *, retry: bool = False) -> CompletionRequest:
        """Render "which reading of the question does this passage answer completely?".

        With retry, the request differs from the first (sample 1) and reminds of the form.

        Source: VERDICT, Eq. 8 and Figure 6.
        """

    def read_relaxation(self, completion: Completion) -> str:
        """Read the relaxed question.

        Raises:
            InvalidReply: If the reply does not fit.
        """

    def read_verdict(self, completion: Completion) -> Reading | StopCode:
        """Read the reading, or why there is none. Whether the quote is in the passage is the caller's to check.

        Raises:
            InvalidReply: If the reply does not fit.
        """


class RelevanceJudge(Completer, Protocol):
    """Whoever grades passages, one a request."""

    def relevance_request(self, question: str, passage: Passage, *, retry: bool = False) -> CompletionRequest:
        """Render "how much does this passage help to answer the question?".

        With retry, the request differs from the first (sample 1) and reminds of the form.
        """

    def read_relevance(self, completion: Completion) -> float:
        """Read the grade, as a score in (0, 1); higher is better.

        Raises:
            InvalidReply: If the reply does not fit.
        """


class EntailmentJudge(Completer, Protocol):
    """Whoever compares two answers to a question, one pair a request."""

    def entailment_request(
        self, question: str, premise: str, hypothesis: str, *, retry: bool = False
    ) -> CompletionRequest:
        """Render "if the first answer is right, is the second right as well?".

        With retry, the request differs from the first (sample 1) and reminds of the form.

        Source: SUNAR, §3.2.
        """

    def read_entailment(self, completion: Completion) -> bool:
        """Read the judgement.

        Raises:
            InvalidReply: If the reply does not fit.
        """


class Investigator(Completer, Protocol):
    """Whoever takes a question apart and answers it from passages. Renders requests, answers them, reads the replies.

    With retry, a request differs from the first (sample 1) and reminds of the form.
    """

    def follow_up_request(self, question: str, steps: Sequence[Step], *, retry: bool = False) -> CompletionRequest:
        """Render "what has to be known first, or next, to answer this question?".

        Args:
            question: The whole question.
            steps: What was asked so far, in order, and what became of it.
            retry: See above.

        Source: SUNAR, §3 (de) and Figures 5 and 6.
        """

    def sample_request(self, question: str, passages: Sequence[Passage], *, sample: int) -> CompletionRequest:
        """Render "answer this in a few words, from these passages", at a temperature above 0.

        Args:
            question: A step's.
            passages: A batch, in the order in which they are shown.
            sample: Which of several replies to the same input, from 0; nothing else differs.

        Source: SUNAR, §3.2, Equation 2.
        """

    def answer_request(self, question: str, passages: Sequence[Passage], *, retry: bool = False) -> CompletionRequest:
        """Render "answer this from these passages, with a quote".

        Source: SUNAR, §3.2, the answers sa_1 ... sa_n.
        """

    def conclusion_request(
        self, question: str, steps: Sequence[Step], passages: Sequence[Passage], *, retry: bool = False
    ) -> CompletionRequest:
        """Render "go over these steps and this evidence, and answer the whole question, with quotes".

        Source: SUNAR, §3.2, the meta evidence reasoner.
        """

    def read_follow_up(self, completion: Completion) -> FollowUp:
        """Read what is to be asked next.

        Raises:
            InvalidReply: If the reply does not fit.
        """

    def read_sample(self, completion: Completion) -> str | None:
        """Read a sampled answer, or None for "not in these passages".

        Raises:
            InvalidReply: If the reply does not fit.
        """

    def read_answer(self, completion: Completion) -> Finding:
        """Read an answer with its evidence. Whether the quote is in that passage is the caller's to check.

        Raises:
            InvalidReply: If the reply does not fit.
        """

    def read_conclusion(self, completion: Completion) -> Finding:
        """Read the answer to the whole question with its evidence, which is the caller's to check.

        Raises:
            InvalidReply: If the reply does not fit.
        """


class Rewriter(Completer, Protocol):
    """Whoever makes a question of a conversation stand on its own. Renders requests, answers them, reads the replies.

    With retry, a request differs from the first (sample 1) and reminds of the form.
    """

    def rewriting_request(self, question: str, history: Sequence[str], *, retry: bool = False) -> CompletionRequest:
        """Render "say this question so that it is understood without the conversation".

        Args:
            question: The last question.
            history: What was said before it, oldest first; at least one element, each a question or an answer.
            retry: See above.

        Source: Detect, then rewrite (summary).
        """

    def read_rewriting(self, completion: Completion) -> str | None:
        """Read the question, or None for "the conversation does not tell what is meant".

        Raises:
            InvalidReply: If the reply does not fit.
        """

    def reformulation_request(
        self, question: str, turns: Sequence[Turn], *, history: Sequence[str] = (), retry: bool = False
    ) -> CompletionRequest:
        """Render "say what this user wants to know, as one question".

        Args:
            question: As it was asked first.
            turns: What was asked back and replied since, in order; at least one.
            history: What was said before the question, oldest first.
            retry: See above.

        Source: AT-CoT, §4.2 and Table 4 (reformulation).
        """

    def read_reformulation(self, completion: Completion) -> str:
        """Read the question.

        Raises:
            InvalidReply: If the reply does not fit.
        """


class Questioner(Completer, Protocol):
    """Whoever proposes what to ask back. Renders requests, answers them, and reads the replies."""

    def questions_request(
        self,
        question: str,
        history: Sequence[str],
        *,
        scheme: PromptScheme,
        form: Form,
        count: int,
        retry: bool = False,
    ) -> CompletionRequest:
        """Render "how could this question be clarified?", at a temperature of 0.6.

        Args:
            question: As it was asked.
            history: What was said before it, oldest first; may be empty.
            scheme: How it is asked for.
            form: Questions to answer, or reformulations to choose from.
            count: How many, from 1.
            retry: If true, the request differs from the first (sample 1) and reminds of the form.

        Source: AT-CoT, §3.2, Table 2 and §4.2.
        """

    def read_questions(
        self, completion: Completion, *, scheme: PromptScheme, form: Form, count: int
    ) -> list[ProposedQuestion]:
        """Read what is proposed: 1 to count, each different from the others.

        Raises:
            InvalidReply: If the reply does not fit.
        """


class AnswerLister(Completer, Protocol):
    """Whoever finds one answer after the other. Renders requests, answers them, and reads the replies."""

    def listing_request(
        self, question: str, passages: Sequence[Passage], answers: Sequence[str], *, retry: bool = False
    ) -> CompletionRequest:
        """Render "give one more answer from these passages, with a quote, or say that there is none".

        Args:
            question: As it was asked.
            passages: The same in every round, so that a server reads them once.
            answers: Those found so far, in order.
            retry: If true, the request differs from the first (sample 1) and reminds of the form.

        Source: AmbigPrompt, §3, Equation 5.
        """

    def read_listing(self, completion: Completion) -> Finding:
        """Read the answer with its evidence, which is the caller's to check; without one, there is none further.

        Raises:
            InvalidReply: If the reply does not fit.
        """
