"""Checks a verdict by the words of its quote: the passage must say what the verdict says. No model is called."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pgclarify.data.documents import Passage
from pgclarify.data.verdicts import Reading, Refusal
from pgclarify.language.english.amounts import find_amounts, has_amounts
from pgclarify.language.english.exceptions import is_amount_of_another, write_amounts
from pgclarify.language.english.measures import write_spoken
from pgclarify.language.english.numbers import write_numbers
from pgclarify.language.english.opposites import sense_of, spell_negations, split_clauses
from pgclarify.language.english.rivals import names_rival, says_opposite
from pgclarify.language.english.stems import singular
from pgclarify.language.english.support import says_answer, shared_words, topic_of, unmentioned_names
from pgclarify.language.english.word_classes import NO_CONTENT
from pgclarify.language.languages import counts_as_english, is_english, is_foreign
from pgclarify.language.quotes import find_quote
from pgclarify.language.sentences import Kind, Sentence, split_sentences
from pgclarify.language.words import YES_OR_NO, distinct_words, folded_words, word_set

_NO_CONTENT: Final = frozenset(map(singular, NO_CONTENT))
_NEGATIONS: Final = frozenset({"no", "not", "never", "none", "neither", "nor"})
# A clause with one of these says neither yes nor no: "free only for members".
_CONDITIONS: Final = frozenset(map(singular, ("only", "if", "unless", "except", "without", "when", "until", "or")))
# A clause that repeats the words of the question more often is not plain.
_MOST_PLACES: Final = 20
# A quote of fewer words is read together with its sentence.
_CLAUSE: Final = 4
# If a reading has this many words that neither its quote nor the rest of the passage has, it is not answered there.
_TELLING: Final = 2
# Stands for an answer.
_ANSWER: Final = "itsanswer"
# Between the words of a quote, these may not be missing. The possessive ending is a word of its own here.
_NOT_LEFT_OUT: Final = (
    NO_CONTENT
    | {"s"}
    | word_set(
        "almost alleged allegedly barely fake former formerly hardly nearly planned proposed rarely scarcely seldom"
    )
)
_CLAUSE_MARK: Final = re.compile(r"[,;:()\[\]\u2013\u2014](?!\d)| - ")
_HYPHEN: Final = re.compile(r"(?<=\w)[-\u2010\u2011](?=\w)")
_PRONOUN: Final = re.compile(r"\b(?:he|she|it|they|his|her|its|their|him|them)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Quoted:
    """The cited part of a passage.

    Attributes:
        quote: As the document spells it.
        start_char: Offset in the document, from 0.
        end_char: Offset after its last character.
    """

    quote: str
    start_char: int
    end_char: int


def cite(quote: str, passage: Passage) -> Quoted | None:
    """Find a quote in a passage; None if the passage does not contain it."""
    span = find_quote(quote, passage.content)
    return None if span is None else _quoted(span, passage)


def check_quote(
    reading: Reading, question: str, passage: Passage, checks: Collection[Refusal] = frozenset(Refusal)
) -> Quoted | Refusal:
    """Check that a passage gives the answer of a reading, with the quote as proof.

    A quote in English may leave out modifiers and punctuation of a sentence. Then the whole sentence is the proof, and
    must pass all other checks.

    Words are only compared if the passage is in English, or if the question is and nothing tells that the passage is
    not. Otherwise it suffices that the passage contains the quote and, if the question is not in English either, that
    the answer is in the passage's words. If the question about an English passage is in another language, only the
    answer is compared.

    Args:
        reading: The reading of the passage.
        question: The question.
        passage: The cited passage.
        checks: Which checks are made besides the first one, which is always made. For measurements.

    Returns:
        What to cite, in the words of the document: the quote, or its whole sentences if the quote alone proves nothing.
        Or why the verdict is refused.

    Source: VERDICT, §4.1 asks for the evidence; the checks are ours.
    """
    sentences = split_sentences(passage.content)
    is_in_english = counts_as_english(passage.content, question)
    span = find_quote(reading.quote, passage.content)
    if span is None and is_in_english:
        span = _find_shortened(reading.quote, sentences)
    if span is None:
        return Refusal.UNPROVEN
    wider = _widened(span, sentences)
    is_short = Refusal.FRAGMENT in checks and len(folded_words(passage.content[slice(*span)])) < _CLAUSE
    if not is_in_english:
        is_translated = Refusal.ANSWER_NOT_QUOTED in checks and _is_translated(reading, question, passage)
        return Refusal.ANSWER_NOT_QUOTED if is_translated else _quoted(wider if is_short else span, passage)
    if is_foreign(reading.interpretation) or is_foreign(question):
        checks = frozenset(checks) - {Refusal.ABOUT_ANOTHER, Refusal.BESIDE_THE_POINT}
    elif not is_english(passage.content):
        # A few words need not repeat those of the question: "Bags: 1800".
        checks = frozenset(checks) - {Refusal.BESIDE_THE_POINT}
    if Refusal.ABOUT_ANOTHER in checks and _is_about_another(reading, question, passage, wider, sentences):
        return Refusal.ABOUT_ANOTHER
    if not is_short and _refusal(reading, question, passage, span, sentences, checks) is None:
        return _quoted(span, passage)
    refusal = _refusal(reading, question, passage, wider, sentences, checks)
    if refusal is None:
        return _quoted(wider, passage)
    return Refusal.FRAGMENT if is_short else refusal


def _find_shortened(quote: str, sentences: Sequence[Sentence]) -> tuple[int, int] | None:
    """Find the shortest sentence that a quote copies with words left out, as small models do."""
    words = [word for word in _words_and_marks(quote) if word]
    if len(words) < _CLAUSE:
        return None
    copied = (one for one in sentences if _leaves_out_modifiers(words, _words_and_marks(one.text)))
    shortest = min(copied, key=lambda one: len(one.text), default=None)
    return None if shortest is None else (shortest.start, shortest.end)


def _words_and_marks(text: str) -> list[str]:
    """List the words of a text, with "" for the end of a clause.

    A word that turns a meaning round stands by itself: "don't" is "not", "non-refundable" is one word, "twenty" "20".
    """
    clauses = _CLAUSE_MARK.split(_HYPHEN.sub("", spell_negations(text)))
    return [word for clause in clauses for word in (*folded_words(write_numbers(clause)), "")]


def _leaves_out_modifiers(words: Sequence[str], of: Sequence[str]) -> bool:
    """Whether a sentence has the words of a quote in their order, and only modifiers between them."""
    if not set(words) <= set(of):
        return False
    # Where the words up to the current one can end.
    ends = {place for place, word in enumerate(of) if word == words[0]}
    for wanted in words[1:]:
        ends = {place for end in ends for place in _next_places(of, end) if of[place] == wanted}
    return bool(ends)


def _next_places(of: Sequence[str], end: int) -> Iterator[int]:
    """Yield where the next word of a quote may be, after the word at a place of the sentence.

    Modifiers follow a small word: "The church was built in 1872" may leave out "late Gothic" after "the". If a small
    word, a number, a noun before them or the rest of a clause is missing, the sentence says another thing: "not open on
    Sundays", "free only for members", "the museum director opened it", "Ann teaches French, Jon Berg German".
    """
    is_marked = leaves_out = False
    for place in range(end + 1, len(of)):
        word = of[place]
        if word:
            yield place
        if not word and leaves_out:
            return
        if not word:
            is_marked = True
            continue
        if is_marked or of[end] not in NO_CONTENT or word in _NOT_LEFT_OUT or any(map(str.isdigit, word)):
            return
        leaves_out = True


def _refusal(
    reading: Reading,
    question: str,
    passage: Passage,
    span: tuple[int, int],
    sentences: Sequence[Sentence],
    checks: Collection[Refusal],
) -> Refusal | None:
    """Return why a part of a passage does not prove a reading; None if it may."""
    quote, asked, answer = passage.content[slice(*span)], reading.interpretation, reading.answer
    leading = [*_leading(span, sentences)]
    if Refusal.ANSWER_NOT_QUOTED in checks:
        # If the reading is a statement, it may contain the answer.
        given = asked if asked.rstrip().endswith("?") else question
        # "She" refers to the person in the title.
        texts = [quote, *leading, *(_headings(passage) if _PRONOUN.search(quote) else ())]
        answer, given, *texts = map(write_spoken, (answer, given, *texts))
        # 1.5 percent are "1,5 Prozent".
        is_said = (is_foreign(asked) or is_foreign(question) or has_amounts(answer, [*texts, given])) and (
            says_answer(answer, texts, asked=given)
            or says_answer(write_numbers(answer), [*map(write_numbers, texts)], asked=write_numbers(given))
        )
        if not is_said:
            return Refusal.ANSWER_NOT_QUOTED
    if Refusal.BESIDE_THE_POINT in checks:
        # The title applies to every sentence.
        topic = topic_of(asked, *_headings(passage))
        if not shared_words(topic, quote, *leading, *_before(span, sentences)) and (
            len(topic) >= _TELLING or any(shared_words(topic, one.text) for one in sentences)
        ):
            return Refusal.BESIDE_THE_POINT
    return None


def _is_translated(reading: Reading, question: str, passage: Passage) -> bool:
    """Whether an answer has other words than a passage and a question not in English: small models translate."""
    if not (is_foreign(question) and is_foreign(passage.content)):
        return False
    texts = [*_headings(passage), passage.content]
    return not says_answer(reading.answer, texts, asked=question, are_foreign=True)


def _is_about_another(
    reading: Reading, question: str, passage: Passage, span: tuple[int, int], sentences: Sequence[Sentence]
) -> bool:
    """Whether the passage lacks a name, year or number of the reading or of the question, or its proof has another."""
    text = "\n".join((*_headings(passage), passage.content))
    quote = passage.content[slice(*span)]
    support = "\n".join((*_headings(passage), *_leading(span, sentences), *_before(span, sentences), quote))
    asked = (reading.interpretation, question)
    return (
        any(
            unmentioned_names(one, text) or names_rival(one, support) or says_opposite(one, quote, reading.answer)
            for one in asked
        )
        or _is_denied(asked, quote, reading.answer)
        or _has_amount_of_another(reading, quote, sentences)
    )


def _has_amount_of_another(reading: Reading, quote: str, sentences: Sequence[Sentence]) -> bool:
    """Whether each sentence of the quote that has the answer's amount gives it for something else."""
    amounts = {(amount.value, amount.unit) for amount in find_amounts(write_amounts(reading.answer))}
    if not amounts:
        return False
    proofs = [
        sentence.text
        for sentence in sentences
        if (sentence.text in quote or quote in sentence.text)
        and any((amount.value, amount.unit) in amounts for amount in find_amounts(write_amounts(sentence.text)))
    ]
    return bool(proofs) and all(is_amount_of_another(reading.interpretation, reading.answer, proof) for proof in proofs)


def _is_denied(asked: Sequence[str], quote: str, answer: str) -> bool:
    """Whether the clause with the answer negates a word that one of two questions affirms: "not open on Saturdays".

    "Into Canada, and into no other country" has the answer "Canada" in a clause that negates nothing.
    """
    words, said = distinct_words(answer), spell_negations(quote)
    if words in ({"yes"}, {"no"}):
        return any(_affirms(said, one) is (words == {"no"}) for one in asked)
    if not YES_OR_NO.isdisjoint(words):
        return False
    given = sense_of(spell_negations(answer))
    told = words - NO_CONTENT
    if given.negated:
        # "Swimming without a cap" may itself be "not allowed": what the answer negates does not count here.
        said = said.replace(spell_negations(answer), _ANSWER)
        if _ANSWER not in said:
            return False
        told = frozenset({_ANSWER})
    answering = [clause for clause in split_clauses(said) if not told.isdisjoint(distinct_words(clause))]
    denied = frozenset[str]().union(*(sense_of(clause).negated for clause in answering or [said])) - _NO_CONTENT
    return bool(denied) and any(not denied.isdisjoint(sense_of(spell_negations(one)).affirmed) for one in asked)


def _affirms(said: str, asked: str) -> bool | None:
    """Tell whether a text affirms or denies all that a question asks for yes or no; None if that is not plain.

    It is plain if a clause has all words of the question with no other word between them, and sets no condition.

    Args:
        said: The text, as `spell_negations` returns it: "The lift never runs on Sundays."
        asked: "Does the lift run on Sundays?"
    """
    wanted = [word for word in _singulars(asked) if word not in _NO_CONTENT and word != "ever"]
    if not wanted or not _NEGATIONS.isdisjoint(_singulars(spell_negations(asked))):
        return None
    found = set[bool]()
    for clause in split_clauses(said):
        words = _singulars(clause)
        if not _CONDITIONS.isdisjoint(words):
            return None
        if not set(wanted) <= set(words):
            continue
        places = [place for place, word in enumerate(words) if word in wanted]
        if len(places) > _MOST_PLACES:
            return None
        spans = ((start, end) for start in places for end in places if set(wanted) <= set(words[start : end + 1]))
        start, end = min(spans, key=lambda span: span[1] - span[0])
        inside = words[max(0, start - 1) : end + 1]
        if any(word not in wanted and word not in _NO_CONTENT | _NEGATIONS for word in inside[1:]):
            return None
        found.add(_NEGATIONS.isdisjoint(inside))
    return found.pop() if len(found) == 1 else None


def _singulars(text: str) -> list[str]:
    return [singular(word) for word in folded_words(text)]


def _before(span: tuple[int, int], sentences: Sequence[Sentence]) -> list[str]:
    """Return the sentence before a quote that begins with a pronoun, because that names its thing."""
    first = next((place for place, one in enumerate(sentences) if one.end > span[0]), 0)
    is_leaning = first > 0 and _PRONOUN.match(sentences[first].text) is not None
    return [sentences[first - 1].text] if is_leaning else []


def _headings(passage: Passage) -> list[str]:
    return [text for text in (passage.title, passage.heading) if text]


def _leading(span: tuple[int, int], sentences: Sequence[Sentence]) -> Iterator[str]:
    """Return the texts that belong to a quote: a table's header, the sentence before a list, the question before."""
    lead = ""
    for one in sentences:
        if one.start >= span[1]:
            return
        if one.kind is Kind.PROSE:
            if one.end > span[0] and lead.rstrip("*_").endswith("?"):
                yield lead
            lead = one.text
        elif one.end > span[0]:
            yield from (text for text in (lead, one.header) if text)
            return


def _widened(span: tuple[int, int], sentences: Sequence[Sentence]) -> tuple[int, int]:
    """Extend a span to whole sentences."""
    touched = [one for one in sentences if one.start < span[1] and span[0] < one.end]
    return min([span[0], *(one.start for one in touched)]), max([span[1], *(one.end for one in touched)])


def _quoted(span: tuple[int, int], passage: Passage) -> Quoted:
    start, end = span
    return Quoted(passage.content[start:end], passage.start_char + start, passage.start_char + end)
