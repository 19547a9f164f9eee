"""The proof of an answer: quotes that the passages contain, and words that come from the passages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pgclarify.data.candidates import Candidate
from pgclarify.data.citations import Citation
from pgclarify.data.investigation import Evidence, Finding, Step
from pgclarify.language.english.amounts import has_amounts
from pgclarify.language.english.names import names
from pgclarify.language.english.numbers import write_numbers
from pgclarify.language.english.support import says_answer
from pgclarify.language.english.word_classes import SMALL_WORDS
from pgclarify.language.languages import is_foreign
from pgclarify.language.words import YES_OR_NO, distinct_words, folded_words
from pgclarify.ledger.calls import Unproven
from pgclarify.operations.judging.verdict_check import Quoted, cite_claim

# If a quote of at least this many words is in another passage than the named one, only the number was wrong.
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
    citations: tuple[Citation, ...]
    cited: tuple[Candidate, ...]


def prove(finding: Finding, shown: Sequence[Candidate], *, asked: str, steps: Sequence[Step] = ()) -> Proven | None:
    """Check an answer against its passages.

    Quotes that are not in their passage are dropped, and so are English quotes that share no word with the question,
    the answer or the steps. At least one must be left. The cited passages or the steps' answers must give the answer,
    as `is_told` decides, with numbers in any notation: an answer from the model's memory does not count. If the
    question or the steps have names or numbers, one of them must be in the cited passages, because a model that finds
    nothing tends to quote something unrelated. Names are only recognized in English.

    Args:
        finding: The model's reply.
        shown: The passages, in the order in which the model saw them.
        asked: The question.
        steps: Answered steps that this answer may depend on.

    Returns:
        None if the model gave no answer.

    Raises:
        Unproven: If the proof is missing; the message says what is wrong.
    """
    answer = finding.answer
    if answer is None:
        return None
    found = _find(finding.evidence, answer, asked, shown)
    if not found:
        raise Unproven("the quote does not occur in the passage")
    before = [text for step in steps for text in (step.question, step.answer) if text is not None]
    topic = distinct_words(asked, *before, answer, write_numbers(answer)) - SMALL_WORDS - YES_OR_NO
    is_abroad = _is_abroad(asked, [one for one, _ in found])
    telling = [
        (one, citation)
        for one, citation in found
        if is_abroad or not topic.isdisjoint(distinct_words(citation.quote, write_numbers(citation.quote)))
    ]
    if not telling:
        raise Unproven("the quote has nothing to do with the question")
    if not _is_told_by(telling, answer, asked, steps):
        raise Unproven("the answer does not come from the passages")
    cited = tuple(one for one, _ in telling)
    about = frozenset[str]().union(*(names(text) for text in (asked, *before)))
    if not _is_abroad(asked, cited) and about and about.isdisjoint(distinct_words(*_texts(cited))):
        raise Unproven("the passage is about something else than the question")
    return Proven(answer, tuple(citation for _, citation in telling), cited)


def _is_told_by(telling: Sequence[tuple[Candidate, Citation]], answer: str, asked: str, steps: Sequence[Step]) -> bool:
    """Whether passages give an answer: English ones by themselves, or all with the rules for any language.

    The language of a passage is that of its content, because a title may be in another language.
    """
    foreign = [one for one, _ in telling if is_foreign(one.passage.content)]
    english = [(one, citation) for one, citation in telling if one not in foreign]
    if english and _is_told_in_english(english, answer, asked, steps):
        return True
    if not foreign:
        return False
    texts = _texts([one for one, _ in telling])
    return is_told(answer, texts, asked=asked, steps=steps, are_foreign=True)


def _is_told_in_english(
    english: Sequence[tuple[Candidate, Citation]], answer: str, asked: str, steps: Sequence[Step]
) -> bool:
    there = _texts([one for one, _ in english])
    known = [step.answer for step in steps if step.answer is not None]
    # 1.5 percent are "1,5 Prozent".
    if not is_foreign(asked) and not has_amounts(answer, [*there, *known, asked]):
        return False
    if is_told(answer, there, asked=asked, steps=steps):
        return True
    quotes = [write_numbers(citation.quote) for _, citation in english]
    return is_told(write_numbers(answer), quotes, asked=write_numbers(asked), steps=steps)


def is_told(
    answer: str, texts: Sequence[str], *, asked: str, steps: Sequence[Step] = (), are_foreign: bool = False
) -> bool:
    """Tell whether an answer comes from some texts, or from the answers of steps, as `says_answer` decides.

    Args:
        answer: A few words.
        texts: The texts.
        asked: The question.
        steps: Answered steps; their questions may name the alternatives of the question.
        are_foreign: Whether to read the texts as texts in another language than English.
    """
    known = [step.answer for step in steps if step.answer is not None]
    choices = [step.question for step in steps]
    return says_answer(answer, texts, asked=asked, known=known, choices=choices, are_foreign=are_foreign)


def _find(
    evidence: Sequence[Evidence], answer: str, asked: str, shown: Sequence[Candidate]
) -> list[tuple[Candidate, Citation]]:
    """Find quotes in the passages, each once, in the spelling of the document, which the model may have changed.

    At most as many quotes as passages count, the first ones.
    """
    found: dict[tuple[int, int, int], tuple[Candidate, Citation]] = {}
    for one in evidence[: len(shown)]:
        for candidate, quoted in _places(one, answer, asked, shown):
            rank = candidate.rank
            start, end = quoted.start_char, quoted.end_char
            citation = Citation(rank, quoted.quote, start, end)
            found.setdefault((rank, start, end), (candidate, citation))
            break
    return list(found.values())


def _is_abroad(asked: str, cited: Sequence[Candidate]) -> bool:
    """Whether the question or a passage is plainly not in English: the checks of words do not apply then."""
    texts = (one.passage.content for one in cited)
    return is_foreign(asked) or any(map(is_foreign, texts))


def _texts(cited: Sequence[Candidate]) -> list[str]:
    """Return the texts of the passages, with titles and headings."""
    texts: list[str] = []
    for one in cited:
        passage = one.passage
        texts += filter(None, (passage.title, passage.heading, passage.content))
    return texts


def _places(
    evidence: Evidence, answer: str, asked: str, shown: Sequence[Candidate]
) -> Iterator[tuple[Candidate, Quoted]]:
    """Yield the places of a quote: first in the named passage, then in the others if the quote is long enough."""
    candidates: list[Candidate] = []
    if 1 <= evidence.passage <= len(shown):
        candidates.append(shown[evidence.passage - 1])
    if len(folded_words(evidence.quote)) >= _TELLING_WORDS:
        candidates += shown
    for candidate in candidates:
        quoted = cite_claim(evidence.quote, answer, asked, candidate.passage)
        if quoted is not None:
            yield candidate, quoted
