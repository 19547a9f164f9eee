"""How many words of PDF files are read, of those that pdftotext finds.

python -m benchmarks.quality.pdf_words FOLDER [--missing]. pdftotext is in Debian's package poppler-utils.
Files in which it finds fewer than 50 words are left out. A line on half of the pages, such as a header, counts once.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import time
import unicodedata
from collections import Counter
from pathlib import Path
from statistics import fmean

from benchmarks.figures import Figure, show
from pgclarify.errors import UnreadableFile
from pgclarify.ingest.apart import ParsingProcess

_LEAST_WORDS = 50
_MOST_SHOWN = 30
_REPEATED_PAGES = 3
# Chinese and Japanese have no blanks between words, so each character counts.
_WORD = re.compile("[\u3040-\u30ff\u3400-\u9fff]|[^\\W\u3040-\u30ff\u3400-\u9fff]+")
_DIGITS = re.compile(r"\d+")
_HYPHEN = re.compile("\u00ad|(?<=\\w)-(?=\\w)")


def _words(text: str) -> Counter[str]:
    # pdftotext joins all words that a hyphen cuts at the end of a line.
    return Counter(_WORD.findall(_HYPHEN.sub("", unicodedata.normalize("NFKC", text))))


def _wanted(path: Path) -> Counter[str]:
    """Return the words that pdftotext finds."""
    found = subprocess.run(["pdftotext", "-q", "-enc", "UTF-8", path, "-"], capture_output=True, check=False)
    pages = [page.splitlines() for page in found.stdout.decode(errors="replace").removesuffix("\f").split("\f")]
    on_pages = Counter(shape for page in pages for shape in {_DIGITS.sub("0", line.strip()) for line in page})
    seen: set[str] = set()
    words: Counter[str] = Counter()
    for page in pages:
        kept: list[str] = []
        for line in page:
            shape = _DIGITS.sub("0", line.strip())
            if on_pages[shape] < max(_REPEATED_PAGES, len(pages) / 2) or shape not in seen:
                kept.append(line)
            seen.add(shape)
        words += _words("\n".join(kept))
    return words


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--missing", action="store_true", help="print the words that are missing, of the worst files")
    options = parser.parse_args()
    process = ParsingProcess()
    rows: list[tuple[float, str, Counter[str]]] = []
    distinct: list[float] = []
    seconds = 0.0
    for path in sorted(options.folder.rglob("*.pdf")):
        wanted = _wanted(path)
        if wanted.total() < _LEAST_WORDS:
            continue
        began = time.monotonic()
        try:
            text = "\n".join(one.content for one in process.parse(path.read_bytes(), ".pdf", path.name))
        except UnreadableFile as error:
            print(f"{path.name}: {error.detail}")
            text = ""
        seconds += time.monotonic() - began
        found = _words(text)
        missing = wanted - found
        rows.append((1 - missing.total() / wanted.total(), path.name, missing))
        distinct.append(len(wanted.keys() & found.keys()) / len(wanted))
    process.close()
    rows.sort(key=lambda row: row[0])
    if options.missing:
        for recall, name, missing in rows[:_MOST_SHOWN]:
            print(f"{recall:.3f} {name}: {' '.join(list(missing.elements())[:_MOST_SHOWN])}")
    show(
        [
            Figure(f"words read, mean of {len(rows)} files", fmean(row[0] for row in rows), aim=">= 0.98"),
            Figure("distinct words read, mean", fmean(distinct)),
            Figure("time of all files", seconds, "s"),
        ]
    )


if __name__ == "__main__":
    _main()
