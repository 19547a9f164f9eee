"""The judge that asks a chat model through the ledger, so that judging again costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TypeVar

from pgclarify.errors import CompletionError, InvalidReply, RequestRefused
from pgclarify.evaluated import Stated, Usage
from pgclarify.evaluation.baselines import UsageMeter
from pgclarify.evaluation.lexical_judge import answers_differ, is_same_answer, states_answer
from pgclarify.language.questions import asks_same_words
from pgclarify.ledger.completions import CallResult, PollInterval, ask_all
from pgclarify.model import Passage
from pgclarify.model_calls import ModelCall
from pgclarify.prompts import judging
from pgclarify.prompts.versions import JUDGE_VERSIONS, combined
from pgclarify.protocols import Completer, Ledger

_POLL_INTERVAL = PollInterval()
T = TypeVar("T")


class ModelJudge:
    """Judges with a chat model. Implements Judge.

    There is no judgement if two replies do not fit, or if the endpoint refuses this request. Then nothing is supported,
    matched or relevant, all readings are distinct, and `unjudged` counts it. Readings with equal questions, or with an
    answer only, are compared by their answers, without a call.

    Args:
        ledger: Where replies are kept.
        chat: The language model.
        poll: How often to check for replies that other processes are paying for.

    Attributes:
        unjudged: Number of missing judgements so far.

    Source: VERDICT, §4.3, §5.2 and Appendix A.
    """

    def __init__(self, ledger: Ledger, chat: Completer, *, poll: PollInterval = _POLL_INTERVAL) -> None:
        self._ledger = ledger
        self._chat = chat
        self._poll = poll
        self._meter = UsageMeter()
        self.unjudged = 0

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._chat.model

    @property
    def version(self) -> str:
        """Return the version of its prompts."""
        return combined(JUDGE_VERSIONS)

    @property
    def needs_answers(self) -> bool:
        """Return False: a model can judge whether passages answer a question without knowing the answer."""
        return False

    @property
    def usage(self) -> Usage:
        """Return the model usage of all judgements so far. It is not part of the usage of a method."""
        return self._meter.usage

    def for_case(self) -> ModelJudge:
        """Return this judge with a count of its own. Its usage still counts as that of this judge. See Judge."""
        judge = copy(self)
        judge.unjudged = 0
        return judge

    async def supports(self, claims: Sequence[tuple[Stated, Sequence[Passage]]]) -> list[bool]:
        """Judge whether passages answer a reading, with one of its answers if it has any. See Judge.

        Raises:
            EndpointUnavailable: If the model could not be asked.
            DatabaseError: If the ledger fails.

        Source: VERDICT, Eq. 20.
        """
        judgements = [
            stated.interpretation is None and any(states_answer(stated.answers, passage) for passage in passages)
            for stated, passages in claims
        ]
        asked = [
            (place, stated.interpretation, " or ".join(stated.answers) or None, passages)
            for place, (stated, passages) in enumerate(claims)
            if stated.interpretation is not None and passages
        ]
        replies = await self._ask(
            [judging.support(interpretation, answer, passages) for _, interpretation, answer, passages in asked],
            otherwise=False,
        )
        for (place, *_), reply in zip(asked, replies, strict=True):
            judgements[place] = reply
        return judgements

    async def matches(self, question: str, readings: Sequence[Stated], among: Sequence[Stated]) -> list[bool]:
        """Judge which of the readings are among others. See Judge.

        Raises:
            EndpointUnavailable: If the model could not be asked.
            DatabaseError: If the ledger fails.

        Source: VERDICT, Eq. 17.
        """
        judgements = [any(_is_plainly_same(reading, other) for other in among) for reading in readings]
        known = [other.interpretation for other in among if other.interpretation is not None]
        asked = {
            place: reading.interpretation
            for place, reading in enumerate(readings)
            if reading.interpretation is not None
            and not judgements[place]
            and not any(_asks_the_same(reading, other) for other in among)
        }
        if not known or not asked:
            return judgements
        texts = list(asked.values())
        (matched,) = await self._ask([judging.match(question, texts, known)], otherwise=[False] * len(texts))
        for place, is_matched in zip(asked, matched, strict=True):
            judgements[place] = is_matched
        return judgements

    async def distinct(self, question: str, readings: Sequence[Stated]) -> list[int]:
        """Return the places of the readings without near repetitions, ascending. See Judge.

        Raises:
            EndpointUnavailable: If the model could not be asked.
            DatabaseError: If the ledger fails.

        Source: VERDICT, §5.1.1 and Figure 9.
        """
        kept: list[int] = []
        for place, reading in enumerate(readings):
            if not any(_is_plainly_same(reading, readings[other]) for other in kept):
                kept.append(place)
        # For equal questions with different answers, only the first is sent. The model would call the others
        # repetitions.
        asked: dict[int, str] = {}
        for place in kept:
            interpretation = readings[place].interpretation
            if interpretation is not None and not any(_asks_the_same(readings[place], readings[one]) for one in asked):
                asked[place] = interpretation
        if len(asked) < 2:
            return kept
        texts, places = list(asked.values()), list(asked)
        (remaining,) = await self._ask([judging.distinct(question, texts)], otherwise=list(range(len(texts))))
        repeated = set(places).difference(places[index] for index in remaining)
        return [place for place in kept if place not in repeated]

    async def relevant(self, question: str, readings: Sequence[Stated]) -> list[bool]:
        """Judge which readings are readings of the question at all. An answer alone cannot be judged. See Judge.

        Raises:
            EndpointUnavailable: If the model could not be asked.
            DatabaseError: If the ledger fails.

        Source: VERDICT, §5.2 and Figure 3.
        """
        judgements = [False] * len(readings)
        asked = {
            place: reading.interpretation
            for place, reading in enumerate(readings)
            if reading.interpretation is not None
        }
        if not asked:
            return judgements
        texts = list(asked.values())
        (relevant,) = await self._ask([judging.relevance(question, texts)], otherwise=judgements[: len(texts)])
        for place, is_relevant in zip(asked, relevant, strict=True):
            judgements[place] = is_relevant
        return judgements

    async def _ask(self, judged: Sequence[ModelCall[T]], *, otherwise: T) -> list[T]:
        """Ask for all judgements at once; a missing judgement is `otherwise`."""
        judgements = [otherwise] * len(judged)
        errors: list[CompletionError] = []

        async def on_result(place: int, result: CallResult[T]) -> None:
            if not isinstance(result.value, CompletionError):
                judgements[place] = result.value
            elif isinstance(result.value, InvalidReply | RequestRefused):
                self.unjudged += 1
            else:
                errors.append(result.value)

        await ask_all(self._ledger, self._chat, judged, on_result, poll=self._poll, tally=self._meter)
        if errors:
            raise errors[0]
        return judgements


def _is_plainly_same(one: Stated, other: Stated) -> bool:
    """Return whether two readings are the same without asking a model.

    They have the same question and no different answers, or the same answer if one has no question.
    """
    if one.interpretation is None or other.interpretation is None:
        return is_same_answer(one.answers, other.answers)
    return _asks_the_same(one, other) and not answers_differ(one, other)


def _asks_the_same(one: Stated, other: Stated) -> bool:
    """Return whether their questions are equal, with any answers."""
    if one.interpretation is None or other.interpretation is None:
        return False
    return asks_same_words(one.interpretation, other.interpretation)
