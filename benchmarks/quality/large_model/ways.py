"""What each way of asking shows for a question, from recorded replies, with the product's checks and grouping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from benchmarks.prompts.one_prompt import ListedReading
from benchmarks.quality.large_model.files import CALLS, FEW, MANY, Asked, Known, hash_of, reading_key
from pgclarify.algorithms.metrics import cover_exact_match
from pgclarify.data.candidates import Candidate
from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import Completion, ModelCall
from pgclarify.data.runs import Run
from pgclarify.data.verdicts import Reading, Verdict
from pgclarify.data.vocabulary import StopCode
from pgclarify.errors import InvalidReply
from pgclarify.ledger.completions import CallResult
from pgclarify.operations.clarification.interpretations import Grounded, interpret, vectors_of
from pgclarify.operations.judging.verdict_check import Quoted, check_quote
from pgclarify.operations.judging.verdicts import Supported, check_verdict, grounded_verdict, knows_to_abstain
from pgclarify.prompts.joint_verdicts import JointVerdicts
from pgclarify.protocols import Embedder

_CHARACTERS_A_TOKEN: Final = 4
"""English text, as most models count: no tokenizer of the model that wrote the replies can be had."""

Replies: TypeAlias = Mapping[str, str]
"""By the hash of the prompt."""


@dataclass(frozen=True)
class Shown:
    """A reading that a user sees.

    Attributes:
        interpretation: The reading.
        answer: Its answer.
        quote: What proves it.
        is_contested: Whether another reading contradicts it.
        document_ids: The documents that it cites.
    """

    interpretation: str
    answer: str
    quote: str
    is_contested: bool
    document_ids: frozenset[str]


@dataclass(frozen=True)
class Outcome:
    """What one way shows for a question, and what it costs.

    Attributes:
        asked: The question.
        shown: The readings, in order.
        calls: Calls of the model.
        read: Tokens of the prompts, about.
        written: Tokens of the replies, about.
    """

    asked: Asked
    shown: Sequence[Shown]
    calls: int
    read: int
    written: int

    @property
    def found(self) -> int:
        """How many of the known readings are shown."""
        return sum(any(gives(one, known) for one in self.shown) for known in self.asked.known)

    @property
    def wrong(self) -> int:
        """How many of the readings have an answer that is known to be wrong."""
        return sum(is_known_wrong(one.answer, self.asked) for one in self.shown)

    @property
    def cited(self) -> frozenset[str]:
        """The documents that the readings cite."""
        return frozenset[str]().union(*(one.document_ids for one in self.shown))

    def letters(self, known: Mapping[str, str]) -> list[str]:
        """Return a letter for each reading, in order: R right, W wrong, N true but not useful, ? not judged.

        Args:
            known: As `letters` reads them, for readings of real documents.
        """
        if self.asked.documents == "ramdocs":
            return ["R" if is_known(one, self.asked) else "W" for one in self.shown]
        keys = (reading_key(self.asked.documents, self.asked.question, one.answer) for one in self.shown)
        return [known.get(key, "?") for key in keys]


def gives(one: Shown | Reading, known: Known) -> bool:
    """Tell whether a reading gives the answer of a known one."""
    if not known.parts:
        return cover_exact_match(one.answer, [known.answer])
    text = f"{one.answer}\n{one.quote}".casefold()
    return all(any(choice in text for choice in part) for part in known.parts)


def is_known(one: Shown | Reading, asked: Asked) -> bool:
    """Tell whether a reading is one of the known ones."""
    return any(gives(one, known) for known in asked.known)


def is_known_wrong(answer: str, asked: Asked) -> bool:
    """Tell whether an answer is one that a document is known to give wrongly."""
    return cover_exact_match(answer, asked.wrong) and not any(
        cover_exact_match(answer, [known.answer]) for known in asked.known
    )


def said(call: ModelCall[Any], replies: Replies) -> Any:
    """Read the reply to a call; None if it cannot be used.

    Raises:
        LookupError: If it was not recorded.
    """
    try:
        return call.read(Completion(replies[hash_of(call)], None, None, 0.0))
    except InvalidReply:
        return None


def verdicts_of(asked: Asked, way: str, replies: Replies) -> list[tuple[int, Passage, Reading | StopCode | None]]:
    """Return what a model said of each passage, by rank from 1: one passage a call (verdict), or several (answering).

    Raises:
        LookupError: If a reply was not recorded.
    """
    calls = CALLS[way](asked.question, asked.passages)
    if way == "verdict":
        return [
            (rank, passage, said(call, replies))
            for rank, (passage, call) in enumerate(zip(asked.passages, calls, strict=False), start=1)
        ]
    passages = asked.passages[: MANY if way == "answering_many" else FEW]
    found = said(calls[0], replies) or {}
    return [
        (rank, passage, found.get(rank - 1, StopCode.NOT_ANSWERED)) for rank, passage in enumerate(passages, start=1)
    ]


async def outcome(asked: Asked, way: str, replies: Replies, embedder: Embedder, *, verify: str = "checks") -> Outcome:
    """Show what one way finds for a question.

    Args:
        asked: The question.
        way: A key of CALLS.
        replies: The recorded replies of one writer.
        embedder: Groups readings.
        verify: checks, or none, which demands the quote alone.

    Raises:
        LookupError: If a reply was not recorded.
    """
    calls = CALLS[way](asked.question, asked.passages)
    if way == "one_prompt":
        shown = _listed(asked, said(calls[0], replies) or [])
    elif way.startswith("joint_verdicts"):
        shown = _proven(asked, said(calls[0], replies) or JointVerdicts(()))
    else:
        shown = await _consolidated(asked, verdicts_of(asked, way, replies), embedder, verify)
    read = sum(len(message.content) for call in calls for message in call.messages)
    written = sum(len(replies[hash_of(call)]) for call in calls)
    return Outcome(asked, shown, len(calls), read // _CHARACTERS_A_TOKEN, written // _CHARACTERS_A_TOKEN)


def _listed(asked: Asked, found: Sequence[ListedReading]) -> list[Shown]:
    return [
        Shown(
            one.interpretation,
            one.answer,
            one.quote,
            False,
            frozenset(asked.passages[place].document_id for place in one.passages),
        )
        for one in found
    ]


def _proven(asked: Asked, found: JointVerdicts) -> list[Shown]:
    """Keep the readings that a quote proves, in the order of the model, and the passages whose quotes do."""
    shown = []
    for one in found.readings:
        proofs = []
        for place, quote in one.proofs:
            passage = asked.passages[place]
            quoted = check_quote(Reading(one.interpretation, one.answer, quote), asked.question, passage)
            if isinstance(quoted, Quoted):
                proofs.append((passage.document_id, quoted.quote))
        if proofs:
            documents = frozenset(document_id for document_id, _ in proofs)
            shown.append(Shown(one.interpretation, one.answer, proofs[0][1], False, documents))
    return shown


async def _consolidated(
    asked: Asked,
    judged: Sequence[tuple[int, Passage, Reading | StopCode | None]],
    embedder: Embedder,
    verify: str,
) -> list[Shown]:
    run = Run(1, 1, "clarify", asked.question, {"verify": verify}, None, None, None)
    read = sum(isinstance(one, Reading) for _, _, one in judged)
    is_doubted_shown = knows_to_abstain(read, sum(one is StopCode.NOT_ANSWERED for _, _, one in judged))
    grounded: list[tuple[Passage, Verdict]] = []
    for rank, passage, one in judged:
        if one is None:
            continue
        checked = check_verdict(run, Candidate(rank, passage, 0.0, "dense"), CallResult(one, None, False))
        if isinstance(checked, Supported) and (checked.quoted.doubt is None or is_doubted_shown):
            grounded.append((passage, await grounded_verdict(checked, embedder)))
    found = await interpret(run, [Grounded.of(*pair) for pair in grounded], vectors_of(grounded))
    return [
        Shown(
            one.interpretation,
            one.answer,
            one.citations[0].quote,
            one.is_contested,
            frozenset(asked.passages[each.candidate_rank - 1].document_id for each in one.citations),
        )
        for one in found
    ]
