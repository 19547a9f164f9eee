"""An answer and a quote in a reply: their forms, and the ways in which models give no answer."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from pgclarify.data.model_calls import Completion
from pgclarify.errors import InvalidReply
from pgclarify.prompts.replies import one_line, shown, text_or_null

TEXT_OR_NULL: Final = {"type": ["string", "null"]}

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


def _answer_or_null(value: object) -> object:
    value = one_line(value)
    return None if isinstance(value, str) and _NO_ANSWER.fullmatch(value) else value


Answer = Annotated[Annotated[str, Field(max_length=500)] | None, BeforeValidator(_answer_or_null)]
Quote = Annotated[Annotated[str, Field(max_length=2000)] | None, BeforeValidator(text_or_null)]


def without_quote(completion: Completion) -> InvalidReply:
    """Return the error for a reply that has an answer without a quote."""
    return InvalidReply("the model gave an answer without a quote", reply=shown(completion.reply))
