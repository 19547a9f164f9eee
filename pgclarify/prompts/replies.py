"""Reads what a chat model replied: one JSON object of a given form, whatever the model wrapped around it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from pgclarify.errors import InvalidReply
from pgclarify.language.thoughts import without_thoughts
from pgclarify.model_calls import Completion

# Chat models put this around their JSON if the server does not constrain the reply.
_CODE_BLOCK: Final = "```"

_Form = TypeVar("_Form", bound=BaseModel)
T = TypeVar("T")


def read_form(form: type[_Form], completion: Completion) -> _Form:
    """Take the JSON out of its wrapping, and nothing but the JSON.

    PostgreSQL can keep every text that is read: JSON with half of a surrogate pair is refused here, and each form
    refuses NUL, by `one_line` or `text_or_null`.

    Args:
        form: What the reply has to be.
        completion: The reply.

    Raises:
        InvalidReply: If it is anything else.
    """
    try:
        return form.model_validate_json(_unwrapped(completion.reply))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        # A model's reply may repeat a passage. So it is shown shortened, and not as the cause of the error.
        raise InvalidReply(
            "the model's reply does not fit its form",
            detail=f"{where + ': ' if where else ''}{first['msg']}. It replied: {shown(completion.reply)}",
            hint="A model that fails at this often is too small, or its server ignores response_format.",
        ) from None


def _unwrapped(reply: str) -> str:
    """A reply without thoughts before it and a code block around it.

    Without an expression for the block: models repeat white space until they are stopped, and looking for the end of a
    block in thousands of line breaks takes minutes.
    """
    text = without_thoughts(reply).strip()
    if not (text.startswith(_CODE_BLOCK) and text.endswith(_CODE_BLOCK)):
        return text
    first, _, rest = text.partition("\n")
    return rest.removesuffix(_CODE_BLOCK) if first.strip() in (_CODE_BLOCK, f"{_CODE_BLOCK}json") else text


def one_for_each(given: list[T], count: int, asked: str) -> list[T]:
    """Refuse a reply that has not one entry for each thing that was asked about.

    Args:
        given: The entries, in the order of what was asked.
        count: How many there have to be.
        asked: What the entries are about, in the plural.

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
    """Turn numbers as shown, from 1, into places, from 0: each once, ascending.

    Args:
        numbers: What the model named.
        count: How many it was shown.
        shown: What it was shown, in the plural.

    Raises:
        InvalidReply: If it named another one; that never becomes one that was shown.
    """
    named = sorted(set(numbers))
    if unknown := [number for number in named if not 1 <= number <= count]:
        raise InvalidReply(
            f"the model named {shown} that it was not shown",
            detail=f"It named {', '.join(map(str, unknown))}; it was shown {count}.",
        )
    return [number - 1 for number in named]


def text_or_null(value: object) -> object:
    """Validate before the type: blank and the word null count as null; NUL has no place in PostgreSQL's text."""
    if not isinstance(value, str):
        return value
    if "\0" in value:
        raise ValueError("a NUL character")
    value = value.strip()
    return None if value.lower() in ("", "null") else value


def one_line(value: object) -> object:
    """Validate before the type, as text_or_null does, and put it on one line."""
    return text_or_null(" ".join(value.split()) if isinstance(value, str) else value)


Reasoning = Annotated[Annotated[str, Field(max_length=4000)] | None, BeforeValidator(one_line)]
"""What a model says before it answers, as a field of a reply."""


def shown(reply: str) -> str:
    """The reply on one line, cut to what an error can carry."""
    line = " ".join(reply.split())
    return f'"{line}"' if len(line) <= 200 else f'"{line[:200]}…"'
