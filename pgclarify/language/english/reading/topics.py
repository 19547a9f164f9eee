"""The topic of a passage, from its title and headings."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from pgclarify.language.english.words import content_stems, words
from pgclarify.language.words import word_set

_GENERIC = word_set(
    """about appendix article background chapter contents detail document faq faqs frequently asked general
    guide handbook help important index information introduction invoice key letter memo minutes more note
    notes other overview page part point question questions answers readme reference report section summary
    table terms text welcome what how when why who where works work conditions need know untitled page step
    steps miscellaneous item items update news meeting coverage cover policy plan insurance agreement contract
    program benefits deductions included options option description example examples synopsis usage parameters arguments
    environment variables see also files exit status diagnostics author"""
)
_NUMBERING = re.compile(
    r"^(?:(?:section|chapter|article|part|step)\s)?[\divx]{1,5}(?:\.\d{1,3}){0,3}[.):]\s+", re.IGNORECASE
)
_FILE_ENDING = re.compile(r"\.(?:md|txt|html?|pdf|jsonl?)$", re.IGNORECASE)
_MOST_CONTEXT_WORDS = 10


@dataclass(frozen=True, slots=True)
class Topic:
    """The title and headings of a passage.

    Attributes:
        title: Cleaned title; "" if it is missing or says nothing.
        contexts: Title and headings that say something, innermost first.
        text: Title and headings, as the context of every sentence.
        stems: Stems of the words in text.
        is_sectioned: Whether the passage has a heading, also one that says nothing.
    """

    title: str
    contexts: tuple[str, ...]
    text: str
    stems: frozenset[str]
    is_sectioned: bool

    @property
    def name(self) -> str:
        """Return the innermost phrase that names the topic of the passage, or ""."""
        return self.contexts[0] if self.contexts else ""

    def under(self, caption: str) -> Topic:
        """Return the topic of lines that stand below a caption."""
        if not caption:
            return self
        return replace(
            self,
            contexts=(caption, *self.contexts),
            text=f"{self.text} > {caption}" if self.text else caption,
            stems=self.stems | content_stems(caption),
        )


def read_topic(title: str | None, heading: str | None) -> Topic:
    """Clean the title and the headings of a passage."""
    parts = [_clean(part) for part in (title or "", *(heading or "").split(" > "))]
    text = " > ".join(part for part in parts if part)
    named = [part if _says_something(part) else "" for part in parts]
    contexts = tuple(dict.fromkeys(part for part in reversed(named) if part))
    return Topic(named[0], contexts, text, content_stems(text) if text else frozenset(), bool(heading))


def in_context(name: str, topic: Topic) -> str:
    """Return a phrase with the innermost heading or the title, if that adds words: "daily limit (Rental cars)"."""
    there = content_stems(name)
    for phrase in topic.contexts:
        is_short = len(words(phrase)) <= _MOST_CONTEXT_WORDS
        if is_short and not phrase.endswith("?") and not content_stems(phrase) <= there:
            return f"{name} ({phrase})"
    return name


def _clean(phrase: str) -> str:
    phrase = _FILE_ENDING.sub("", " ".join(phrase[:200].split()))
    return _NUMBERING.sub("", phrase.strip("#*` ")).strip(" .:#*`-\u2013—¶")


def _says_something(phrase: str) -> bool:
    return any(
        word.is_content and word.lower not in _GENERIC and len(word.text) > 1 and not word.text.isdigit()
        for word in words(phrase)
    )
