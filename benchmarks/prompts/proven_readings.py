"""Asks for all readings that several passages answer, the most likely first, each with a quote from each passage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.prompts import VERSIONS
from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import Completion, ModelCall
from pgclarify.prompts.fencing import AFTER_PASSAGES, FENCE_RULE, fenced_passages, question_line
from pgclarify.prompts.rendering import model_call, object_schema, reminder
from pgclarify.prompts.replies import LineOrNull, ReplyForm, read_form

_SYSTEM: Final = f"""\
You get a question that may be read in several ways, and numbered passages. Find the distinct readings of the question \
that the passages answer completely. A passage that is about another thing than the question, only shares its topic, \
or lacks a part of the answer, answers none.

Reply with one JSON object and nothing else: {{"readings": [{{"interpretation": ..., "answer": ..., "proofs": \
[{{"passage": ..., "quote": ...}}, ...]}}, ...]}}, with the most likely reading first. If no passage answers, the list \
is empty. Readings with the same meaning and the same answer are one. If passages give different answers to one \
reading, each answer stands in an object of its own.

interpretation: the question, rewritten in its own language so that it has this one meaning. It still asks for what \
the question asks for. Add every name, place, year and version that tells this meaning from the others, and put a year \
or a name for words like "current" or "he", so that a stranger who sees neither passages nor question understands it. \
Never speak of a passage, text, document or context.
answer: the answer in a few words. Take it from a passage, in its words and its language, never from memory.
proofs: each passage that gives this answer by itself, with its number and the sentence of it that proves the answer, \
copied letter by letter.

{FENCE_RULE}

Example
Question: When does the harbor museum open?
Passages: 1 says: Lindvik Castle. The castle and its park open at 10 am. 2 says: Lindvik Harbor Museum. From April to \
October 2019 the museum opens at 9 am. Dogs are welcome. 3 says: The Lindvik Harbor Museum was opened in 1931.
{{"readings": [{{"interpretation": "At what time of day did the Lindvik Harbor Museum open from April to October \
2019?", "answer": "9 am", "proofs": [{{"passage": 2, "quote": "From April to October 2019 the museum opens at 9 \
am."}}]}}, {{"interpretation": "In what year was the Lindvik Harbor Museum opened?", "answer": "1931", "proofs": \
[{{"passage": 3, "quote": "The Lindvik Harbor Museum was opened in 1931."}}]}}]}}"""
_REMINDER: Final = reminder("with the key readings: a list, with one object for each reading")
_TEXT: Final = {"type": "string"}
_SCHEMA: Final = object_schema(
    readings={
        "type": "array",
        "items": object_schema(
            interpretation=_TEXT,
            answer=_TEXT,
            proofs={"type": "array", "items": object_schema(passage={"type": "integer"}, quote=_TEXT)},
        ),
    }
)
_MAX_TOKENS: Final = 4096


@dataclass(frozen=True, slots=True)
class ProvenReading:
    """A reading, with what is said to prove it.

    Attributes:
        interpretation: The question with one meaning.
        answer: Its answer.
        proofs: The places of passages, from 0, each with its quote; not checked.
    """

    interpretation: str
    answer: str
    proofs: tuple[tuple[int, str], ...]


class _Proof(ReplyForm):
    passage: int
    quote: LineOrNull


class _Item(ReplyForm):
    interpretation: LineOrNull
    answer: LineOrNull
    proofs: list[_Proof]


class _Reply(ReplyForm):
    readings: list[_Item]


def proven_readings(question: str, passages: Sequence[Passage]) -> ModelCall[list[ProvenReading]]:
    """Ask for all readings of the question that the passages answer, most likely first, with their proofs."""
    asked = question_line(question)
    return model_call(
        "proven_readings",
        _SYSTEM,
        [asked, fenced_passages(passages), f"{AFTER_PASSAGES} {asked}"],
        _SCHEMA,
        lambda completion: _read(completion, len(passages)),
        max_tokens=_MAX_TOKENS,
        reminder=_REMINDER,
        passages=passages,
        version=VERSIONS["proven_readings"],
    )


def _read(completion: Completion, count: int) -> list[ProvenReading]:
    return [
        ProvenReading(
            one.interpretation,
            one.answer,
            tuple(
                (proof.passage - 1, proof.quote)
                for proof in one.proofs
                if proof.quote is not None and 1 <= proof.passage <= count
            ),
        )
        for one in read_form(_Reply, completion).readings
        if one.interpretation is not None and one.answer is not None
    ]
