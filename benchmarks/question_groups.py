"""The similarity from which two questions count as one: pairs that are joined and kept apart at each threshold.

python -m benchmarks.question_groups DATA_DIR [--model all-MiniLM-L6-v2]

Same: wordings by hand of one question. Different, by hand: another question in similar words. Different, in data:
readings of an ambiguous question of ambignq, facets of a query of qulac, any two questions of squad2.ambiguous.
Questions with different numbers or different question words are never joined.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import combinations
from itertools import product as all_pairs
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks import product
from pgclarify.embedding import load_embedder

_THRESHOLDS = (0.70, 0.75, 0.80, 0.83, 0.85, 0.87, 0.90, 0.93, 0.95)

# A question in several wordings, and different questions in similar words.
BY_HAND: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (
        ("Are rental cars covered?", "is a rental car covered", "Does my policy cover rental cars?"),
        ("Are rental cars covered abroad?", "Are borrowed cars covered?", "How much does a rental car cost a day?"),
    ),
    (
        ("How do I cancel my policy?", "how can I cancel my insurance policy", "What must I do to cancel the policy?"),
        ("How do I renew my policy?", "Can the insurer cancel my policy?", "What does it cost to cancel my policy?"),
    ),
    (
        (
            "How long do I have to report a claim?",
            "deadline for reporting a claim",
            "By when must a claim be reported?",
        ),
        ("How long does a claim take?", "How do I report a claim?", "By when must I appeal a claim?"),
    ),
    (
        ("What is the deductible for hail?", "hail deductible", "How high is the deductible for hail damage?"),
        ("What is the deductible for flood?", "Is hail damage covered?", "When does the hail deductible apply?"),
    ),
    (
        ("Who pays for towing?", "Is towing paid for?", "Does roadside assistance pay for towing?"),
        ("How far will you tow my car?", "Who do I call for towing?", "Who pays for a locksmith?"),
    ),
    (
        ("reset password", "How do I reset my password?", "I forgot my password, how can I reset it?"),
        ("How do I change my user name?", "How often must I change my password?", "reset two-factor authentication"),
    ),
    (
        ("When is the office open?", "office opening hours", "What are the opening hours of the office?"),
        ("Where is the office?", "When is the office closed for holidays?", "When does the office answer the phone?"),
    ),
    (
        ("Can I pay in installments?", "paying by installments", "Is it possible to pay in installments?"),
        ("Can I pay by credit card?", "What do installments cost?", "When is the next installment due?"),
    ),
    (
        ("Are pets allowed in rental apartments?", "pets in rental apartments", "May tenants keep pets?"),
        ("Are pets insured in rental apartments?", "May tenants sublet?", "Are pets allowed in hotels?"),
    ),
    (
        ("What was revenue in 2024?", "revenue 2024", "How much revenue did we have in 2024?"),
        ("What was revenue in 2023?", "What was profit in 2024?", "What revenue is planned for 2025?"),
    ),
    (
        ("How do I install the driver on Linux?", "install driver linux", "Installing the driver on Linux"),
        ("How do I install the driver on Windows?", "How do I remove the driver on Linux?", "Linux driver crashes"),
    ),
    (
        ("What is the maximum file size?", "max file size", "How large may a file be at most?"),
        ("What is the maximum number of files?", "Which file formats are allowed?", "What is the minimum file size?"),
    ),
    (
        ("Who founded the company?", "founder of the company", "By whom was the company founded?"),
        ("When was the company founded?", "Who runs the company?", "Where was the company founded?"),
    ),
    (
        ("Is dental treatment covered?", "dental coverage", "Do you cover dental treatment?"),
        ("Is eye treatment covered?", "Is dental treatment abroad covered?", "Are braces covered?"),
    ),
    (
        ("How do I export my data to CSV?", "export data as csv", "Can I export my data to a CSV file?"),
        ("How do I import data from CSV?", "How do I export my data to JSON?", "How do I delete my data?"),
    ),
    (
        ("When is the rent due?", "rent due date", "On what day must the rent be paid?"),
        ("How much is the rent?", "When may the rent be raised?", "What if the rent is late?"),
    ),
    (
        ("Does the warranty cover water damage?", "warranty water damage", "Is water damage under warranty?"),
        (
            "Does the insurance cover water damage?",
            "How long is the warranty?",
            "Does the warranty cover screen damage?",
        ),
    ),
    (
        ("How many vacation days do I get?", "number of vacation days", "How much vacation am I entitled to?"),
        ("How many sick days do I get?", "How do I request vacation?", "Do vacation days expire?"),
    ),
    (
        ("Who won the world cup in 2014?", "winner of the 2014 world cup", "Which team won the world cup in 2014?"),
        (
            "Who won the world cup in 2010?",
            "Who hosted the world cup in 2014?",
            "Who scored most in the 2014 world cup?",
        ),
    ),
    (
        (
            "What are the side effects of ibuprofen?",
            "ibuprofen side effects",
            "Which side effects does ibuprofen have?",
        ),
        ("What are the side effects of aspirin?", "What is the dose of ibuprofen?", "What is ibuprofen for?"),
    ),
)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _encode(model: str, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
    with closing(load_embedder(model)) as embedder:
        distinct = list(dict.fromkeys(texts))
        return dict(zip(distinct, asyncio.run(embedder.encode(distinct)), strict=True))


def _figures_and_words(texts: Sequence[str]) -> dict[str, tuple[list[str], str | None]]:
    """Numbers and question words of questions, as the database finds them."""
    with product.database() as dsn, product.connect(dsn) as connection:
        rows = connection.execute(
            """
            select text, pgclarify_private.figures(text) as figures, pgclarify_private.question_word(text) as word
            from unnest(%s::text[]) as text
            """,
            [list(texts)],
        ).fetchall()
    return {row["text"]: (row["figures"], row["word"]) for row in rows}


def _pairs(data: Path) -> dict[str, list[tuple[str, str]]]:
    """Pairs of questions by kind."""
    return {
        "same, by hand": [pair for same, _ in BY_HAND for pair in combinations(same, 2)],
        "different, by hand": [pair for same, near in BY_HAND for pair in all_pairs(same, near)],
        "readings, ambignq": [
            pair
            for row in _rows(data / "ambignq.questions.jsonl.gz")
            for pair in combinations([reading["question"] for reading in row["interpretations"]], 2)
        ],
        "facets, qulac": [
            pair for row in _rows(data / "qulac.jsonl.gz") for pair in combinations(row["facets"].values(), 2)
        ],
        "others, squad2": list(
            combinations(dict.fromkeys(row["question"] for row in _rows(data / "squad2.ambiguous.jsonl.gz")), 2)
        ),
    }


def main(data: Path, model: str) -> None:
    """Print the table."""
    pairs = _pairs(data)
    texts = list(dict.fromkeys(text for some in pairs.values() for pair in some for text in pair))
    vectors, held = _encode(model, texts), _figures_and_words(texts)

    def similarity(one: str, other: str) -> float:
        (figures, word), (other_figures, other_word) = held[one], held[other]
        if figures != other_figures or (None not in (word, other_word) and word != other_word):
            return -1.0
        return float(vectors[one] @ vectors[other])

    similarities = {kind: np.array([similarity(*pair) for pair in some]) for kind, some in pairs.items()}
    table = Table("joined from", *similarities, title=f"{model}, percent of pairs")
    for threshold in _THRESHOLDS:
        table.add_row(
            f"{threshold:.2f}", *(f"{100 * float((each >= threshold).mean()):.2f}" for each in similarities.values())
        )
    table.add_row("pairs", *(str(len(each)) for each in similarities.values()))
    console = Console(width=140)
    console.print(table)
    for kind, some in pairs.items():
        order = np.argsort(similarities[kind])
        for index in order[:8] if kind.startswith("same") else order[::-1][:8]:
            console.print(f"{kind}: {similarities[kind][index]:.3f}", *some[index], sep=" | ")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    given = parser.parse_args()
    main(given.data, given.model)
