"""An answer with the quote that proves it: the form of such a reply, and the ways in which models give no answer."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from pgclarify.data.investigation import Evidence, Finding
from pgclarify.data.model_calls import Completion
from pgclarify.errors import InvalidReply
from pgclarify.prompts.rendering import object_schema
from pgclarify.prompts.replies import ReplyForm, one_line, read_form, shown, text_or_null

TEXT_OR_NULL: Final = {"type": ["string", "null"]}
ANSWER_SCHEMA: Final = object_schema(quote=TEXT_OR_NULL, passage={"type": ["integer", "null"]}, answer=TEXT_OR_NULL)

# How models say that there is no answer, instead of null. The following words must be about the shown text: "not
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

# Alone, this may be the name of a song. Without a quote, it is not an answer.
_NO_FURTHER: Final = re.compile(r"(?:there (?:is|are) )?no (?:further|more|other|additional)\.?", re.IGNORECASE)


def _answer_or_null(value: object) -> object:
    value = one_line(value)
    return None if isinstance(value, str) and _NO_ANSWER.fullmatch(value) else value


Answer = Annotated[Annotated[str, Field(max_length=500)] | None, BeforeValidator(_answer_or_null)]
Quote = Annotated[Annotated[str, Field(max_length=2000)] | None, BeforeValidator(text_or_null)]


class _AnswerReply(ReplyForm):
    passage: int | None
    quote: Quote
    answer: Answer


def read_finding(completion: Completion) -> Finding:
    """Read one answer and its quote. "Not found", "unknown" and the like count as no answer.

    Raises:
        InvalidReply: If the reply does not fit ANSWER_SCHEMA, or has an answer without a quote.
    """
    reply = read_form(_AnswerReply, completion)
    if reply.answer is None or (reply.quote is None and _NO_FURTHER.fullmatch(reply.answer)):
        return Finding()
    if reply.quote is None:
        raise without_quote(completion)
    return Finding(reply.answer, (Evidence(reply.passage or 0, reply.quote),))


def without_quote(completion: Completion) -> InvalidReply:
    """Return the error for a reply that has an answer without a quote."""
    return InvalidReply("the model gave an answer without a quote", reply=shown(completion.reply))
