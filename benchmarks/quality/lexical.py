"""Lexical search compared with the library bm25s: recall of passages that answer, on texts and questions by people.

python -m benchmarks.quality.lexical DATA_DIR, where musique.corpus.jsonl.gz and musique.questions.jsonl.gz are.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bm25s
import numpy as np

from benchmarks import made_up, product
from benchmarks.data_sets import read
from benchmarks.figures import Figure, show, step
from pgclarify.data.vocabulary import Document

_DEPTH = 10
_CORPUS = "musique"


def measure(data_dir: Path) -> list[Figure]:
    """Send each question to both. Both see title and text."""
    passages = list(read(data_dir / "musique.corpus.jsonl.gz"))
    questions = list(read(data_dir / "musique.questions.jsonl.gz"))
    with step("bm25s"):
        stemmer = _stemmer()
        theirs = _recall(_bm25s(passages, [row["question"] for row in questions], stemmer), questions)
    with product.database() as dsn:
        with step(f"storing {len(passages):,} passages"):
            documents = (Document(row["id"], " ".join(row["text"].split()), title=row["title"]) for row in passages)
            anything = made_up.vectors(1, seed=50)
            product.load(dsn, _CORPUS, documents, lambda _: anything)
        with step("pgclarify.search"), product.connect(dsn) as connection:
            found = [
                [
                    row["document_id"]
                    for row in connection.execute(
                        "select document_id from pgclarify.search("
                        """%s, corpus => %s, top_k => %s, options => '{"method": "lexical"}') order by rank""",
                        [row["question"], _CORPUS, _DEPTH],
                    )
                ]
                for row in questions
            ]
    ours = _recall(found, questions)
    return [
        Figure(f"pgclarify, recall@{_DEPTH}", ours),
        Figure(f"bm25s {'with' if stemmer else 'without'} stemmer, recall@{_DEPTH}", theirs),
        Figure("pgclarify over bm25s", ours / theirs, aim="≥ 0.97"),
    ]


def _stemmer() -> Any:
    try:
        return importlib.import_module("Stemmer").Stemmer("english")
    except ImportError:
        return None


def _bm25s(passages: Sequence[dict[str, Any]], questions: Sequence[str], stemmer: Any) -> list[list[str]]:
    def tokenize(texts: Sequence[str]) -> Any:
        return bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)

    retriever = bm25s.BM25()
    retriever.index(tokenize([f"{row['title']}\n{row['text']}" for row in passages]), show_progress=False)
    ids = np.array([row["id"] for row in passages])
    found, _ = retriever.retrieve(tokenize(questions), corpus=ids, k=_DEPTH, show_progress=False)
    return [list(row) for row in found]


def _recall(found: Sequence[Sequence[str]], questions: Sequence[dict[str, Any]]) -> float:
    """Mean share of a question's gold passages that were found."""
    return statistics.mean(
        len(set(row["gold"]) & set(ids)) / len(row["gold"]) for row, ids in zip(questions, found, strict=True)
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data_dir", type=Path)
    show(measure(parser.parse_args().data_dir))
