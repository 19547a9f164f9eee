"""Pairs from things with several facts each: not every fact about a thing answers a question about it."""

from __future__ import annotations

import random
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from training.reader import facts
from training.reader.pairs import Pair

_FILE: Final = Path(__file__).with_name("records.toml")
_AS_KEYWORDS: Final = 0.3
_LOWER_CASE: Final = 0.1
_IN_TITLE: Final = 0.4
_OTHER_ATTRIBUTE: Final = 0.55
_SENTENCES: Final = (1, 2, 3, 4, 5)
_SENTENCES_WITHOUT_ANSWER: Final = (2, 3, 4, 5)


@dataclass(frozen=True)
class _Told:
    """A sentence with the place of its answer.

    Attributes:
        start: Offset of the answer, in characters.
    """

    sentence: str
    start: int
    answer: str


def record_pairs(count: int, seed: int) -> list[Pair]:
    """Make two pairs for each of `count` questions. The same seed makes the same pairs.

    In the first pair, a passage with some facts about a thing answers. In the second pair, the passage has other facts
    about that thing, or the same facts about another thing.
    """
    chance = random.Random(seed)  # noqa: S311 - no secret
    content = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    values = facts.values() | content["values"]
    subjects = content["subjects"]
    pairs = []
    for number in range(count):
        pairs += _Record(subjects[number % len(subjects)], values, chance).pairs()
    return pairs


class _Record:
    """One thing, another thing of its kind, and the question about the first."""

    def __init__(self, subject: dict[str, Any], values: dict[str, list[str]], chance: random.Random) -> None:
        self._subject, self._values, self._chance = subject, values, chance
        self._name, self._other = chance.sample(subject["named"], 2)
        self._asked_for = chance.choice(subject["facts"])
        is_keywords = chance.random() < _AS_KEYWORDS
        form = chance.choice(self._asked_for["keywords" if is_keywords else "questions"])
        asked = self._fill(form, self._name.removeprefix("the ") if is_keywords else self._name)
        self._question = asked.lower().rstrip("?") if chance.random() < _LOWER_CASE else asked

    def pairs(self) -> list[Pair]:
        """Make the pair with an answer, and the one without."""
        is_other_attribute = self._chance.random() < _OTHER_ATTRIBUTE
        name = self._name if is_other_attribute else self._other
        number = self._chance.choice(_SENTENCES_WITHOUT_ANSWER)
        title, passage, _ = self._passage(name, number, has_answer=not is_other_attribute)
        kind = "other attribute" if is_other_attribute else "other subject"
        return [self._answered(), Pair(self._question, title, passage, None, "", kind)]

    def _answered(self) -> Pair:
        title, passage, told = self._passage(self._name, self._chance.choice(_SENTENCES), has_answer=True)
        start = passage.index(told.sentence) + told.start
        return Pair(self._question, title, passage, start, told.answer, "record")

    def _passage(self, name: str, number: int, *, has_answer: bool) -> tuple[str, str, _Told]:
        """Return title, passage and the sentence about the fact that was asked for, or the last sentence."""
        others = [one for one in self._subject["facts"] if one is not self._asked_for]
        chosen = self._chance.sample(others, number - has_answer)
        told = self._tell(self._asked_for, name)
        is_in_title = self._chance.random() < _IN_TITLE
        called = self._chance.choice(self._subject["nouns"]) if is_in_title else name
        sentences = [self._tell(one, called) for one in chosen]
        if has_answer:
            told = self._tell(self._asked_for, called)
            sentences.insert(self._chance.randint(0, len(sentences)), told)
        return name if is_in_title else "", " ".join(one.sentence for one in sentences), told

    def _tell(self, fact: dict[str, Any], name: str) -> _Told:
        filled = self._fill(self._chance.choice(fact["sentences"]), name)
        before, answer, after = filled.replace(">", "<").split("<")
        # Code marks belong to the text and not to the answer.
        return _Told(before + answer + after, len(before) + answer.startswith("`"), answer.strip("`"))

    def _fill(self, form: str, name: str) -> str:
        values = {"it": name} | {key: self._chance.choice(of_key) for key, of_key in self._values.items()}
        # The name of a program keeps its case at the start of a sentence.
        values |= {key.capitalize(): value[0].upper() + value[1:] for key, value in values.items() if key != "it"}
        is_words = name.startswith(("the ", "this ", "it"))
        return form.format(It=name[0].upper() + name[1:] if is_words else name, **values)
