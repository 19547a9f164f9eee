"""The JSON records of evaluations, without what PostgreSQL cannot store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pgclarify.evaluated import Case, EvaluationPlan, Output


def storable(text: str) -> str:
    """Replace characters that PostgreSQL's text cannot store: NUL and lone surrogates."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")


def case_json(
    ordinal: int, case: Case, output: Output, values: Mapping[str, float], supported: Sequence[bool] | None
) -> str:
    """Write one case with its metrics as JSON, for the parameter cases of _record_eval_cases.

    Args:
        ordinal: Its place in the data set, from 1.
        case: The case.
        output: The method's output.
        values: Its metrics by name.
        supported: Whether each reading is grounded; None if that was not judged.

    Raises:
        ValueError: If the numbers of judgements and readings differ, or a number is not finite.
        TypeError: If a note cannot be written as JSON.
    """
    usage = output.usage
    return _json(
        [
            {
                "ordinal": ordinal,
                "case_id": case.case_id,
                "question": case.question,
                "gold": _gold(case),
                "output": _output(output, supported),
                "run_id": output.run_id,
                "status": output.status.value,
                "error": output.error,
                "calls": usage.calls,
                "reused_calls": usage.reused_calls,
                "prompt_tokens": usage.prompt_tokens,
                "completion_tokens": usage.completion_tokens,
                "model_seconds": usage.model_seconds,
                "seconds": output.seconds,
                "metrics": {metric: float(value) for metric, value in values.items()},
            }
        ]
    )


def plan_json(plan: EvaluationPlan) -> str:
    """Write a plan as JSON, for _begin_evaluation.

    Raises:
        ValueError: If a number of its settings is not finite.
        TypeError: If a setting cannot be written as JSON.
    """
    # The hash in PostgreSQL's notation of bytea.
    return _json(asdict(plan) | {"data_set_hash": f"\\x{plan.data_set_hash.hex()}"})


def _gold(case: Case) -> Mapping[str, Any]:
    """Write the known answers of a case, for column eval_case.gold."""
    return {
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
        "rewrites": case.rewrites,
        "clarifying_questions": case.clarifying_questions,
        "intent": case.intent,
        "strata": case.strata,
    }


def _output(output: Output, supported: Sequence[bool] | None) -> Mapping[str, Any]:
    """Write a method's output, for column eval_case.output."""
    judgements = [None] * len(output.interpretations) if supported is None else supported
    return {
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
        "questions": output.questions,
        "notes": output.notes,
    }


def _json(value: Any) -> str:  # noqa: ANN401 - whatever JSON has
    return json.dumps(_storable(value), allow_nan=False, ensure_ascii=False, sort_keys=True)


def _storable(value: Any) -> Any:  # noqa: ANN401 - whatever JSON has
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        return {storable(key): _storable(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(held) for held in value]
    return value
