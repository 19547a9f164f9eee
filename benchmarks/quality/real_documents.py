"""How many short questions of real documents get a right answer, without a language model.

python -m benchmarks.quality.real_documents URL CORPUS=DOCUMENTS …

CORPUS of that database has been loaded from a public repository, as its documentation folder is: DOCUMENTS is the name
of the repository, such as 18F/handbook. Each question of real_documents.jsonl is asked with `top_k` 20, and each
reading gets the letter of this answer of this document in labels/real_readings.jsonl: R right, W wrong or misleading, N
true, but not useful. Readings without a letter are printed, and count as not right. docs/benchmarks.md says who judged.

Of real_documents.jsonl, readings_judged has the letters of all readings when they were judged: those of release
0.2.0 for 18F/handbook and mattermost/docs, of 0.3.0 for the others. Letters after the first: u unreadable, d repeats
another reading, l under the label of another section.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rich.table import Table

import pgclarify
from benchmarks.figures import show_tables

_HERE: Final = Path(__file__).parent
_TOP_K: Final = 20
_SECONDS: Final = 600.0
_UNKNOWN: Final = "?"

Key = tuple[str, str, str, str]
"""Repository, question, document, and the hash of an answer."""


def questions() -> list[dict[str, Any]]:
    """Read the questions: documents, question, is_answered_by_documents, readings_judged."""
    return _rows_of(_HERE / "real_documents.jsonl")


def letters() -> dict[Key, str]:
    """Read the letters that were given to answers."""
    return {
        (row["documents"], row["question"], row["document"], row["answer"]): row["letter"]
        for row in _rows_of(_HERE / "labels" / "real_readings.jsonl")
    }


def key_of(documents: str, question: str, document_id: str, answer: str) -> Key:
    """Return the key of an answer."""
    return documents, question, document_id, hashlib.sha256(answer.encode()).hexdigest()[:12]


def _rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def ask(client: pgclarify.Client, documents: str, question: str, known: Mapping[Key, str]) -> list[str]:
    """Ask a question; return the letters of its readings, in order."""
    found = []
    for reading in client.clarify(question, top_k=_TOP_K, timeout=_SECONDS):
        keys = [key_of(documents, question, one.document_id, reading.answer) for one in reading.citations]
        letter = next((known[key] for key in keys if key in known), _UNKNOWN)
        if letter == _UNKNOWN:
            print(json.dumps(dict(zip(("documents", "question", "document", "answer"), keys[0], strict=True))))
            print(f"  {reading.interpretation} -> {reading.answer}")
        found.append(letter)
    return found


def table_of(name: str, asked: Sequence[tuple[bool, list[str]]]) -> list[str]:
    """Return a row of the table: how many of the questions that the documents answer are answered, and how well."""
    answered = [told for is_answered, told in asked if is_answered]
    all_letters = [letter for _, told in asked for letter in told]
    shares = (100 * all_letters.count(letter) / max(1, len(all_letters)) for letter in "RWN")
    return [
        name,
        f"{sum(told[:1] == ['R'] for told in answered)} of {len(answered)}",
        f"{sum('R' in told for told in answered)} of {len(answered)}",
        f"{sum(not told for told in answered)} of {len(answered)}",
        "{:.0f}; {:.0f}; {:.0f} % of {}".format(*shares, len(all_letters)),
    ]


def main() -> None:
    """Read the command line, ask all questions, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("corpora", nargs="+", metavar="CORPUS=DOCUMENTS")
    given = parser.parse_args()
    known, rows = letters(), questions()
    asked: dict[str, list[tuple[bool, list[str]]]] = {}
    corpora = {documents: corpus for corpus, _, documents in (one.partition("=") for one in given.corpora)}
    if unknown := corpora.keys() - {row["documents"] for row in rows}:
        parser.error(f"there are no questions about {', '.join(sorted(unknown)) or 'nothing'}; say CORPUS=DOCUMENTS")
    for documents, corpus in corpora.items():
        with pgclarify.connect(given.url, corpus=corpus) as client:
            asked[documents] = [
                (row["is_answered_by_documents"], ask(client, documents, row["question"], known))
                for row in rows
                if row["documents"] == documents
            ]
    table = Table(title="Short questions of real documents, without a language model")
    for column in ("documents", "first right", "any right", "no reading", "right; wrong; useless"):
        table.add_column(column)
    for documents, several in asked.items():
        table.add_row(*table_of(documents, several))
    table.add_row(*table_of("all", [one for several in asked.values() for one in several]))
    show_tables(table)


if __name__ == "__main__":
    main()
