"""What a reply about several passages says of each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from operator import attrgetter
from typing import Final, TypeAlias

from pgclarify.data.documents import Passage
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import StopCode
from pgclarify.language.english.opposites import spell_negations
from pgclarify.language.english.word_classes import EXCLUSIONS, NEARLY_NEGATIONS, NEGATIONS
from pgclarify.language.english.words import all_stems, content_stems
from pgclarify.language.words import unspaced_pairs
from pgclarify.operations.judging.verdict_check import Quoted, check_quote, cite
from pgclarify.prompts.joint_verdicts import JointVerdicts

_TURNING: Final = NEGATIONS | NEARLY_NEGATIONS | EXCLUSIONS

Said: TypeAlias = tuple[Reading, ...] | StopCode
"""What a model says of one passage: its readings, the most likely first, or why it reads none."""


def settled(reply: JointVerdicts, question: str, passages: Sequence[Passage]) -> list[Said | None]:
    """Settle what a reply says of each passage.

    A quote that stands in exactly one other passage of the call belongs to that one, if all checks pass there. That is
    so, too, if its number is that of no passage.

    Args:
        reply: The reply, not checked.
        question: The question.
        passages: Those of the call, in order.

    Returns:
        For each passage what is said of it; None if it is to be asked about alone, because the reply was cut off before
        it, has no quote from it or one that stands nowhere, or has an answer with words of another document.
    """
    places = range(len(passages))
    found: list[list[Reading]] = [[] for _ in places]
    left_open = set()
    beyond = {place for one in reply.readings for place, _ in one.proofs if place not in places}
    for place in (*places, *sorted(beyond)):
        said = reply.of(place)
        if said is None:
            left_open.add(place)
        for reading in said if isinstance(said, tuple) else ():
            owner = _owner(reading, question, passages, place)
            answer = replace(reading, interpretation="")
            if owner is None or leans_on(answer, question, passages, owner):
                left_open.add(place)
            elif all(one.ordinal != reading.ordinal for one in found[owner]):
                leaning = leans_on(reading, question, passages, owner)
                found[owner].append(replace(reading, leans_on=leaning))
    for readings in found:
        readings.sort(key=attrgetter("ordinal"))
    return [
        None if place in left_open else tuple(readings) or StopCode.NOT_ANSWERED for place, readings in enumerate(found)
    ]


def _owner(reading: Reading, question: str, passages: Sequence[Passage], place: int) -> int | None:
    """Return the place of the passage that a quote is from; None if it may be from none."""
    if place < len(passages) and cite(reading.quote, reading.answer, passages[place]) is not None:
        return place
    owners = [other for other, one in enumerate(passages) if cite(reading.quote, reading.answer, one) is not None]
    if len(owners) != 1:
        return None
    quoted = check_quote(reading, question, passages[owners[0]])
    return owners[0] if isinstance(quoted, Quoted) and quoted.doubt is None else None


def leans_on(reading: Reading, question: str, passages: Sequence[Passage], place: int) -> tuple[str, ...]:
    """List the documents that a reading has words of, and that its own passage and the question do not have.

    A reading that tells two things of the same name apart may do so in the words of another passage. It is withheld and
    erased with that one, too.

    Args:
        reading: The reading, with its answer.
        question: The question.
        passages: Those of the call, in order.
        place: The passage that proves the reading.

    Returns:
        Ids of documents, each once: for each such word that of the first passage that has it.
    """
    own = passages[place]
    # A "not" may turn an answer around. Other words without meaning, as "if" and "it", tell nothing about their origin.
    asked = content_stems(reading.interpretation) | unspaced_pairs(reading.interpretation)
    answered = content_stems(reading.answer) | unspaced_pairs(reading.answer) | _stems(reading.answer) & _TURNING
    words = (asked | answered) - _stems(question) - _shown(own)
    if not _TURNING.isdisjoint(_shown(own)):
        # An answer that begins with "no" is of a passage that says "not".
        words -= _TURNING
    others = [passage for passage in passages if passage.document_id != own.document_id]
    found = []
    for passage in others:
        if words & _shown(passage):
            found.append(passage.document_id)
            words -= _shown(passage)
    return tuple(dict.fromkeys(found))


def _shown(passage: Passage) -> frozenset[str]:
    return _stems("\n".join(filter(None, (passage.title, passage.heading, passage.content))))


# Each reading is compared with all passages of its call.
@lru_cache(maxsize=256)
def _stems(text: str) -> frozenset[str]:
    return all_stems(spell_negations(text)) | unspaced_pairs(text)
