"""How many short questions of real documents get a right answer, without a language model.

python -m benchmarks.quality.real_documents URL CORPUS=DOCUMENTS …

CORPUS of that database has been loaded from a public repository, as its documentation folder is: DOCUMENTS is the name
of the repository, such as 18F/handbook. Each question of real_documents.jsonl is asked with `top_k` 20, and each
reading gets the letter that a person gave to this answer of this document, from labels/real_readings.jsonl: R right, W
wrong or misleading, N true, but not useful. Readings without a letter are printed, and count as not right.

Of real_documents.jsonl, readings_judged has the letters of all readings when a person judged them: those of release
0.2.0 for 18F/handbook and mattermost/docs, of 0.3.0 for the others. Letters after the first: u unreadable, d repeats
another reading, l under the label of another section.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from rich.table import Table

import pgclarify
from benchmarks.figures import show_tables

_HERE: Final = Path(__file__).parent
_TOP_K: Final = 20
_SECONDS: Final = 600.0
_UNKNOWN: Final = "?"

Key = tuple[str, str, str, str]


def rows_of(path: Path) -> list[dict[str, object]]:
    """Read a file of JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def letters() -> dict[Key, str]:
    """Return the letters that people gave, by repository, question, document and hash of the answer."""
    return {
        (str(row["documents"]), str(row["question"]), str(row["document"]), str(row["answer"])): str(row["letter"])
        for row in rows_of(_HERE / "labels" / "real_readings.jsonl")
    }


def ask(client: pgclarify.Client, documents: str, question: str, known: Mapping[Key, str]) -> list[str]:
    """Ask a question; return the letters of its readings, in order."""
    found = []
    for reading in client.clarify(question, top_k=_TOP_K, timeout=_SECONDS):
        digest = hashlib.sha256(reading.answer.encode()).hexdigest()[:12]
        keys = [(documents, question, citation.document_id, digest) for citation in reading.citations]
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
    known = letters()
    asked: defaultdict[str, list[tuple[bool, list[str]]]] = defaultdict(list)
    questions = rows_of(_HERE / "real_documents.jsonl")
    corpora = {documents: corpus for corpus, _, documents in (one.partition("=") for one in given.corpora)}
    if unknown := corpora.keys() - {str(row["documents"]) for row in questions}:
        parser.error(f"there are no questions about {', '.join(sorted(unknown)) or 'nothing'}; say CORPUS=DOCUMENTS")
    for row in questions:
        documents, question = str(row["documents"]), str(row["question"])
        if documents in corpora:
            with pgclarify.connect(given.url, corpus=corpora[documents]) as client:
                told = ask(client, documents, question, known)
            asked[documents].append((bool(row["is_answered_by_documents"]), told))
    table = Table(title="Short questions of real documents, without a language model")
    for column in ("documents", "first right", "any right", "no reading", "right; wrong; useless"):
        table.add_column(column)
    for documents, several in asked.items():
        table.add_row(*table_of(documents, several))
    table.add_row(*table_of("all", [one for several in asked.values() for one in several]))
    show_tables(table)


if __name__ == "__main__":
    main()
