"""Resolving a pronoun without a model, where it can mean one thing only; otherwise saying why not.

Only the pronoun is replaced; all else stays to the byte. Whatever is not plain is left alone: a question that stays
ambiguous can be asked back, one that was rewritten wrongly is answered wrongly.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pgclarify.algorithms.english import ASKING, AUXILIARIES, FUNCTION_WORDS, PREPOSITIONS
from pgclarify.algorithms.mentions import Mention, Sort, list_mentions

_POINTER: Final = re.compile(
    r"\b(?:he|him|his|himself|she|her|hers|herself|it|its|itself|they|them|their|theirs|themselves|there"
    r"|this|these|those|that|ones?|former|latter|the\s+other|the\s+others|the\s+same)\b",
    re.IGNORECASE,
)
_GENDERS: Final = {"he": "m", "him": "m", "his": "m", "she": "f", "her": "f"}
_PLURAL: Final = frozenset({"they", "them", "their"})
_POSSESSIVE: Final = frozenset({"his", "its", "their"})
# Pronouns that mean the same.
_ALIKE: Final = (
    dict.fromkeys(("he", "him", "his"), frozenset({"he", "him", "his"}))
    | dict.fromkeys(("she", "her"), frozenset({"she", "her", "hers"}))
    | dict.fromkeys(("it", "its"), frozenset({"it", "its"}))
    | dict.fromkeys(("they", "them", "their"), frozenset({"they", "them", "their", "theirs"}))
    | {"there": frozenset({"there"})}
)
_RULED: Final = frozenset({*_GENDERS, *_PLURAL, *_POSSESSIVE, "it", "there"})
# Bound by a subject that is in the question.
_REFLEXIVE: Final = frozenset({"himself", "herself", "itself", "themselves"})
_BE: Final = r"(?:is|are|was|were|be|been|am|isn't|aren't|wasn't|weren't|has been|have been|had been)"
# Words that look like pronouns and mean nothing: "is there a", "how long does it take", "is it true that".
_EMPTY: Final = re.compile(
    rf"""
    \b{_BE}\s+(?P<there>there)\b (?! [\s?.!]*$ ) | \b(?P<there_is>there)(?:['\u2019]s|\s+{_BE})\b
    | \bhow\s+(?:many|much)\b.{{0,80}}\b{_BE}\s+(?P<count>there)\b
    | \b(?P<takes>it)\s+(?:takes?|took|rains?|rained|snows?|snowed|matters?)\b
    | \b{_BE}\s+(?P<true>it)\s+(?:true|false|possible|legal|safe\s+to|better\s+to|raining|snowing|likely|time)\b
    | \bwhat\s+(?:time|day|year|date|month)\s+{_BE}\s+(?P<time>it)\b
    | \bthat\b (?= \s+ (?:he|she|it|they|the|a|an|i|we|you|is|are|was|were|has|have|had)\b )
    """,
    re.IGNORECASE | re.VERBOSE,
)
# What is longer is no plain case; and all that follows takes a time that this bounds.
_MOST_WORDS: Final = 1000
_MOST_CHARACTERS: Final = 10_000
# Words of the shortest question that leaves nothing out: "Who founded Ortval?"
_WHOLE: Final = 3
# With it begins what goes on from what was said before, or answers it.
_GOING_ON: Final = frozenset(
    str.split("and or but nor so then also because yes no yeah not neither both either too maybe perhaps")
)
# "In 1903" answers something; "After the war Carl Berg moved to Ortval" tells something.
_SHORT: Final = 4
_CLOSING: Final = " \t\r\n\"'\u201d\u2019\u00bb)"
_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
# "Who taught her mathematics?" is not about her mathematics.
_GIVING: Final = frozenset(
    str.split(
        "give gives gave given giving tell tells told teach teaches taught show shows showed send sends sent offer"
        " offers offered ask asks asked call calls called make makes made name names named buy buys bought lend lent"
        " pay paid promise promised write wrote read bring brought get got cost costs let lets grant granted award"
        " awarded see saw hear heard help helps helped"
    )
)
_GOING: Final = frozenset(
    str.split(
        "go goes going went gone get gets getting got come comes coming came travel travels traveled travelled fly"
        " flies flew drive drives drove move moves moved arrive arrives arrived walk walked sail sailed send sent bring"
        " brought take took return returned"
    )
)
_DETERMINERS: Final = frozenset(str.split("the a an which what each every no any some whose another this that"))


@dataclass(frozen=True, slots=True)
class Resolution:
    """What the rules came to.

    Attributes:
        rewritten: The question with its pronoun replaced; None if that cannot be done.
        reason: What the pronoun stands for, or why nobody can tell.
    """

    rewritten: str | None
    reason: str


def resolve(question: str, history: Sequence[str]) -> Resolution:
    """Put what a pronoun means into its place, if there is one pronoun and one that it can mean.

    He, him, his, she, her, it, its, they, them, their and there are resolved, in English. What they mean has to be the
    only name, or noun with an article, in the history that fits in number and person; words that might be one block it.

    Args:
        question: The question.
        history: What was said before it, oldest first: all of it, or what is left out might be what is meant.
    """
    history = [text for text in history if text.strip()]
    if _is_long((question, *history)):
        return Resolution(None, "so much was said that rules do not tell what is meant")
    pointers = _pointers(question)
    if not pointers:
        return Resolution(None, "it has no pronoun that rules could replace")
    said = " and ".join(dict.fromkeys(f'"{match[0].lower()}"' for match in pointers))
    pointer = pointers[0]
    word = pointer[0].lower()
    if len(pointers) > 1:
        return Resolution(None, f"it says {said}, and rules replace only one such word")
    if word not in _RULED:
        return Resolution(None, f"rules cannot tell what {said} stands for")
    if _begins_in_the_middle(history):
        return Resolution(None, "what was said before begins in the middle of a conversation")
    before, after = question[: pointer.start()], question[pointer.end() :]
    if _may_be_bound(before, word):
        return Resolution(None, f"{said} may mean something in the question itself")
    form = None if after[:1] in ("'", "\u2019") and after[1:2] != "s" else _form(word, before, after)
    if form is None:
        return Resolution(None, f"{said} can be read in two ways here")
    fitting = [mention for mention in list_mentions(history) if _fits(mention, word)]
    if not fitting:
        return Resolution(None, f"nothing before it has a name that {said} could stand for")
    if len(fitting) > 1:
        shown = [f'"{mention.text}"' for mention in fitting[:3]]
        return Resolution(None, f"{said} could stand for {', '.join(shown[:-1])} or {shown[-1]}")
    (mention,) = fitting
    if _is_unnamed(word, mention, history):
        return Resolution(None, f"{said} may mean somebody or something that was not named")
    if not _is_plain(mention, word):
        return Resolution(None, f'rules cannot tell whether {said} stands for "{mention.text}"')
    text = _fitted(mention, form)
    if pointer[0][0].isupper() and not before.strip():
        text = text[0].upper() + text[1:]
    return Resolution(f"{before}{text}{after}", f'{said} stands for "{mention.text}", the only one before it that fits')


def words_that_point_back(question: str) -> list[str]:
    """List the words of a question that mean something said elsewhere, in lower case, each once."""
    return list(dict.fromkeys(" ".join(match[0].lower().split()) for match in _pointers(question)))


def _is_long(texts: Sequence[str]) -> bool:
    if sum(map(len, texts)) > _MOST_CHARACTERS:
        return True
    return sum(1 for text in texts for _ in _WORD.finditer(text)) > _MOST_WORDS


def _pointers(question: str) -> list[re.Match[str]]:
    """Words that point back: those that mean nothing, and those bound within the question, are none."""
    empty = {match.span(match.lastgroup) if match.lastgroup else match.span() for match in _EMPTY.finditer(question)}
    found = [match for match in _POINTER.finditer(question) if match.span() not in empty]
    pointers = [match for match in found if match[0].lower() not in _REFLEXIVE]
    return pointers or found


def _may_be_bound(before: str, word: str) -> bool:
    """Tell whether a pronoun may mean something that the question names before it."""
    words = _WORD.findall(before)
    lower = [each.lower() for each in words]
    if any(each[0].isupper() and place > 0 and lower[place] not in FUNCTION_WORDS for place, each in enumerate(words)):
        return True
    if words and words[0][0].isupper() and lower[0].endswith(("'s", "\u2019s")) and lower[0][:-2] not in FUNCTION_WORDS:
        return True
    if not words or lower[-1] in AUXILIARIES or word == "there":
        # "In which city did she live?" asks of her, and of no city.
        return False
    named = [
        each
        for previous, each in zip(["", *lower], lower, strict=False)
        if previous in _DETERMINERS and each not in FUNCTION_WORDS
    ]
    if word in _PLURAL:
        # "Who manages them?": after who there is a verb.
        nouns = lower[2:] if lower[0] in ("who", "what") else lower
        named += [each for each in nouns if each in ("people", "men", "women", "children") or each[-1] == "s"]
        named = [each for each in named if each not in FUNCTION_WORDS]
    return bool(named)


def _form(word: str, before: str, after: str) -> str | None:
    """Tell how the name has to be put in: "{}", "{}'s", "in {}" or "to {}"; None if that is unclear."""
    following = _WORD.match(after.lstrip())
    last = next((match[0].lower() for match in reversed(list(_WORD.finditer(before)))), "")
    if word in _POSSESSIVE:
        return "{}'s" if following is not None else None
    if word == "there":
        if last in ("from", "near", "around", "to"):
            return "{}"
        return None if last in PREPOSITIONS else "to {}" if last in _GOING else "in {}"
    # Something that is hers follows, or nothing.
    if word != "her" or following is None or not after[:1].isspace() or following[0].lower() in FUNCTION_WORDS:
        return "{}"
    return None if last in _GIVING else "{}'s"


def _fits(mention: Mention, word: str) -> bool:
    """Tell whether a pronoun might mean something."""
    if word in _PLURAL:
        return mention.is_plural is not False
    if mention.is_plural:
        return False
    if word in _GENDERS:
        return mention.sort is not Sort.THING and mention.gender in ("", _GENDERS[word])
    return mention.sort is not Sort.PERSON


def _begins_in_the_middle(history: Sequence[str]) -> bool:
    """Tell whether something was said before the history that it leaves out.

    It was if it begins with what goes on ("And when?", "Who else came?"), with an answer ("Yes", "In 1903"), or with a
    question that leaves something out ("Where?", "To do what?", "Created by whom?").
    """
    words = [match[0].lower() for match in _WORD.finditer(history[0])] if history else []
    if not words:
        return bool(history)
    if words[0] in _GOING_ON or "else" in words:
        return True
    # "In which city did he live?" is whole.
    if len(words) <= _SHORT and words[0] in PREPOSITIONS and ASKING.isdisjoint(words[1:2]):
        return True
    is_question = history[0].rstrip(_CLOSING).endswith("?")
    return is_question and (len(words) < _WHOLE or (words[0] not in ASKING and AUXILIARIES.isdisjoint(words)))


def _is_unnamed(word: str, mention: Mention, history: Sequence[str]) -> bool:
    """Tell whether the history speaks of somebody by such a pronoun before it names the one whom it names."""
    said = "\n".join(history)
    named = re.search(rf"\b{re.escape(mention.text.split()[-1])}\b", said, re.IGNORECASE)
    before = said if named is None else said[: named.start()]
    return any(match[0].lower() in _ALIKE[word] for match in _POINTER.finditer(before))


def _is_plain(mention: Mention, word: str) -> bool:
    """Tell whether the only one that a pronoun might mean can be put into its place."""
    if not mention.is_clear:
        return False
    if word in _GENDERS:
        return mention.sort is Sort.PERSON or mention.is_person
    if word in ("it", "its"):
        return mention.sort is Sort.THING
    return word != "there" or mention.sort is Sort.THING or " " not in mention.text


def _fitted(mention: Mention, form: str) -> str:
    """A name as it stands in a sentence."""
    text = form.format(mention.text)
    return text[:-1] if text.endswith("s's") and mention.is_plural is not False else text
