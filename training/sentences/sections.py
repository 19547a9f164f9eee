"""Short questions made from the headings of published documents, and passages that answer them or do not."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from pgclarify.data.vocabulary import Document
from pgclarify.ingest.chunking import Chunker
from pgclarify.ingest.files import read_documents
from pgclarify.language.english.reading.readable import is_readable
from pgclarify.language.english.reading.topics import Topic, read_topic
from pgclarify.language.english.words import content_stems, words
from pgclarify.language.sentences import Kind, Sentence, split_sentences

_MOST_HEADING_WORDS: Final = 8
_MOST_STEMS: Final = 5
_WITHOUT_HEADING: Final = 0.4
_UNDER_PARENT: Final = 0.3
_SHORTENED: Final = 0.2
_ASKED: Final = 0.15
_SIBLINGS: Final = 2
_SIMILAR: Final = 8
_SIMILAR_TAKEN: Final = 2
# A sentence elsewhere that has all words of the question may answer after all.
_MENTION: Final = 0.2
_COMPARED_AT_ONCE: Final = 500
_HEADING_LINE: Final = re.compile(r"\s*(?:#{1,6}[^\n]*|[^\n]+\n(?:=+|-+))\s*(?:\n|$)")
_FIRST_VERB: Final = re.compile(r"(?:how to |how do (?:i|we|you) |[a-z]{3,20}ing )", re.IGNORECASE)
_FORMS: Final = ("what is {}", "how does {} work", "where is {}", "who handles {}", "{} policy", "is there {}")


@dataclass(frozen=True)
class Labels:
    """A question, a passage, and which of its sentences answer.

    Attributes:
        title: Title and headings of the passage, or "".
        sentences: Start and end of each sentence with a label, in characters, and how much it answers, 0 to 1.
    """

    question: str
    title: str
    passage: str
    sentences: tuple[tuple[int, int, float], ...]


@dataclass(frozen=True)
class _Section:
    """A passage of a document."""

    document: int
    path: tuple[str, ...]
    topic: Topic
    content: str
    is_first: bool

    @property
    def text(self) -> str:
        return f"{' '.join(self.path)} {self.content}"


def section_labels(repository: Path, chunker: Chunker, seed: int) -> Iterator[Labels]:
    """Yield for each telling heading of a folder of documents a passage that answers it, and some that do not.

    Args:
        repository: The folder, read as the product reads it.
        chunker: Cuts documents into passages.
        seed: Of the choice of words, forms and passages.
    """
    chance = random.Random(seed)  # noqa: S311 - no secret
    sections = [*_sections(repository, chunker)]
    asking = [number for number, one in enumerate(sections) if one.is_first and _names_something(one.path[-1])]
    near = _nearest(sections, [sections[number].path[-1] for number in asking])
    of_document = defaultdict[int, list[int]](list)
    for number, section in enumerate(sections):
        of_document[section.document].append(number)
    for number, similar in zip(asking, near, strict=True):
        section = sections[number]
        question = _question(section, chance)
        stems = content_stems(question)
        answering = _answering(section, question, stems, chance)
        if not answering:
            continue
        yield answering
        others = [one for one in of_document[section.document] if sections[one].path != section.path]
        chosen = {*chance.sample(others, min(_SIBLINGS, len(others)))}
        taken = [one for one in similar if sections[one].path != section.path]
        chosen |= {*chance.sample(taken, min(_SIMILAR_TAKEN, len(taken)))}
        for other in sorted(chosen):
            if not stems <= content_stems(" ".join(sections[other].path[-1:])):
                yield _not_answering(sections[other], question, stems)


def _sections(repository: Path, chunker: Chunker) -> Iterator[_Section]:
    documents = (one for one in read_documents([repository]) if isinstance(one, Document))
    for number, document in enumerate(documents):
        path: tuple[str, ...] = ()
        for chunk in chunker.split(document.content):
            before, path = path, tuple((chunk.heading or document.title or "").split(" > "))
            topic = read_topic(document.title, chunk.heading)
            is_first = path != before and _HEADING_LINE.match(chunk.content) is not None
            yield _Section(number, path, topic, chunk.content, is_first)


def _names_something(heading: str) -> bool:
    return len(words(heading)) <= _MOST_HEADING_WORDS and read_topic(None, heading).name != ""


def _nearest(sections: Sequence[_Section], questions: Sequence[str]) -> Iterator[list[int]]:
    vectorizer = TfidfVectorizer(sublinear_tf=True, stop_words="english", dtype=np.float32)
    texts = vectorizer.fit_transform(one.text for one in sections)
    for begin in range(0, len(questions), _COMPARED_AT_ONCE):
        scores = (vectorizer.transform(questions[begin : begin + _COMPARED_AT_ONCE]) @ texts.T).toarray()
        for row in scores:
            best = np.argpartition(-row, min(_SIMILAR, len(row) - 1))[:_SIMILAR]
            yield [int(one) for one in best if row[one] > 0]


def _question(section: _Section, chance: random.Random) -> str:
    """Return the heading as people would ask for it."""
    heading = read_topic(None, section.path[-1]).text
    if heading.endswith("?") or "?" in section.path[-1]:
        bare = " ".join(word.text for word in words(heading) if word.is_content)
        return (f"{heading.rstrip('?')}?" if chance.random() < 0.5 else bare).lower()
    if chance.random() < 0.5:
        heading = _FIRST_VERB.sub("", heading, count=1) if _FIRST_VERB.match(heading) else heading
    content = [word.text for word in words(heading) if word.is_content]
    if len(content) > 2 and chance.random() < _SHORTENED:
        content.pop(chance.randrange(len(content)))
        heading = " ".join(content)
    if len(section.path) > 1 and chance.random() < _UNDER_PARENT and (parent := section.topic.contexts[1:2]):
        heading = f"{parent[0]} {heading}"
    heading = " ".join(heading.replace("`", "").split())
    if chance.random() < _ASKED:
        heading = chance.choice(_FORMS).format(heading)
    return heading if chance.random() < 0.15 else heading.lower()


def _answering(section: _Section, question: str, stems: frozenset[str], chance: random.Random) -> Labels | None:
    """Label the first telling sentence below the heading; whether later ones answer is not known."""
    sentences = split_sentences(section.content)
    first = next((place for place, one in enumerate(sentences) if is_readable(one.text) or _leads(one)), None)
    if first is None or not stems or len(stems) > _MOST_STEMS:
        return None
    last = first + 1
    if _leads(sentences[first]):
        while last < len(sentences) and sentences[last].kind in (Kind.ITEM, Kind.STEP, Kind.ROW):
            last += 1
        if last == first + 1:
            return None
    labels = tuple((one.start, one.end, 1.0) for one in sentences[first:last])
    labels = tuple((one.start, one.end, 0.0) for one in sentences[:first]) + labels
    whole = Labels(question, section.topic.text, section.content, labels)
    told = content_stems(section.content[sentences[first].start : sentences[last - 1].end])
    # Without its heading, the sentence must say itself what it is about.
    if chance.random() >= _WITHOUT_HEADING or told.isdisjoint(stems):
        return whole
    return _without_heading(whole, section)


def _without_heading(labels: Labels, section: _Section) -> Labels:
    heading = _HEADING_LINE.match(labels.passage)
    cut = heading.end() if heading else 0
    kept = tuple((start - cut, end - cut, label) for start, end, label in labels.sentences if start >= cut)
    title = " > ".join(section.topic.text.split(" > ")[:-1])
    return replace(labels, title=title, passage=labels.passage[cut:], sentences=kept)


def _not_answering(section: _Section, question: str, stems: frozenset[str]) -> Labels:
    labels = tuple(
        (one.start, one.end, _MENTION if stems <= content_stems(one.text) else 0.0)
        for one in split_sentences(section.content)
    )
    return Labels(question, section.topic.text, section.content, labels)


def _leads(sentence: Sentence) -> bool:
    return sentence.kind is Kind.PROSE and sentence.text.rstrip().endswith(":")
