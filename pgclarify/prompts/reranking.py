"""The call of a reranker behind an endpoint: how relevant is each of several passages to a question?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from pgclarify.algorithms import relevance_to_unit_interval
from pgclarify.data.model_calls import Completion, Message, ModelCall
from pgclarify.errors import InvalidReply
from pgclarify.prompts.replies import one_for_each
from pgclarify.prompts.versions import version_of

_SCORES = TypeAdapter(list[Annotated[float, Field(allow_inf_nan=False)]])


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
    return ModelCall(
        purpose="reranking",
        version=version_of("reranking"),
        messages=tuple(
            message for text in texts for message in (Message("query", question), Message("document", text))
        ),
        schema={},
        read=partial(_read, count=len(texts)),
        max_tokens=0,
        document_ids=tuple(dict.fromkeys(document_ids)),
    )


def _read(completion: Completion, count: int) -> list[float]:
    try:
        sent = _SCORES.validate_json(completion.reply)
    except ValidationError:
        raise InvalidReply("a reranker's reply in the ledger is no list of scores") from None
    scores: list[float] = relevance_to_unit_interval(one_for_each(sent, count, "passages")).tolist()
    return scores
