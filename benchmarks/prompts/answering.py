"""Asks for the readings that several passages answer, each on its own; passages that answer none are left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from benchmarks.prompts import VERSIONS
from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import Completion, ModelCall
from pgclarify.data.verdicts import Reading
from pgclarify.prompts.fencing import AFTER_PASSAGES, FENCE_RULE, fenced_passages, question_line
from pgclarify.prompts.rendering import model_call, object_schema, reminder
from pgclarify.prompts.replies import LineOrNull, ReplyForm, read_form

_SYSTEM: Final = f"""\
You get a question that may be read in several ways, and numbered passages. Judge each passage on its own, as if there \
were no other: find the one reading of the question that this passage answers completely. Leave out each passage that \
answers none, is about another thing than the question, only shares its topic, or lacks a part of the answer: most do.

Reply with one JSON object and nothing else: {{"verdicts": [{{"passage": ..., "interpretation": ..., "answer": ..., \
"quote": ...}}, ...]}}, in the order of the passages. Passages that say the same each have their own verdict. If no \
passage answers, the list is empty.

passage: the number of the passage.
interpretation: the question, rewritten in its own language so that it has this one meaning. It still asks for what \
the question asks for. Add every name, place, year and version of this passage that tells this meaning from the \
others, and put a year or a name for words like "current" or "he", so that a stranger who sees neither passage nor \
question understands it. Never speak of a passage, text, document or context.
answer: the answer in a few words. Take it from this passage, in its words and its language, never from memory or from \
another passage.
quote: the sentence of this passage that proves the answer, copied letter by letter.

{FENCE_RULE}

Example
Question: When does the harbor museum open?
Passages: 1 says: Lindvik Castle. The castle and its park open at 10 am. 2 says: Lindvik Harbor Museum. From April to \
October 2019 the museum opens at 9 am. Dogs are welcome.
{{"verdicts": [{{"passage": 2, "interpretation": "At what time of day did the Lindvik Harbor Museum open from April to \
October 2019?", "answer": "9 am", "quote": "From April to October 2019 the museum opens at 9 am."}}]}}"""
_REMINDER: Final = reminder("with the key verdicts: a list, with one object for each passage that answers")
_TEXT: Final = {"type": "string"}
_SCHEMA: Final = object_schema(
    verdicts={
        "type": "array",
        "items": object_schema(passage={"type": "integer"}, interpretation=_TEXT, answer=_TEXT, quote=_TEXT),
    }
)
_TOKENS_A_VERDICT: Final = 256


class _Item(ReplyForm):
    passage: int
    interpretation: LineOrNull
    answer: LineOrNull
    quote: LineOrNull


class _Reply(ReplyForm):
    verdicts: list[_Item]


def answering(question: str, passages: Sequence[Passage]) -> ModelCall[dict[int, Reading]]:
    """Ask which of these passages answer a reading of the question: the readings by the passage's place, from 0."""
    asked = question_line(question)
    return model_call(
        "answering",
        _SYSTEM,
        [asked, fenced_passages(passages), f"{AFTER_PASSAGES} {asked}"],
        _SCHEMA,
        _read,
        max_tokens=_TOKENS_A_VERDICT * (len(passages) + 1),
        reminder=_REMINDER,
        passages=passages,
        version=VERSIONS["answering"],
    )


def _read(completion: Completion) -> dict[int, Reading]:
    return {
        one.passage - 1: Reading(one.interpretation, one.answer, one.quote)
        for one in read_form(_Reply, completion).verdicts
        if one.interpretation is not None and one.answer is not None and one.quote is not None
    }
