"""VERDICT, Tables 2 and 4, and rows of ours: python -m benchmarks.papers.verdict DATA_DIR ambignq CORPUS.

The paper's figures are for LLaMA 3.3 70B on ASQA: readings, G-Precision, G-F1. Its G-F1 has a gold of its own for each
method, as ours. Figure 3 (kinds of errors), "Sufficient" and "Recall" are not made: they moved with the judge, and told
no two methods apart. The row "VERDICT" is the paper's method: HDBSCAN, noise dropped, and none of our checks of quotes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from benchmarks.papers import Data, GoldEvidence, Row, main
from pgclarify.data.documents import Passage
from pgclarify.evaluation.baselines import Baseline, all_at_once
from pgclarify.evaluation.bench import Bench
from pgclarify.evaluation.records import Method


async def with_gold_evidence(bench: Bench, data: Data) -> Method:
    """All at once over the relevant documents, without a search: what a perfect search would be worth."""
    return Baseline(replace(await bench.asked(), retriever=_Relaxed(data)), partial(all_at_once, top_k=20))


class _Relaxed(GoldEvidence):
    """The gold evidence of a relaxed question: that of the question with the most words in common."""

    def __init__(self, data: Data) -> None:
        super().__init__(data)
        self._words = {question: set(question.casefold().split()) for question in self._found}

    async def search(self, question: str, top_k: int) -> list[Passage]:
        """See Retriever."""
        asked = set(question.casefold().split())
        nearest = max(self._words, key=lambda one: len(self._words[one] & asked) / len(self._words[one] | asked))
        return self._found[nearest][:top_k]


PAPERS_OWN: Final = {"consolidation": "hdbscan", "singletons": "drop", "verify": "none"}
ROWS: Final = (
    Row("DtV", "dtv", paper="2.06, .699, .480"),
    Row("DtV - Verification", "dtv_unverified", paper="3.68, .463, .490"),
    Row("RAC", "rac", paper="3.78, .767, .608"),
    Row("VERDICT", "clarify", PAPERS_OWN, "3.70, .815, .678"),
    Row("clarify", "clarify"),
    Row("clarify, conservative", "clarify", {"consolidation": "conservative"}, "2.41, .824"),
    Row("clarify, no check of quotes", "clarify", {"verify": "none"}),
    Row("clarify, second look", "clarify", {"verify": "model"}),
    Row("RAC with gold evidence", "rac_gold", make=with_gold_evidence),
)

if __name__ == "__main__":
    figures = ("readings", "coverage", "grounded_precision", "grounded_f1", "misled", "calls")
    main("VERDICT, Tables 2 and 4", ROWS, figures)
