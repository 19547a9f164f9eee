"""What an answer rests on: quotes that are in the passages, and words that come from them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pgclarify.algorithms import find_quote, fold, names
from pgclarify.model import Candidate
from pgclarify.pipelines.calls import Unproven, check_storable
from pgclarify.steps import Evidence, Finding, StepCitation

_WORD: Final = re.compile(r"\w+")
_COMMON: Final = frozenset(str.split("a an the of in on at to for by with from and or is was are were"))
_VERDICTS: Final = frozenset({"yes", "no"})
# A quote this long that is in another passage than the one named proves as much: the number was wrong, not the quote.
_TELLING_WORDS: Final = 4


@dataclass(frozen=True, slots=True)
class Proven:
    """An answer with its proof.

    Attributes:
        answer: Short.
        citations: At least one.
        cited: The candidate of each citation.
    """

    answer: str
    citations: tuple[StepCitation, ...]
    cited: tuple[Candidate, ...]


def prove(finding: Finding, shown: Sequence[Candidate], *, asked: str, known: Sequence[str] = ()) -> Proven | None:
    """Check an answer against the passages that it was read out of.

    Quotes that are not in their passage are left out, and one at least has to be there. At least half of the answer's
    words have to stand in the cited passages or in what was known before: an answer from memory is none. And if there
    are names or numbers in what was asked or known, one of them has to stand in the cited passages: a model that finds
    nothing likes to quote what is about something else.

    Args:
        finding: What the model said.
        shown: The passages, in the order in which they were shown.
        asked: The question.
        known: Texts that the answer may rest on besides: what was asked and answered before.

    Returns:
        None if the model gave no answer.

    Raises:
        InvalidReply: If the answer holds characters that are no text.
        Unproven: If the proof is not there; the message says what is wrong.
    """
    check_storable(finding.answer, finding.contradiction)
    if finding.answer is None:
        return None
    found: dict[tuple[int, int, int], tuple[Candidate, StepCitation]] = {}
    for evidence in finding.evidence:
        for candidate, (start, end) in _places(evidence, shown):
            passage = candidate.passage
            citation = StepCitation(
                candidate_rank=candidate.rank,
                # As the document spells it, which the model need not have kept to the letter.
                quote=passage.content[start:end],
                start_char=passage.start_char + start,
                end_char=passage.start_char + end,
            )
            found.setdefault((candidate.rank, start, end), (candidate, citation))
            break
    if not found:
        raise Unproven("the quote does not occur in the passage")
    cited = tuple(candidate for candidate, _ in found.values())
    texts = [text for one in cited for text in (one.passage.title, one.passage.heading, one.passage.content) if text]
    if not is_told(finding.answer, [*known, *texts]):
        raise Unproven("the answer does not come from the passages")
    named = frozenset[str]().union(*(names(text) for text in (asked, *known)))
    if named and all(named.isdisjoint(_words(text)) for text in texts):
        raise Unproven("the passage is about something else than the question")
    return Proven(finding.answer, tuple(citation for _, citation in found.values()), cited)


def is_told(answer: str, texts: Sequence[str]) -> bool:
    """Tell whether at least half of an answer's words stand in some texts; yes and no need not."""
    words = _words(answer) - _COMMON
    if words and words <= _VERDICTS:
        return True
    told = frozenset[str]().union(*(_words(text) for text in texts))
    return bool(words) and 2 * len(words & told) >= len(words)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(fold(text)))


def _places(evidence: Evidence, shown: Sequence[Candidate]) -> Iterator[tuple[Candidate, tuple[int, int]]]:
    """Where a quote is: first in the passage that was named, then in the others if it is long enough to tell."""
    named = shown[evidence.passage - 1] if 1 <= evidence.passage <= len(shown) else None
    others = shown if len(_WORD.findall(evidence.quote)) >= _TELLING_WORDS else ()
    for candidate in (named, *others):
        span = None if candidate is None else find_quote(evidence.quote, candidate.passage.content)
        if candidate is not None and span is not None:
            yield candidate, span
