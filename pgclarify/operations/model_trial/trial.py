"""The trial of a model: passages with known readings, read in calls of several sizes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Final

from pgclarify.algorithms.metrics import cover_exact_match
from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import ModelCall
from pgclarify.data.runs import Tally
from pgclarify.data.verdicts import Reading, Refusal
from pgclarify.data.vocabulary import Purpose, StopCode
from pgclarify.database.ledger import LedgerTables
from pgclarify.errors import InvalidReply, RequestRefused
from pgclarify.ledger.completions import ask_all
from pgclarify.operations.judging.joint_reply import Said
from pgclarify.operations.judging.verdict_check import check_quote, cite
from pgclarify.operations.model_trial.passages_per_call import SIZES, Counted, flaw
from pgclarify.prompts.joint_verdicts import joint_verdicts
from pgclarify.prompts.verdict import verdict
from pgclarify.protocols import Completer

# Calls of runs go first, but wait for those that have been sent: so few are sent at once, and half of the free turns.
_MOST_AT_ONCE: Final = 4


@dataclass(frozen=True, slots=True)
class Known:
    """A passage, and what is known of it.

    Attributes:
        passage: A document of the demo's corpus.
        answers: What it answers to the question, each in one spelling; none if it answers nothing.
    """

    passage: Passage
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KnownQuestion:
    """A question, and passages as a search would find them.

    Attributes:
        question: It has a different answer in each passage that answers.
        passages: 16, of which 10 answer.
        beside: Passages of the other question, which answer nothing, to fill a call of 20.
    """

    question: str
    passages: tuple[Known, ...]
    beside: tuple[Known, ...]

    def chunks(self, size: int) -> Iterator[Sequence[Known]]:
        """Yield the passages of each call with so many."""
        shown = self.passages + self.beside[: max(0, size - len(self.passages))]
        for start in range(0, len(shown), size):
            yield shown[start : start + size]


@cache
def known_questions() -> Sequence[KnownQuestion]:
    """Read the questions and passages from the package."""
    listed = json.loads(files("pgclarify.operations.model_trial").joinpath("known_readings.json").read_text("utf-8"))
    return tuple(
        KnownQuestion(
            one["question"],
            tuple(Known(_passage(name), tuple(answers)) for name, answers in one["passages"].items()),
            tuple(Known(_passage(name), ()) for name in one["beside"]),
        )
        for one in listed
    )


@dataclass(frozen=True, slots=True)
class TrialCall:
    """A call about passages with known readings.

    Attributes:
        question: The question.
        passages: In the order of the call.
    """

    question: str
    passages: Sequence[Known]

    def render(self, endpoint: str) -> ModelCall[Sequence[Said | None]]:
        """Render the call as runs make it.

        Args:
            endpoint: The ledger knows models by their names, but a model of that name elsewhere may be another one.
        """
        passages = [known.passage for known in self.passages]
        if len(passages) == 1:
            asked = verdict(self.question, passages[0]).then(_of_one)
        else:
            asked = joint_verdicts(self.question, passages).then(
                lambda said: [said.of(place) for place in range(len(passages))]
            )
        version = f"{asked.version}, endpoint {hashlib.sha256(endpoint.encode()).hexdigest()[:16]}"
        # It is no call of a run, so estimates must not count it, and its documents are in no corpus.
        return replace(asked, purpose=Purpose.MODEL_TRIAL, version=version, document_ids=())


def calls(size: int) -> list[TrialCall]:
    """Return the calls with so many passages."""
    return [TrialCall(known.question, chunk) for known in known_questions() for chunk in known.chunks(size)]


async def try_model(
    ledger: LedgerTables, completer: Completer, endpoint: str, tally: Tally
) -> tuple[int, list[Counted]]:
    """Find how many passages a model reads in one call.

    Args:
        ledger: The store of replies, without a run. A trial that is repeated pays for nothing twice.
        completer: A language model.
        endpoint: Where it is.
        tally: Counts the replies.

    Returns:
        How many passages a call may have: the largest size that is good, and all smaller ones are, too; 1 if none is.
        And what was counted for each size that was tried.

    Raises:
        CompletionError: If the endpoint fails, or a budget refuses a call. Then nothing is known.
        DatabaseError: If the ledger fails.
    """
    counted: list[Counted] = []
    best = 1
    for size in SIZES:
        asked = calls(size)
        counted.append(count(size, asked, await _ask(ledger, completer, endpoint, asked, tally)))
        if flaw(counted) is not None:
            break
        best = size
    return best, counted


def count(size: int, asked: Sequence[TrialCall], replies: Sequence[Sequence[Said | None]]) -> Counted:
    """Compare what replies say with what is known.

    Args:
        size: Passages a call.
        asked: The calls.
        replies: For each of them, what the reply says of each passage.
    """
    pairs = [
        _Judged(call, known, one)
        for call, said in zip(asked, replies, strict=True)
        for known, one in zip(call.passages, said, strict=True)
    ]
    answering = [one for one in pairs if one.known.answers]
    silent = [one for one in pairs if not one.known.answers]
    unproven = [quote for one in pairs for quote in one.unproven()]
    return Counted(
        size=size,
        calls=len(asked),
        answering=len(answering),
        found=sum(one.is_found() for one in answering),
        silent=len(silent),
        invented=sum(bool(one.readings) for one in silent),
        unread=sum(one.said is None for one in pairs),
        readings=sum(len(one.readings) for one in pairs),
        mixed_up=sum(unproven),
        unquoted=len(unproven) - sum(unproven),
    )


@dataclass(frozen=True, slots=True)
class _Judged:
    """A passage of a call, and what the reply says of it."""

    call: TrialCall
    known: Known
    said: Said | None

    @property
    def readings(self) -> tuple[Reading, ...]:
        return self.said if isinstance(self.said, tuple) else ()

    def is_found(self) -> bool:
        """Whether a reading has a known answer, and its quote proves it."""
        return any(
            # "$31/month"
            cover_exact_match(one.answer.replace("/", " "), self.known.answers)
            and not isinstance(check_quote(one, self.call.question, self.known.passage), Refusal)
            for one in self.readings
        )

    def unproven(self) -> list[bool]:
        """Of each reading whose quote does not stand in the passage: whether it stands in another one of the call."""
        return [
            any(cite(one.quote, one.answer, other.passage) is not None for other in self.call.passages)
            for one in self.readings
            if check_quote(one, self.call.question, self.known.passage) is Refusal.UNPROVEN
        ]


async def _ask(
    ledger: LedgerTables, completer: Completer, endpoint: str, asked: Sequence[TrialCall], tally: Tally
) -> list[Sequence[Said | None]]:
    replies: list[Sequence[Said | None]] = []
    while len(replies) < len(asked):
        at_once = min(_MOST_AT_ONCE, max(1, (completer.turns_free or 0) // 2))
        some = asked[len(replies) : len(replies) + at_once]
        results = await ask_all(ledger, completer, [call.render(endpoint) for call in some], tally=tally)
        for call, result in zip(some, results, strict=True):
            value = result.value
            # What is too long for a model is refused. If even one passage is, the endpoint refuses everything.
            is_refused = isinstance(value, RequestRefused) and len(call.passages) > 1
            replies.append(
                [None] * len(call.passages) if is_refused or isinstance(value, InvalidReply) else result.require()
            )
    return replies


def _of_one(said: Reading | StopCode) -> Sequence[Said | None]:
    return [(said,) if isinstance(said, Reading) else said]


@cache
def _passage(name: str) -> Passage:
    text = files("pgclarify").joinpath("demo_corpus", f"{name}.md").read_text("utf-8")
    title, _, content = text.partition("\n")
    return Passage(name, 1, content.strip(), title=title.removeprefix("# "))
