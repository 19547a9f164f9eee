"""Tells by its grammar what a question asks for: an answer that takes several steps, a list, or one answer.

The rules are ours. They know English only, and they see no corpus.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Final

from pgclarify.language.questions import stands_alone

# Nouns for a person or thing that is known by its relation to another one. "The actor of Ethan" must first be found.
_RELATION: Final = "|".join(
    str.split(
        "spouse wife husband widow father mother parent child son daughter sibling brother sister uncle aunt"
        " cousin grandfather grandmother girlfriend boyfriend partner actor actress performer singer artist rapper"
        " drummer narrator author writer novelist poet playwright composer lyricist songwriter painter sculptor"
        " architect creator inventor designer developer producer director filmmaker founder owner publisher"
        " distributor manufacturer maker operator employer successor predecessor purchaser buyer winner champion"
        " head leader chairman chairperson ceo president governor mayor monarch ruler king queen emperor pope host"
        " coach manager captain capital birthplace hometown headquarters namesake broadcaster network label star"
        " voice citizen"
    )
)
_JOINED: Final = re.compile(rf"\b(?:{_RELATION})(?:,? (?:and|or) (?:the )?(?:{_RELATION}))+\b", re.IGNORECASE)
_RELATIONAL: Final = re.compile(
    rf"\b(?:the|an?|{{possessor}}) (?:[\w-]+ ){{{{0,2}}}}?(?:cast member|voice actor|birth city|{_RELATION})\b".format(
        possessor=r"[\w.]+(?:['\u2019]s|s['\u2019])"
    ),
    re.IGNORECASE,
)
_CHAINED: Final = re.compile(rf"(?<=\b)(?:{_RELATION})['\u2019]s (?:{_RELATION})\b", re.IGNORECASE)
# "The team that", "a school with which". A word after a preposition alone asks: "Filming was affected by whose".
_CLAUSE: Final = re.compile(
    r"\b(?:the|an?|same|(?!wh)[\w.]+['\u2019]s) "
    r"(?:(?!(?:of|in|at|on|by|from|to|with|for|is|are|was|were|may)\b)[\w'\u2019-]+ ){1,4}?"
    r"(?P<clause>(?:(?:in|on|at|to|of|for|from|by) which|where|whose|whom|who|which|that) (?=\w))",
    re.IGNORECASE,
)
# "The man named after ...", "the city located in ..."
_PARTICIPLE: Final = re.compile(
    r"\b(?:of|in|by|from|to|with|at|on) the [a-z-]+(?: [a-z-]+)? "
    r"(?:named|called|known|located|founded|born|containing|sharing|bordering|owned|signed|featuring|producing)\b"
)
_SUPERLATIVE: Final = re.compile(
    r"\bsame [a-z]+ as\b"
    r"|\b(?:of|in|by|from|to|with|at|on) the (?:[\w-]*[^r]est|most [a-z]+|least [a-z]+|first|last|second|third) [a-z]"
)
# "Who is the author of": the relation is what is asked for.
_ASKED: Final = re.compile(r"^(?:who|what|which)(?:['\u2019]s| is| was| are| were) (?:the names? of )?", re.IGNORECASE)

_REQUEST: Final = re.compile(
    r"^(?:please )?(?:(?:can|could|would) you )?(?:please )?"
    r"(?:list|enumerate|(?:name|find|show|give|tell)"
    r"(?: me| us)? (?:(?:the )?names of|every|all|each|some|a list|the \w+s\b))"
    r"|^all (?:the|of)?\b|\ba list of\b",
    re.IGNORECASE,
)
_PLURALS: Final = r"(?:people|men|women|children|species|series|[a-z-]*[a-z](?<!s)(?<!u)(?<!i)s)"
# These plurals are measured or dated, not listed.
_NO_LIST: Final = r"(?:years?|months|days|hours|times|dates|degrees|percents?|chances|odds|does|is|was|has|plans|means)"
_WHICH: Final = re.compile(
    rf"^(?:(?:in|on|at|for|with|by|to|from|of) )?(?:what|which)(?: of the)?"
    rf"(?: (?!(?:is|was|did|does|do|has|had|are|were|will|would|can|kind|type|sort)\b)[\w'-]+){{0,3}}?"
    rf" (?!{_NO_LIST}\b){_PLURALS}\b"
    rf"(?! (?:the|an?|only|all|this|that|their|its|his|her|to|certain|in|from|of which)\b)",
    re.IGNORECASE,
)
_WHAT_ARE: Final = re.compile(
    rf"^(?:what|which) (?:are|were) (?:(?:some|the|all|two|three|four|five|different|main|various) )*"
    rf"(?:[\w'-]+ ){{0,3}}?(?!{_NO_LIST}\b){_PLURALS}\b|^who (?:are|were) (?:some|all|the|[\w']+s)\b",
    re.IGNORECASE,
)
_KINDS_OF: Final = re.compile(r"^what (?:different |other )?(?:kinds|types|sorts|brands|breeds) of\b", re.IGNORECASE)


class Shape(StrEnum):
    """What a question asks for, by its grammar."""

    ONE_ANSWER = "one answer"
    SEVERAL_STEPS = "several steps"
    LIST = "list"


def shape_of(question: str) -> Shape:
    """Return what a question asks for. "List the states that ..." asks for a list, although it describes them."""
    if _REQUEST.search(question) and asks_for_list(question):
        return Shape.LIST
    if takes_several_steps(question):
        return Shape.SEVERAL_STEPS
    return Shape.LIST if asks_for_list(question) else Shape.ONE_ANSWER


def takes_several_steps(question: str) -> bool:
    """Tell whether a question describes a thing by a fact that must be found first.

    "Who is the author of Emma?" takes one step, "Where was the author of Emma born?" takes two.
    """
    text = _JOINED.sub("author", " ".join(question.split()))
    relations = list(_RELATIONAL.finditer(text))
    ends = {match.end() for match in relations}
    # A clause after a relation describes the same thing: "the actress that played Nim".
    clauses = [match for match in _CLAUSE.finditer(text) if match.start("clause") - 1 not in ends]
    others = [match for rule in (_CHAINED, _PARTICIPLE, _SUPERLATIVE) for match in rule.finditer(text)]
    starts = [match.start() for match in (*relations, *clauses, *others)]
    asked = _ASKED.match(text)
    is_asked_for = asked is not None and asked.end() in starts
    return len(starts) + (not is_asked_for) >= _SEVERAL


_SEVERAL: Final = 2


def asks_for_list(question: str) -> bool:
    """Tell whether a question asks for several things of one kind."""
    text = " ".join(question.split())
    if not stands_alone(text):
        return False
    rules: tuple[Callable[[str], object], ...] = (_REQUEST.search, _WHICH.match, _WHAT_ARE.match, _KINDS_OF.match)
    return any(rule(text) for rule in rules)
