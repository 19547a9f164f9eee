"""Made-up text and vectors, the same in each run. Words are English, with realistic frequencies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice

import numpy as np
import pgclarify_minilm
from numpy.typing import NDArray

from pgclarify.data.vocabulary import Document

DIMENSIONS = 384
PASSAGES_A_DOCUMENT = 10
_SENTENCES_A_PASSAGE = 5
TOPICS = 500


@cache
def words() -> NDArray[np.str_]:
    """Words of the embedding model's vocabulary, which is sorted by frequency, approximately."""
    vocabulary = (pgclarify_minilm.FOLDER / "vocab.txt").read_text(encoding="utf-8").split()
    return np.array([word for word in vocabulary if re.fullmatch("[a-z]{3,}", word)])


def phrases(length: int, seed: int) -> Iterator[str]:
    """An endless sequence of phrases. The word of rank r has a probability proportional to 1 / r (Zipf's law)."""
    generator = np.random.default_rng(seed)
    chances = 1 / np.arange(1, len(words()) + 1)
    chances /= chances.sum()
    while True:
        for drawn in generator.choice(words(), (1000, length), p=chances):
            yield " ".join(drawn)


def questions(count: int, seed: int) -> list[str]:
    """Different questions of eight words, the usual length in AmbigNQ."""
    distinct = dict.fromkeys(islice(phrases(5, seed), 2 * count))
    return [f"What does {phrase} mean?" for phrase in islice(distinct, count)]


def documents() -> Iterator[Document]:
    """An endless sequence of documents, each of PASSAGES_A_DOCUMENT lines. Each line is a passage."""
    titles, sentences = phrases(3, seed=1), phrases(12, seed=2)
    for number, title in enumerate(titles):
        passages = (
            " ".join(f"{sentence.capitalize()}." for sentence in islice(sentences, _SENTENCES_A_PASSAGE))
            for _ in range(PASSAGES_A_DOCUMENT)
        )
        yield Document(document_id=str(number), title=title.capitalize(), content="\n".join(passages))


def vectors(count: int, seed: int, *, topics: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
    """Vectors in groups, like those of real texts: float32, shape (count, DIMENSIONS), rows of unit length.

    topics: The group of each vector, from 0 to TOPICS - 1; without it, they are drawn.
    """
    centers = np.random.default_rng(0).standard_normal((TOPICS, DIMENSIONS), dtype=np.float32)
    generator = np.random.default_rng(seed)
    drawn = centers[generator.integers(TOPICS, size=count) if topics is None else topics]
    drawn += generator.standard_normal(drawn.shape, dtype=np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return drawn
