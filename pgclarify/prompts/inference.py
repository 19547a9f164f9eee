"""The call of a model for natural language inference behind an endpoint: which of several pairs are entailed?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pydantic import TypeAdapter, ValidationError

from pgclarify.data.model_calls import Completion, Message, ModelCall
from pgclarify.errors import InvalidReply
from pgclarify.prompts.replies import one_for_each
from pgclarify.prompts.versions import version_of

_VERDICTS = TypeAdapter(list[bool])


def inference(pairs: Sequence[tuple[str, str]], document_ids: Sequence[str] = ()) -> ModelCall[list[bool]]:
    """Ask which pairs of texts are entailed, in one call.

    Args:
        pairs: Premise and hypothesis; at least one pair.
        document_ids: The documents that the texts come from, each once.

    Returns:
        A call whose reply is a JSON list of truth values, one for each pair, in order.
    """
    return ModelCall(
        purpose="inference",
        version=version_of("inference"),
        messages=tuple(
            message for one, other in pairs for message in (Message("premise", one), Message("hypothesis", other))
        ),
        schema={},
        read=partial(_read, count=len(pairs)),
        max_tokens=0,
        document_ids=tuple(document_ids),
    )


def _read(completion: Completion, count: int) -> list[bool]:
    try:
        return one_for_each(_VERDICTS.validate_json(completion.reply, strict=True), count, "pairs")
    except ValidationError:
        raise InvalidReply("an inference in the ledger is no list of truth values") from None
