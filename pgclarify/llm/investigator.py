"""The investigator that asks a chat model: what to look up next, what passages say, and what follows from it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from pgclarify.errors import InvalidReply
from pgclarify.llm import investigation_prompts as prompts
from pgclarify.llm.completer import EndpointCompleter
from pgclarify.llm.replies import one_line, read_form, shown, text_or_null
from pgclarify.model import Completion, CompletionRequest, Passage
from pgclarify.steps import Evidence, Finding, FollowUp, Step

# SUNAR's authors sample at this temperature.
_SAMPLING_TEMPERATURE: Final = 0.3

_FOLLOW_UP_TOKENS: Final = 256
_SAMPLE_TOKENS: Final = 128
_ANSWER_TOKENS: Final = 512
_CONCLUSION_TOKENS: Final = 1024

# How models say that there is no answer where they should say null. What follows has to speak of what was shown: "not
# available in stores" is an answer.
_SHOWN: Final = r"(?:the|these|this|any|given|provided|of|\s)*(?:passage|text|context|document|information|fact)s?\b.*"
_NO_ANSWER: Final = re.compile(
    r"(?:it is |is |the answer is |there (?:is|are) )?(?:unknown|unclear|none|n/?a"
    r"|not (?:(?:explicitly |directly )?(?:found|known|given|stated|mentioned|specified|provided|available|applicable)"
    rf"(?: (?:in|by|from) {_SHOWN})?|in {_SHOWN})"
    r"|no (?:further|more|other|additional)(?= )(?: answers?)?"
    r"(?: (?:is |was |were |are )?(?:given|found|told|mentioned))?"
    rf"(?: (?:in|by|from) {_SHOWN})?"
    r"|no (?:answer|information|passage|mention)"
    r"(?: (?:about|on|of|in|for|is|was|given|found|available|provided|mentions?|tells?|states?|that|which)\b.*)?)\.?",
    re.IGNORECASE,
)

# By itself, this may be the name of a song. It is no answer where nothing is quoted.
_NO_FURTHER: Final = re.compile(r"(?:there (?:is|are) )?no (?:further|more|other|additional)\.?", re.IGNORECASE)


def _answer_or_null(value: object) -> object:
    value = one_line(value)
    return None if isinstance(value, str) and _NO_ANSWER.fullmatch(value) else value


_Question = Annotated[Annotated[str, Field(max_length=500)] | None, BeforeValidator(one_line)]
_Answer = Annotated[Annotated[str, Field(max_length=500)] | None, BeforeValidator(_answer_or_null)]
_Quote = Annotated[Annotated[str, Field(max_length=2000)] | None, BeforeValidator(text_or_null)]


class _FollowUpReply(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    next: _Question
    answer: _Answer


class _SampleReply(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    answer: _Answer


class _AnswerReply(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    passage: int | None
    quote: _Quote
    answer: _Answer


class _EvidenceReply(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    passage: int
    quote: _Quote


class _ConclusionReply(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    evidence: list[_EvidenceReply]
    answer: _Answer
    contradiction: _Answer


class EndpointInvestigator(EndpointCompleter):
    """Takes questions apart and answers them with a chat model. Implements protocols.Investigator."""

    def follow_up_request(self, question: str, steps: Sequence[Step], *, retry: bool = False) -> CompletionRequest:
        """Render "which fact is to be looked up next?".

        Source: SUNAR, §3.
        """
        messages = prompts.follow_up_messages(question, steps, retry=retry)
        schema = prompts.FOLLOW_UP_SCHEMA if steps else prompts.FIRST_FOLLOW_UP_SCHEMA
        return self._request("follow_up", messages, schema, max_tokens=_FOLLOW_UP_TOKENS, sample=int(retry))

    def sample_request(self, question: str, passages: Sequence[Passage], *, sample: int) -> CompletionRequest:
        """Render "answer this in a few words", at a temperature of 0.3.

        Source: SUNAR, §3.2, Equation 2.
        """
        return self._request(
            "sample",
            prompts.sample_messages(question, passages),
            prompts.SAMPLE_SCHEMA,
            max_tokens=_SAMPLE_TOKENS,
            sample=sample,
            temperature=_SAMPLING_TEMPERATURE,
            passages=passages,
        )

    def answer_request(self, question: str, passages: Sequence[Passage], *, retry: bool = False) -> CompletionRequest:
        """Render "answer this, with a quote that proves it".

        Source: SUNAR, §3.2.
        """
        messages = prompts.answer_messages(question, passages, retry=retry)
        return self._request(
            "answer",
            messages,
            prompts.ANSWER_SCHEMA,
            max_tokens=_ANSWER_TOKENS,
            sample=int(retry),
            passages=passages,
        )

    def conclusion_request(
        self, question: str, steps: Sequence[Step], passages: Sequence[Passage], *, retry: bool = False
    ) -> CompletionRequest:
        """Render "check these facts against the passages, and answer the whole question".

        Source: SUNAR, §3.2, the meta evidence reasoner.
        """
        messages = prompts.conclusion_messages(question, steps, passages, retry=retry)
        return self._request(
            "conclusion",
            messages,
            prompts.CONCLUSION_SCHEMA,
            max_tokens=_CONCLUSION_TOKENS,
            sample=int(retry),
            passages=passages,
        )

    def read_follow_up(self, completion: Completion) -> FollowUp:
        """Read what is to be looked up next.

        Raises:
            InvalidReply: If the reply does not fit its schema.
        """
        reply = read_form(_FollowUpReply, completion)
        return FollowUp(question=reply.next, answer=reply.answer)

    def read_sample(self, completion: Completion) -> str | None:
        """Read a sampled answer. "Not found", "unknown" and the like count as None.

        Raises:
            InvalidReply: If the reply does not fit its schema.
        """
        return read_form(_SampleReply, completion).answer

    def read_answer(self, completion: Completion) -> Finding:
        """Read an answer and its quote. "Not found", "unknown" and the like count as no answer.

        Raises:
            InvalidReply: If the reply does not fit its schema, or has an answer without a quote.
        """
        return read_finding(completion)

    def read_conclusion(self, completion: Completion) -> Finding:
        """Read the answer to the whole question and its quotes.

        Raises:
            InvalidReply: If the reply does not fit its schema, or has an answer without a quote.
        """
        reply = read_form(_ConclusionReply, completion)
        evidence = tuple(Evidence(one.passage, one.quote) for one in reply.evidence if one.quote is not None)
        if reply.answer is None:
            return Finding(contradiction=reply.contradiction)
        if not evidence:
            raise _without_quote(completion)
        return Finding(reply.answer, evidence, reply.contradiction)


def read_finding(completion: Completion) -> Finding:
    """Read one answer and its quote. "Not found", "unknown" and the like count as no answer.

    Raises:
        InvalidReply: If the reply does not fit ANSWER_SCHEMA, or has an answer without a quote.
    """
    reply = read_form(_AnswerReply, completion)
    if reply.answer is None or (reply.quote is None and _NO_FURTHER.fullmatch(reply.answer)):
        return Finding()
    if reply.quote is None:
        raise _without_quote(completion)
    return Finding(reply.answer, (Evidence(reply.passage or 0, reply.quote),))


def _without_quote(completion: Completion) -> InvalidReply:
    return InvalidReply("the model gave an answer without a quote", detail=f"It replied: {shown(completion.reply)}")
