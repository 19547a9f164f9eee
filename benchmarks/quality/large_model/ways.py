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
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import StopCode
from pgclarify.errors import InvalidReply
from pgclarify.ledger.completions import CallResult
from pgclarify.operations.clarification.interpretations import Grounded, interpret, vectors_of
from pgclarify.operations.judging.joint_reply import Said, settled
from pgclarify.operations.judging.verdicts import Supported, check_said, grounded_verdict, knows_to_abstain
from pgclarify.prompts.verdict import verdict
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
        passages: The passages that it cites, the proof first.
    """

    interpretation: str
    answer: str
    quote: str
    is_contested: bool
    passages: tuple[Passage, ...]


@dataclass(frozen=True)
class Outcome:
    """What one way shows for a question, and what it costs.

    Attributes:
        asked: The question.
        shown: The readings, in order.
        calls: Calls of the model.
        read: Tokens of the prompts, about.
        written: Tokens of the replies, about.
        again: How many of the calls ask again about one passage alone.
    """

    asked: Asked
    shown: Sequence[Shown]
    calls: int
    read: int
    written: int
    again: int

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
        return frozenset(passage.document_id for one in self.shown for passage in one.passages)

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


def verdicts_of(asked: Asked, way: str, replies: Replies) -> list[tuple[Passage, CallResult[Said | None]]]:
    """Return what a model said of each passage, by rank: one passage a call (verdict), or several (joint_verdicts).

    Said of a passage that the product asks about alone, after a joint reply, is the recorded verdict; nothing if there
    is none, which may be so beyond the first `FEW`. The joint reply has completion_id 0.

    Raises:
        LookupError: If a reply was not recorded.
    """
    if way == "verdict":
        found = [(passage, _alone(asked, passage, replies)) for passage in asked.passages[:FEW]]
        return [(passage, CallResult(one, rank, False)) for rank, (passage, one) in enumerate(found, start=1)]
    return [
        (passage, CallResult(_asked_again(asked, passage, replies), rank, False))
        if one is None
        else (passage, CallResult(one, 0, False))
        for rank, (passage, one) in enumerate(told(asked, way, replies), start=1)
    ]


def told(asked: Asked, way: str, replies: Replies) -> list[tuple[Passage, Said | None]]:
    """Return what a joint reply says of each passage; None of one that is asked about alone.

    Raises:
        LookupError: If the reply was not recorded.
    """
    passages = asked.passages[: MANY if way == "joint_verdicts_many" else FEW]
    (call,) = CALLS[way](asked.question, asked.passages)
    reply = said(call, replies)
    found = [None] * len(passages) if reply is None else settled(reply, asked.question, passages)
    return [*zip(passages, found, strict=True)]


def _alone(asked: Asked, passage: Passage, replies: Replies) -> Said | None:
    one = said(verdict(asked.question, passage), replies)
    return (one,) if isinstance(one, Reading) else one


def _asked_again(asked: Asked, passage: Passage, replies: Replies) -> Said | None:
    try:
        return _alone(asked, passage, replies)
    except LookupError:
        return None


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
    left = told(asked, way, replies) if way.startswith("joint_verdicts") else []
    again = [verdict(asked.question, passage) for passage, one in left if one is None]
    if way == "one_prompt":
        shown = _listed(asked, said(calls[0], replies) or [])
    else:
        # The trial of this model would show that it abstains.
        shown = await _consolidated(asked, verdicts_of(asked, way, replies), embedder, verify, abstains=bool(left))
    read = sum(len(message.content) for call in (*calls, *again) for message in call.messages)
    written = sum(len(replies.get(hash_of(call), "")) for call in (*calls, *again))
    tokens = (read // _CHARACTERS_A_TOKEN, written // _CHARACTERS_A_TOKEN)
    return Outcome(asked, shown, len(calls) + len(again), *tokens, len(again))


def _listed(asked: Asked, found: Sequence[ListedReading]) -> list[Shown]:
    return [
        Shown(
            one.interpretation,
            one.answer,
            one.quote,
            False,
            tuple(asked.passages[place] for place in one.passages),
        )
        for one in found
    ]


async def _consolidated(
    asked: Asked,
    judged: Sequence[tuple[Passage, CallResult[Said | None]]],
    embedder: Embedder,
    verify: str,
    *,
    abstains: bool,
) -> list[Shown]:
    run = Run(1, 1, "clarify", asked.question, {"verify": verify}, None, None, None)
    sayings = [one.value for _, one in judged]
    read = sum(isinstance(one, tuple) for one in sayings)
    is_doubted_shown = abstains or knows_to_abstain(read, sayings.count(StopCode.NOT_ANSWERED))
    supported = [
        (passage, each)
        for rank, (passage, one) in enumerate(judged, start=1)
        for each in _supported(run, Candidate(rank, passage, 0.0, "dense"), one)
        if each.quoted.doubt is None or is_doubted_shown
    ]
    grounded = [(passage, await grounded_verdict(each, embedder)) for passage, each in supported]
    found = await interpret(run, [Grounded.of(*pair) for pair in grounded], vectors_of(grounded))
    return [
        Shown(
            one.interpretation,
            one.answer,
            one.citations[0].quote,
            one.is_contested,
            tuple(asked.passages[each.candidate_rank - 1] for each in one.citations),
        )
        for one in found
        if one.is_shown
    ]


def _supported(run: Run, candidate: Candidate, result: CallResult[Said | None]) -> list[Supported]:
    if result.value is None:
        return []
    checked = check_said(run, candidate, CallResult(result.value, result.completion_id, result.is_reused))
    return checked if isinstance(checked, list) else []
