"""What a reply about several passages says of each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from operator import attrgetter
from typing import TypeAlias

from pgclarify.data.documents import Passage
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import StopCode
from pgclarify.language.english.words import all_stems, content_stems
from pgclarify.language.words import unspaced_pairs
from pgclarify.operations.judging.verdict_check import Quoted, check_quote, cite
from pgclarify.prompts.joint_verdicts import JointVerdicts

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
    found: list[list[Reading] | None] = [[] for _ in passages]
    places = range(len(passages))
    beyond = {place for one in reply.readings for place, _ in one.proofs if place not in places}
    for place in (*places, *sorted(beyond)):
        said = reply.of(place)
        readings = said if isinstance(said, tuple) else ()
        is_open = said is None
        for reading in readings:
            owner = _owner(reading, question, passages, place)
            if owner is None or leans_on(replace(reading, interpretation=""), question, passages, owner):
                is_open = True
            elif (kept := found[owner]) is not None and all(one.ordinal != reading.ordinal for one in kept):
                kept.append(replace(reading, leans_on=leans_on(reading, question, passages, owner)))
        if is_open and place in places:
            found[place] = None
    return [
        None if readings is None else tuple(sorted(readings, key=attrgetter("ordinal"))) or StopCode.NOT_ANSWERED
        for readings in found
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
    # All words of the answer, because a "not" may turn it around.
    words = content_stems(reading.interpretation) | unspaced_pairs(reading.interpretation) | _stems(reading.answer)
    words -= _stems(question) | _shown(own)
    found: dict[str, None] = {}
    for passage in passages:
        if words and passage.document_id != own.document_id and (there := words & _shown(passage)):
            found[passage.document_id] = None
            words -= there
    return tuple(found)


def _shown(passage: Passage) -> frozenset[str]:
    return _stems("\n".join(filter(None, (passage.title, passage.heading, passage.content))))


# Each reading is compared with all passages of its call.
@lru_cache(maxsize=256)
def _stems(text: str) -> frozenset[str]:
    return all_stems(text) | unspaced_pairs(text)
