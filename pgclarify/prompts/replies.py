"""Reads the reply of a chat model: one JSON object of a given form, possibly inside other text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pgclarify.data.model_calls import Completion
from pgclarify.errors import InvalidReply
from pgclarify.language.thoughts import without_thoughts

# Chat models put this around their JSON if the server does not constrain the reply.
_CODE_BLOCK: Final = "```"


class ReplyForm(BaseModel):
    """The form of a reply: exactly these keys, with values of these types."""

    model_config = ConfigDict(extra="forbid", strict=True)


_Form = TypeVar("_Form", bound=BaseModel)
T = TypeVar("T")


def read_form(form: type[_Form], completion: Completion) -> _Form:
    """Read the JSON object of a reply, without the text around it.

    PostgreSQL can store all texts of the result: JSON with half of a surrogate pair is refused here, and each form
    refuses NUL, by `one_line` or `text_or_null`.

    Args:
        form: The form of the reply.
        completion: The reply.

    Raises:
        InvalidReply: If the reply has another form.
    """
    text = _unwrapped(completion.reply)
    try:
        return form.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        # The last part of the place of an unexpected key is that key, so it is a word of the reply.
        place = first["loc"][:-1] if first["type"] == "extra_forbidden" else first["loc"]
        where = ".".join(map(str, place))
        said = _cause(text) if first["type"] == "json_invalid" else first["msg"]
        # A model's reply may repeat a passage. So it is shown shortened, and not as the cause of the error.
        raise InvalidReply(
            "the model's reply does not fit its form",
            detail=f"{where + ': ' if where else ''}{said}.",
            hint="A model that fails at this often is too small, or its server ignores response_format.",
            reply=shown(completion.reply),
        ) from None


def _cause(text: str) -> str:
    """Return why a text may be no JSON. Servers cut replies off, and send refusals, without an error."""
    if not text:
        return "It is empty, as if a filter of the endpoint removed it, or the model used all its tokens to think"
    if text.startswith(("{", _CODE_BLOCK)) and not text.endswith(("}", _CODE_BLOCK)):
        return "It breaks off, as if a filter of the endpoint or its limit of tokens cut it off"
    return "It is not JSON, as if the model refused, or is too small"


def _unwrapped(reply: str) -> str:
    """Return a reply without the thoughts before it and the code block around it.

    No regular expression finds the block: a model may repeat line breaks until its limit, and a search for the end of
    the block in thousands of line breaks would take minutes.
    """
    text = without_thoughts(reply).strip()
    if not (text.startswith(_CODE_BLOCK) and text.endswith(_CODE_BLOCK)):
        return text
    first, _, rest = text.partition("\n")
    return rest.removesuffix(_CODE_BLOCK) if first.strip() in (_CODE_BLOCK, f"{_CODE_BLOCK}json") else text


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


def places(numbers: Iterable[int], count: int, shown: str) -> list[int]:
    """Convert the numbers in a prompt, from 1, to positions, from 0: each once, ascending.

    Args:
        numbers: The numbers in the reply.
        count: How many items the prompt shows.
        shown: The name of the items, in the plural.

    Raises:
        InvalidReply: If a number is not that of an item.
    """
    named = sorted(set(numbers))
    if unknown := [number for number in named if not 1 <= number <= count]:
        raise InvalidReply(
            f"the model named {shown} that it was not shown",
            detail=f"It named {', '.join(map(str, unknown))}; it was shown {count}.",
        )
    return [number - 1 for number in named]


def text_or_null(value: object) -> object:
    """Turn blank texts and the word null into None before validation. Refuse NUL, which PostgreSQL cannot store."""
    if not isinstance(value, str):
        return value
    if "\0" in value:
        raise ValueError("a NUL character")
    value = value.strip()
    return None if value.lower() in ("", "null") else value


def one_line(value: object) -> object:
    """Do what text_or_null does, and put the text on one line."""
    return text_or_null(" ".join(value.split()) if isinstance(value, str) else value)


LineOrNull = Annotated[Annotated[str, Field(max_length=500)] | None, BeforeValidator(one_line)]
"""A field of a reply: a short text on one line, such as a question or an answer."""

Reasoning = Annotated[Annotated[str, Field(max_length=4000)] | None, BeforeValidator(one_line)]
"""A field of a reply: the reasoning of the model before its answer."""


def shown(reply: str) -> str:
    """Return a reply on one line, shortened for an error message."""
    line = " ".join(reply.split())
    return f'"{line}"' if len(line) <= 200 else f'"{line[:200]}…"'
