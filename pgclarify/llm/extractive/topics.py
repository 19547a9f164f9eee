"""What a passage is about, from its title and headings, and how a question can name it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pgclarify.llm.extractive.grammar import base_of_gerund
from pgclarify.llm.extractive.terms import STOP_WORDS, content_stems, word_set, words

_GENERIC = word_set(
    """about appendix article background chapter contents detail document faq faqs frequently asked general
    guide handbook help important index information introduction invoice key letter memo minutes more note
    notes other overview page part point question questions answers readme reference report section summary
    table terms text welcome what how when why who where works work conditions need know untitled page step
    steps miscellaneous item items update news meeting coverage cover policy plan insurance agreement contract
    program benefits deductions included"""
)
# A question asks for something "under" these, and they can pay and cover. The first group takes an article.
_COUNTED_SCHEMES = word_set(
    """policy plan agreement contract program programme warranty scheme guarantee package membership lease
    rider act"""
)
_MASS_SCHEMES = word_set("coverage cover insurance reimbursement protection assistance benefits membership")
_NUMBERING = re.compile(
    r"^(?:(?:section|chapter|article|part|step)\s)?[\divx]{1,5}(?:\.\d{1,3}){0,3}[.):]\s+", re.IGNORECASE
)
_FILE_ENDING = re.compile(r"\.(?:md|txt|html?|pdf|jsonl?)$", re.IGNORECASE)
_MAX_TOPIC_WORDS = 7


@dataclass(frozen=True, slots=True)
class Topic:
    """What surrounds the sentences of a passage.

    Attributes:
        title: Cleaned title, "" if there is none that says anything.
        headings: Cleaned headings, outermost first, those left out that say nothing or repeat the title.
        text: All of it, as context of every sentence.
        stems: Stems of its words.
    """

    title: str
    headings: tuple[str, ...]
    text: str
    stems: frozenset[str]

    @property
    def name(self) -> str:
        """The innermost phrase that says what the passage is about, or ""."""
        return self.headings[-1] if self.headings else self.title

    @property
    def is_scheme(self) -> bool:
        """True if the name is that of a policy, a coverage or the like: something that pays and covers."""
        return is_scheme(self.name)


def read_topic(title: str | None, heading: str | None, passage: str) -> Topic:
    """Clean the title and the headings of a passage, and write them as they would stand inside a question."""
    plain_title = _clean(title or "")
    plain_headings = [_clean(part) for part in (heading or "").split(" > ")]
    text = " > ".join(part for part in (plain_title, *plain_headings) if part)
    named = [_in_sentence(part, passage) if _says_something(part) else "" for part in (plain_title, *plain_headings)]
    headings = tuple(part for part in named[1:] if part and part.lower() != named[0].lower())
    return Topic(named[0], headings, text, content_stems(text) if text else frozenset())


def is_scheme(phrase: str) -> bool:
    """True for "Gold Auto Policy", "rental reimbursement"."""
    is_plain = " of " not in phrase and " for " not in phrase
    return is_plain and _last_word(phrase) in _COUNTED_SCHEMES | _MASS_SCHEMES


def with_article(phrase: str) -> str:
    """The phrase as the subject of a sentence: "the Gold Auto Policy", but "rental reimbursement"."""
    found = words(phrase)
    if found and found[0].lower in ("the", "a", "an", "my", "your", "our"):
        return phrase
    return f"the {phrase}" if _last_word(phrase) in _COUNTED_SCHEMES else phrase


def qualifier(topic: Topic, question: str) -> str:
    """What to add to a question so that it stands on its own: " under rental reimbursement"; "" if it does already.

    A scheme in the title or a heading always belongs to a question, since another scheme answers otherwise. Any other
    topic is added only to a question that shares no word with it.
    """
    asked = content_stems(question)
    for phrase in (*reversed(topic.headings), topic.title):
        if phrase and is_scheme(phrase) and not content_stems(phrase) <= asked:
            if not phrase_fits(phrase):
                continue
            return f" under {with_article(phrase)}"
    is_named = bool(topic.stems & asked) or any(word.is_capitalized and word.is_content for word in words(question)[1:])
    if is_named or " for " in question:
        return ""
    names = (phrase for phrase in (*reversed(topic.headings), topic.title) if _tells_apart(phrase))
    return next((f" for {phrase}" for phrase in names), "")


def _tells_apart(phrase: str) -> bool:
    """True for a phrase of more than one word, none of which is as general as "report" or "claims"."""
    found = words(phrase)
    return len(found) > 1 and phrase_fits(phrase) and not any(word.lower in _GENERIC for word in found)


def phrase_fits(phrase: str) -> bool:
    """True for a noun phrase short enough to stand in a question: no verb in front, no question, no list."""
    found = words(phrase)
    if not 0 < len(found) <= _MAX_TOPIC_WORDS or any(mark in phrase for mark in "?!,;:()|/"):
        return False
    return base_of_gerund(found[0].lower) is None and found[0].lower not in STOP_WORDS - {
        "the",
        "a",
        "an",
        "your",
        "our",
    }


def _last_word(phrase: str) -> str:
    found = words(phrase)
    return found[-1].lower if found else ""


def _clean(phrase: str) -> str:
    phrase = _FILE_ENDING.sub("", " ".join(phrase[:200].replace("_", " ").split()))
    return _NUMBERING.sub("", phrase.strip("#*` ")).strip(" .:#*`-\u2013—")


def _says_something(phrase: str) -> bool:
    return any(
        word.is_content and word.lower not in _GENERIC and len(word.text) > 1 and not word.text.isdigit()
        for word in words(phrase)
    )


def _in_sentence(phrase: str, passage: str) -> str:
    """In lower case, unless it is a name: written with capitals inside a sentence, too, or never seen without."""
    found = words(phrase)
    lowered = phrase[0].lower() + phrase[1:]
    if lowered.lower() in passage:
        return lowered.lower()
    has_inner_capitals = any(word.is_capitalized for word in found[1:])
    is_acronym = found[0].text[1:2].isupper()
    is_name = has_inner_capitals or is_acronym or _stands_capitalized(found[0].text, passage)
    return phrase if is_name else lowered


def _stands_capitalized(word: str, passage: str) -> bool:
    """Whether a capitalized word also stands within a sentence, where only names have capitals."""
    position = passage.find(" " + word)
    while position > 0:
        if passage[position - 1] not in ".!?:\n*-|>#":
            return True
        position = passage.find(" " + word, position + 1)
    return False


def lower_first(text: str, passage: str) -> str:
    """A sentence's beginning as it would stand further inside one."""
    found = words(text[:60])
    if not found or found[0].text[1:2].isupper() or found[0].text == "I":
        return text
    followed_by_name = len(found) > 1 and found[1].is_capitalized and found[0].lower not in STOP_WORDS
    if followed_by_name or _stands_capitalized(found[0].text, passage):
        return text
    return text[: found[0].start] + text[found[0].start].lower() + text[found[0].start + 1 :]
