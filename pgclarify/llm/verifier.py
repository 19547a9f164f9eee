"""The verifier that asks a chat model: prompts out, replies in, checked before anything is believed."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from pgclarify.errors import InvalidReply
from pgclarify.llm import prompts
from pgclarify.llm.completer import EndpointCompleter
from pgclarify.llm.replies import one_line, read_form, shown, text_or_null
from pgclarify.model import Completion, CompletionRequest, Passage, Reading, StopCode

_RELAXATION_TOKENS: Final = 256
_VERDICT_TOKENS: Final = 1024

_SOURCE: Final = r"(?:passage|text|document|context|excerpt|article|paragraph)"
# With "of" or a number behind it, it is a thing of the world: the text of the treaty, article 5.
_ALONE: Final = r"\b(?!\s+(?:of|on|for|\d))"
_LEANS_ON_SOURCE: Final = re.compile(
    rf"\b(?:according to|based on|mentioned in|stated in|described in|given in|in|from|by)"
    rf" (?:the|this) (?:(?:given|provided|above) )?{_SOURCE}{_ALONE}"
    rf"|\b(?:the|this) {_SOURCE} (?:say|state|mention|describe|discuss|explain|provide|tell)s?\b"
    rf"|\b(?:given|provided|above|following) {_SOURCE}{_ALONE}"
    rf"|\b{_SOURCE} above\b",
    re.IGNORECASE,
)


class _RelaxationReply(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    query: Annotated[str, BeforeValidator(one_line), Field(max_length=500)]


class _VerdictReply(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    interpretation: Annotated[Annotated[str, Field(max_length=500)] | None, BeforeValidator(one_line)]
    answer: Annotated[Annotated[str, Field(max_length=500)] | None, BeforeValidator(one_line)]
    quote: Annotated[Annotated[str, Field(max_length=2000)] | None, BeforeValidator(text_or_null)]


class EndpointVerifier(EndpointCompleter):
    """Judges passages with a chat model behind an OpenAI-compatible endpoint. Implements protocols.Verifier."""

    def relaxation_request(self, question: str) -> CompletionRequest:
        """Render "relax this question for recall".

        Source: VERDICT, Eq. 6.
        """
        messages = prompts.relaxation_messages(question)
        return self._request("relaxation", messages, prompts.RELAXATION_SCHEMA, max_tokens=_RELAXATION_TOKENS)

    def verdict_request(self, question: str, passage: Passage, *, retry: bool = False) -> CompletionRequest:
        """Render "which one reading of the question does this passage answer completely?".

        With retry, it is sample 1 and ends with a reminder of the form.

        Source: VERDICT, Eq. 8 and Figure 6.
        """
        messages = prompts.verdict_messages(question, passage, retry=retry)
        return self._request(
            "verdict",
            messages,
            prompts.VERDICT_SCHEMA,
            max_tokens=_VERDICT_TOKENS,
            sample=int(retry),
            passages=[passage],
        )

    def read_relaxation(self, completion: Completion) -> str:
        """Read the relaxed question: one line of at most 500 characters.

        Raises:
            InvalidReply: If the reply does not fit, or is blank.
        """
        return read_form(_RelaxationReply, completion).query

    def read_verdict(self, completion: Completion) -> Reading | StopCode:
        """Read the reading, or not_answered for an abstention.

        A blank string counts as null. A reading that speaks of "the passage" does not stand on its own, so it counts
        as an abstention: it fits the form, and asking again costs a call for a reading of little worth.

        Raises:
            InvalidReply: If the reply does not fit its schema, or has a reading without an answer or a quote.
        """
        reply = read_form(_VerdictReply, completion)
        if reply.interpretation is None:
            return StopCode.NOT_ANSWERED
        if reply.answer is None or reply.quote is None:
            missing = "an answer" if reply.answer is None else "a quote"
            raise InvalidReply(
                f"the model gave a reading without {missing}", detail=f"It replied: {shown(completion.reply)}"
            )
        if _LEANS_ON_SOURCE.search(reply.interpretation):
            return StopCode.NOT_ANSWERED
        return Reading(interpretation=reply.interpretation, answer=reply.answer, quote=reply.quote)
