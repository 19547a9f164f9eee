"""The judge that asks a chat model through the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import ModelCall
from pgclarify.database.ledger import LedgerTables
from pgclarify.errors import CompletionError, InvalidReply, RequestRefused
from pgclarify.evaluation.lexical_judge import answers_differ, is_same_answer, states_answer
from pgclarify.evaluation.records import Stated
from pgclarify.language.words import asks_same_words
from pgclarify.ledger.completions import ask_all
from pgclarify.prompts import evaluation_judge
from pgclarify.prompts.versions import JUDGE_VERSIONS, combined
from pgclarify.protocols import Completer

T = TypeVar("T")


class ModelJudge:
    """Judges with a chat model. Implements Judge. If two replies do not fit, nothing is supported or matched.

    Args:
        ledger: Where replies are kept.
        chat: The language model.

    Source: VERDICT, §4.3 and Appendix A.
    """

    def __init__(self, ledger: LedgerTables, chat: Completer) -> None:
        self._ledger = ledger
        self._chat = chat

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

    async def supports(self, claims: Sequence[tuple[Stated, Sequence[Passage]]]) -> list[bool]:
        """See Judge.

        Source: VERDICT, Eq. 20.
        """
        judged = [
            stated.interpretation is None and any(states_answer(stated.answers, passage) for passage in passages)
            for stated, passages in claims
        ]
        asked = [
            (place, evaluation_judge.support(stated.interpretation, " or ".join(stated.answers) or None, passages))
            for place, (stated, passages) in enumerate(claims)
            if stated.interpretation is not None and passages
        ]
        replies = await self._ask([call for _, call in asked], otherwise=False)
        for (place, _), reply in zip(asked, replies, strict=True):
            judged[place] = reply
        return judged

    async def matches(self, question: str, readings: Sequence[Stated], among: Sequence[Stated]) -> list[bool]:
        """See Judge. Readings with equal questions, or with an answer only, are compared without a call.

        Source: VERDICT, Eq. 17.
        """
        judged = [any(_is_plainly_same(one, other) for other in among) for one in readings]
        known = [other.interpretation for other in among if other.interpretation is not None]
        asked = {
            place: one.interpretation
            for place, one in enumerate(readings)
            if one.interpretation is not None
            and not judged[place]
            and not any(asks_same_words(one.interpretation, other) for other in known)
        }
        if known and asked:
            texts = list(asked.values())
            (matched,) = await self._ask(
                [evaluation_judge.match(question, texts, known)], otherwise=[False] * len(texts)
            )
            for place, is_matched in zip(asked, matched, strict=True):
                judged[place] = is_matched
        return judged

    async def _ask(self, calls: Sequence[ModelCall[T]], *, otherwise: T) -> list[T]:
        judged = []
        for result in await ask_all(self._ledger, self._chat, calls):
            if not isinstance(result.value, CompletionError):
                judged.append(result.value)
            elif isinstance(result.value, InvalidReply | RequestRefused):
                judged.append(otherwise)
            else:
                raise result.value
        return judged


def _is_plainly_same(one: Stated, other: Stated) -> bool:
    """Return whether two readings are the same without asking a model: by their questions, or else their answers."""
    if one.interpretation is None or other.interpretation is None:
        return is_same_answer(one.answers, other.answers)
    return asks_same_words(one.interpretation, other.interpretation) and not answers_differ(one, other)
