"""Builds readings that are no questions: a noun phrase, in words of the sentence, that names its subject."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pgclarify.language.english.reading.answer_types import is_question
from pgclarify.language.english.reading.evidence import Evidence
from pgclarify.language.english.reading.grammar import (
    FINITE_AUXILIARIES,
    FINITE_FORMS,
    PARTICIPLES,
    Clause,
    is_base_verb,
    parse_clause,
)
from pgclarify.language.english.reading.question_terms import QuestionTerms
from pgclarify.language.english.reading.topics import Topic, in_context
from pgclarify.language.english.words import Word, content_stems, words
from pgclarify.language.sentences import Kind
from pgclarify.language.words import word_set

_DEFINING = re.compile(r"(?:an?|the|any|one|what|when|how|[a-z]{3,20} (?:that|which|who))\s", re.IGNORECASE)
_LABELED = re.compile(r"[*_]{0,2}([^:*|]{2,60}?)[*_]{0,2}:[*_]{0,2}\s+(?=\S)")
# A text that begins with one of these continues earlier text, or names no single thing.
_POINTING = word_set(
    """it they he she this that these those its his her their such here there i we you us my then so but and or also
    another other others one both none everything everybody everyone nobody somebody people nothing
    neither either as therefore thus
    note however instead otherwise finally first second again not only if when while although because
    what who whose which where how why whoever whatever whichever"""
)
_NO_TERM = FINITE_AUXILIARIES | FINITE_FORMS.keys() | word_set("not never then if that who which")
_ARTICLES = ("the ", "a ", "an ", "your ", "our ", "each ", "every ", "any ")
_ASIDE = re.compile(r"\s*\((?:see|cf\.|for|section|chapter|table)\b[^()]{0,120}\)", re.IGNORECASE)
_LINK = re.compile(r"\[([^\]\[]{1,120})\]\([^()\s]{1,200}\)")
# An opening phrase with one of these continues earlier text.
_BEFORE = _POINTING | word_set("above below other case example contrast")
# A text that ends with one of these is cut off, or refers to earlier text.
_NEVER_LAST = word_set("both it them this that these those one ones same so too a an the of and or")
_PLACEHOLDERS = word_set("here there so thus it")
_ACTING = (FINITE_FORMS.keys() | FINITE_AUXILIARIES | word_set("do does cannot")) - word_set("is are was were")
# "Must handle this correctly" refers to earlier text.
_MEANT = re.compile(
    r"\b(?:this|these|those)\b(?= \w{2,20}ly\b| (?:point|time|case|way|section|chapter|page)\b|[,;:)]|$)"
    r"|\bbefore\b(?=[,;:)]|$)"
)
_ADVERBS = word_set("also always usually often normally generally only still now")
# They stand around the text of a heading.
_MARKS = "#=*_ -\u00b6"
_MOST_ASKED = 3
_SEVERAL = 2
_MOST_SUBJECT_WORDS = 8
_MOST_TERM_WORDS = 6
_BEGINNING = 5
_MOST_SENTENCE_WORDS = 40
# A sentence with at most this many words and all words of the question is about the question.
_SHORT = 14
# A sentence with at most this many words is about each of its nouns: "Wayfarer does not cover pets."
_SHORTEST = 8


@dataclass(frozen=True, slots=True)
class Phrase:
    """A reading that is a phrase, and no question.

    Attributes:
        text: The thing that the sentence is about, understood without the passage.
        answer: What the sentence says about it: its words in its order, with every "not" and "must".
        quote: The sentence; a definition with its term.
    """

    text: str
    answer: str
    quote: str


def read_phrase(query: QuestionTerms, evidence: Evidence, topic: Topic, passage: str) -> Phrase | None:
    """Read what a sentence says about a query of a few words.

    The sentence is about the query if the words are in its subject, or some are in its subject and the rest in title
    and headings. A short sentence is also about the query if it has all words, and the first sentence below a heading
    if the words are the heading. For a list, the sentence is the one that introduces it.

    Returns:
        The phrase; None if the sentence is about something else, or if its subject is unknown.
    """
    if evidence.items and not evidence.lead:
        # All items below a heading say what it is about.
        section = section_of(query, evidence, topic, passage)
        answer = joined(evidence.items)
        return Phrase(in_context(query.text.strip(" ?.!"), topic), answer, evidence.text) if section else None
    is_list = bool(evidence.items)
    if evidence.kind is Kind.ROW or not 0 < len(query.stems) <= _MOST_ASKED:
        return None
    text = f"{plain_text(evidence.lead).rstrip(' :')}." if is_list else plain_text(evidence.text)
    found = words(text)
    section = section_of(query, evidence, topic, passage)
    is_pointing = _is_pointing(found, {"you", "we", "there"} if section else {"you"} if is_list else set())
    if not found or text[0] in "([" or is_pointing or len(found) > _MOST_SENTENCE_WORDS:
        return None
    subject, answer = _parts(evidence, text, query)
    is_about = _is_about(query, subject, answer, text, topic)
    if is_list and (subject or answer):
        # The items alone would lose the verb of the introduction: "does not cover".
        items = joined(evidence.items)
        answer = f"{answer}: {items}" if answer else items
    if not is_about and section:
        # The first sentence below a heading is about the heading, even if its subject is another.
        subject, answer, is_about = "", text.rstrip(" ."), True
        if content_stems(section) != content_stems(topic.name):
            # The stored headings are those of the first section of the passage.
            topic = replace(topic, contexts=(topic.title,) if topic.title else ())
    if not is_about or _is_open(answer):
        return None
    return Phrase(in_context(_name(query, subject), topic), answer, evidence.text)


def joined(items: Sequence[str]) -> str:
    """Return the items of a list on one line."""
    return "; ".join(" ".join(item.split()).rstrip(" .;,") for item in items)


def read_sentence(query: QuestionTerms, evidence: Evidence, topic: Topic) -> Phrase | None:
    """Read a whole sentence or item that relates the words of a query to each other: "days carried over".

    Returns:
        The phrase; None if a word of the query is neither in the sentence nor above it, if all are above it, or if the
        query has two words and they stand side by side: a sentence about something else may mention "rental cars".
    """
    found = words(evidence.text)
    if len(query.stems) < _SEVERAL or len(found) > _MOST_SENTENCE_WORDS or evidence.items or evidence.header:
        return None
    # "It limits evaluations" does not say what does. "There are six parking spaces" says all.
    is_pointing = _is_pointing(found, {"there"})
    told = [word.stem for word in found]
    here, above = query.stems.intersection(told), topic.stems | content_stems(evidence.lead)
    is_mention = not is_question(query.text) and any(query.stems == {*pair} for pair in pairwise(told))
    is_asked = evidence.lead.endswith("?") and query.stems <= content_stems(evidence.lead)
    if not is_asked and (not here or not query.stems <= here | above or is_mention or is_pointing):
        return None
    name = plain_text(evidence.lead).removeprefix("Q: ") if is_asked else in_context(query.text.strip(" ?.!"), topic)
    return Phrase(name, plain_text(evidence.text).rstrip(" ."), evidence.text)


def _is_about(query: QuestionTerms, subject: str, answer: str, text: str, topic: Topic) -> bool:
    """Return whether a sentence is about the query."""
    here = content_stems(subject) if subject else frozenset[str]()
    is_subject = bool(here & query.stems) and query.stems <= here | topic.stems
    if is_question(query.text):
        # "What is a passage?" asks for this definition only.
        return is_subject and here <= query.stems | topic.stems and _DEFINING.match(answer) is not None
    number = len(words(text))
    is_simple = len(query.stems) > 1 and number <= _SHORT and "," not in text
    # "Each employee receives 25 days of annual leave": the object has the words of the query.
    is_object = answer.split(" ", 1)[0] in _ACTING and query.text.lower() in text.lower()
    # "The policy covers a rental car for up to 31 days": the answer begins with the query, so any length is fine.
    first = [word.stem for word in words(answer)[1:] if word.is_content][: len(query.stems)]
    is_first = len(query.stems) > 1 and answer.split(" ", 1)[0] in FINITE_FORMS and frozenset(first) == query.stems
    # "We refund the first 30 days" is about a refund.
    found = words(text)
    is_done = _is_own_act(found) and len(found) <= _SHORTEST and found[1].stem in query.stems
    is_near = (
        is_first
        or is_done
        or (is_object and number <= _SHORTEST)
        or (is_simple and (not subject or is_object or bool(here & query.stems)))
    )
    return is_subject or (is_near and query.stems <= here | content_stems(text))


def _is_pointing(found: Sequence[Word], but: Collection[str]) -> bool:
    """Return whether a sentence begins with a word that needs earlier text."""
    return bool(found) and found[0].lower in _POINTING - {*but} and not _is_own_act(found)


def _is_own_act(found: Sequence[Word]) -> bool:
    """Return whether a sentence says what the writers of the document do: "We refund"."""
    return len(found) > 1 and found[0].lower == "we" and is_base_verb(found[1].lower)


def section_of(query: QuestionTerms, evidence: Evidence, topic: Topic, passage: str) -> str:
    """Return the title or heading that has the words of the query and no others, if a sentence is the first below it.

    Returns:
        "" if the sentence stands elsewhere.
    """
    is_first = evidence.kind is Kind.PROSE or bool(evidence.items)
    if not is_first:
        return ""
    before = passage[: evidence.start]
    # The number of the first step is no line above it.
    before = before.rpartition("\n")[0] if evidence.items else before
    lines = [line.strip(_MARKS) for line in before.splitlines()]
    above = next((line for line in reversed(lines) if line), "")
    # A passage with a heading may continue its section. The title of a document without headings stands above its text.
    heading = above or ("" if topic.is_sectioned else topic.title)
    return heading if QuestionTerms.read(heading).stems == query.stems else ""


def _is_open(answer: str) -> bool:
    """Return whether an answer is cut off, or refers to earlier text."""
    told = words(answer)
    return (
        not told
        or told[-1].lower in _NEVER_LAST
        or told[0].lower in _PLACEHOLDERS
        or _MEANT.search(answer) is not None
        or answer.count('"') % 2 == 1
    )


def plain_text(text: str) -> str:
    """Return a sentence on one line, without emphasis marks, link targets and references in parentheses."""
    plain = _LINK.sub(r"\1", text.replace("**", ""))
    return _ASIDE.sub("", " ".join(plain.split()))


def _parts(evidence: Evidence, text: str, query: QuestionTerms) -> tuple[str, str]:
    """Return the subject of a sentence and what it says about it; ("", the sentence) if it has no plain subject."""
    whole = text.rstrip(" .")
    if labeled := read_label(evidence, text):
        return labeled
    clause = parse_clause(text)
    if clause is None:
        # With any verb, a sentence is about the words that it begins with.
        begins = content_stems(" ".join(text.split()[:_BEGINNING]))
        is_short = len(words(text)) <= _SHORT
        return "", whole if text.endswith((".", "!")) and (is_short or query.stems <= begins) else ""
    return ("", whole) if clause.subject.lower() in ("you", "we") else _predicate(clause, text)


def read_label(evidence: Evidence, text: str) -> tuple[str, str] | None:
    """Split "Rent: 940 euros" into a label and its value; None if the text before the colon is no label."""
    label = _LABELED.match(text)
    if label is None or not (evidence.kind is Kind.LINE or _is_term(label[1])):
        return None
    return label[1].strip(), text[label.end() :].rstrip(" .")


def _predicate(clause: Clause, text: str) -> tuple[str, str]:
    """Return the subject of a sentence and its predicate; twice "" if the sentence says nothing without its context."""
    verb, found = clause.verb, words(clause.subject)
    is_heading = not text.endswith((".", "!", ")"))
    # "Changelog files and release notes", "Ways scripts are called": the word that looks like a verb is part of a name.
    if is_heading and (verb.base or words(text)[-1].lower in PARTICIPLES):
        return "", ""
    # A single event says little about a thing, unless the sentence says when, where or who.
    tells_once = any(one.isupper() or one.isdigit() for one in text[verb.end :])
    is_past = verb.auxiliary in ("did", "had") or (verb.auxiliary in ("was", "were") and not tells_once)
    # "Hopefully you will", "removing it".
    is_open = found[-1].lower in ("you", "we", "it", "them")
    if is_past or is_open or len(found) > _MOST_SUBJECT_WORDS or found[0].lower in _POINTING:
        return "", ""
    subject, start = clause.subject, verb.start
    is_plain = verb.auxiliary in ("is", "are", "was", "were") and not verb.base and not verb.is_negated
    if found[-1].lower in _ADVERBS:
        # "Dogs usually pay half": without the adverb, the answer would be wrong.
        subject, start = subject[: found[-1].start].strip(), clause.subject_start + found[-1].start
    elif is_plain:
        start = verb.end
    if clause.lead:
        # The answer keeps a condition or a time, such as "in winter", that limits the sentence.
        goes_on = any(word.lower in _BEFORE for word in words(clause.lead)[1:])
        return ("", "") if goes_on else (subject, text.rstrip(" ."))
    return subject, text[start:].strip().rstrip(" .").split("; ")[0]


def _is_term(label: str) -> bool:
    found = words(label)
    is_short = 0 < len(found) <= _MOST_TERM_WORDS and found[0].lower not in _POINTING
    has_verb = any(one.lower in _NO_TERM for one in found[1:])
    return is_short and not has_verb and not any(mark in label for mark in ".?!;,")


def _name(query: QuestionTerms, subject: str) -> str:
    """Return the words of the query, the subject of the sentence, or both: "rental cars: daily limit"."""
    found = words(query.text)
    first = next((word for word in found if word.is_content), found[0])
    asked = query.text[first.start :].strip(" ?.!") if is_question(query.text) else query.text.strip(" ?.!")
    if not subject:
        return asked
    plain = subject.replace("`", "")
    plain = next((plain[len(one) :] for one in _ARTICLES if plain.lower().startswith(one)), plain)
    here = content_stems(subject)
    if here <= query.stems and here != query.stems:
        return asked
    return plain if query.stems <= here else f"{asked}: {plain}"
