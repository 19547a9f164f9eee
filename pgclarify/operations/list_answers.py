"""Lists answers one by one: each round reads a window of the evidence and the answers so far, and adds one or none.

Source: AmbigPrompt, §3, Equations 5 and 8. docs/methods/answers-one-by-one.md says which parts are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from pgclarify.algorithms import find_variant, is_last_name, is_variant
from pgclarify.data.candidates import Candidate
from pgclarify.data.citations import Citation
from pgclarify.data.dialogue import ListedAnswer
from pgclarify.data.investigation import Finding
from pgclarify.data.model_calls import ModelCall
from pgclarify.data.vocabulary import RunStatus, StopCode
from pgclarify.errors import CompletionError, InvalidReply, code_of, describe
from pgclarify.language.numbers import counted
from pgclarify.language.quotes import fold
from pgclarify.ledger.calls import CALLS_TO_ANSWER, Calls, Unproven
from pgclarify.operations.context import Ending, RunContext, code_of_failures
from pgclarify.operations.judging.answer_proof import Proven, prove_told
from pgclarify.operations.retrieval.evidence import passage_text, split_evidence
from pgclarify.operations.retrieval.first_stage import FirstStage
from pgclarify.operations.trace import Tally
from pgclarify.prompts.listing import listing

# Some rounds give only another spelling of an answer, or an answer that does not count. The next request contains it,
# and so asks for something else. These are the limits of such rounds, in a row and in a run.
_MOST_FRUITLESS = 2
_SPARE_ROUNDS = 4
# The size of a window of the evidence, for a model of any context.
WINDOW_TOKENS = 3000


def most_rounds(max_answers: int, windows: int) -> int:
    """Bound the rounds of a run: one for each answer, one that ends each window, and a few without a result."""
    return max_answers + windows + _SPARE_ROUNDS


async def list_answers(context: RunContext) -> Ending:
    """List the answers to a run's question, window by window of the evidence; each request has the answers so far.

    Answers are stored when they are found. An answer that is repeated or not proven is excluded, and the rounds
    continue. The run succeeds if the model says for each window that there are no further answers, even if there are
    none, or if max_answers is reached. It is partial if a window ended before that, or if the model failed after some
    answers. It fails if the model failed before the first answer, or nothing could be embedded.

    Args:
        context: The run; settings: method, reranker (absent for none), top_k, max_answers.

    Source: AmbigPrompt, §3.
    """
    return await _Listing(context, await _gather(context)).carry_out()


async def _gather(context: RunContext) -> list[list[Candidate]]:
    """Find and record candidates; return the windows."""
    embedder = await context.embedder()
    name = context.run.settings.get("reranker")
    reranker = None if name is None else await context.models.rerankers.get(name, context.store)
    candidates = await FirstStage(context, embedder, reranker).choose(context.run.question)
    return split_evidence(candidates, WINDOW_TOKENS)


class _Repeated(InvalidReply):
    """A reply whose answer was found before."""

    def __init__(self) -> None:
        super().__init__("the answer was found before")


@dataclass(slots=True)
class _Entry:
    """An answer, with its spellings and citations so far.

    Attributes:
        ordinal: Place in the order in which answers were found, from 1.
        variants: Its spellings, in the order in which they were found.
        citations: The passages that prove it, in the order in which they were found.
    """

    ordinal: int
    variants: list[str] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)

    def add(self, proven: Proven) -> bool:
        """Add a spelling and its proof; return False if both are known."""
        before = len(self.variants), len(self.citations)
        if not self.has(proven.answer):
            self.variants.append(proven.answer)
        self.citations += [one for one in proven.citations if one not in self.citations]
        return (len(self.variants), len(self.citations)) != before

    def has(self, answer: str) -> bool:
        """Tell whether this spelling is known."""
        return fold(answer) in map(fold, self.variants)

    def listed(self) -> ListedAnswer:
        return ListedAnswer(self.ordinal, self.variants[0], tuple(self.variants), tuple(self.citations))


class _Listing:
    """The rounds of one run.

    Args:
        context: The run.
        windows: The windows, in order.
    """

    def __init__(self, context: RunContext, windows: Sequence[Sequence[Candidate]]) -> None:
        self._run = context.run
        self._store = context.store
        self._dialogue = context.stores.dialogue
        self._trace = context.trace
        self._windows = windows
        self._most: int = self._run.settings["max_answers"]
        most_calls = CALLS_TO_ANSWER * most_rounds(self._most, len(windows))
        self._calls = Calls(context.store, context.models.completer, most=most_calls, poll=context.poll)
        self._rounds = 0
        self._spare_rounds = _SPARE_ROUNDS
        self._entries: list[_Entry] = []
        # All spellings in the order in which they were found, with the passages in which they were found.
        self._read_in: dict[str, list[str]] = {}
        self._was_refused = False
        # The current window.
        self._shown: Sequence[Candidate] = ()
        # Answers of this window that do not count. Another window may prove them.
        self._refused: dict[str, None] = {}
        # Refused answers of this round: a second reply may prove them.
        self._doubtful: dict[str, None] = {}
        # Why the last reply of this round that could be read does not count.
        self._doubt: _Repeated | Unproven | None = None
        # Entries that a reply of this round extended.
        self._grown: dict[int, _Entry] = {}

    async def carry_out(self) -> Ending:
        """Read the windows, one after the other.

        Raises:
            CompletionError: If the model failed before an answer was found.
        """
        if not self._windows:
            self._trace.stop_reason = "the search found nothing"
            return Ending()
        early: list[_Repeated | Unproven] = []
        for number, window in enumerate(self._windows, start=1):
            self._shown = window
            self._refused.clear()
            spellings = len(self._read_in)
            try:
                doubt = await self._read(self._place_of(number))
            except CompletionError as error:
                if not self._entries:
                    raise
                self._trace.stop_reason = f"the model failed: {describe(error)}"
                return Ending(RunStatus.PARTIAL, error_code=code_of_failures([code_of(error)]))
            if len(self._entries) == self._most:
                self._trace.stop_reason = f"the limit of {counted(self._most, 'answer')} was reached"
                self._trace.stop_code = StopCode.LIMIT
                return Ending()
            if doubt is not None:
                early.append(doubt)
            if len(self._read_in) > spellings:
                # Requests about later windows repeat answers from this one.
                self._store.note_sources(candidate.passage.document_id for candidate in window)
        if early:
            self._end_early(early)
            return Ending(RunStatus.PARTIAL)
        self._trace.stop_reason = "no further answer" if self._entries else "the passages give no answer"
        if self._was_refused and not self._entries:
            self._trace.stop_code = StopCode.UNPROVEN
        return Ending()

    def _place_of(self, number: int) -> str | None:
        """Name the current window and its candidates; None if there is only one window."""
        if len(self._windows) == 1:
            return None
        first, last = self._shown[0].rank, self._shown[-1].rank
        ranks = f"#{first}" if first == last else f"#{first} to #{last}"
        return f"window {number} of {len(self._windows)} ({ranks})"

    def _end_early(self, early: Sequence[_Repeated | Unproven]) -> None:
        """Note why the list may miss answers of the windows."""
        match early[-1]:
            case Unproven() as last:
                another = "a further answer" if self._entries else "the answer"
                reason, self._trace.stop_code = f"{another} was not proven: {last.message}", StopCode.UNPROVEN
            case _:
                reason, self._trace.stop_code = "rounds brought nothing new", StopCode.REPEATED
        if len(self._windows) > 1:
            reason = f"{len(early)} of {len(self._windows)} windows ended early, the last of them because {reason}"
        self._trace.stop_reason = reason

    async def _read(self, place: str | None) -> _Repeated | Unproven | None:
        """Ask about one window for one answer after the other.

        Args:
            place: The name of the window; None if there is only one.

        Returns:
            The last reply, if the window ended before the model said that there are no further answers.

        Raises:
            CompletionError: If the model failed.
        """
        fruitless = 0
        while len(self._entries) < self._most:
            self._rounds += 1
            known = self._known
            with self._trace.stage("listing", batch=self._rounds) as tally:
                value = await self._ask(tally)
                tally.rows = int(isinstance(value, Proven))
                # The answer itself is only in the table of answers, which hides it from roles that may not read its
                # document.
                tally.note = ": ".join(filter(None, (place, _why_no_answer(value)))) or None
            match value:
                case Proven():
                    fruitless = 0
                case None:
                    return None
                case _Repeated() | Unproven():
                    if self._known == known or fruitless == _MOST_FRUITLESS or not self._spare_rounds:
                        return value
                    fruitless += 1
                    self._spare_rounds -= 1
                case CompletionError():
                    raise value
        return None

    @property
    def _known(self) -> int:
        """How many answers the next request contains. If a round adds none, the next request would be the same."""
        return len(self._read_in) + len(self._refused)

    async def _ask(self, tally: Tally) -> Proven | CompletionError | None:
        """Ask for one more answer, and store it, with any other spellings in the reply."""
        value = await self._calls.ask(self._render, tally=tally)
        if isinstance(value, InvalidReply) and self._doubt is not None:
            # If only the second reply could not be read, the model has not failed: the first reply decides.
            value = self._doubt
        if isinstance(value, Proven):
            entry = _Entry(len(self._entries) + 1)
            entry.add(value)
            self._entries.append(entry)
            self._grown[entry.ordinal] = entry
        elif isinstance(value, _Repeated | Unproven):
            self._refused |= self._doubtful
            self._was_refused |= bool(self._doubtful)
        self._doubtful.clear()
        self._doubt = None
        for entry in self._grown.values():
            await self._dialogue.record_answer(self._run, entry.listed())
        self._grown.clear()
        return value

    def _render(self) -> ModelCall[Proven | None]:
        """Render the request for an answer beside all known spellings, with those of this round's first reply."""
        passages = [candidate.passage for candidate in self._shown]
        return listing(self._run.question, passages, tuple(self._read_in), tuple(self._refused)).then(self._check)

    def _check(self, finding: Finding) -> Proven | None:
        try:
            return self._prove(finding)
        except (_Repeated, Unproven) as doubt:
            self._doubt = doubt
            raise

    def _prove(self, finding: Finding) -> Proven | None:
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
        """Whether an answer in some texts is the same as an earlier one."""
        return (
            is_variant(answer, variant)
            or is_last_name(answer, variant, texts)
            or is_last_name(variant, answer, self._read_in[variant])
        )


def _why_no_answer(value: Proven | CompletionError | None) -> str | None:
    match value:
        case None:
            return "none further"
        case Proven():
            return None
        case _:
            return describe(value)
