"""What the faster embedding backends lose: recall of the passages that answer, on texts and questions by people.

python -m benchmarks.quality.embedding DATA_DIR, where musique.corpus.jsonl.gz and musique.questions.jsonl.gz are.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.data_sets import MODEL, read
from benchmarks.figures import Figure, show, step
from pgclarify.config import EmbeddingBackend
from pgclarify.embedding import load_embedder
from pgclarify.embedding.minilm import multiplies_int8

_DEPTH = 10


async def measure(data_dir: Path) -> list[Figure]:
    """Search exactly, by cosine. The same backend embeds passages and questions."""
    passages = list(read(data_dir / "musique.corpus.jsonl.gz"))
    questions = list(read(data_dir / "musique.questions.jsonl.gz"))
    ids = [row["id"] for row in passages]
    texts = [f"{row['title']}\n{row['text']}" for row in passages]
    asked = [row["question"] for row in questions]
    figures = []
    exact: list[list[str]] = []
    for backend in EmbeddingBackend:
        if backend is EmbeddingBackend.INT8 and not multiplies_int8():
            continue
        with step(f"{len(passages):,} passages and {len(questions)} questions, {backend}"):
            found = [[ids[place] for place in places] for places in await _nearest(backend, texts, asked)]
        recall = statistics.mean(
            len(set(row["gold"]) & set(nearest)) / len(row["gold"])
            for row, nearest in zip(questions, found, strict=True)
        )
        figures.append(Figure(f"{backend}, recall@{_DEPTH}", recall))
        if exact:
            overlap = statistics.mean(
                len(set(nearest) & set(others)) / _DEPTH for nearest, others in zip(found, exact, strict=True)
            )
            figures.append(Figure(f"{backend}, of the first {_DEPTH} of {EmbeddingBackend.AUTO}", overlap))
        else:
            exact = found
    return figures


async def _nearest(backend: EmbeddingBackend, texts: Sequence[str], asked: Sequence[str]) -> NDArray[np.int64]:
    """Positions of the nearest texts of each question, nearest first: int64, shape (len(asked), _DEPTH)."""
    embedder = load_embedder(MODEL, backend=backend)
    try:
        similarities = await embedder.encode(asked) @ (await embedder.encode(texts)).T
    finally:
        embedder.close()
    return np.argsort(-similarities, axis=1)[:, :_DEPTH]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    show(asyncio.run(measure(parser.parse_args().data_dir)))
