"""The baseline of list_answers: asks for all answers at once, over all passages or over each window of them.

Source: AmbigPrompt, §4.3, Tables 2 and 3. docs/methods/evaluation.md lists the differences from the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pgclarify.algorithms import find_variant
from pgclarify.errors import InvalidReply
from pgclarify.evaluated import Case, CitedPassage, Output, PredictedInterpretation
from pgclarify.evaluation.baselines import Asked, UsageMeter, ask, carry_out, search
from pgclarify.model import Candidate, Passage
from pgclarify.operations.retrieval.evidence import split_evidence
from pgclarify.prompts.listing_at_once import listing_at_once
from pgclarify.vocabulary import RunStatus


class ListAtOnce:
    """One search, and for each window of its passages one call that asks for all answers.

    With one window for all passages, it is one pass. With the windows of `list_answers`, it is that operation without
    earlier answers: no call knows the answers of another. Quotes are not checked. A window gives no answers if its
    second reply does not fit either. A case fails if this happens in all its windows.

    Args:
        asked: The model and the corpus.
        top_k: Passages to read.
        evidence_tokens: Size of a window in tokens of four characters.
        max_answers: Most answers.

    Source: AmbigPrompt, §4.3 and Table 2 (FiD); Equation 8, where each passage proposes by itself.
    """

    def __init__(self, asked: Asked, *, top_k: int, evidence_tokens: int, max_answers: int) -> None:
        self._asked = asked
        self._top_k = top_k
        self._evidence_tokens = evidence_tokens
        self._max_answers = max_answers

    async def answer(self, case: Case) -> Output:
        """See Method."""
        return await carry_out(partial(self._answer, case))

    async def _answer(self, case: Case, meter: UsageMeter) -> Output:
        passages = await search(self._asked, case.question, self._top_k, meter)
        found: list[tuple[str, Passage | None]] = []
        unread: list[InvalidReply] = []
        windows = self._windows(passages)
        for window in windows:
            try:
                listed = await ask(self._asked, meter, listing_at_once(case.question, window, self._max_answers))
            except InvalidReply as error:
                unread.append(error)
                continue
            found += [(one.answer, _named(one.evidence[0].passage, window)) for one in listed if one.answer]
        if windows and len(unread) == len(windows):
            raise unread[0]
        return Output(
            _given(case, found)[: self._max_answers],
            tuple(passages),
            # An operation that does only a part of its work is partial, too.
            status=RunStatus.PARTIAL if unread else RunStatus.SUCCEEDED,
            notes={"windows": len(windows), "unread_windows": len(unread)},
        )

    def _windows(self, passages: Sequence[Passage]) -> list[list[Passage]]:
        ranked = [Candidate(rank, passage, 0.0, "") for rank, passage in enumerate(passages, start=1)]
        return [[one.passage for one in window] for window in split_evidence(ranked, self._evidence_tokens)]


def _named(number: int, window: Sequence[Passage]) -> Passage | None:
    """Return the passage of that number; None if no shown passage has it."""
    return window[number - 1] if 1 <= number <= len(window) else None


def _given(case: Case, found: Sequence[tuple[str, Passage | None]]) -> tuple[PredictedInterpretation, ...]:
    """Return answers in the order found. Spellings of one answer count as one, as in `list_answers`."""
    spellings: list[list[str]] = []
    cited: list[dict[int, CitedPassage]] = []
    for answer, passage in found:
        place = find_variant(answer, spellings)
        if place is None:
            place = len(spellings)
            spellings.append([])
            cited.append({})
        spellings[place].append(answer)
        if passage is not None:
            cited[place].setdefault(passage.passage_id, CitedPassage(passage))
    return tuple(
        PredictedInterpretation(
            case.question,
            variants[0],
            tuple(citations.values()),
            support=len({one.passage.document_id for one in citations.values()}),
        )
        for variants, citations in zip(spellings, cited, strict=True)
    )
