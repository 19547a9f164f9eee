"""What a reply about several passages says of each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TypeAlias

from pgclarify.data.documents import Passage
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import StopCode
from pgclarify.language.catalog import language_of
from pgclarify.language.checks import AskedReading
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
    places = range(len(passages))
    found: list[list[Reading]] = [[] for _ in places]
    left_open = set[int]()
    named = {place for one in reply.readings for place, _ in one.proofs}
    beyond = named.difference(places)
    for place in (*places, *sorted(beyond)):
        said = reply.of(place)
        if said is None:
            left_open.add(place)
        readings = said if isinstance(said, tuple) else ()
        for reading in readings:
            owner = _owner(reading, question, passages, place)
            answer = replace(reading, interpretation="")
            if owner is None or leans_on(answer, question, passages, owner):
                left_open.add(place)
                continue
            ordinals = {one.ordinal for one in found[owner]}
            if reading.ordinal not in ordinals:
                leaning = leans_on(reading, question, passages, owner)
                found[owner].append(replace(reading, leans_on=leaning))
    return [None if place in left_open else _in_order(readings) for place, readings in enumerate(found)]


def _in_order(readings: Sequence[Reading]) -> Said:
    ordered = sorted(readings, key=attrgetter("ordinal"))
    return tuple(ordered) or StopCode.NOT_ANSWERED


def _owner(reading: Reading, question: str, passages: Sequence[Passage], place: int) -> int | None:
    """Return the place of the passage that a quote is from; None if it may be from none."""

    def has_quote(other: int) -> bool:
        return cite(reading.quote, reading.answer, passages[other]) is not None

    places = range(len(passages))
    if place in places and has_quote(place):
        return place
    owners = [*filter(has_quote, places)]
    if len(owners) != 1:
        return None
    (owner,) = owners
    quoted = check_quote(reading, question, passages[owner])
    is_proof = isinstance(quoted, Quoted) and quoted.doubt is None
    return owner if is_proof else None


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
    others = [passage for passage in passages if passage.document_id != own.document_id]
    read = AskedReading(reading.interpretation, reading.answer, question)
    language = language_of(own.content, question)
    lenders = language.find_lenders(read, _shown(own), [*map(_shown, others)])
    document_ids = [others[lender].document_id for lender in lenders]
    return tuple(dict.fromkeys(document_ids))


def _shown(passage: Passage) -> str:
    texts = (passage.title, passage.heading, passage.content)
    return "\n".join(filter(None, texts))
