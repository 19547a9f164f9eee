"""Changes of one case between two evaluations: which readings are new, gone, kept, or have another answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pgclarify.algorithms.metrics import cover_exact_match, normalize_answer
from pgclarify.evaluated import EvaluatedCase
from pgclarify.vocabulary import RunStatus

Reading = Mapping[str, Any]
_SameKey = Callable[[Reading], tuple[str, ...] | None]


class Change(StrEnum):
    """The kind of change of a reading."""

    GONE = "gone"
    NEW = "new"
    ANSWERED_OTHERWISE = "answered otherwise"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class ReadingChange:
    """A reading of the first side, of the second, or of both.

    Attributes:
        change: The kind of change.
        first: The reading of the first side, as in column eval_case.output; None if it is new.
        second: The reading of the second side, in the same form; None if it is gone.
    """

    change: Change
    first: Reading | None
    second: Reading | None


def readings(case: EvaluatedCase) -> Sequence[Reading]:
    """Return the readings of a method for a case; none if the case failed."""
    if case.status is RunStatus.FAILED:
        return ()
    given: Sequence[Reading] = case.output.get("interpretations", ())
    return given


def reading_changes(
    first: Sequence[Reading], second: Sequence[Reading], known: Sequence[Sequence[str]] = ()
) -> list[ReadingChange]:
    """Pair the readings of two sides. Each reading has at most one partner.

    Equal readings are paired first. Next are readings with the same answer, then readings whose answers contain the
    same known answer, then readings with the same question. Questions and answers are compared after normalization. Two
    readings with the same answer count as one reading, because a model seldom words a question twice in the same way.

    Args:
        first: The readings of the first side.
        second: The readings of the second side.
        known: Known answers, each in all its spellings.

    Returns:
        Readings that are gone, then new ones, those with another answer, and kept ones. In each kind, readings with a
        known answer come first; the rest is in the order of the second side, or of the first side for readings that are
        gone.
    """

    def known_answer(reading: Reading) -> tuple[str, ...] | None:
        answer = reading.get("answer") or ""
        return next((tuple(names) for names in known if cover_exact_match(answer, names)), None)

    partners: dict[int, int] = {}
    for key in (_question_and_answer, _answer, known_answer, _question):
        _pair(first, second, key, partners)
    paired = {place: other for other, place in partners.items()}
    changes = [ReadingChange(Change.GONE, one, None) for place, one in enumerate(first) if place not in paired]
    for place, one in enumerate(second):
        if place not in partners:
            changes.append(ReadingChange(Change.NEW, None, one))
            continue
        partner = first[partners[place]]
        is_kept = _answer(partner) == _answer(one) or None is not known_answer(partner) == known_answer(one)
        changes.append(ReadingChange(Change.KEPT if is_kept else Change.ANSWERED_OTHERWISE, partner, one))
    order = list(Change)
    return sorted(
        changes,
        key=lambda change: (
            order.index(change.change),
            not any(side is not None and is_known(side, known) for side in (change.first, change.second)),
        ),
    )


def _pair(first: Sequence[Reading], second: Sequence[Reading], key: _SameKey, partners: dict[int, int]) -> None:
    """Pair readings that have the same key and no partner yet, in order."""
    taken = set(partners.values())
    free: dict[tuple[str, ...], list[int]] = {}
    for place, one in enumerate(first):
        if place not in taken and (value := key(one)) is not None:
            free.setdefault(value, []).append(place)
    for place, one in enumerate(second):
        if place not in partners and (value := key(one)) is not None and free.get(value):
            partners[place] = free[value].pop(0)


def _question_and_answer(reading: Reading) -> tuple[str, ...] | None:
    return normalize_answer(reading["interpretation"]), normalize_answer(reading.get("answer") or "")


def _answer(reading: Reading) -> tuple[str, ...] | None:
    answer = normalize_answer(reading.get("answer") or "")
    return (answer,) if answer else None


def _question(reading: Reading) -> tuple[str, ...] | None:
    question = normalize_answer(reading["interpretation"])
    return (question,) if question else None


def known_answers(gold: Mapping[str, Any]) -> list[list[str]]:
    """Return all known answers of a case, of all people: each once, in all its spellings."""
    stated = [one.get("answers", []) for one in gold.get("interpretations", ())]
    answers = stated if any(stated) else [names for person in gold.get("answer_sets", ()) for names in person]
    return [list(names) for names in dict.fromkeys(tuple(names) for names in answers if names)]


def is_known(reading: Reading, known: Sequence[Sequence[str]]) -> bool:
    """Return whether a reading's answer contains a known answer."""
    answer = reading.get("answer") or ""
    return any(cover_exact_match(answer, names) for names in known)
