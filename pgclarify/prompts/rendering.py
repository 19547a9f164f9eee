"""The common parts of all prompts: a system message, the lines of a user message, and the form of the reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import Completion, Message, ModelCall
from pgclarify.prompts.versions import version_of

T = TypeVar("T")


def model_call(
    purpose: str,
    system: str,
    lines: Sequence[str],
    schema: Mapping[str, Any],
    read: Callable[[Completion], T],
    *,
    max_tokens: int,
    reminder: str | None = None,
    temperature: float = 0,
    sample: int = 0,
    passages: Sequence[Passage] = (),
    payload: Mapping[str, Any] | None = None,
    version: str | None = None,
) -> ModelCall[T]:
    """Render a prompt. The part that is the same for every input comes first, so that a server can cache it.

    Args:
        purpose: See ModelCall.
        system: The system message, the same for every input.
        lines: The lines of the user message.
        schema: See ModelCall.
        read: See ModelCall.
        max_tokens: See ModelCall.
        reminder: See ModelCall.
        temperature: See ModelCall.
        sample: See ModelCall.
        passages: The passages in the lines.
        payload: See ModelCall.
        version: See ModelCall; None looks up the version of the purpose.
    """
    return ModelCall(
        purpose=purpose,
        version=version or version_of(purpose),
        messages=(Message("system", system), Message("user", "\n".join(lines))),
        schema=schema,
        read=read,
        max_tokens=max_tokens,
        reminder=reminder,
        temperature=temperature,
        sample=sample,
        document_ids=tuple(dict.fromkeys(passage.document_id for passage in passages)),
        payload=payload,
    )


def reminder(form: str) -> str:
    """Return the line that a second try adds, because the first reply had the wrong form.

    Args:
        form: The form, in the words that follow "one JSON object".
    """
    return f"An earlier reply to this had the wrong form. Reply with exactly one JSON object {form}. No other words."


def object_schema(**properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of a JSON object that has exactly these keys."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def booleans(count: int) -> Mapping[str, Any]:
    """Return the schema of a list of so many booleans."""
    return {"type": "array", "items": {"type": "boolean"}, "minItems": count, "maxItems": count}
