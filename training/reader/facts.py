"""Pairs from made-up plain facts, such as "Records are deleted after 90 days", which Wikipedia hardly has."""

from __future__ import annotations

import random
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from training.reader.pairs import Pair

_FILE: Final = Path(__file__).with_name("facts.toml")
_AS_KEYWORDS: Final = 0.5
_CAPITALIZED: Final = 0.2
_LOWER_CASE: Final = 0.1
_FACTS_BESIDE: Final = (0, 0, 0, 1, 2, 3)
_FACTS_WITHOUT_ANSWER: Final = (1, 1, 1, 2, 3)
_ABOUT_THE_SAME: Final = 0.7
_DRAWN: Final = 150
_DRAWN_FROM_ALL: Final = 5


@dataclass(frozen=True, eq=False)
class Fact:
    """A sentence and a question that it answers.

    Attributes:
        asked: All questions and key words that the sentence answers, in lower case, without question marks.
        start: Offset of the answer in the sentence, in characters.
    """

    question: str
    asked: frozenset[str]
    sentence: str
    start: int
    answer: str

    def leaves_open(self, other: Fact) -> bool:
        """Return whether the sentence does not answer the question of another fact, and lacks one of its words."""
        return _plain(other.question) not in self.asked and not _stems(other.question) <= _stems(self.sentence)


def values() -> dict[str, list[str]]:
    """Return the values that replace names in braces, by name."""
    return dict(tomllib.loads(_FILE.read_text(encoding="utf-8"))["values"])


def fact_pairs(count: int, seed: int) -> list[Pair]:
    """Make facts, with all sentence forms equally often, and two pairs of each.

    The same seed makes the same pairs. In the first pair the fact answers, alone or among others. In the second pair
    other facts do not answer; facts that share a word with the question are preferred.
    """
    chance = random.Random(seed)  # noqa: S311 - no secret
    content = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    forms = content["facts"]
    facts = [_fill(forms[number % len(forms)], content["values"], chance) for number in range(count)]
    pairs = []
    for fact in facts:
        pairs.append(_answered(fact, facts, chance))
        unanswered = _unanswered(fact, facts, chance)
        if unanswered is not None:
            pairs.append(unanswered)
    return pairs


def _fill(form: dict[str, Any], choices: dict[str, list[str]], chance: random.Random) -> Fact:
    values = {name: chance.choice(of_name) for name, of_name in choices.items()}
    values |= {name.capitalize(): value[0].upper() + value[1:] for name, value in values.items()}
    before, answer, after = form["sentence"].format(**values).replace(">", "<").split("<")
    asked = frozenset(_plain(text.format(**values)) for text in (*form["questions"], *form["keywords"]))
    is_keywords = chance.random() < _AS_KEYWORDS
    question = chance.choice(form["keywords" if is_keywords else "questions"]).format(**values)
    if is_keywords and chance.random() < _CAPITALIZED:
        question = question.capitalize()
    if not is_keywords and chance.random() < _LOWER_CASE:
        question = question.lower().rstrip("?")
    return Fact(question, asked, before + answer + after, len(before), answer)


def _answered(fact: Fact, facts: list[Fact], chance: random.Random) -> Pair:
    beside = chance.sample(facts, chance.choice(_FACTS_BESIDE))
    sentences = [other.sentence for other in beside if other.leaves_open(fact)]
    place = chance.randint(0, len(sentences))
    start = sum(len(sentence) + 1 for sentence in sentences[:place]) + fact.start
    sentences.insert(place, fact.sentence)
    return Pair(fact.question, "", " ".join(sentences), start, fact.answer, "fact")


def _unanswered(fact: Fact, facts: list[Fact], chance: random.Random) -> Pair | None:
    drawn = chance.sample(facts, min(len(facts), _DRAWN))
    asked = _stems(fact.question)
    close = [
        other for other in drawn if other is not fact and asked & _stems(other.sentence) and other.leaves_open(fact)
    ]
    anywhere = [other for other in chance.sample(facts, _DRAWN_FROM_ALL) if other.leaves_open(fact)]
    chosen = close if close and chance.random() < _ABOUT_THE_SAME else anywhere
    if not chosen:
        return None
    chosen = chance.sample(chosen, min(len(chosen), chance.choice(_FACTS_WITHOUT_ANSWER)))
    return Pair(fact.question, "", " ".join(other.sentence for other in chosen), None, "", "other facts")


def _plain(question: str) -> str:
    return question.lower().rstrip("?")


def _stems(text: str) -> set[str]:
    return {word.strip(".,?:").lower()[:5] for word in text.split() if len(word) > 3}
