"""Identifiers and years of English texts, and whether a text has another identifier than a question."""

from __future__ import annotations

import re
from typing import Final

from pgclarify.language.english.word_classes import NO_NOUNS
from pgclarify.language.words import word_set

# Letters, then digits, without a blank: "INV-1042", "Falcon901".
_CODE: Final = re.compile(r"\b([^\W\d_]+)[-_./#]?(\d+)(?![^\W_])")
# "Model A", "Plan B". "I" is a pronoun, and a letter with a dot an initial.
_LETTERED: Final = re.compile(r"\b([^\W\d_]{3,}) ([A-HJ-Z])(?![\w.'\u2019&-])")
# A version behind its thing: "Lunar 3.2".
_VERSION: Final = re.compile(r"\b([^\W\d_]+) (\d+(?:\.\d+)+)(?![^\W_])")
# "Mid-1990" is a time.
_OF_TIMES: Final = word_set("mid pre post early late since circa")
_YEAR: Final = re.compile(r"(?<![\w,./#-])(1[0-9]{3}|20[0-9]{2})(?!\w|[,.]\d)")


def codes(text: str) -> frozenset[tuple[str, str]]:
    """List the identifiers of a text: letters and digits that belong together, in lower case ("inv", "1042")."""
    return _found(_CODE, text, _OF_TIMES)


def years(text: str) -> frozenset[str]:
    """List the years of a text that are written in four digits, from 1000 to 2099."""
    return frozenset(_YEAR.findall(text))


def names_other_identifier(question: str, support: str) -> bool:
    """Tell whether a support has another identifier than a question, with the same letters, and not the question's.

    "INV-1043" for "INV-1042", "Model B" for "Model A", "Lunar 3.2" for "Lunar 3.1".
    """
    asked = _all_codes(question)
    if not asked:
        return False
    there = _all_codes(support)
    nouns_there = {noun for noun, _ in there}
    missing = asked - there
    return any(noun in nouns_there for noun, _ in missing)


def _all_codes(text: str) -> frozenset[tuple[str, str]]:
    lettered = _found(_LETTERED, text, NO_NOUNS)
    versions = _found(_VERSION, text, NO_NOUNS)
    return codes(text) | lettered | versions


def _found(pattern: re.Pattern[str], text: str, no_nouns: frozenset[str]) -> frozenset[tuple[str, str]]:
    """List the nouns with what follows them, in lower case: ("model", "a"), ("lunar", "3.2")."""
    found = set[tuple[str, str]]()
    for match in pattern.finditer(text):
        noun = match[1].lower()
        if noun not in no_nouns:
            found.add((noun, match[2].lower()))
    return frozenset(found)
