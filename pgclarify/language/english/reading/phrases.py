"""Builds readings that are no questions: a noun phrase, in words of the sentence, that names its subject."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pgclarify.language.english.reading.answer_types import is_question
from pgclarify.language.english.reading.evidence import Evidence
from pgclarify.language.english.reading.grammar import (
    FINITE_AUXILIARIES,
    FINITE_FORMS,
    PARTICIPLES,
    Clause,
    parse_clause,
)
from pgclarify.language.english.reading.question_terms import QuestionTerms
from pgclarify.language.english.reading.readable import is_readable
from pgclarify.language.english.reading.topics import Topic, in_context
from pgclarify.language.english.word_classes import FINITE_BE
from pgclarify.language.english.words import Word, content_stems, lower_words, words
from pgclarify.language.sentences import Kind, named_fields
from pgclarify.language.words import word_set

MAX_ANSWER_CHARS = 400
"""A longer answer is cut at white space: it would be the passage again."""

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
# A text that ends with one of these is cut off, or refers to earlier text.
_NEVER_LAST = word_set("both it them this that these those one ones same so too a an the of and or")
_PLACEHOLDERS = word_set("here there so thus it")
_ACTING = (FINITE_FORMS.keys() | FINITE_AUXILIARIES | word_set("do does cannot")) - FINITE_BE
# "Must handle this correctly" refers to earlier text.
_MEANT = re.compile(
    r"\b(?:this|these|those)\b(?= \w{2,20}ly\b| (?:point|time|case|way|section|chapter|page)\b|[,;:)]|$)"
    r"|\bbefore\b(?=[,;:)]|$)"
)
# What another text says is not said here: "explained in chapter 2", "described below".
_SAID_ELSEWHERE = re.compile(
    r"(?:(?:is|are) )?(?:explained|described|documented|covered) (?:below|above|(?:in|on) .{0,60}"
    r"\b(?:pages?|sections?|chapters?|guides?|manuals?|annex|appendix|documentation|handbook|articles?)\b)",
    re.IGNORECASE,
)
_ADVERBS = word_set("also always usually often normally generally only still now")
# They stand around the text of a heading.
_MARKS = "#=*_ -\u00b6"
_OPEN_ENDS = word_set("you we it them")
# Who "you" is in an introduction, and who "we" are below a heading, needs no earlier text.
_THE_READER = word_set("you")
_KNOWN_BELOW_HEADING = word_set("you we there when if while because although as only")
_MOST_ASKED = 3
# Least share of a heading's words that a query has if the heading names it.
_LEAST_NAMED = 0.5
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
    items = joined(evidence.items)
    if items and not evidence.lead:
        # All items below a heading say what it is about.
        is_below = section_of(query, evidence, topic, passage) != ""
        return Phrase(in_context(query.bare, topic), items, evidence.text) if is_below else None
    if evidence.kind is Kind.ROW or not 0 < len(query.stems) <= _MOST_ASKED:
        return None
    section = section_of(query, evidence, topic, passage)
    text = plain_text(evidence.text)
    known = frozenset[str]()
    if items:
        text = f"{plain_text(evidence.lead).rstrip(' :')}."
        known = _THE_READER
    if section:
        known = _KNOWN_BELOW_HEADING
    found = words(text)
    if not 0 < len(found) <= _MOST_SENTENCE_WORDS or text[0] in "([" or _is_pointing(found, known):
        return None
    subject, answer = _parts(evidence, text, query)
    is_about = _is_about(query, subject, answer, text, topic)
    if items and (subject or answer):
        # The items alone would lose the verb of the introduction: "does not cover".
        answer = f"{answer}: {items}" if answer else items
    if not is_about and not section:
        return None
    if not is_about:
        # The first sentence below a heading is about the heading, even if its subject is another.
        said = text.rstrip(" .")
        subject, answer = "", f"{said}: {items}" if items else said
        topic = _under(section, topic)
    if _is_open(answer):
        return None
    return Phrase(in_context(_name(query, subject), topic), answer, evidence.text)


def _under(section: str, topic: Topic) -> Topic:
    """Return the topic of a sentence below a heading; the stored headings are those of a passage's first section."""
    if content_stems(section) == content_stems(topic.name):
        return topic
    return replace(topic, contexts=(topic.title,) if topic.title else ())


def joined(items: Sequence[str]) -> str:
    """Return the items of a list on one line."""
    return "; ".join(" ".join(item.split()).rstrip(" .;,") for item in items)


def read_whole(asked: str, evidence: Evidence, topic: Topic, *, may_point: bool = False) -> Phrase | None:
    """Read a whole sentence, row or list as an answer to a few words, if it is understood without the text before it.

    Args:
        asked: These words.
        evidence: The sentence, row or list.
        topic: What stands above it.
        may_point: Whether it may begin with a word that needs the text before it.

    Returns:
        The phrase; None if it says nothing, or no more than was asked.
    """
    text = plain_text(evidence.text)
    if evidence.items:
        lead = plain_text(evidence.lead).rstrip(" :")
        text = f"{lead}: {joined(evidence.items)}" if lead else joined(evidence.items)
    answer = text.rstrip(" .")
    is_said = bool(evidence.items or evidence.header) or is_readable(evidence.text)
    values = [value for _, value in named_fields(evidence.text) if value]
    told = values[0] if len(values) == 1 else answer
    if content_stems(told) <= content_stems(asked) or "```" in text:
        return None
    is_pointing = not may_point and _is_pointing(words(text), _KNOWN_BELOW_HEADING)
    if not is_said or is_pointing or _is_open(answer):
        return None
    return Phrase(in_context(asked, topic), answer, evidence.text)


def _is_about(query: QuestionTerms, subject: str, answer: str, text: str, topic: Topic) -> bool:
    """Return whether a sentence is about the query."""
    here = content_stems(subject) if subject else frozenset[str]()
    asked = query.stems
    is_named = not here.isdisjoint(asked)
    is_subject = is_named and asked <= here | topic.stems
    if is_question(query.text):
        # "What is a passage?" asks for this definition only.
        is_of_this = is_subject and here <= asked | topic.stems
        return is_of_this and _DEFINING.match(answer) is not None
    if is_subject:
        return True
    if not asked <= here | content_stems(text):
        return False
    found = words(text)
    # "Each employee receives 25 days of annual leave": the object has the words of the query.
    is_object = _first_word(answer) in _ACTING and query.text.lower() in text.lower()
    if (is_object and len(found) <= _SHORTEST) or _begins_with_query(query, answer):
        return True
    is_simple = len(asked) > 1 and len(found) <= _SHORT and "," not in text
    return is_simple and (is_named or is_object or not subject)


def _begins_with_query(query: QuestionTerms, answer: str) -> bool:
    """Return whether a verb and the query begin an answer: "covers a rental car for up to 31 days"."""
    number = len(query.stems)
    if number < _SEVERAL or _first_word(answer) not in FINITE_FORMS:
        return False
    _, *found = words(answer)
    content = [word.stem for word in found if word.is_content]
    return query.stems == {*content[:number]}


def _first_word(text: str) -> str:
    first, _, _ = text.partition(" ")
    return first


def _is_pointing(found: Sequence[Word], known: frozenset[str]) -> bool:
    """Return whether a sentence begins with a word that needs earlier text, and is not known."""
    if not found:
        return False
    first = found[0].lower
    return first in _POINTING and first not in known


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
    heading = above
    if not above and not topic.is_sectioned:
        heading = topic.title
    return heading if _names(heading, query) else ""


def _names(heading: str, query: QuestionTerms) -> bool:
    """Return whether a heading has the query in one piece and not much else.

    "Court leave (jury duty)" names "jury duty", and "Parental bereavement leave" does not name "parental leave".
    """
    if QuestionTerms.read(heading).stems == query.stems:
        return True
    told = [word.stem for word in words(heading) if word.is_content]
    number = len(query.stems)
    if not number or number < _LEAST_NAMED * len(told) or is_question(query.text):
        return False
    for first in range(len(told) - number + 1):
        named = {*told[first : first + number]}
        if named == query.stems:
            return True
    return False


def _is_open(answer: str) -> bool:
    """Return whether an answer is cut off, or refers to other text."""
    told = lower_words(answer)
    if _SAID_ELSEWHERE.match(answer) and len(told) <= _SHORT:
        return True
    if not told or told[-1] in _NEVER_LAST or told[0] in _PLACEHOLDERS:
        return True
    return _MEANT.search(answer) is not None or answer.count('"') % 2 == 1


def plain_text(text: str) -> str:
    """Return a sentence on one line, without emphasis marks, link targets and references in parentheses."""
    plain = _LINK.sub(r"\1", text.replace("**", ""))
    return _ASIDE.sub("", " ".join(plain.split()))


def tidy(answer: str) -> str:
    """Return an answer without line breaks and punctuation at its ends, and "…" if it is cut at MAX_ANSWER_CHARS."""
    answer = plain_text(answer).strip(" ,;:|")
    if len(answer) > MAX_ANSWER_CHARS:
        blank = answer.rfind(" ", 0, MAX_ANSWER_CHARS)
        answer = answer[: blank if blank > 0 else MAX_ANSWER_CHARS] + " …"
    return answer


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
    last = found[-1]
    is_heading = not text.endswith((".", "!", ")"))
    # "Changelog files and release notes", "Ways scripts are called": the word that looks like a verb is part of a name.
    if is_heading and (verb.base or lower_words(text)[-1] in PARTICIPLES):
        return "", ""
    # "Hopefully you will", "removing it".
    is_open = last.lower in _OPEN_ENDS
    if is_open or len(found) > _MOST_SUBJECT_WORDS or found[0].lower in _POINTING:
        return "", ""
    subject, start = clause.subject, verb.start
    if last.lower in _ADVERBS:
        # "Dogs usually pay half": without the adverb, the answer would be wrong.
        subject, start = subject[: last.start].strip(), clause.subject_start + last.start
    elif verb.auxiliary in FINITE_BE and not verb.base and not verb.is_negated:
        start = verb.end
    told, _, _ = text[start:].strip().rstrip(" .").partition("; ")
    return subject, told


def _is_term(label: str) -> bool:
    found = lower_words(label)
    if not 0 < len(found) <= _MOST_TERM_WORDS or found[0] in _POINTING:
        return False
    has_verb = not _NO_TERM.isdisjoint(found[1:])
    return not has_verb and not any(mark in label for mark in ".?!;,")


def _name(query: QuestionTerms, subject: str) -> str:
    """Return the words of the query, the subject of the sentence, or both: "rental cars: daily limit"."""
    asked = query.bare
    if is_question(query.text):
        found = words(query.text)
        first = next((word for word in found if word.is_content), found[0])
        asked = query.text[first.start :].strip(" ?.!")
    if not subject:
        return asked
    here = content_stems(subject)
    if here < query.stems:
        return asked
    plain = subject.replace("`", "")
    article = next((one for one in _ARTICLES if plain.lower().startswith(one)), "")
    plain = plain[len(article) :]
    return plain if query.stems <= here else f"{asked}: {plain}"
