"""Asks for a question that is relaxed for recall: one search query that fits every reading of it."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from pgclarify.data.model_calls import ModelCall
from pgclarify.prompts.fencing import question_line
from pgclarify.prompts.rendering import model_call, object_schema
from pgclarify.prompts.replies import ReplyForm, one_line, read_form

_SYSTEM: Final = """\
You prepare searches. You get a question that may be read in several ways. Write one short search query, 4 to 16 \
words, that finds pages for all of these ways.

Keep the names and the topic of the question. Make what is asked for wider, so that the query fits every way of \
reading it. Write it in the language of the question. Do not answer. Do not repeat a word.

Reply with one JSON object and nothing else: {"query": "..."}

Example
Question: When does the harbor museum open?
{"query": "opening hours and opening date of the harbor museum"}

Example
Question: Who played the queen in the river saga?
{"query": "actors who played a queen in the river saga films and series"}"""

_SCHEMA: Final = object_schema(query={"type": "string"})
_MAX_TOKENS: Final = 256


class _Reply(ReplyForm):
    query: Annotated[str, BeforeValidator(one_line), Field(max_length=500)]


def relaxation(question: str) -> ModelCall[str]:
    """Ask for a question that is relaxed for recall: one line of at most 500 characters.

    Source: VERDICT, Eq. 6 (the instruction I_R; wording ours).
    """
    return model_call(
        "relaxation",
        _SYSTEM,
        [question_line(question)],
        _SCHEMA,
        lambda completion: read_form(_Reply, completion).query,
        max_tokens=_MAX_TOKENS,
    )
