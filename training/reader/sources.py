"""Questions about texts that people asked and answered, from published data sets; README.md lists them."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

# In the format of SQuAD.
_SQUAD: Final = (
    "new_wiki_v1.0.json",
    "reddit_v1.0.json",
    "amazon_reviews_v1.0.json",
    "policyqa.dev.json",
    "policyqa.test.json",
    "squad.dev-v2.0.json",
)
_QED: Final = ("qed.train.jsonl", "qed.dev.jsonl")
_QAMR_SENTENCES: Final = "qamr.data.wiki-sentences.tsv"
_QAMR: Final = ("qamr.filtered.dev.tsv", "qamr.filtered.test.tsv")
# The corpora of benchmarks, and the field of their texts.
_EVALUATED: Final = {
    "squad2.corpus": "text",
    "squad2.answerable": "passage",
    "ambignq.corpus": "text",
    "musique.corpus": "text",
    "ramdocs.corpus": "text",
}
_SHARED_WORDS: Final = 8
_MAX_ANSWER_WORDS: Final = 25
_WORD: Final = re.compile(r"\w+")
# Names of collections, which say nothing about a text.
_NO_TITLE: Final = re.compile(r"Amazon_Reviews_\d+|Filtered_Reddit_Comments|.*\.com|.*\.org|.*\.net")


@dataclass(frozen=True)
class Paragraph:
    """A text that questions are about.

    Attributes:
        article: The name of the article or collection; words may be joined by "_", and some letters be % and digits.
    """

    article: str
    text: str

    @property
    def title(self) -> str:
        """Return the article's title, as people write it; "" if it says nothing about the text."""
        return "" if _NO_TITLE.fullmatch(self.article) else unquote(self.article).replace("_", " ")


@dataclass(frozen=True)
class Question:
    """A question about a paragraph.

    Attributes:
        paragraph: The number of the paragraph.
        answer: The answer of most people. If all answers differ, the one of middle length. "" without an answer.
        start: Offset of the answer in the paragraph, in characters; None if the paragraph does not answer, though it
            looks as if it did.
        answers: All answers, normalized.
    """

    paragraph: int
    text: str
    answer: str
    start: int | None
    answers: frozenset[str]

    def is_answered_in(self, text: str) -> bool:
        """Return whether a text has one of the answers."""
        normalized = normalize(text)
        return any(answer and answer in normalized for answer in self.answers)


def normalize(text: str) -> str:
    """Return the words in lower case, without punctuation."""
    return " ".join(_WORD.findall(text.lower()))


def read_all(data_dir: Path, evaluated_dir: Path) -> tuple[list[Paragraph], list[Question], int]:
    """Read all data sets.

    Args:
        data_dir: The folder of the data sets. Those that it does not have are left out.
        evaluated_dir: The folder of the corpora of benchmarks. A paragraph that shares eight words in a row with one of
            them is left out.

    Returns:
        Paragraphs, questions with answers of at most 25 words, and the number of paragraphs that were left out.
    """
    excluded = _evaluated_sequences(evaluated_dir)
    paragraphs: list[Paragraph] = []
    questions: list[Question] = []
    left_out = 0
    for article, text, rows in _texts(data_dir):
        if not excluded.isdisjoint(_word_sequences(text)):
            left_out += 1
            continue
        read = [_question(len(paragraphs), text, *row) for row in rows]
        questions += [question for question in read if question is not None]
        paragraphs.append(Paragraph(article, text))
    return paragraphs, questions, left_out


def _word_sequences(text: str) -> set[str]:
    words = _WORD.findall(text.lower())
    return {" ".join(words[first : first + _SHARED_WORDS]) for first in range(len(words) - _SHARED_WORDS + 1)}


def _evaluated_sequences(folder: Path) -> set[str]:
    sequences = set()
    for name, field in _EVALUATED.items():
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                sequences |= _word_sequences(json.loads(line)[field])
    return sequences


# A question with its answers and their offsets.
_Row: TypeAlias = tuple[str, list[tuple[str, int]]]


def _texts(data_dir: Path) -> Iterator[tuple[str, str, list[_Row]]]:
    """Yield the article, the text, and its questions."""
    for name in _there(data_dir, _SQUAD):
        for article in json.loads((data_dir / name).read_bytes())["data"]:
            for found in article["paragraphs"]:
                rows = [(row["question"], _given(row["answers"])) for row in found["qas"]]
                yield article["title"], found["context"], rows
    for name in _there(data_dir, _QED):
        for line in (data_dir / name).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            given = _given_of_qed(row)
            yield row["title_text"], row["paragraph_text"], [(row["question_text"], given)] if given else []
    if _there(data_dir, _QAMR):
        yield from _sentences(data_dir)


def _there(data_dir: Path, names: Sequence[str]) -> list[str]:
    return [name for name in names if (data_dir / name).exists()]


def _sentences(data_dir: Path) -> Iterator[tuple[str, str, list[_Row]]]:
    """Yield the sentences of QAMR with one question for each answer that two people gave."""
    lines = (data_dir / _QAMR_SENTENCES).read_text(encoding="utf-8").splitlines()
    sentences = dict(line.split("\t") for line in lines)
    asked: defaultdict[str, dict[str, _Row]] = defaultdict(dict)
    for line in [line for name in _QAMR for line in (data_dir / name).read_text(encoding="utf-8").splitlines()]:
        identity, _, _, _, _, question, *answers = line.split("\t")
        given, *others = ([int(place) for place in answer.split(":")[-1].split()] for answer in answers)
        if given in others and given == [*range(given[0], given[-1] + 1)]:
            words = sentences[identity].split(" ")
            answer = " ".join(words[given[0] : given[-1] + 1])
            asked[identity][answer] = question, [(answer, sum(len(word) + 1 for word in words[: given[0]]))]
    for identity, rows in asked.items():
        yield "", sentences[identity], [*rows.values()]


def _given(answers: Iterable[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(answer["text"], answer["answer_start"]) for answer in answers]


def _given_of_qed(row: dict[str, Any]) -> list[tuple[str, int]]:
    if "answer_spans" in row:
        spans = [(start, end) for start, end in row["answer_spans"]]
    else:
        spans = [
            (one["start"], one["end"]) for answer in row["original_nq_answers"] for one in answer if len(answer) == 1
        ]
    return [(row["paragraph_text"][start:end], start) for start, end in spans]


def _question(paragraph: int, text: str, asked: str, given: list[tuple[str, int]]) -> Question | None:
    asked = " ".join(asked.split())
    if len(asked.split()) < 2:
        return None
    if not given:
        return Question(paragraph, asked, "", None, frozenset())
    given = [(answer, start) for answer, start in given if answer.strip() and text[start:].startswith(answer)]
    if not given:
        return None
    counts = Counter(normalize(answer) for answer, _ in given)
    most_given, count = counts.most_common(1)[0]
    given.sort(key=lambda answer_and_start: len(answer_and_start[0]))
    middle = given[(len(given) - 1) // 2]
    answer, start = next(one for one in given if normalize(one[0]) == most_given) if count > 1 else middle
    if len(answer.split()) > _MAX_ANSWER_WORDS:
        return None
    return Question(paragraph, asked, answer, start, frozenset(counts))
