"""The documents, their readers, and a made-up embedding model."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice

import numpy as np
import pgclarify_minilm
from numpy.typing import NDArray
from tokenizers import Tokenizer

from benchmarks import made_up
from pgclarify.data.vocabulary import Document

MODEL = "made-up"
PASSAGES_A_DOCUMENT = made_up.PASSAGES_A_DOCUMENT
# Each role may read one of this many documents. "reads department" may read some topics, a tenth of all documents.
SHARES = {"reads 1 %": 100, "reads 10 %": 10, "reads 100 %": 1}
DEPARTMENT = "reads department"
_TOPICS = 1000
_TOPICS_OF_THE_DEPARTMENT = _TOPICS // 10
# Directions in which the passages of a topic differ. Few, because vectors of real texts also have few dimensions.
_LATENT = 24
_TOPIC_WEIGHT, _LATENT_WEIGHT, _NOISE_WEIGHT = 1.0, 1.0, 0.2
_MAX_TOKENS = 256


def documents(first: int, count: int) -> Iterator[Document]:
    """Documents in Markdown, a section for each passage. They depend only on their number, so any part can be repeated.

    Args:
        first: Number of the first document.
        count: How many documents.
    """
    for number in range(first, first + count):
        yield document(number)


def document(number: int, *, edition: int = 0) -> Document:
    """The document with this number. edition: another edition has another last passage."""
    passages = _sentences(number, 0, PASSAGES_A_DOCUMENT)
    if edition:
        passages[-1] = _sentences(number, edition, 1)[0]
    sections = (f"## {' '.join(text.split()[:3])}\n\n{text}\n" for text in passages)
    return Document(str(number), "\n".join(sections), title=title_of(number))


def title_of(number: int) -> str:
    """The title of a document, which decides its topic."""
    return f"{' '.join(_words(number, 7, 2)).capitalize()} {number}"


def topic_of(title: str) -> int:
    """The topic of a text with this first line."""
    return _number_of(title) % _TOPICS


def is_of_the_department(title: str) -> bool:
    """Whether the department may read documents with this title."""
    return topic_of(title) < _TOPICS_OF_THE_DEPARTMENT


def readers_of(number: int) -> list[str]:
    """The roles that may read a document after the stage `readers`."""
    names = [role for role, one_in in SHARES.items() if number % one_in == 0]
    return [*names, DEPARTMENT] if is_of_the_department(title_of(number)) else names


class MadeUpEmbedder:
    """Gives a text a vector by its hash, near the vectors of its topic. Its first line decides the topic."""

    model = MODEL
    dimensions = made_up.DIMENSIONS
    max_tokens = _MAX_TOKENS

    def __init__(self) -> None:
        self.tokenizer = Tokenizer.from_file(str(pgclarify_minilm.FOLDER / "tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    async def encode(self, texts: Sequence[str], *, are_passages: bool = False) -> NDArray[np.float32]:
        """Make the vectors: float32, shape (len(texts), dimensions), rows of unit length."""
        await asyncio.sleep(0)
        return vectors(texts)

    def close(self) -> None:
        """Do nothing: the model has no thread."""


def vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of texts: float32, shape (len(texts), DIMENSIONS), rows of unit length."""
    if not texts:
        return np.empty((0, made_up.DIMENSIONS), dtype=np.float32)
    centers, directions = _space()
    topics = [topic_of(text.partition("\n")[0]) for text in texts]
    drawn = np.stack(
        [
            np.random.default_rng(_number_of(text)).standard_normal(_LATENT + made_up.DIMENSIONS, dtype=np.float32)
            for text in texts
        ]
    )
    made = (
        _TOPIC_WEIGHT * centers[topics]
        + _LATENT_WEIGHT * drawn[:, :_LATENT] @ directions
        + _NOISE_WEIGHT * drawn[:, _LATENT:]
    )
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made


@cache
def _space() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Centers of the topics, and the directions in which passages differ."""
    generator = np.random.default_rng(0)
    centers = generator.standard_normal((_TOPICS, made_up.DIMENSIONS), dtype=np.float32)
    directions = generator.standard_normal((_LATENT, made_up.DIMENSIONS), dtype=np.float32) / np.sqrt(_LATENT)
    return centers, directions.astype(np.float32)


def _number_of(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def _sentences(number: int, edition: int, passages: int) -> list[str]:
    """Passages of five sentences of twelve words."""
    drawn = iter(_words(number, edition, passages * 60))
    made = []
    for _ in range(passages):
        sentences = (" ".join(islice(drawn, 12)) for _ in range(5))
        made.append(" ".join(f"{sentence.capitalize()}." for sentence in sentences))
    return made


def _words(number: int, edition: int, count: int) -> list[str]:
    """Words by Zipf's law. The same numbers give the same words."""
    uniform = np.random.default_rng([number, edition]).random(count)
    places = np.searchsorted(_chances_so_far(), uniform)
    return [str(word) for word in made_up.words()[places]]


@cache
def _chances_so_far() -> NDArray[np.float64]:
    chances = 1 / np.arange(1, len(made_up.words()) + 1)
    so_far = np.cumsum(chances / chances.sum())
    so_far[-1] = 1.0
    return so_far
