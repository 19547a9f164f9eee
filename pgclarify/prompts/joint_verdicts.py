"""Judges several passages in one call: the readings that they answer, most likely first, each with quotes as proofs.

The call says of each passage what `verdict` says of one: which readings it answers, and the words that prove it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import BeforeValidator

from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import Completion, ModelCall
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import Purpose, StopCode
from pgclarify.errors import InvalidReply
from pgclarify.prompts.fencing import AFTER_PASSAGES, FENCE_RULE, fenced_passages, question_line
from pgclarify.prompts.rendering import model_call, object_schema, reminder
from pgclarify.prompts.replies import MOST_CHARACTERS, LineOrNull, ReplyForm, read_form
from pgclarify.prompts.verdict import leans_on_source

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
answer: the answer in the form that the interpretation asks for (a sport, not somebody who plays it), and whole: with \
the conditions, limits and parts that belong to it, in at most 25 words. Take it from a passage, in its words and its \
language, never from memory.
proofs: each passage that gives this answer by itself, with its number and the sentence of it that proves the answer, \
or up to three sentences that follow each other, copied letter by letter.

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
_DECODER: Final = json.JSONDecoder()
_BETWEEN: Final = re.compile(r"\s*,\s*")


@dataclass(frozen=True, slots=True)
class ProvenReading:
    """A reading, with what is said to prove it.

    Attributes:
        interpretation: The question with one meaning.
        answer: Its answer.
        proofs: The places of passages, from 0, each with its quote; not checked. There may be no passage at a place,
            and a quote may be empty.
    """

    interpretation: str
    answer: str
    proofs: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class JointVerdicts:
    """What a reply says of several passages.

    Attributes:
        readings: Most likely first.
        is_whole: False if the reply was cut off. Then passages without a reading are still to be judged.
    """

    readings: tuple[ProvenReading, ...]
    is_whole: bool = True

    def of(self, place: int) -> tuple[Reading, ...] | StopCode | None:
        """Return what is said of one passage: its readings, or that it answers none; None if nothing is said of it.

        Args:
            place: From 0.
        """
        readings = tuple(
            Reading(one.interpretation, one.answer, quote, ordinal=ordinal)
            for ordinal, one in enumerate(self.readings, start=1)
            for proven, quote in dict(reversed(one.proofs)).items()
            if proven == place
        )
        return readings or (StopCode.NOT_ANSWERED if self.is_whole else None)


def _unless_too_long(value: object) -> object:
    # One long quote is no reason to lose the whole reply: its passage is asked about alone.
    return None if isinstance(value, str) and len(value) > MOST_CHARACTERS else value


class _Proof(ReplyForm):
    passage: int
    quote: Annotated[LineOrNull, BeforeValidator(_unless_too_long)]


class _Item(ReplyForm):
    interpretation: LineOrNull
    answer: LineOrNull
    proofs: list[_Proof]


class _Reply(ReplyForm):
    readings: list[_Item]


def joint_verdicts(question: str, passages: Sequence[Passage]) -> ModelCall[JointVerdicts]:
    """Ask for all readings of the question that the passages answer, with their proofs.

    Args:
        question: The original question, not the relaxed one.
        passages: The passages to judge, best first; titles and headings are shown, too, also as data.

    Returns:
        A call whose reply names its passages by their places. The caller must check each quote.
    """
    asked = question_line(question)
    return model_call(
        Purpose.JOINT_VERDICTS,
        _SYSTEM,
        [asked, fenced_passages(passages), f"{AFTER_PASSAGES} {asked}"],
        _SCHEMA,
        _read,
        max_tokens=_MAX_TOKENS,
        reminder=_REMINDER,
        passages=passages,
    )


def _read(completion: Completion) -> JointVerdicts:
    items, is_whole = _items(completion)
    return JointVerdicts(
        tuple(
            ProvenReading(
                one.interpretation,
                one.answer,
                tuple((proof.passage - 1, proof.quote or "") for proof in one.proofs),
            )
            for one in items
            if one.interpretation is not None and one.answer is not None and not leans_on_source(one.interpretation)
        ),
        is_whole,
    )


def _items(completion: Completion) -> tuple[list[_Item], bool]:
    """Return the readings of a reply, and whether they are all; of one that was cut off, those before the cut."""
    try:
        return read_form(_Reply, completion).readings, True
    except InvalidReply:
        items = [*_before_cut(completion.reply)] if completion.is_cut else []
        if not items:
            raise
        return items, False


def _before_cut(reply: str) -> Iterator[_Item]:
    """Yield the readings of a reply up to the first that is not whole."""
    start = reply.find("[") + 1
    while start > 0:
        try:
            value, end = _DECODER.raw_decode(reply, start)
            yield _Item.model_validate(value)
        except ValueError:
            return
        following = _BETWEEN.match(reply, end)
        start = following.end() if following is not None else 0
