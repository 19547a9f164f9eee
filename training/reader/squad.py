"""Questions about Wikipedia that people asked and answered: "new Wikipedia" of SQuADShifts (Miller et al., 2020)."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

FILE: Final = "new_wiki_v1.0.json"
# The corpora of benchmarks.
EVALUATED: Final = ("squad2.corpus", "ambignq.corpus", "musique.corpus")
_SHARED_WORDS: Final = 8
_MAX_ANSWER_WORDS: Final = 25
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of Wikipedia.

    Attributes:
        article: The name in the file: words joined by "_", some letters as % and digits.
    """

    article: str
    text: str

    @property
    def title(self) -> str:
        """Return the article's title, as people write it."""
        return unquote(self.article).replace("_", " ")


@dataclass(frozen=True)
class Question:
    """A question about a paragraph.

    Attributes:
        paragraph: The number of the paragraph.
        answer: The answer of most people. If all answers differ, the one of middle length.
        start: Offset of the answer in the paragraph, in characters.
        answers: All answers, normalized.
    """

    paragraph: int
    text: str
    answer: str
    start: int
    answers: frozenset[str]

    def is_answered_in(self, text: str) -> bool:
        """Return whether a text has one of the answers."""
        normalized = normalize(text)
        return any(answer and answer in normalized for answer in self.answers)


def normalize(text: str) -> str:
    """Return the words in lower case, without punctuation."""
    return " ".join(_WORD.findall(text.lower()))


def word_sequences(text: str) -> set[str]:
    """Return all sequences of eight words."""
    words = _WORD.findall(text.lower())
    return {" ".join(words[first : first + _SHARED_WORDS]) for first in range(len(words) - _SHARED_WORDS + 1)}


def evaluated_sequences(folder: Path) -> set[str]:
    """Return all sequences of eight words in the corpora of benchmarks."""
    sequences = set()
    for name in EVALUATED:
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                sequences |= word_sequences(json.loads(line)["text"])
    return sequences


def read(articles: Iterable[dict[str, Any]], excluded: set[str]) -> tuple[list[Paragraph], list[Question], int]:
    """Read paragraphs and their questions.

    Args:
        articles: "data" of a file in the format of SQuAD 1.1.
        excluded: Sequences of eight words. A paragraph with one of them is left out.

    Returns:
        Paragraphs, questions with answers of at most 25 words, and the number of paragraphs that were left out.
    """
    paragraphs: list[Paragraph] = []
    questions = []
    left_out = 0
    for article in articles:
        for found in article["paragraphs"]:
            text = found["context"]
            if not excluded.isdisjoint(word_sequences(text)):
                left_out += 1
                continue
            for row in found["qas"]:
                question = _question(len(paragraphs), text, row)
                if question is not None:
                    questions.append(question)
            paragraphs.append(Paragraph(article["title"], text))
    return paragraphs, questions, left_out


def _question(paragraph: int, text: str, row: dict[str, Any]) -> Question | None:
    given = [(answer["text"], answer["answer_start"]) for answer in row["answers"]]
    given = [(answer, start) for answer, start in given if answer.strip() and text[start:].startswith(answer)]
    if not given or len(row["question"].split()) < 2:
        return None
    counts = Counter(normalize(answer) for answer, _ in given)
    most_given, count = counts.most_common(1)[0]
    given.sort(key=lambda answer_and_start: len(answer_and_start[0]))
    middle = given[(len(given) - 1) // 2]
    answer, start = next(one for one in given if normalize(one[0]) == most_given) if count > 1 else middle
    if len(answer.split()) > _MAX_ANSWER_WORDS:
        return None
    return Question(paragraph, " ".join(row["question"].split()), answer, start, frozenset(counts))
