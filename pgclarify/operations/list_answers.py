"""Answers one by one: each round reads the evidence and the answers so far, and gives one more or says it was the last.

Source: AmbigPrompt, §3, Equation 5. docs/methods/answers-one-by-one.md says what is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from pgclarify.algorithms import find_variant, is_last_name, is_variant
from pgclarify.dialogue import EvidenceCitation, ListedAnswer
from pgclarify.errors import CompletionError, InvalidReply, describe
from pgclarify.language.numbers import counted
from pgclarify.language.quotes import fold
from pgclarify.ledger.calls import CALLS_TO_ANSWER, Calls, Unproven
from pgclarify.model import Candidate
from pgclarify.model_calls import ModelCall
from pgclarify.operations.context import Ending, RunContext
from pgclarify.operations.judging.proof import Proven, prove_told
from pgclarify.operations.retrieval.evidence import cut_evidence, passage_text
from pgclarify.operations.retrieval.first_stage import FirstStage
from pgclarify.operations.trace import Tally
from pgclarify.prompts.listing import listing
from pgclarify.steps import Finding
from pgclarify.vocabulary import RunStatus, StopCode

# Rounds in a row may bring nothing but other spellings of answers, or answers that do not count: the next request shows
# them, and so asks for something else.
_MOST_FRUITLESS = 2
# Rounds beyond one for each answer.
_SPARE_ROUNDS = 5


async def list_answers(context: RunContext) -> Ending:
    """List the answers to a run's question, until the last one.

    Answers are kept as they are found. An answer that is repeated, or not proven, is excluded, and the rounds go on.
    The run succeeds if the model says that there is no further answer, also with none, or if there are as many as
    wanted; is partial if the list ended before that, or the model failed after some; and fails if the model failed at
    once, or nothing could be embedded.

    Args:
        context: The run; settings: search, reranker (absent for none), top_k, evidence_tokens, max_answers.

    Source: AmbigPrompt, §3.
    """
    return Ending(await _Listing(context, await _gather(context)).carry_out())


async def _gather(context: RunContext) -> list[Candidate]:
    """Find and record candidates; return what is read of them."""
    embedder = await context.embedder()
    name = context.run.settings.get("reranker")
    reranker = None if name is None else await context.models.rerankers.get(name, context.store)
    candidates = await FirstStage(context, embedder, reranker).choose(context.run.question)
    return cut_evidence(candidates, context.run.settings["evidence_tokens"])


class _Repeated(InvalidReply):
    """A reply whose answer was found before."""

    def __init__(self) -> None:
        super().__init__("the answer was found before")


@dataclass(slots=True)
class _Entry:
    """An answer, and what was found of it so far.

    Attributes:
        ordinal: The order in which it was found, from 1.
        variants: Its spellings, as they were found.
        citations: What proves it, as it was found.
    """

    ordinal: int
    variants: list[str] = field(default_factory=list)
    citations: list[EvidenceCitation] = field(default_factory=list)

    def add(self, proven: Proven) -> bool:
        """Add a spelling and its proof; false if both are known."""
        before = len(self.variants), len(self.citations)
        if not self.has(proven.answer):
            self.variants.append(proven.answer)
        new = (
            EvidenceCitation(one.candidate_rank, one.quote, one.start_char, one.end_char) for one in proven.citations
        )
        self.citations += [one for one in new if one not in self.citations]
        return (len(self.variants), len(self.citations)) != before

    def has(self, answer: str) -> bool:
        """Tell whether it was found in this spelling."""
        return fold(answer) in map(fold, self.variants)

    def listed(self) -> ListedAnswer:
        return ListedAnswer(self.ordinal, self.variants[0], tuple(self.variants), tuple(self.citations))


class _Listing:
    """The rounds of one run."""

    def __init__(self, context: RunContext, shown: Sequence[Candidate]) -> None:
        self._run = context.run
        self._dialogue = context.stores.dialogue
        self._trace = context.trace
        self._shown = shown
        self._most: int = self._run.settings["max_answers"]
        self._most_rounds = self._most + _SPARE_ROUNDS
        most_calls = CALLS_TO_ANSWER * self._most_rounds
        self._calls = Calls(context.store, context.models.completer, most=most_calls, poll=context.poll)
        self._entries: list[_Entry] = []
        # All spellings, in the order in which they were found, and what was read where they were.
        self._read_in: dict[str, list[str]] = {}
        # Answers that were given and do not count.
        self._refused: dict[str, None] = {}
        # Those of this round: a second reply may prove what the first one did not.
        self._doubtful: dict[str, None] = {}
        # Entries that a reply of this round added to.
        self._grown: dict[int, _Entry] = {}

    async def carry_out(self) -> RunStatus:
        """Ask for one answer after the other.

        Raises:
            CompletionError: If the model failed at once.
        """
        if not self._shown:
            self._trace.stop_reason = "the search found nothing"
            return RunStatus.SUCCEEDED
        rounds = fruitless = 0
        while len(self._entries) < self._most:
            if rounds == self._most_rounds:
                return self._end_early(f"the limit of {counted(rounds, 'round')} was reached", StopCode.LIMIT)
            rounds += 1
            known = self._known
            with self._trace.stage("listing", batch=rounds) as tally:
                value = await self._ask(tally)
            match value:
                case Proven():
                    fruitless = 0
                case None:
                    self._trace.stop_reason = "no further answer" if self._entries else "the passages give no answer"
                    if self._refused and not self._entries:
                        self._trace.stop_code = StopCode.UNPROVEN
                    return RunStatus.SUCCEEDED
                case _Repeated() | Unproven() if self._known > known and fruitless < _MOST_FRUITLESS:
                    fruitless += 1
                case _Repeated():
                    return self._end_early("rounds brought nothing new", StopCode.LIMIT)
                case Unproven():
                    another = "a further answer" if self._entries else "the answer"
                    return self._end_early(f"{another} was not proven: {value.message}", StopCode.UNPROVEN)
                case CompletionError() if self._entries:
                    self._trace.stop_reason = f"the model failed: {describe(value)}"
                    return RunStatus.PARTIAL
                case CompletionError():
                    raise value
        self._trace.stop_reason = f"the limit of {counted(self._most, 'answer')} was reached"
        self._trace.stop_code = StopCode.LIMIT
        return RunStatus.SUCCEEDED

    @property
    def _known(self) -> int:
        """How many answers the next request shows. If a round adds none, the next request would be the same."""
        return len(self._read_in) + len(self._refused)

    def _end_early(self, reason: str, code: StopCode) -> RunStatus:
        """Note why the list ends although the model has not said that it is complete."""
        self._trace.stop_reason = reason
        self._trace.stop_code = code
        return RunStatus.PARTIAL

    async def _ask(self, tally: Tally) -> Proven | CompletionError | None:
        """Ask for one more answer, and keep it, and whatever spellings of others came instead of it."""
        value = await self._calls.ask(self._render, tally=tally)
        if isinstance(value, Proven):
            entry = _Entry(len(self._entries) + 1)
            entry.add(value)
            self._entries.append(entry)
            self._grown[entry.ordinal] = entry
        elif isinstance(value, _Repeated | Unproven):
            self._refused |= self._doubtful
        self._doubtful.clear()
        for entry in self._grown.values():
            await self._dialogue.record_answer(self._run, entry.listed())
        self._grown.clear()
        tally.note = _told(value)
        return value

    def _render(self) -> ModelCall[Proven | None]:
        """Ask for one more than all spellings that were found by now, those of this round's first reply included."""
        passages = [candidate.passage for candidate in self._shown]
        return listing(self._run.question, passages, tuple(self._read_in), tuple(self._refused)).then(self._check)

    def _check(self, finding: Finding) -> Proven | None:
        if finding.answer is None:
            return None
        self._doubtful[finding.answer] = None
        proven = prove_told(finding, self._shown, asked=self._run.question)
        if proven is None:
            return None
        texts = [passage_text(one.passage) for one in proven.cited]
        known = find_variant(
            proven.answer, [entry.variants for entry in self._entries], is_one=partial(self._is_one, texts)
        )
        if known is None:
            self._read_in[proven.answer] = texts
            return proven
        entry = self._entries[known]
        if not entry.has(proven.answer):
            self._read_in[proven.answer] = texts
            del self._doubtful[finding.answer]
        if entry.add(proven):
            self._grown[entry.ordinal] = entry
        raise _Repeated

    def _is_one(self, texts: Sequence[str], answer: str, variant: str) -> bool:
        """Whether an answer that stands in some texts is one that was found before."""
        return (
            is_variant(answer, variant)
            or is_last_name(answer, variant, texts)
            or is_last_name(variant, answer, self._read_in[variant])
        )


def _told(value: Proven | CompletionError | None) -> str:
    match value:
        case None:
            return "none further"
        case Proven():
            return value.answer
        case _:
            return describe(value)
