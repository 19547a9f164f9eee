"""Asks for all readings of a question in one call over several passages: what people write who have no pgclarify."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import Field

from benchmarks.prompts import VERSIONS
from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import Completion, ModelCall
from pgclarify.prompts.fencing import fenced_passages, question_line
from pgclarify.prompts.rendering import model_call, object_schema, reminder
from pgclarify.prompts.replies import LineOrNull, ReplyForm, read_form

_SYSTEM: Final = """\
You get a question that may be read in several ways, and numbered passages. Find all distinct readings of the \
question that the passages answer. For each give: interpretation (the question rewritten so that it has this one \
meaning and stands alone), answer (a few words, from the passage), quote (the sentence of the passage that proves \
it, copied letter by letter), passages (numbers of the passages that support it). Most likely first. Readings with \
the same meaning are one. If no passage answers, reply with an empty list. Never answer from memory.
Reply with one JSON object: {"readings": [{"interpretation": ..., "answer": ..., "quote": ..., "passages": [..]}, \
...]}"""
_TEXT: Final = {"type": "string"}
_SCHEMA: Final = object_schema(
    readings={
        "type": "array",
        "items": object_schema(
            interpretation=_TEXT,
            answer=_TEXT,
            quote=_TEXT,
            passages={"type": "array", "items": {"type": "integer"}},
        ),
    }
)
_REMINDER: Final = reminder("with the key readings: a list, with one object for each reading")
_MAX_TOKENS: Final = 4096


@dataclass(frozen=True, slots=True)
class ListedReading:
    """A reading of the list.

    Attributes:
        interpretation: The question with one meaning.
        answer: Its answer.
        quote: What is said to prove it; not checked.
        passages: The positions of the passages that support it, from 0.
    """

    interpretation: str
    answer: str
    quote: str
    passages: tuple[int, ...]


class _Item(ReplyForm):
    interpretation: LineOrNull
    answer: LineOrNull
    quote: LineOrNull = None
    passages: list[int] = Field(default_factory=list)


class _Reply(ReplyForm):
    readings: list[_Item]


def one_prompt(question: str, passages: Sequence[Passage]) -> ModelCall[list[ListedReading]]:
    """Ask for all readings of the question that the passages answer, most likely first."""
    return model_call(
        "one_prompt",
        _SYSTEM,
        [question_line(question), fenced_passages(passages)],
        _SCHEMA,
        lambda completion: _read(completion, len(passages)),
        max_tokens=_MAX_TOKENS,
        reminder=_REMINDER,
        passages=passages,
        version=VERSIONS["one_prompt"],
    )


def _read(completion: Completion, count: int) -> list[ListedReading]:
    return [
        ListedReading(
            one.interpretation,
            one.answer,
            one.quote or "",
            tuple(sorted({number - 1 for number in one.passages if 1 <= number <= count})),
        )
        for one in read_form(_Reply, completion).readings
        if one.interpretation is not None and one.answer is not None
    ]
