"""Lexical search compared with dense search at 100,000 passages: the cost of common words in a question."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from pgvector import HalfVector

from benchmarks import made_up, product
from benchmarks.figures import Figure, show

_PASSAGES = 100_000
_CORPUS = "made up, large"
_QUESTIONS = 30
_TOP_K = 20
_LEXICAL = "select * from pgclarify_private.lexical(%s, '{}', %s, %s)"
_DENSE = "select * from pgclarify_private.dense(%s, '{}', %s::text::halfvec, %s)"


def measure(dsn: str) -> list[Figure]:
    """Search in one session with each kind of question, and with the same number of vectors."""
    product.load_made_up(dsn, _CORPUS, _PASSAGES)
    generator = np.random.default_rng(40)
    with product.connect(dsn) as connection:
        (corpus,) = connection.execute("select corpus_id from pgclarify.corpus where corpus = %s", [_CORPUS]).fetchall()
        terms = connection.execute(
            "select lexeme, passages from pgclarify_private.term where corpus_id = %(corpus_id)s"
            " order by passages desc",
            corpus,
        ).fetchall()
        common = [term["lexeme"] for term in terms[:50]]
        usual = [term["lexeme"] for term in terms[50:2000]]
        rare = [term["lexeme"] for term in terms if term["passages"] <= 50]

        def questions(*kinds: tuple[int, Sequence[str]]) -> list[str]:
            return [
                " ".join(word for count, words in kinds for word in generator.choice(words, count, replace=False))
                for _ in range(_QUESTIONS)
            ]

        def median_ms(statement: Any, questions: Sequence[str]) -> float:
            seconds = []
            for question in [*questions[:3], *questions]:
                started = time.perf_counter()
                connection.execute(statement, [corpus["corpus_id"], question, _TOP_K]).fetchall()
                seconds.append(time.perf_counter() - started)
            return statistics.median(seconds[3:]) * 1000

        near = made_up.vectors(_QUESTIONS, seed=41)
        dense = median_ms(_DENSE, [HalfVector(vector).to_text() for vector in near])
        lexical = {
            "8 of the 50 commonest words and 2 usual ones": median_ms(_LEXICAL, questions((8, common), (2, usual))),
            "10 of the 50 commonest words": median_ms(_LEXICAL, questions((10, common))),
            f"8 of the commonest and 2 of {len(rare)} rare ones": median_ms(
                _LEXICAL, questions((8, common), (2, rare))
            ),
            "3 rare words": median_ms(_LEXICAL, questions((3, rare))),
        }
    return [
        Figure(f"dense search, {_PASSAGES:,} passages", dense, "ms"),
        *(Figure(f"lexical over dense: {kind}", ms / dense) for kind, ms in lexical.items()),
    ]


if __name__ == "__main__":
    with product.database() as dsn:
        show(measure(dsn))
