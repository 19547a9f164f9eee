"""The main job on real ambiguous questions: how many of their known answers come out, and whether every quote is there.

python -m benchmarks.ambignq DATA_DIR, where ambignq.corpus.jsonl.gz and ambignq.questions.jsonl.gz are. Works on
the database in use, with the worker that serves it: `pgclarify up --detach` first.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from benchmarks import product
from benchmarks.figures import Figure, show, step
from benchmarks.lexical_quality import read
from pgclarify.algorithms.metrics import covered_answers
from pgclarify.cli.connection import load_settings, running_dsn

_CORPUS = "ambignq"
_ASK = (
    "select question_ordinal, interpretation, answer, citations"
    " from pgclarify.clarify_many(%s, corpus => %s, top_k => %s) where ordinal is not null"
)
_DOCUMENTS = (
    "select document.id, document.content from pgclarify.document"
    " inner join pgclarify.corpus on corpus.corpus_id = document.corpus_id where corpus.name = %s"
)
_PAID = "select count(*) as calls from pgclarify.completion where reply is not null"


def measure(data_dir: Path, *, top_k: int, most: int | None, is_verbose: bool) -> list[Figure]:
    """Load the corpus if it is missing, ask all questions at once, and look at what comes back."""
    questions = list(read(data_dir / "ambignq.questions.jsonl.gz"))[:most]
    dsn = running_dsn(load_settings())
    with step("loading what is not there yet"):
        path = str(data_dir / "ambignq.corpus.jsonl.gz")
        subprocess.run([sys.executable, "-m", "pgclarify.cli", "load", _CORPUS, path], check=True)
    with product.connect(dsn) as connection, step("asking"):
        paid_before = connection.execute(_PAID).fetchall()[0]["calls"]
        started = time.perf_counter()
        rows = connection.execute(_ASK, [[row["question"] for row in questions], _CORPUS, top_k]).fetchall()
        seconds = time.perf_counter() - started
        paid = connection.execute(_PAID).fetchall()[0]["calls"] - paid_before
        contents = {row["id"]: row["content"] for row in connection.execute(_DOCUMENTS, [_CORPUS])}
    citations = [citation for row in rows for citation in row["citations"]]
    verbatim = sum(
        contents[one["document_id"]][one["start_char"] : one["end_char"]] == one["quote"] for one in citations
    )
    known = answered = quoted = 0
    for ordinal, question in enumerate(questions, start=1):
        mine = [row for row in rows if row["question_ordinal"] == ordinal]
        golds = [one["answers"] for one in question["interpretations"]] or question["single_answers"]
        known += len(golds)
        answered += sum(covered_answers(golds, [row["answer"] for row in mine]))
        quoted += sum(covered_answers(golds, [citation["quote"] for row in mine for citation in row["citations"]]))
        if is_verbose:
            print(question["question"], golds)
            print(*(f"    {row['interpretation']} {row['answer']}" for row in mine), sep="\n")
    return [
        Figure(f"{len(questions)} questions at once, top_k {top_k}", seconds, "s"),
        Figure("calls of the model, as many as were not paid for before", paid, "calls"),
        Figure("readings a question", len(rows) / len(questions), "readings"),
        Figure(f"known answers covered by an answer: {answered} of {known}", answered / known),
        Figure(f"known answers covered by a quote: {quoted} of {known}", quoted / known),
        Figure(
            f"quotes that stand in the document where they say: {verbatim} of {len(citations)}",
            verbatim / max(1, len(citations)),
            aim="1",
        ),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--top-k", type=int, default=20)
    parser.add_argument("--questions", type=int, help="ask the first so many only")
    parser.add_argument("--verbose", action="store_true", help="print every question with its readings")
    options = parser.parse_args()
    show(measure(options.data_dir, top_k=options.top_k, most=options.questions, is_verbose=options.verbose))
