"""Tells from its words whether a sentence is about another thing than the one that a question names."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from pgclarify.language.english.word_classes import INTERROGATIVES, NO_NOUNS
from pgclarify.language.english.words import Word, words
from pgclarify.language.quotes import without_accents
from pgclarify.language.words import word_set

# Letters, then digits, without a blank: "INV-1042", "Falcon901".
_CODE: Final = re.compile(r"\b([^\W\d_]+)[-_./#]?(\d+)(?![^\W_])")
# "Model A", "Plan B". "I" is a pronoun, and a letter with a dot an initial.
_LETTERED: Final = re.compile(r"\b([^\W\d_]{3,}) ([A-HJ-Z])(?![\w.'\u2019&-])")
# "Mid-1990" is a time.
_OF_TIMES: Final = word_set("mid pre post early late since circa")
# "Check-in" and "check-out".
_PARTICLE: Final = re.compile(r"\b([^\W\d_]{3,})-(in|out|on|off|up|down)\b", re.IGNORECASE)
# A version behind its thing: "Lunar 3.2".
_VERSION: Final = re.compile(r"\b([^\W\d_]+) (\d+(?:\.\d+)+)(?![^\W_])")
_YEAR: Final = re.compile(r"(?<![\w,./#-])(1[0-9]{3}|20[0-9]{2})(?!\w|[,.]\d)")
# Forms of words that cannot both be meant: what opens at nine does not close at nine.
_OPPOSITES: Final = (
    ("open", "opens", "opened", "opening"), ("close", "closed", "closes", "closing"),
    ("start", "starts", "started", "begin", "begins", "began"), ("end", "ends", "ended"),
    ("arrive", "arrives", "arrived", "arrival"), ("leave", "leaves", "left", "depart", "departs", "departure"),
    ("buy", "buys", "bought"), ("sell", "sells", "sold"),
    ("minimum", "least"), ("maximum", "most"),
    ("highest", "largest", "longest", "oldest"), ("lowest", "smallest", "shortest", "youngest"),
    ("adult", "adults"), ("child", "children"),
)  # fmt: skip
# Of two things with the same noun, each has one of these before it: "the winter course" and "the summer course".
_CONTRASTING: Final = word_set(
    "north south east west spring summer autumn winter day night morning afternoon evening full part half written oral"
    " indoor outdoor upper lower inner outer front rear left right first second third minimum maximum annual monthly"
    " weekly daily gross net single double domestic international public private internal external old new small large"
    " short long hot cold black white red green blue yellow grey basic advanced standard premium express junior senior"
)
# The deputy head is not the head.
_OTHER_ROLE: Final = word_set("deputy vice assistant associate acting interim former ex honorary")
_DEPUTY: Final = re.compile(rf"\b(?:{'|'.join(sorted(_OTHER_ROLE))})\b", re.IGNORECASE)
_NO_PERSON: Final = frozenset({*INTERROGATIVES}) - {"who", "whom", "whose"}
# "Ina was the head until 2023" does not say who is the head.
_NOW: Final = re.compile(r"who(?:'s| is| are)\b", re.IGNORECASE)
_UNTIL: Final = re.compile(r"\bw(?:as|ere) (?:the|an?)\b[^.;]{0,80}\b(?:until|from \d{4} (?:to|until))\b")
# Between parts of a sentence. Children, in "Children and adults pay 5 euros", are none of at least these words.
_BREAK: Final = re.compile(r"[,;](?!\d)|\s(?:and|but|while)\s", re.IGNORECASE)
_LEAST_PART: Final = 3
_DOUBLE: Final = 2
# "Shed" is a noun; of longer words with this ending, nearly all are verbs.
_LONGEST_ED_NOUN: Final = 4
# A misspelled name has more letters than this, and begins with as many right ones.
_SHORT_NAME: Final = 4
_SPELLED: Final = 3
_REVERSED: Final = {word: frozenset(_OPPOSITES[place ^ 1]) for place, forms in enumerate(_OPPOSITES) for word in forms}
_ALIKE: Final = {word: frozenset(forms) for forms in _OPPOSITES for word in forms}


def codes(text: str) -> frozenset[tuple[str, str]]:
    """List the identifiers of a text: letters and digits that belong together, in lower case ("inv", "1042")."""
    found = ((match[1].lower(), match[2]) for match in _CODE.finditer(text))
    return frozenset(one for one in found if one[0] not in _OF_TIMES)


def _lettered(text: str) -> frozenset[tuple[str, str]]:
    """List the nouns with a letter behind them: ("model", "A")."""
    found = ((match[1].lower(), match[2]) for match in _LETTERED.finditer(text))
    return frozenset(one for one in found if one[0] not in NO_NOUNS)


def _followed(text: str) -> frozenset[tuple[str, str]]:
    """List the nouns with a number with a dot or a particle behind them: ("lunar", "3.2"), ("check", "out")."""
    found = ((match[1].lower(), match[2].lower()) for one in (_VERSION, _PARTICLE) for match in one.finditer(text))
    return frozenset(one for one in found if one[0] not in NO_NOUNS)


def names_rival(question: str, support: str) -> bool:
    """Tell whether a support names another thing than a question, and not the one that the question names.

    It does if it has another identifier with the same letters ("INV-1043" for "INV-1042", "Model B" for "Model A"),
    another version or year, another noun or name behind the same name ("the Alpina chair" for "the Alpina desk"),
    another name or a contrasting word before the same noun ("the Berlin office" for "the Hamburg office"), or a role of
    another person ("the deputy head", "was the head until 2023").

    Args:
        question: An English question.
        support: The sentences that give the answer, with the title and the headings above them.
    """
    # Each splits the support into words only if the question names something: most do not, and splitting takes long.
    return (
        _names_other_code(question, support)
        or _names_other_year(question, support)
        or _pairs_otherwise(question, support)
        or _names_other_model(question, support)
        or _contrasts(question, support)
        or _has_other_role(question, support)
    )


def says_opposite(question: str, sentence: str, answer: str) -> bool:
    """Tell whether a sentence has the opposite of a word of a question, neither the word nor this in the answer.

    "It is closed on Sundays" does not say when it is open, except with the answer "closed on Sundays".
    """
    asked = frozenset(word.lower for word in words(question))
    if asked.isdisjoint(_REVERSED):
        return False
    told = frozenset(word.lower for word in words(answer))
    parts = _BREAK.split(sentence)
    # Of "free for children and 15 euros for adults", the part with the answer counts. "Children and adults" is one.
    own = [part for part in parts if answer in part] if min(len(words(part)) for part in parts) >= _LEAST_PART else []
    said = frozenset(word.lower for word in words(own[0] if len(own) == 1 else sentence))
    return any(
        said.isdisjoint(_ALIKE[word])
        and asked.isdisjoint(reverse)
        and not said.isdisjoint(reverse)
        and told.isdisjoint(reverse)
        for word in asked
        if (reverse := _REVERSED.get(word))
    )


def _names_other_code(question: str, support: str) -> bool:
    if not (asked := _all_codes(question)):
        return False
    there = _all_codes(support)
    return any(one not in there and any(letters == one[0] for letters, _ in there) for one in asked)


def _all_codes(text: str) -> frozenset[tuple[str, str]]:
    return codes(text) | _lettered(text) | _followed(text)


def _names_other_year(question: str, support: str) -> bool:
    asked, there = set(_YEAR.findall(question)), set(_YEAR.findall(support))
    return bool(asked) and bool(there) and asked.isdisjoint(there)


def _pairs_otherwise(question: str, support: str) -> bool:
    """Whether a name of the question has another noun in the support, or a noun of the question another name."""
    if not (asked := [*_pairs(question, first=1)]):
        return False
    stems = frozenset(word.stem for word in words(support))
    said = [*_pairs(support, first=0)]
    for name, noun in asked:
        if noun not in stems and any(name == other for other, _ in said):
            return True
        if name not in stems and any(noun == other for _, other in said):
            return True
    return False


def _names_other_model(question: str, support: str) -> bool:
    """Whether a name of two words ends otherwise in the support: "the Tern GSD" for "the Tern NBD"."""
    question = without_accents(unicodedata.normalize("NFD", question))
    if not (named := [*_double_names(question)]):
        return False
    support = without_accents(unicodedata.normalize("NFD", support))
    asked, there = (frozenset(word.stem for word in words(text)) for text in (question, support))
    rivals = [(first, last) for first, last in _double_names(support) if last not in asked]
    return any(
        last not in there and any(first == other and not _is_misspelled(last, rival) for other, rival in rivals)
        for first, last in named
    )


def _is_misspelled(one: str, other: str) -> bool:
    """Whether two longer words begin and end alike: "emporor" and "emperor"."""
    return len(one) > _SHORT_NAME and one[:_SPELLED] == other[:_SPELLED] and one[-1] == other[-1]


def _double_names(text: str) -> Iterator[tuple[str, str]]:
    """Yield the stems of each two capitalized words that stand side by side, with no third one."""
    run: list[str] = []
    end = 0
    for word in [*words(text), None]:
        if word is None or not _is_name(word) or text[end : word.start] != " ":
            if len(run) == _DOUBLE:
                yield run[0], run[1]
            run = []
        if word is not None and _is_name(word) and len(word.text) > 1:
            run.append(word.stem)
        end = word.end if word else 0


def _contrasts(question: str, support: str) -> bool:
    """Whether a noun has a contrasting word before it in the support: "the winter course" for "the summer course"."""
    if not (asked := [*_contrasting(question)]):
        return False
    stems = frozenset(word.stem for word in words(support))
    said = {noun for _, noun in _contrasting(support)}
    return any(one not in stems and noun in said for one, noun in asked)


def _contrasting(text: str) -> Iterator[tuple[str, str]]:
    """Yield the stems of each contrasting word and the noun directly behind it."""
    for one, noun in pairwise(words(text)):
        is_beside = text[one.end : noun.start] in {" ", "-"} and noun.is_content
        if is_beside and one.lower in _CONTRASTING:
            yield one.stem, noun.stem


def _has_other_role(question: str, support: str) -> bool:
    """Whether the support has each role of a question for a person with "deputy" before it, or says who was it once."""
    asked = words(question)
    if any(word.lower in _OTHER_ROLE or word.lower in _NO_PERSON for word in asked):
        return False
    if _NOW.match(question) and _UNTIL.search(support):
        return True
    if not _DEPUTY.search(support):
        return False
    there = words(support)
    told = Counter(word.stem for word in there)
    others = Counter(noun.stem for one, noun in pairwise(there) if one.lower in _OTHER_ROLE)
    # "Who is president?", but not "Whom did President Holm meet?".
    roles = [word for place, word in enumerate(asked) if word.is_content and not (place and word.is_capitalized)]
    return any(told[role.stem] == others[role.stem] > 0 for role in roles)


def _pairs(text: str, *, first: int) -> Iterator[tuple[str, str]]:
    """Yield the stems of each capitalized word and the noun directly behind it.

    The first word of a question is always capitalized. At the start of a sentence, an article is no name.
    """
    found = words(text)
    for place in range(first, len(found) - 1):
        name, noun = found[place], found[place + 1]
        if _is_name(name) and _is_noun(noun) and text[name.end : noun.start] == " ":
            yield name.stem, noun.stem


def _is_name(word: Word) -> bool:
    return word.is_capitalized and word.lower not in NO_NOUNS


def _is_noun(word: Word) -> bool:
    # "The BBC announced" names no other thing than "the BBC signal".
    is_verb = word.lower.endswith("ed") and not word.lower.endswith("eed") and len(word.lower) > _LONGEST_ED_NOUN
    return word.text[0].islower() and not is_verb and NO_NOUNS.isdisjoint((word.lower, word.stem))
