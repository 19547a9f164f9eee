"""An embedder that needs no model: hashed bags of words, so that equal words mean equal vectors."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

from pgclarify.embedding import LocalSpanReader, load_span_reader
from pgclarify.language.english.words import words

DIMENSIONS = 256


class BagOfWords:
    """Cosine is the share of common words. It records the texts."""

    def __init__(self, model: str = "bag-of-words") -> None:
        self.model = model
        self.encoded: list[list[str]] = []

    @property
    def dimensions(self) -> int:
        return DIMENSIONS

    @property
    def max_tokens(self) -> int:
        return 256

    @property
    def tokenizer(self) -> Tokenizer:
        return Tokenizer(WordLevel({}))

    async def encode(self, texts: Sequence[str], *, are_passages: bool = False) -> NDArray[np.float32]:
        self.encoded.append(list(texts))
        vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in words(text):
                vectors[row, zlib.crc32(word.stem.encode("utf-8", "surrogatepass")) % DIMENSIONS] += 1.0
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        lengths[lengths == 0.0] = 1.0
        return np.asarray(vectors / lengths, dtype=np.float32)


@cache
def reader() -> LocalSpanReader:
    """The trained reader that ships with pgclarify."""
    return load_span_reader()


@pytest.fixture
def embedder() -> BagOfWords:
    return BagOfWords()
