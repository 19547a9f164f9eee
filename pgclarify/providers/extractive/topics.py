"""The topic of a passage, from its title and headings, and the phrases by which questions name it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from pgclarify.language.words import STOP_WORDS, content_stems, word_set, words
from pgclarify.providers.extractive.grammar import PREPOSITIONS, base_of_gerund

_GENERIC = word_set(
    """about appendix article background chapter contents detail document faq faqs frequently asked general
    guide handbook help important index information introduction invoice key letter memo minutes more note
    notes other overview page part point question questions answers readme reference report section summary
    table terms text welcome what how when why who where works work conditions need know untitled page step
    steps miscellaneous item items update news meeting coverage cover policy plan insurance agreement contract
    program benefits deductions included options option description example examples synopsis usage parameters arguments
    arguments environment variables see also files exit status diagnostics author"""
)
# Questions ask what applies "under" a scheme, and schemes can pay and cover. The first group takes an article.
_COUNTED_SCHEMES = word_set(
    """policy plan agreement contract program programme warranty scheme guarantee package membership lease
    rider act endorsement"""
)
_MASS_SCHEMES = word_set("coverage cover insurance reimbursement protection assistance benefits membership")
_NUMBERING = re.compile(
    r"^(?:(?:section|chapter|article|part|step)\s)?[\divx]{1,5}(?:\.\d{1,3}){0,3}[.):]\s+", re.IGNORECASE
)
# "Endorsement RR-3: Rental Reimbursement" is the Rental Reimbursement endorsement.
_LABELED = re.compile(r"(?P<kind>[A-Za-z]{3,20})(?: [\w./-]{0,12}\d[\w./-]{0,12})?: (?P<name>[^:]{3,80})$")
# A number of a form, a file or an issue: "Personal Auto Policy, Form PA-12", "Invoice 2291, March 2026".
_EDITION = re.compile(r",[^,]{0,30}\d[^,]{0,30}$")
_FILE_ENDING = re.compile(r"\.(?:md|txt|html?|pdf|jsonl?)$", re.IGNORECASE)
_MAX_TOPIC_WORDS = 7
_MOST_CONTEXT_WORDS = 10
_HAPPENS = "What happens "


@dataclass(frozen=True, slots=True)
class Topic:
    """The title and headings of a passage.

    Attributes:
        title: Cleaned title; "" if it is missing or says nothing.
        headings: Cleaned headings, outermost first, without those that say nothing or repeat the title.
        contexts: The same phrases as the document spells them, innermost first, to stand in parentheses.
        text: Title and headings, as the context of every sentence.
        stems: Stems of the words in text.
        is_sectioned: Whether the passage has a heading, also one that says nothing.
    """

    title: str
    headings: tuple[str, ...]
    contexts: tuple[str, ...]
    text: str
    stems: frozenset[str]
    is_sectioned: bool

    @property
    def name(self) -> str:
        """Return the innermost phrase that names the topic of the passage, or ""."""
        return self.headings[-1] if self.headings else self.title

    def under(self, caption: str) -> Topic:
        """Return the topic of lines that stand below a caption."""
        if not caption:
            return self
        return replace(
            self,
            headings=(*self.headings, caption),
            contexts=(caption, *self.contexts),
            text=f"{self.text} > {caption}" if self.text else caption,
            stems=self.stems | content_stems(caption),
        )

    @property
    def scheme(self) -> str:
        """Return the innermost phrase that names a scheme, such as a policy or a coverage, or ""."""
        phrases = (*reversed(self.headings), self.title)
        return next((phrase for phrase in phrases if is_scheme(phrase) and phrase_fits(phrase)), "")


def read_topic(title: str | None, heading: str | None, passage: str) -> Topic:
    """Clean the title and the headings of a passage, and write them as they would stand inside a question."""
    # In a file name, underscores and hyphens stand for spaces; in a heading they are part of a name.
    is_file = _FILE_ENDING.search(title or "") is not None
    plain_title = _clean((title or "").replace("_", " ") if is_file else title or "")
    plain_headings = [_clean(part) for part in (heading or "").split(" > ")]
    text = " > ".join(part for part in (plain_title, *plain_headings) if part)
    cores = [_core(part) for part in (plain_title, *plain_headings)]
    named = [_in_sentence(part, passage) if _says_something(part) else "" for part in cores]
    headings = tuple(part for part in named[1:] if part and part.lower() != named[0].lower())
    kept = {part.lower() for part in (named[0], *headings)}
    contexts = tuple(dict.fromkeys(part for part in (*reversed(cores[1:]), cores[0]) if part.lower() in kept))
    return Topic(named[0], headings, contexts, text, content_stems(text) if text else frozenset(), bool(heading))


def is_scheme(phrase: str) -> bool:
    """Return whether a phrase names a scheme: "Gold Auto Policy", "rental reimbursement", but not "coverage" alone."""
    found = words(phrase)
    is_plain = len(found) > 1 and not any(word.lower in PREPOSITIONS for word in found)
    return is_plain and _last_word(phrase) in _COUNTED_SCHEMES | _MASS_SCHEMES


def with_article(phrase: str) -> str:
    """Return the phrase as the subject of a sentence: "the Gold Auto Policy", but "rental reimbursement"."""
    found = words(phrase)
    if found and found[0].lower in ("the", "a", "an", "my", "your", "our"):
        return phrase[0].lower() + phrase[1:]
    return f"the {phrase}" if _last_word(phrase) in _COUNTED_SCHEMES else phrase


def stand_alone(topic: Topic, question: str) -> str:
    """Make a question understandable without the passage: "… under rental reimbursement?", "… (canceling an order)?".

    A scheme in the title or a heading is always added, because another scheme has another answer. Any other topic is
    added only to a question that shares no word with it.
    """
    scheme = topic.scheme
    if scheme and _names_scheme(question):
        return question
    if scheme:
        plain = re.compile(rf"\b(?:the|this) {re.escape(_last_word(scheme))}\b", re.IGNORECASE)
        if not content_stems(scheme) <= content_stems(question):
            if plain.search(question):
                return plain.sub(lambda _: with_article(scheme), question, count=1)
            if question.startswith(_HAPPENS):
                return f"{_HAPPENS}under {with_article(scheme)} {question.removeprefix(_HAPPENS)}"
            return f"{question[:-1]} under {with_article(scheme)}?"
        return question
    return question if _names_topic(topic, question) else f"{in_context(question[:-1], topic, fewest=2)}?"


def in_context(name: str, topic: Topic, fewest: int = 1) -> str:
    """Return a phrase with the innermost heading or the title, if that adds words: "daily limit (Rental cars)".

    Args:
        name: The phrase.
        topic: Has title and headings.
        fewest: Least words of a heading. For questions, single words such as "rates" and "notes" are too short.
    """
    there = content_stems(name)
    for phrase in topic.contexts:
        is_short = fewest <= len(words(phrase)) <= _MOST_CONTEXT_WORDS
        if is_short and not phrase.endswith("?") and not content_stems(phrase) <= there:
            return f"{name} ({phrase})"
    return name


def _names_scheme(question: str) -> bool:
    """Return whether a question already names a scheme: the one of the passage or another one."""
    found = words(question)
    return any(
        word.lower in _COUNTED_SCHEMES and (word.is_capitalized or (index > 1 and found[index - 1].is_capitalized))
        for index, word in enumerate(found)
    )


def _names_topic(topic: Topic, question: str) -> bool:
    """Return whether a question names its topic: with a name, or with a word of the title or the headings."""
    if any(word.is_capitalized and word.is_content for word in words(question)[1:]):
        return True
    return bool(topic.stems & content_stems(question))


def phrase_fits(phrase: str) -> bool:
    """Return whether a noun phrase fits into a question: it is short, begins with no verb, is no question, no list."""
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
    phrase = _FILE_ENDING.sub("", " ".join(phrase[:200].split()))
    return _NUMBERING.sub("", phrase.strip("#*` ")).strip(" .:#*`-\u2013—¶")


def _core(phrase: str) -> str:
    """Return the name in a title, without the number of a form and without a slogan after a colon."""
    phrase = _EDITION.sub("", phrase)
    labeled = _LABELED.match(phrase)
    if labeled and labeled["kind"].lower() in _COUNTED_SCHEMES:
        return f"{labeled['name']} {labeled['kind'].lower()}"
    return phrase.split(": ")[0]


def _says_something(phrase: str) -> bool:
    return any(
        word.is_content and word.lower not in _GENERIC and len(word.text) > 1 and not word.text.isdigit()
        for word in words(phrase)
    )


def _in_sentence(phrase: str, passage: str) -> str:
    """Return the phrase in lower case, but keep names.

    A name has capitals inside a sentence of the passage too, or never occurs without them.
    """
    found = words(phrase)
    lowered = phrase[0].lower() + phrase[1:]
    if lowered.lower() in passage:
        return lowered.lower()
    has_inner_capitals = any(word.is_capitalized for word in found[1:])
    is_acronym = found[0].text[1:2].isupper()
    is_name = has_inner_capitals or is_acronym or _stands_capitalized(found[0].text, passage)
    return phrase if is_name else lowered


def _stands_capitalized(word: str, passage: str) -> bool:
    """Return whether a capitalized word also stands inside a sentence, where only names have capitals."""
    position = passage.find(" " + word)
    while position > 0:
        is_whole = not passage[position + 1 + len(word) : position + 2 + len(word)].isalnum()
        if is_whole and passage[position - 1] not in ".!?:\n*-|>#":
            return True
        position = passage.find(" " + word, position + 1)
    return False


def lower_first(text: str, passage: str) -> str:
    """Return the start of a sentence as it would be written inside a sentence."""
    found = words(text[:60])
    if not found or found[0].text[1:2].isupper() or found[0].text == "I":
        return text
    # "Gold Policy", "Alice and Bob", but "The Gold Policy".
    following = next((word for word in found[1:] if word.lower not in ("and", "or")), None)
    followed_by_name = following is not None and following.is_capitalized and found[0].lower not in STOP_WORDS
    if followed_by_name or _stands_capitalized(found[0].text, passage):
        return text
    return text[: found[0].start] + text[found[0].start].lower() + text[found[0].start + 1 :]
