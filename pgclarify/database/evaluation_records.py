"""What evaluations keep as JSON, and what PostgreSQL cannot store of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pgclarify.evaluated import Case, Output


def storable(text: str) -> str:
    """Put marks of replacement for what no text in PostgreSQL has: null characters and halves of surrogate pairs."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")


def gold_json(case: Case) -> str:
    """What is known of a case, as column eval_case.gold has it."""
    return _json(
        {
            "interpretations": [
                {
                    "interpretation": known.interpretation,
                    "answers": known.answers,
                    "document_ids": known.document_ids,
                }
                for known in case.interpretations
            ],
            "answer_sets": case.answer_sets,
            "document_ids": case.document_ids,
            "is_ambiguous": case.is_ambiguous,
        }
    )


def output_json(output: Output, supported: Sequence[bool] | None) -> str:
    """What a method gave, as column eval_case.output has it.

    Args:
        output: What it gave.
        supported: Whether each of its readings is grounded; None if nobody judged that.

    Raises:
        ValueError: If there are not as many judgements as readings, or a number is not finite.
        TypeError: If a note is nothing that JSON has.
    """
    judgements = [None] * len(output.interpretations) if supported is None else supported
    return _json(
        {
            "interpretations": [
                {
                    "interpretation": given.interpretation,
                    "answer": given.answer,
                    "support": given.support,
                    "is_grounded": is_grounded,
                    "citations": [
                        {
                            "document_id": cited.passage.document_id,
                            "passage_id": cited.passage.passage_id,
                            "title": cited.passage.title,
                            "quote": cited.quote,
                        }
                        for cited in given.citations
                    ],
                }
                for given, is_grounded in zip(output.interpretations, judgements, strict=True)
            ],
            "retrieved": [
                {"document_id": passage.document_id, "passage_id": passage.passage_id} for passage in output.retrieved
            ],
            "probability": output.probability,
            "notes": output.notes,
        }
    )


def settings_json(settings: Mapping[str, Any]) -> str:
    """Parameters of a method, as column eval_run.settings has them.

    Raises:
        ValueError: If a number is not finite.
        TypeError: If one is nothing that JSON has.
    """
    return _json(settings)


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(_storable(value), allow_nan=False, ensure_ascii=False, sort_keys=True)


def _storable(value: Any) -> Any:  # noqa: ANN401 - whatever JSON has
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        return {storable(key): _storable(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(held) for held in value]
    return value
