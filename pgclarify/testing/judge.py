"""Judges of an evaluation, and models behind judges and baselines, that say what they were told to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from pgclarify.errors import CompletionError, InvalidReply
from pgclarify.evaluated import Stated
from pgclarify.model import Completion, CompletionRequest, Passage
from pgclarify.protocols import ReadFromPassages
from pgclarify.testing.completer import FakeCompleter

T = TypeVar("T")


class FakeJudge:
    """Knows what is supported, the same, and irrelevant. A reading goes by its question, or else by its first answer.

    Args:
        supported: Reading and content of a passage that supports it; nothing else is supported.
        matching: Pairs of readings that are the same, in either order. Equal ones are without being listed.
        irrelevant: Readings that are none; all others are.
        error: Raised instead of any judgement.

    Attributes:
        calls: What was asked so far: the judgement and its readings.
    """

    def __init__(
        self,
        *,
        supported: Collection[tuple[str, str]] = (),
        matching: Collection[tuple[str, str]] = (),
        irrelevant: Collection[str] = (),
        error: Exception | None = None,
    ) -> None:
        self.calls: list[tuple[str, list[str]]] = []
        self._supported = frozenset(supported)
        self._matching = frozenset(matching)
        self._irrelevant = frozenset(irrelevant)
        self._error = error

    @property
    def name(self) -> str:
        """Always fake."""
        return "fake"

    @property
    def version(self) -> str:
        """Always the same."""
        return "1"

    @property
    def needs_answers(self) -> bool:
        """It looks readings up by their question."""
        return False

    async def supports(self, claims: Sequence[tuple[Stated, Sequence[Passage]]]) -> list[bool]:
        """Look every reading up with its passages."""
        readings = await self._ask("supports", [stated for stated, _ in claims])
        return [
            any((reading, passage.content) in self._supported for passage in passages)
            for reading, (_, passages) in zip(readings, claims, strict=True)
        ]

    async def matches(self, question: str, readings: Sequence[Stated], among: Sequence[Stated]) -> list[bool]:
        """Look every reading up with the others."""
        said = await self._ask("matches", readings)
        return [any(self._is_same(reading, _said(other)) for other in among) for reading in said]

    async def distinct(self, question: str, readings: Sequence[Stated]) -> list[int]:
        """Leave out what is the same as one that remains."""
        said = await self._ask("distinct", readings)
        remaining: list[int] = []
        for place, reading in enumerate(said):
            if not any(self._is_same(reading, said[other]) for other in remaining):
                remaining.append(place)
        return remaining

    async def relevant(self, question: str, readings: Sequence[Stated]) -> list[bool]:
        """Look every reading up."""
        return [reading not in self._irrelevant for reading in await self._ask("relevant", readings)]

    async def _ask(self, judgement: str, readings: Sequence[Stated]) -> list[str]:
        said = [_said(stated) for stated in readings]
        self.calls.append((judgement, said))
        # A real model gives way to others here.
        await asyncio.sleep(0)
        if self._error is not None:
            raise self._error
        return said

    def _is_same(self, one: str, other: str) -> bool:
        return one == other or not self._matching.isdisjoint({(one, other), (other, one)})


class FakeJudgeModel(FakeCompleter):
    """A language model that judges by a script.

    Args:
        script: What is said: JSON, any other reply, which does not fit, or an error; a list has one for each time it is
            asked. The key is "support: " and the reading, or "match: ", "distinct: " or "relevance: " and the readings,
            divided by " | ".
        otherwise: What is said of all others.
    """

    def __init__(
        self,
        script: Mapping[str, str | CompletionError | list[str | CompletionError]] | None = None,
        *,
        otherwise: str = "no",
    ) -> None:
        super().__init__(script or {}, otherwise)

    def support_request(
        self, interpretation: str, answer: str | None, passages: Sequence[Passage], *, retry: bool = False
    ) -> CompletionRequest:
        """Render reading, answer and passages."""
        text = "\n".join((interpretation, answer or "", *(passage.content for passage in passages)))
        return self._request("judge_support", text, f"support: {interpretation}", retry=retry)

    def read_support(self, completion: Completion) -> bool:
        """Read true or false.

        Raises:
            InvalidReply: If it is neither.
        """
        return _checked(_json(completion), bool)

    def match_request(
        self, question: str, interpretations: Sequence[str], among: Sequence[str], *, retry: bool = False
    ) -> CompletionRequest:
        """Render question and readings."""
        text = "\n".join((question, *interpretations, "", *among))
        return self._request("judge_match", text, f"match: {' | '.join(interpretations)}", retry=retry)

    def read_match(self, completion: Completion, *, interpretations: int) -> list[bool]:
        """Read a list of true and false.

        Raises:
            InvalidReply: If it is none of that length.
        """
        return _list(completion, bool, interpretations)

    def distinct_request(
        self, question: str, interpretations: Sequence[str], *, retry: bool = False
    ) -> CompletionRequest:
        """Render question and readings."""
        text = "\n".join((question, *interpretations))
        return self._request("judge_distinct", text, f"distinct: {' | '.join(interpretations)}", retry=retry)

    def read_distinct(self, completion: Completion, *, interpretations: int) -> list[int]:
        """Read a list of places, from 0.

        Raises:
            InvalidReply: If it is none, or empty, or names a reading that was not shown.
        """
        places = _list(completion, int)
        if not places or not set(places) <= set(range(interpretations)):
            raise InvalidReply("no reading, or one that was not shown")
        return places

    def relevance_request(
        self, question: str, interpretations: Sequence[str], *, retry: bool = False
    ) -> CompletionRequest:
        """Render question and readings."""
        text = "\n".join((question, *interpretations))
        return self._request("judge_relevance", text, f"relevance: {' | '.join(interpretations)}", retry=retry)

    def read_relevance(self, completion: Completion, *, interpretations: int) -> list[bool]:
        """Read a list of true and false.

        Raises:
            InvalidReply: If it is none of that length.
        """
        return _list(completion, bool, interpretations)


class FakeBaselineModel(FakeCompleter):
    """A language model that does by a script what baselines ask of it.

    Args:
        script: What is said: JSON, any other reply, which does not fit, or an error; a list has one for each time it is
            asked. The key is "proposal: ", "verification: " or "disambiguation: " and the question, or "answers: " and
            the questions, divided by " | ". Replies: a list of readings; of places, from 0; of [reading, answer,
            places]; of answers.
        otherwise: What is said of all others.
    """

    def __init__(
        self,
        script: Mapping[str, str | CompletionError | list[str | CompletionError]] | None = None,
        *,
        otherwise: str = "[]",
    ) -> None:
        super().__init__(script or {}, otherwise)

    def proposal_request(self, question: str, *, retry: bool = False) -> CompletionRequest:
        """Render the question."""
        return self._request("baseline_proposal", question, f"proposal: {question}", retry=retry)

    def read_proposal(self, completion: Completion) -> list[str]:
        """Read a list of texts.

        Raises:
            InvalidReply: If it is none.
        """
        return _list(completion, str)

    def verification_request(
        self, interpretation: str, passages: Sequence[Passage], *, retry: bool = False
    ) -> CompletionRequest:
        """Render question and passages."""
        key = f"verification: {interpretation}"
        return self._request("baseline_verification", _over(passages, interpretation), key, retry=retry)

    def read_verification(self, completion: Completion, *, passages: int) -> list[int]:
        """Read a list of places.

        Raises:
            InvalidReply: If it is none.
        """
        return _places(_list(completion, int), passages)

    def answers_request(
        self, interpretations: Sequence[str], passages: Sequence[Passage], *, retry: bool = False
    ) -> CompletionRequest:
        """Render questions and passages."""
        key = f"answers: {' | '.join(interpretations)}"
        return self._request("baseline_answers", _over(passages, *interpretations), key, retry=retry)

    def read_answers(self, completion: Completion, *, interpretations: int) -> list[str | None]:
        """Read a list of texts and nulls.

        Raises:
            InvalidReply: If it is none of that length.
        """
        said = _list(completion, object, interpretations)
        return [None if answer is None else str(answer) for answer in said]

    def disambiguation_request(
        self, question: str, passages: Sequence[Passage], *, retry: bool = False
    ) -> CompletionRequest:
        """Render question and passages."""
        key = f"disambiguation: {question}"
        return self._request("baseline_disambiguation", _over(passages, question), key, retry=retry)

    def read_disambiguation(self, completion: Completion, *, passages: int) -> list[ReadFromPassages]:
        """Read a list of readings.

        Raises:
            InvalidReply: If it is none, or names a passage that was not shown.
        """
        return [
            ReadFromPassages(reading, answer, tuple(_places(places, passages)))
            for reading, answer, places in _list(completion, list)
        ]


def _said(stated: Stated) -> str:
    return stated.interpretation if stated.interpretation is not None else stated.answers[0]


def _over(passages: Sequence[Passage], *asked: str) -> str:
    return "\n".join((*(passage.content for passage in passages), *asked))


def _json(completion: Completion) -> object:
    try:
        return json.loads(completion.reply)
    except ValueError:
        raise InvalidReply("a reply has the wrong form") from None


def _checked(value: object, kind: type[T]) -> T:
    # True is an int, but no place.
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise InvalidReply("a reply has the wrong form")
    return value


def _list(completion: Completion, kind: type[T], length: int | None = None) -> list[T]:
    values: list[object] = _checked(_json(completion), list)
    if length is not None and len(values) != length:
        raise InvalidReply(f"{len(values)} in place of {length}")
    return [_checked(value, kind) for value in values]


def _places(places: Sequence[int], passages: int) -> list[int]:
    if not set(places) <= set(range(passages)):
        raise InvalidReply("a passage that was not shown")
    return sorted(set(places))
