"""The calls of cross-encoders behind an endpoint: which passages are relevant, and which pairs of texts entailed?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from pgclarify.algorithms.uncertainty import relevance_to_unit_interval
from pgclarify.data.model_calls import Completion, Message, ModelCall
from pgclarify.errors import InvalidReply
from pgclarify.prompts.replies import one_for_each
from pgclarify.prompts.versions import version_of

T = TypeVar("T")
_SCORES = TypeAdapter(list[Annotated[float, Field(allow_inf_nan=False)]])
_VERDICTS = TypeAdapter(list[bool])


def reranking(question: str, texts: Sequence[str], document_ids: Sequence[str]) -> ModelCall[list[float]]:
    """Ask how relevant passages are to a question, in one call.

    The model reads the question together with each passage. So the input repeats the question for each passage, because
    budgets estimate the cost from the length of the input.

    Args:
        question: The original question.
        texts: The passages, as the model reads them; at least one.
        document_ids: Their documents.

    Returns:
        A call that returns one score for each text, in (0, 1), in order. The reply is a JSON list of the scores as the
        endpoint sent them.
    """

    def read(reply: str) -> list[float]:
        sent = one_for_each(_SCORES.validate_json(reply), len(texts), "passages")
        scores: list[float] = relevance_to_unit_interval(sent).tolist()
        return scores

    messages = (message for text in texts for message in (Message("query", question), Message("document", text)))
    return _call("reranking", messages, read, document_ids)


def inference(pairs: Sequence[tuple[str, str]], document_ids: Sequence[str] = ()) -> ModelCall[list[bool]]:
    """Ask which pairs of texts are entailed, in one call.

    Args:
        pairs: Premise and hypothesis; at least one pair.
        document_ids: The documents that the texts come from.

    Returns:
        A call whose reply is a JSON list of truth values, one for each pair, in order.
    """

    def read(reply: str) -> list[bool]:
        return one_for_each(_VERDICTS.validate_json(reply, strict=True), len(pairs), "pairs")

    messages = (message for one, other in pairs for message in (Message("premise", one), Message("hypothesis", other)))
    return _call("inference", messages, read, document_ids)


def _call(
    purpose: str, messages: Iterable[Message], read: Callable[[str], T], document_ids: Sequence[str]
) -> ModelCall[T]:
    def read_completion(completion: Completion) -> T:
        try:
            return read(completion.reply)
        except ValidationError:
            raise InvalidReply(f"a reply of the purpose {purpose} in the ledger cannot be read") from None

    return ModelCall(
        purpose=purpose,
        version=version_of(purpose),
        messages=tuple(messages),
        schema={},
        read=read_completion,
        max_tokens=0,
        document_ids=tuple(dict.fromkeys(document_ids)),
    )
