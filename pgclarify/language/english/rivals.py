"""Tells from its words whether a sentence is about another thing than the one that a question names."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from pgclarify.language.english.word_classes import INTERROGATIVES, NO_NOUNS
from pgclarify.language.english.words import Word, all_stems, lower_words, words
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
_NO_ROLE: Final = _OTHER_ROLE | _NO_PERSON
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
    return _found(_CODE, text, _OF_TIMES)


def years(text: str) -> frozenset[str]:
    """List the years of a text that are written in four digits, from 1000 to 2099."""
    return frozenset(_YEAR.findall(text))


def _found(pattern: re.Pattern[str], text: str, no_nouns: frozenset[str]) -> frozenset[tuple[str, str]]:
    """List the nouns with what follows them, in lower case: ("model", "a"), ("lunar", "3.2"), ("check", "out")."""
    pairs = ((noun.lower(), what.lower()) for noun, what in pattern.findall(text))
    return frozenset(pair for pair in pairs if pair[0] not in no_nouns)


def names_rival(question: str, proof: str, above: str = "") -> bool:
    """Tell whether a support names another thing than a question, and not the one that the question names.

    It does if it has another identifier with the same letters ("INV-1043" for "INV-1042", "Model B" for "Model A"),
    another version or year, another noun or name behind the same name ("the Alpina chair" for "the Alpina desk"),
    another name or a contrasting word before the same noun ("the Berlin office" for "the Hamburg office"), or a role of
    another person ("the deputy head", "was the head until 2023").

    Args:
        question: An English question.
        proof: The sentences that give the answer.
        above: The title and the headings above them. A noun there may stand for several things: "Hosting plans" also
            has the Grove plan.
    """
    support = f"{above}\n{proof}"
    # Each splits the support into words only if the question names something: most do not, and splitting takes long.
    return (
        _names_other_code(question, support)
        or _names_other_year(question, support)
        or _pairs_otherwise(question, proof, support)
        or _names_other_model(question, support)
        or _contrasts(question, support)
        or _has_other_role(question, support)
    )


def says_opposite(question: str, sentence: str, answer: str) -> bool:
    """Tell whether a sentence has the opposite of a word of a question, neither the word nor this in the answer.

    "It is closed on Sundays" does not say when it is open, except with the answer "closed on Sundays".
    """
    asked = frozenset(lower_words(question))
    reversible = asked & _REVERSED.keys()
    if not reversible:
        return False
    told = frozenset(lower_words(answer))
    said = frozenset(lower_words(_part_with(answer, sentence)))
    for word in reversible:
        reverse = _REVERSED[word]
        is_said = not said.isdisjoint(reverse) and said.isdisjoint(_ALIKE[word])
        if is_said and asked.isdisjoint(reverse) and told.isdisjoint(reverse):
            return True
    return False


def _part_with(answer: str, sentence: str) -> str:
    """Return the part of a sentence that has an answer; the sentence if there is no such part, or it has short ones.

    Of "free for children and 15 euros for adults", the part with the answer counts. "Children and adults" is one.
    """
    parts = _BREAK.split(sentence)
    if min(len(words(part)) for part in parts) < _LEAST_PART:
        return sentence
    own = [part for part in parts if answer in part]
    return own[0] if len(own) == 1 else sentence


def _names_other_code(question: str, support: str) -> bool:
    asked = _all_codes(question)
    if not asked:
        return False
    there = _all_codes(support)
    letters_there = {letters for letters, _ in there}
    return any(letters in letters_there for letters, _ in asked - there)


def _all_codes(text: str) -> frozenset[tuple[str, str]]:
    found = codes(text)
    for pattern in (_LETTERED, _VERSION, _PARTICLE):
        found |= _found(pattern, text, NO_NOUNS)
    return found


def _names_other_year(question: str, support: str) -> bool:
    asked = years(question)
    if not asked:
        return False
    there = years(support)
    return bool(there) and asked.isdisjoint(there)


def _pairs_otherwise(question: str, proof: str, support: str) -> bool:
    """Whether a name of the question has another noun in the proof, or a noun of the question another name.

    It has not if the support has the word.
    """
    asked = [*_pairs(question, first=1)]
    if not asked:
        return False
    stems = all_stems(support)
    said = [*_pairs(proof, first=0)]
    names = {name for name, _ in said}
    nouns = {noun for _, noun in said}
    for name, noun in asked:
        has_other_noun = noun not in stems and name in names
        has_other_name = name not in stems and noun in nouns
        if has_other_noun or has_other_name:
            return True
    return False


def _names_other_model(question: str, support: str) -> bool:
    """Whether a name of two words ends otherwise in the support: "the Tern GSD" for "the Tern NBD"."""
    question = _without_accents(question)
    named = [*_double_names(question)]
    if not named:
        return False
    support = _without_accents(support)
    asked, there = all_stems(question), all_stems(support)
    rivals = [(first, last) for first, last in _double_names(support) if last not in asked]
    for first, last in named:
        others = [rival for other, rival in rivals if other == first]
        if last not in there and not all(_is_misspelled(last, rival) for rival in others):
            return True
    return False


def _without_accents(text: str) -> str:
    return without_accents(unicodedata.normalize("NFD", text))


def _is_misspelled(one: str, other: str) -> bool:
    """Whether two longer words begin and end alike: "emporor" and "emperor"."""
    if len(one) <= _SHORT_NAME:
        return False
    return one[:_SPELLED] == other[:_SPELLED] and one[-1] == other[-1]


def _double_names(text: str) -> Iterator[tuple[str, str]]:
    """Yield the stems of each two capitalized words that stand side by side, with no third one."""
    run: list[str] = []
    end = 0
    for word in words(text):
        is_name = _is_name(word)
        if not is_name or text[end : word.start] != " ":
            if len(run) == _DOUBLE:
                yield run[0], run[1]
            run = []
        if is_name and len(word.text) > 1:
            run.append(word.stem)
        end = word.end
    if len(run) == _DOUBLE:
        yield run[0], run[1]


def _contrasts(question: str, support: str) -> bool:
    """Whether a noun has a contrasting word before it in the support: "the winter course" for "the summer course"."""
    asked = [*_contrasting(question)]
    if not asked:
        return False
    stems = all_stems(support)
    said = {noun for _, noun in _contrasting(support)}
    return any(one not in stems and noun in said for one, noun in asked)


def _contrasting(text: str) -> Iterator[tuple[str, str]]:
    """Yield the stems of each contrasting word and the noun directly behind it."""
    for one, noun in pairwise(words(text)):
        gap = text[one.end : noun.start]
        is_beside = gap in (" ", "-")
        if is_beside and noun.is_content and one.lower in _CONTRASTING:
            yield one.stem, noun.stem


def _has_other_role(question: str, support: str) -> bool:
    """Whether the support has each role of a question for a person with "deputy" before it, or says who was it once."""
    asked = words(question)
    lowers = frozenset(word.lower for word in asked)
    if not lowers.isdisjoint(_NO_ROLE):
        return False
    if _NOW.match(question) and _UNTIL.search(support):
        return True
    if not _DEPUTY.search(support):
        return False
    there = words(support)
    told = Counter(word.stem for word in there)
    others = Counter(noun.stem for one, noun in pairwise(there) if one.lower in _OTHER_ROLE)
    # "Who is president?", but not "Whom did President Holm meet?".
    roles = [word.stem for place, word in enumerate(asked) if word.is_content and not (place and word.is_capitalized)]
    return any(told[role] == others[role] > 0 for role in roles)


def _pairs(text: str, *, first: int) -> Iterator[tuple[str, str]]:
    """Yield the stems of each capitalized word and the noun directly behind it.

    The first word of a question is always capitalized. At the start of a sentence, an article is no name.
    """
    found = words(text)
    for place in range(first, len(found) - 1):
        name, noun = found[place], found[place + 1]
        is_pair = _is_name(name) and _is_noun(noun)
        if is_pair and text[name.end : noun.start] == " ":
            yield name.stem, noun.stem


def _is_name(word: Word) -> bool:
    return word.is_capitalized and word.lower not in NO_NOUNS


def _is_noun(word: Word) -> bool:
    # "The BBC announced" names no other thing than "the BBC signal".
    lower = word.lower
    is_past = lower.endswith("ed") and not lower.endswith("eed")
    if is_past and len(lower) > _LONGEST_ED_NOUN:
        return False
    if not word.text[0].islower():
        return False
    return lower not in NO_NOUNS and word.stem not in NO_NOUNS
