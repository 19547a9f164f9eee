"""How many facts of files are found: words, order, headings, rows of tables, places, attachments, and what is reported.

python -m benchmarks.quality.files FOLDER [--missing]. The folder has files, and facts.jsonl with lines such as
{"file": "rates.xlsx", "kind": "same row", "text": "E-bike 42.5"}.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.figures import Figure, show
from pgclarify.data.vocabulary import Document
from pgclarify.errors import UnreadableFile
from pgclarify.ingest import read_documents
from pgclarify.ingest.headings import find_headings

_MOST_SECONDS = 30
_WHITE_SPACE = re.compile(r"\s+")


@dataclass
class _Reading:
    """What reading a file gave, and in how many seconds."""

    documents: list[Document] = field(default_factory=list)
    problems: list[UnreadableFile] = field(default_factory=list)
    unread: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def text(self) -> str:
        return _folded("\n\n".join(document.content for document in self.documents))

    @property
    def is_reported(self) -> bool:
        """Whether something of the file is said to be missing."""
        return bool(self.problems or self.unread)


def _folded(text: str) -> str:
    return _WHITE_SPACE.sub(" ", text)


def _read(path: Path) -> _Reading:
    reading = _Reading()
    began = time.monotonic()
    for found in read_documents([path], on_unread=lambda _, unread: reading.unread.update(unread)):
        (reading.problems if isinstance(found, UnreadableFile) else reading.documents).append(found)  # type: ignore[arg-type]
    reading.seconds = time.monotonic() - began
    return reading


def _is_found(kind: str, text: str, reading: _Reading, file: str) -> bool:
    """Whether a fact of this kind is found. An unknown kind is an error."""
    match kind.partition(":")[0]:
        case "fact" | "order":
            return text in reading.text
        case "absent":
            return bool(reading.documents) and text not in reading.text
        case "at most once":
            return bool(reading.documents) and reading.text.count(text) <= 1
        case "heading":
            return any(
                text in heading.text for document in reading.documents for heading in find_headings(document.content)
            )
        case "same row":
            return any(_is_row(line, text.split()) for document in reading.documents for line in _lines(document))
        case "document of its own":
            others = [document for document in reading.documents if document.document_id != file]
            return any(text in _folded(document.content) for document in others)
        case "place":
            wanted = kind.partition(":")[2].strip()
            return any(wanted == _place(document, text) for document in reading.documents)
        case "clear error" | "clear error or no expansion, under 30 s and 1 GiB":
            is_expanded = len(reading.text) > 100_000
            is_refused = bool(reading.problems) or ("or no expansion" in kind and not is_expanded)
            return is_refused and reading.seconds < _MOST_SECONDS
        case "no path outside the archive":
            return not any(".." in document.document_id for document in reading.documents)
        case "error or report" | "hidden sheet marked or reported":
            return reading.is_reported or "(hidden)" in reading.text
        case "reported, or read by OCR":
            return reading.is_reported or text in reading.text
        case _:
            raise ValueError(f"unknown kind of fact: {kind}")


def _lines(document: Document) -> list[str]:
    return document.content.splitlines()


def _is_row(line: str, words: list[str]) -> bool:
    """Whether a line has all words, after names of columns."""
    return ": " in line and all(re.search(rf"(?<!\w){re.escape(word)}", line) for word in words)


def _place(document: Document, text: str) -> str | None:
    at = document.content.find(text)
    above = [place for place in document.places if place["start_char"] <= at] if at >= 0 else []
    return str(above[-1]["name"]) if above else None


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--missing", action="store_true", help="print each fact that is not found")
    options = parser.parse_args()
    readings: dict[str, _Reading] = {}
    found = 0
    facts = [json.loads(line) for line in (options.folder / "facts.jsonl").read_text().splitlines()]
    for fact in facts:
        file, kind, text = fact["file"], fact["kind"], _folded(fact["text"])
        if file not in readings:
            readings[file] = _read(options.folder / file)
        if _is_found(kind, text, readings[file], file):
            found += 1
        elif options.missing:
            print(f"{file}: {kind}: {text}")
    slowest = max(reading.seconds for reading in readings.values())
    show(
        [
            Figure(f"facts found, of {len(facts)}", found, aim=f">= {round(0.95 * len(facts))}"),
            Figure("longest time of a file", slowest, "s", aim=f"< {_MOST_SECONDS}"),
        ]
    )


if __name__ == "__main__":
    _main()
