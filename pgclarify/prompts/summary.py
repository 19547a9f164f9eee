"""Asks what a passage says about a question."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import ModelCall
from pgclarify.prompts.fencing import fenced, question_line
from pgclarify.prompts.rendering import model_call, object_schema
from pgclarify.prompts.replies import ReplyForm, one_line, read_form

_SYSTEM: Final = """\
Say in one sentence what the passage says about the question. Reply with one JSON object and nothing else: \
{"summary": "..."}"""


class _Reply(ReplyForm):
    summary: Annotated[str, BeforeValidator(one_line), Field(max_length=500)]


def summary(question: str, passage: Passage) -> ModelCall[str]:
    """Ask what a passage says about a question: one line."""
    return model_call(
        "summary",
        _SYSTEM,
        [question_line(question), fenced(question, passage)],
        object_schema(summary={"type": "string"}),
        lambda completion: read_form(_Reply, completion).summary,
        max_tokens=128,
        passages=[passage],
    )
