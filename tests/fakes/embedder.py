"""An embedder that needs no model."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from pgclarify.errors import EmbeddingError, EmbeddingUnavailable

_WORD = re.compile(r"\w+")


class FakeEmbedder:
    """Embeds texts as bags of words: texts with more common words are closer. The same on each machine.

    Args:
        model: Its name.
        dimensions: Length of a vector.
        max_tokens: The declared length of the longest input in tokens. No text is truncated.
        fails_on: Texts that contain this cannot be embedded.

    Attributes:
        calls: The texts of each call of `encode` so far.
        are_passages: For each call, whether the texts were passed as passages.
        is_away: Whether it is unavailable for all texts.
    """

    def __init__(
        self,
        *,
        model: str = "fake",
        dimensions: int = 256,
        max_tokens: int = 64,
        fails_on: str | None = None,
    ) -> None:
        self.calls: list[list[str]] = []
        self.are_passages: list[bool] = []
        self.is_away = False
        self._model = model
        self._dimensions = dimensions
        self._max_tokens = max_tokens
        self._fails_on = fails_on
        self._tokenizer = _word_tokenizer()

    @property
    def model(self) -> str:
        """The model's name."""
        return self._model

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._dimensions

    @property
    def max_tokens(self) -> int:
        """Longest input in tokens, special tokens included."""
        return self._max_tokens

    @property
    def tokenizer(self) -> Tokenizer:
        """Counts a word or a run of punctuation as one token, and two special tokens around them."""
        return self._tokenizer

    async def encode(self, texts: Sequence[str], *, are_passages: bool = False) -> NDArray[np.float32]:
        """Embed texts.

        Returns:
            float32, shape (len(texts), dimensions), rows of unit length.

        Raises:
            EmbeddingError: If a text contains `fails_on`.
            EmbeddingUnavailable: If is_away is set.
        """
        self.calls.append(list(texts))
        self.are_passages.append(are_passages)
        # A real model lets other tasks run here.
        await asyncio.sleep(0)
        if self.is_away:
            raise EmbeddingUnavailable("the embedding endpoint cannot be reached")
        if self._fails_on is not None and any(self._fails_on in text for text in texts):
            raise EmbeddingError("a text cannot be embedded", detail=f"It contains {self._fails_on!r}.")
        vectors = np.zeros((len(texts), self._dimensions), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            # A text without words gets a vector of its own.
            for word in _WORD.findall(text.casefold()) or [""]:
                row += _direction(word, self._dimensions)
            row /= np.linalg.norm(row)
        return vectors


def _direction(word: str, dimensions: int) -> NDArray[np.int8]:
    """Hash a word to a vector of ones and minus ones, so that two words are nearly orthogonal."""
    # Python's own hash differs between processes.
    digest = hashlib.shake_128(word.encode("utf-8", "surrogatepass")).digest(-(-dimensions // 8))
    bits = np.unpackbits(np.frombuffer(digest, dtype=np.uint8), count=dimensions)
    return bits.astype(np.int8) * 2 - 1


def _word_tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0, "[CLS]": 1, "[SEP]": 2}, unk_token="[UNK]"))  # noqa: S106 - no password
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    return tokenizer
