"""Reads the reply of a chat model strictly: one JSON object of a given form. `lenient_json` has mended it before."""

from __future__ import annotations

import re
from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pgclarify.data.model_calls import Completion
from pgclarify.errors import InvalidReply
from pgclarify.language.lenient_json import may_be_taken_back


class ReplyForm(BaseModel):
    """The form of a reply: exactly these keys, with values of these types."""

    model_config = ConfigDict(extra="forbid", strict=True)


# What models write where null is asked for, also in brackets and quotation marks.
_NOTHING: Final = re.compile(
    r"[\s\W]*(?:(?:n\s*/?\s*a|n\.\s*a|null|none|unknown|undefined|not applicable)[\s\W]*)?", re.IGNORECASE
)

_Form = TypeVar("_Form", bound=BaseModel)
T = TypeVar("T")


def read_form(form: type[_Form], completion: Completion) -> _Form:
    """Read the JSON object of a reply.

    PostgreSQL can store all texts of the result: JSON with half of a surrogate pair is refused here, and each form
    refuses NUL, by `one_line` or `text_or_null`.

    Args:
        form: The form of the reply.
        completion: The reply.

    Raises:
        InvalidReply: If the reply has another form.
    """
    try:
        return form.model_validate_json(completion.reply)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        # The last part of the place of an unexpected key is that key, so it is a word of the reply.
        place = first["loc"][:-1] if first["type"] == "extra_forbidden" else first["loc"]
        where = ".".join(map(str, place))
        cause, hint = _cause(completion)
        said = cause if first["type"] == "json_invalid" or completion.is_cut else first["msg"]
        # A model's reply may repeat a passage. So it is shown shortened, and not as the cause of the error.
        raise InvalidReply(
            "the model's reply does not fit its form",
            detail=f"{where + ': ' if where else ''}{said}.",
            hint=hint,
            reply=shown(completion.reply),
        ) from None


def _cause(completion: Completion) -> tuple[str, str]:
    """Return why a reply may be no JSON, and what to do."""
    if completion.is_cut:
        spent = "before its answer began" if not completion.reply else "before its answer was complete"
        return (
            f"The model used all its tokens {spent}",
            "Lower PGCLARIFY_LLM_REASONING_EFFORT if the model thinks, or choose one that answers more briefly.",
        )
    hint = "A model that fails at this often is too small, or its server ignores response_format."
    if not completion.reply:
        return "It is empty, as if a filter of the endpoint removed it, or the model only thought", hint
    if may_be_taken_back(completion.reply):
        return "Words before or after its object may take it back", hint
    if completion.reply.startswith("{") and not completion.reply.endswith("}"):
        return "It breaks off, as if a limit of the endpoint cut it off, which says nothing about it", hint
    return "It is not JSON, as if the model refused, or is too small", hint


def one_for_each(given: list[T], count: int, asked: str) -> list[T]:
    """Refuse a reply that does not have exactly one entry for each item of the prompt.

    Args:
        given: The entries, in the order of the items.
        count: The required number of entries.
        asked: The name of the items, in the plural.

    Raises:
        InvalidReply: If there are more or fewer.
    """
    if len(given) != count:
        raise InvalidReply(
            f"the model replied about another number of {asked}",
            detail=f"It was asked about {count}, and its reply has {len(given)} entries.",
        )
    return given


def text_or_null(value: object) -> object:
    """Turn blanks and words for nothing into None before validation. Refuse NUL, which PostgreSQL cannot store."""
    if not isinstance(value, str):
        return value
    if "\0" in value:
        raise ValueError("a NUL character")
    value = value.strip()
    return None if _NOTHING.fullmatch(value) else value


def one_line(value: object) -> object:
    """Do what text_or_null does, and put the text on one line."""
    return text_or_null(" ".join(value.split()) if isinstance(value, str) else value)


MOST_CHARACTERS: Final = 500
LineOrNull = Annotated[Annotated[str, Field(max_length=MOST_CHARACTERS)] | None, BeforeValidator(one_line)]
"""A field of a reply: a short text on one line, such as a question or an answer."""

Reasoning = Annotated[Annotated[str, Field(max_length=4000)] | None, BeforeValidator(one_line)]
"""A field of a reply: the reasoning of the model before its answer."""


def shown(reply: str) -> str:
    """Return a reply on one line, shortened for an error message."""
    line = " ".join(reply.split())
    return f'"{line}"' if len(line) <= 200 else f'"{line[:200]}…"'
