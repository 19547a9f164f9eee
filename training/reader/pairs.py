"""The training pairs of the reader: a question or key words, a passage, and the place of the answer, if any."""

from __future__ import annotations

import itertools
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from training.reader.sources import Paragraph, Question

_WITH_TITLE: Final = 0.7
_AS_KEYWORDS: Final = 0.25
_VAGUER: Final = 0.12
_LOWER_CASE: Final = 0.1
_WHOLE_PARAGRAPH: Final = 0.4
_CROP_SENTENCES: Final = (1, 2, 3, 4)

# Kinds of passages that do not answer: shares of all questions, in this order. The rest gets a similar paragraph.
_SWAPPED: Final = 0.25
_REST: Final = 0.2
_SAME_ARTICLE: Final = 0.3
_RANDOM: Final = 0.04
_SWAPPED_AND_CROPPED: Final = 0.2
_REST_SENTENCES: Final = (2, 3, 4)
_SIMILAR: Final = 8
_SIMILAR_OF_ARTICLE: Final = 3
_COMPARED_AT_ONCE: Final = 1_000
_WITHOUT_ANSWER: Final = 2
_YEARS_APART: Final = (-31, -12, -3, 2, 7, 40)
# A sentence about one of two opposites does not answer a question about the other.
_OPPOSITES: Final = (
    ("first", "last"), ("largest", "smallest"), ("highest", "lowest"), ("oldest", "youngest"), ("most", "least"),
    ("more", "fewer"), ("before", "after"), ("northern", "southern"), ("north", "south"), ("eastern", "western"),
    ("east", "west"), ("won", "lost"), ("win", "lose"), ("increase", "decrease"), ("increased", "decreased"),
    ("began", "ended"), ("begin", "end"), ("start", "stop"), ("opened", "closed"), ("open", "close"),
    ("maximum", "minimum"), ("upper", "lower"), ("male", "female"), ("older", "younger"), ("born", "died"),
    ("best", "worst"), ("join", "leave"), ("joined", "left"), ("early", "late"), ("inside", "outside"),
)  # fmt: skip
_OPPOSITE: Final = {one: other for pair in _OPPOSITES for one, other in (pair, pair[::-1])}

_STOP_WORDS: Final = frozenset(
    """
    what which who whom whose when where why how is are was were be been do does did has have had can could will
    would shall should may might must the a an of in on at to for from by with and or as that this these those it
    its their his her they he she there many much long often kind type you i we your my our into about than then
    some any most name what's called so if not
    """.split()  # noqa: SIM905 - a list takes a line for each
)
_MAX_KEYWORDS: Final = 6
_WORD: Final = re.compile(r"[\w'\u2019.-]+")
_PREPOSITION: Final = re.compile(r"\s(?:in|of|by|for|during|from|on|at|after|before|with|under|between|according)\s")
_NAME: Final = re.compile(r"(?<=[a-z] )[A-Z][a-z]+(?: [A-Z][a-z]+)*")
_YEAR: Final = re.compile(r"\b1\d{3}\b|\b20\d\d\b")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z0-9\"'(])")


@dataclass(frozen=True)
class Pair:
    """A question and a passage.

    Attributes:
        title: The title of the passage's page, or "".
        start: Offset of the answer in the passage, in characters; None if the passage does not answer.
        answer: Words of the passage, or "".
        kind: How the pair was made. With an answer: "question", "keywords", "vaguer", "fact", "record". Without one:
            "swapped" (the question names something else), "opposite", "impossible" (people were asked for a
            question that has no answer), "rest" (the paragraph without the sentences of the answer), "same article",
            "similar" and "random" (other paragraphs), "other facts", "other attribute" (other facts of the thing) and
            "other subject" (facts of another thing).
    """

    question: str
    title: str
    passage: str
    start: int | None
    answer: str
    kind: str


def keywords(question: str) -> str | None:
    """Keep only the words for the topic of a question, at most six; None if there are fewer than two."""
    kept = [word for word in _WORD.findall(question.rstrip("?. ")) if word.lower() not in _STOP_WORDS]
    return " ".join(kept[:_MAX_KEYWORDS]) if len(kept) >= 2 else None


def vaguer(question: str) -> str | None:
    """Remove the last prepositional phrase of a question, if four words are left; None otherwise."""
    for found in reversed(list(_PREPOSITION.finditer(question))):
        before = question[: found.start()]
        if len(before.split()) >= 4 and found.start() < len(question) - 4:
            return before.rstrip(" ,") + "?"
    return None


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the offsets where the sentences of a text begin and end, in characters."""
    bounds = [0, *(found.end() for found in _SENTENCE_END.finditer(text)), len(text)]
    return [(begin, end) for begin, end in itertools.pairwise(bounds) if end > begin]


def make_pairs(paragraphs: Sequence[Paragraph], questions: Sequence[Question], rounds: int) -> Iterator[list[Pair]]:
    """Yield for each round a pair with an answer and two without for each question: the same each time.

    A question that its paragraph does not answer makes one pair.

    Args:
        paragraphs: The paragraphs of all articles.
        questions: Questions about these paragraphs.
        rounds: How often each question is used. The rounds differ in words, passages and crops.
    """
    similar = _similar(paragraphs, questions)
    for number in range(rounds):
        maker = _PairMaker(paragraphs, questions, seed=number)
        yield [pair for place, one in enumerate(questions) for pair in maker.pairs_of(one, *similar[place])]


def _similar(paragraphs: Sequence[Paragraph], questions: Sequence[Question]) -> list[tuple[list[int], list[int]]]:
    """Return the paragraphs with most words of each question, without its own: of all articles, and of its own one."""
    articles = np.unique([paragraph.article for paragraph in paragraphs], return_inverse=True)[1]
    vectorizer = TfidfVectorizer(sublinear_tf=True, stop_words="english", dtype=np.float32)
    texts = vectorizer.fit_transform(f"{paragraph.title} {paragraph.text}" for paragraph in paragraphs)
    similar = []
    for begin in range(0, len(questions), _COMPARED_AT_ONCE):
        asked = questions[begin : begin + _COMPARED_AT_ONCE]
        scores = (vectorizer.transform(question.text for question in asked) @ texts.T).toarray()
        for question, row in zip(asked, scores, strict=True):
            row[question.paragraph] = -1
            own = np.flatnonzero(articles == articles[question.paragraph])
            near = [
                rows[np.argsort(-row[rows], kind="stable")[:count]]
                for rows, count in (
                    (np.argpartition(-row, _SIMILAR)[:_SIMILAR], _SIMILAR),
                    (own[own != question.paragraph], _SIMILAR_OF_ARTICLE),
                )
            ]
            similar.append((near[0].tolist(), near[1].tolist()))
    return similar


class _PairMaker:
    def __init__(self, paragraphs: Sequence[Paragraph], questions: Sequence[Question], seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - no secret
        self._paragraphs = paragraphs
        self._names: defaultdict[str, list[str]] = defaultdict(list)
        for question in questions:
            self._names[paragraphs[question.paragraph].article] += _NAME.findall(question.text)
        self._all_names = [name for names in self._names.values() for name in names]

    def pairs_of(self, question: Question, similar: Sequence[int], of_article: Sequence[int]) -> list[Pair]:
        paragraph = self._paragraphs[question.paragraph]
        title = paragraph.title if self.chance.random() < _WITH_TITLE else ""
        if question.start is None:
            return [Pair(self._cased(question.text), title, paragraph.text, None, "", "impossible")]
        asked, kind = self._asked(question.text)
        passage, start = self._crop_around(paragraph.text, question.start, question.answer)
        with_answer = Pair(asked, title, passage, start, question.answer, kind)
        without = (self._without_answer(question, with_answer, similar, of_article) for _ in range(_WITHOUT_ANSWER))
        return [with_answer, *(pair for pair in without if pair is not None)]

    def _asked(self, question: str) -> tuple[str, str]:
        draw, asked, kind = self.chance.random(), question, "question"
        if draw < _AS_KEYWORDS:
            asked, kind = keywords(question) or question, "keywords"
        elif draw < _AS_KEYWORDS + _VAGUER:
            asked, kind = vaguer(question) or question, "vaguer"
        return self._cased(asked), kind

    def _cased(self, asked: str) -> str:
        return asked.lower() if self.chance.random() < _LOWER_CASE else asked

    def _crop_around(self, text: str, start: int, answer: str) -> tuple[str, int]:
        """Return the paragraph, or some of its sentences with the answer, and the new offset of the answer."""
        bounds = sentences(text)
        if self.chance.random() < _WHOLE_PARAGRAPH or len(bounds) < 2:
            return text, start
        first = next(number for number, (begin, end) in enumerate(bounds) if begin <= start < end)
        last = next(number for number, (_, end) in enumerate(bounds) if start + len(answer) <= end)
        length = self.chance.choice(_CROP_SENTENCES)
        before = self.chance.randint(0, length - 1)
        begin = bounds[max(0, first - before)][0]
        end = bounds[min(len(bounds) - 1, last + length - 1 - before)][1]
        return text[begin:end].rstrip(), start - begin

    def _crop(self, text: str, question: str) -> str:
        """Return the paragraph, or some of its sentences, including the one with most words of the question."""
        bounds = sentences(text)
        if self.chance.random() < _WHOLE_PARAGRAPH or len(bounds) < 2:
            return text
        asked = set(_WORD.findall(question.lower())) - _STOP_WORDS
        shared = [len(asked.intersection(_WORD.findall(text[begin:end].lower()))) for begin, end in bounds]
        length = self.chance.choice(_CROP_SENTENCES)
        first = max(0, shared.index(max(shared)) - self.chance.randint(0, length - 1))
        return text[bounds[first][0] : bounds[min(len(bounds) - 1, first + length - 1)][1]].rstrip()

    def _without_answer(
        self, question: Question, pair: Pair, similar: Sequence[int], of_article: Sequence[int]
    ) -> Pair | None:
        draw, made = self.chance.random(), None
        # In key words and vaguer questions, another name may not change the answer.
        if draw < _SWAPPED and pair.kind == "question":
            made = self._opposite(question, pair) or self._swapped(question, pair)
        if made is None and draw < _SWAPPED + _REST:
            made = self._rest(question, pair)
        if made is None and draw < _SWAPPED + _REST + _SAME_ARTICLE:
            made = self._elsewhere(question, pair, of_article, "same article")
        if made is None and draw > 1 - _RANDOM:
            made = self._elsewhere(question, pair, [self.chance.randrange(len(self._paragraphs))], "random")
        return made or self._elsewhere(question, pair, similar, "similar")

    def _opposite(self, question: Question, pair: Pair) -> Pair | None:
        """Ask about an opposite, such as last for first, if the paragraph does not have that word."""
        text = self._paragraphs[question.paragraph].text.lower()
        for word in _WORD.findall(question.text):
            other = _OPPOSITE.get(word)
            if other and not re.search(rf"\b{other}\b", text):
                asked = re.sub(rf"\b{word}\b", other, question.text, count=1)
                return Pair(asked, pair.title, pair.passage, None, "", "opposite")
        return None

    def _swapped(self, question: Question, pair: Pair) -> Pair | None:
        """Ask about a name or a year that is not in the paragraph."""
        paragraph = self._paragraphs[question.paragraph]
        names = [name for name in _NAME.findall(question.text) if name in paragraph.text]
        years = [year for year in _YEAR.findall(question.text) if year in paragraph.text]
        if names:
            others = [
                name
                for name in self._names[paragraph.article]
                if name not in paragraph.text and name not in question.text
            ]
            others = others or [
                name
                for name in self.chance.sample(self._all_names, min(20, len(self._all_names)))
                if name not in paragraph.text
            ]
            if not others:
                return None
            asked = question.text.replace(names[0], self.chance.choice(others))
            is_cropped = self.chance.random() < _SWAPPED_AND_CROPPED
            passage = self._crop(paragraph.text, asked) if is_cropped else pair.passage
            return Pair(asked, pair.title, passage, None, "", "swapped")
        if years:
            other = int(years[0]) + self.chance.choice(_YEARS_APART)
            return Pair(question.text.replace(years[0], str(other)), pair.title, pair.passage, None, "", "swapped")
        return None

    def _rest(self, question: Question, pair: Pair) -> Pair | None:
        """Use sentences of the paragraph without an answer."""
        if question.start is None:
            return None
        text, answer_end = self._paragraphs[question.paragraph].text, question.start + len(question.answer)
        kept = [text[begin:end] for begin, end in sentences(text) if end <= question.start or begin >= answer_end]
        kept = [sentence for sentence in kept if not question.is_answered_in(sentence)]
        if not kept:
            return None
        length = self.chance.choice(_REST_SENTENCES)
        first = self.chance.randrange(len(kept))
        passage = " ".join(sentence.strip() for sentence in kept[first : first + length])
        return Pair(pair.question, pair.title, passage, None, "", "rest")

    def _elsewhere(self, question: Question, pair: Pair, others: Sequence[int], kind: str) -> Pair | None:
        """Use one of some other paragraphs, if it has no answer."""
        for number in self.chance.sample(list(others), len(others)):
            other = self._paragraphs[number]
            if number != question.paragraph and not question.is_answered_in(other.text):
                title = other.title if pair.title else ""
                return Pair(pair.question, title, self._crop(other.text, pair.question), None, "", kind)
        return None
