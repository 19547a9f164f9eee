"""Who and what a conversation names, as far as plain English words tell: names, and nouns with an article.

There is no parser here. What cannot be told for sure is listed too, so that nobody takes what is left for the only one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pgclarify.algorithms.english import (
    ARTICLES,
    ASKING,
    AUXILIARIES,
    BEING,
    CONNECTORS,
    DATES,
    DETERMINERS,
    FIRST_NAMES,
    FUNCTION_WORDS,
    LINKING,
    MAKING,
    NO_NOUNS,
    PERSONS,
    PLACING,
    PREPOSITIONS,
    PRONOUNS,
    RELATIONS,
    THINGS,
    TITLES,
    VAGUE_NOUNS,
)

_TOKEN: Final = re.compile(
    r"(?:Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr)\.|(?:[^\W\d_]\.){2,}|[^\W\d_]\.(?=\s?[^\W\d_a-z])|[^\W_]+(?:['\u2019&-][^\W_]+)*|[^\w\s]|\n"
)
_END: Final = frozenset('.!?:;\n"\u201c\u201d\u2026')
_POSSESSIVE: Final = re.compile(r"['\u2019][sS]?$")
# "The plumber" may be who is meant.
_PERSONAL: Final = re.compile(r"(?:er|or|ist|ian|man|woman|ess|ant|ent|mate)$")


class Sort(StrEnum):
    """What a mention may be."""

    PERSON = "person"
    THING = "thing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Mention:
    """Somebody or something that was named.

    Attributes:
        text: As it could be named again, with its article.
        sort: What it is, as far as it can be told.
        gender: "m", "f", or empty if unknown.
        is_plural: None if it may be either: "the Netherlands".
        is_clear: False if it cannot be told what exactly it is called, or whether it is one at all.
        is_name: Whether it is a name, rather than a noun.
        is_person: Whether it is probably somebody's; what is no PERSON may still be.
    """

    text: str
    sort: Sort
    gender: str = ""
    is_plural: bool | None = False
    is_clear: bool = True
    is_name: bool = True
    is_person: bool = False


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    is_initial: bool
    word: str

    @property
    def is_word(self) -> bool:
        return self.text[0].isalnum()

    @property
    def is_capital(self) -> bool:
        return self.text[0].isupper() and self.word not in FUNCTION_WORDS | DATES


def list_mentions(history: Sequence[str]) -> list[Mention]:
    """List whom and what a conversation names, each once, in the order in which they come.

    Args:
        history: What was said, oldest first; each mention is compared with all others, so this is for short ones.
    """
    found: list[tuple[Mention, frozenset[str]]] = []
    asked = ""
    for text in history:
        for mention in _Reader(text, asked).mentions():
            _add(found, mention)
        asked = text.strip().lower()
    return [mention for mention, _ in found]


def _add(found: list[tuple[Mention, frozenset[str]]], mention: Mention) -> None:
    """Add a mention, with the words that count, unless it is one of those by a shorter or longer name."""
    words = _bare(mention.text)
    for place, (other, other_words) in enumerate(found):
        if _is_alike(mention, other) and (words <= other_words or words >= other_words):
            longer = mention if len(words) > len(other_words) else other
            known = next((one for one in (other, mention) if one.sort is not Sort.UNKNOWN), longer)
            merged = Mention(
                longer.text,
                known.sort,
                other.gender or mention.gender,
                longer.is_plural,
                other.is_clear and mention.is_clear,
                longer.is_name,
                other.is_person or mention.is_person,
            )
            found[place] = merged, words | other_words
            return
    found.append((mention, words))


def _is_alike(mention: Mention, other: Mention) -> bool:
    """Tell whether two mentions could be one: a name is no noun, and of a pair, neither is the pair."""
    is_pair, is_other_pair = mention.is_plural is True, other.is_plural is True
    return mention.is_name == other.is_name and (is_pair == is_other_pair or not mention.is_name)


def _looks_plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))


def _bare(text: str) -> frozenset[str]:
    return frozenset(text.lower().split()) - ARTICLES


class _Reader:
    """One thing that was said, and the question that it may answer."""

    def __init__(self, text: str, asked: str) -> None:
        self._text = text
        self._tokens: list[_Token] = []
        is_initial = True
        for match in _TOKEN.finditer(text):
            word = _POSSESSIVE.sub("", match[0]).lower()
            self._tokens.append(_Token(match[0], match.start(), is_initial, word))
            is_initial = match[0] in _END
        letters = [character for character in text if character.isalpha()]
        self._is_shouted = len(self._tokens) > 1 and bool(letters) and all(one.isupper() for one in letters)
        self._has_capitals = any(token.text[0].isupper() for token in self._tokens)
        self._has_pronouns = any(token.word in PRONOUNS for token in self._tokens)
        self._asks_place = re.match(r"where\b|(?:in )?(?:which|what) (?:city|country|town|place|state)\b", asked)
        self._asks_person = re.match(r"who\b|whom\b|whose\b", asked)
        self._asks_what_it_is = re.match(
            r"(?:who|what)(?:['\u2019]s| is| was| are| were)\b|tell me|describe|explain", asked
        )
        self._taken: set[int] = set()

    def mentions(self) -> Iterator[Mention]:
        if self._is_shouted:
            yield Mention(" ".join(token.text for token in self._tokens), Sort.UNKNOWN, is_clear=False)
            return
        yield from self._names()
        yield from self._nouns()
        yield from self._others()

    def _names(self) -> Iterator[Mention]:
        place = 0
        while place < len(self._tokens):
            end = self._name_end(place)
            if end == place:
                place += 1
                continue
            if self._word(end) == "and" and (other := self._name_end(end + 1)) > end + 1 and not self._is_listed(place):
                yield self._pair(place, end, other)
            yield self._name(place, end)
            if self._tokens[end - 1].text != self._said(end - 1, end) and self._word(end) and self._is_noun(end):
                # "Laura's father" is somebody else than Laura.
                yield self._noun(end, self._said(place, end + 1), is_clear=False)
                self._taken.add(end)
            self._taken.update(range(place, end))
            place = end

    def _name_end(self, place: int) -> int:
        """Where the name ends that begins at a place: after its last word; the place itself if there is none."""
        if place >= len(self._tokens) or not self._tokens[place].is_capital or not self._begins_name(place):
            return place
        end = place + 1
        while end < len(self._tokens) and not self._tokens[end - 1].text.endswith(("'s", "\u2019s")):
            if self._tokens[end].is_capital or re.fullmatch(r"\d{1,3}", self._tokens[end].text):
                end += 1
            elif (
                self._word(end) in CONNECTORS
                and (after := end + 1 + (self._word(end + 1) == "the")) < len(self._tokens)
                and self._tokens[after].is_capital
            ):
                end = after + 1
            else:
                break
        return end

    def _begins_name(self, place: int) -> bool:
        """Tell whether a capital is a name's, and not just that of the beginning of a sentence."""
        token = self._tokens[place]
        if not token.is_initial:
            return True
        if token.word in NO_NOUNS - THINGS or token.word.endswith("ly"):
            return False
        after = self._tokens[place + 1] if place + 1 < len(self._tokens) else None
        return (
            after is None
            or not after.is_word
            or after.is_capital
            or token.text.endswith(("'s", "\u2019s"))
            or self._word(place + 1) in AUXILIARIES | CONNECTORS | NO_NOUNS
            or self._word(place + 1).endswith("ed")
        )

    def _is_listed(self, place: int) -> bool:
        """Tell whether a name stands in a longer list, of which it is one."""
        return place > 1 and self._tokens[place - 1].text == ","

    def _name(self, start: int, end: int) -> Mention:
        text = self._said(start, end)
        words = [token.word for token in self._tokens[start:end]]
        before = self._word(start - 1)
        first, last = words[0], words[-1]
        gender = TITLES.get(first, FIRST_NAMES.get(first, ""))
        if before in ("the", "a", "an") and end < len(self._tokens) and self._is_noun(end) and not self._is_verb(end):
            # "The Lindvik altar": the name is a part of what is spoken of.
            return Mention(f"the {text} {self._tokens[end].text}", Sort.THING, is_clear=False)
        if before == "the":
            return Mention(f"the {text}", Sort.THING, is_plural=None if _looks_plural(last) else False)
        if not THINGS.isdisjoint(words) or before in MAKING:
            return Mention(text, Sort.THING)
        if first in TITLES or first in FIRST_NAMES:
            return Mention(text, Sort.PERSON, gender, is_person=True)
        if before in PLACING or self._asks_place:
            return Mention(text, Sort.THING)
        if before in ("a", "an"):
            return Mention(f"the {text}", Sort.THING)
        is_said_of = self._is_said_of(end) and not self._tokens[start].is_initial
        is_person = len(words) > 1 or self._asks_person is not None or is_said_of or before in TITLES
        return Mention(text, Sort.UNKNOWN, TITLES.get(before, ""), is_person=is_person)

    def _said(self, start: int, end: int) -> str:
        """Words as they were said, without what makes the last one a possessive."""
        last = self._tokens[end - 1]
        return _POSSESSIVE.sub("", self._text[self._tokens[start].start : last.start + len(last.text)])

    def _pair(self, start: int, middle: int, end: int) -> Mention:
        """Two names as one: "Nils Berg and Jon Dahl"."""
        first, second = self._name(start, middle), self._name(middle + 1, end)
        sort = first.sort if first.sort is second.sort else Sort.UNKNOWN
        is_clear = self._word(end) != "and" and not (end < len(self._tokens) and self._tokens[end].text == ",")
        return Mention(f"{first.text} and {second.text}", sort, is_plural=True, is_clear=is_clear)

    def _is_said_of(self, place: int) -> bool:
        """Tell whether a verb follows."""
        return self._word(place) in NO_NOUNS - PREPOSITIONS - LINKING or self._word(place).endswith("ed")

    def _nouns(self) -> Iterator[Mention]:
        """Nouns with an article or the like before them."""
        for place in range(len(self._tokens) - 1):
            if (
                place + 1 in self._taken
                or self._word(place) not in ARTICLES | DETERMINERS
                or not self._is_noun(place + 1)
            ):
                continue
            # Up to what cannot be part of it; only one word, with nothing else after it, tells what it is called.
            end = place + 1
            while end < len(self._tokens) and self._is_noun(end) and end not in self._taken:
                end += 1
            inverted = self._word(place - 1) in AUXILIARIES
            if inverted and end - place == 3:
                # "Does the castle open?"
                end -= 1
            head = self._tokens[end - 1].word
            if head in VAGUE_NOUNS:
                self._taken.update(range(place, end))
                continue
            is_clear = end - place == 2 and self._word(place) in ARTICLES and end not in self._taken
            self._taken.update(range(place, end + (1 if inverted else 0)))
            if self._describes(place):
                continue
            yield self._noun(end - 1, f"the {self._said(place + 1, end)}", is_clear=is_clear and not self._has_pronouns)

    def _noun(self, place: int, text: str, *, is_clear: bool) -> Mention:
        head = self._tokens[place].word
        return Mention(
            text,
            Sort.PERSON if head in PERSONS else Sort.UNKNOWN if _PERSONAL.search(head) else Sort.THING,
            PERSONS.get(head, ""),
            is_plural=_looks_plural(head) or head in ("people", "children", "men", "women"),
            is_clear=is_clear and head not in RELATIONS,
            is_name=False,
        )

    def _describes(self, place: int) -> bool:
        """Tell whether an article begins what something is said to be: "It is a town", "Ida Holm, a painter"."""
        if self._word(place) not in ("a", "an"):
            return False
        if place == 0:
            return self._asks_what_it_is is not None
        before = self._tokens[place - 1]
        # "Is a permit free?" asks of a permit.
        is_asking = before.is_initial or self._word(place - 2) in ASKING
        return before.text == "," or (before.word in BEING and not is_asking)

    def _others(self) -> Iterator[Mention]:
        """Words that may be nouns, or names without capitals: nobody can tell."""
        for place, token in enumerate(self._tokens):
            if place in self._taken or not self._is_noun(place) or self._is_verb(place) or token.is_capital:
                continue
            if self._word(place - 1) == "how" or token.word in VAGUE_NOUNS:
                continue
            if place > 0 and self._tokens[place - 1].text[0].isdigit():
                # "330 meters"
                continue
            yield Mention(
                token.text,
                Sort.THING if self._has_capitals else Sort.UNKNOWN,
                is_plural=None,
                is_clear=False,
                is_name=False,
            )

    def _word(self, place: int) -> str:
        return self._tokens[place].word if 0 <= place < len(self._tokens) else ""

    def _is_noun(self, place: int) -> bool:
        """Tell whether a word may be a noun, as far as it alone can tell."""
        token = self._tokens[place]
        word = token.word
        if not token.text[0].isalpha() or len(word) < 2 or word in NO_NOUNS:
            return False
        return not word.endswith(("ly", "ed")) and (not token.text[0].isupper() or token.is_initial)

    def _is_verb(self, place: int) -> bool:
        """Tell whether a word stands where a verb does: after who, or after what it is said of."""
        if not 0 < place < len(self._tokens) or not self._tokens[place].is_word:
            return False
        before = self._tokens[place - 1]
        return before.word in ("who", "to") or (place - 1 in self._taken and before.is_word) or before.is_capital
