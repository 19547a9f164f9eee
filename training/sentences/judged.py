"""Make the examples of the last training: passages that a search found for short questions, each judged.

    python -m training.sentences.judged DOCUMENTS_DIR judged.npz

DOCUMENTS_DIR has the repositories of repositories.csv. README.md says who asked and judged.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import pgclarify_minilm

from pgclarify.data.vocabulary import Document
from pgclarify.embedding.windows import Windows
from pgclarify.ingest.chunking import Chunker
from pgclarify.ingest.files import read_documents
from pgclarify.language.english.reading.topics import read_topic
from pgclarify.language.sentences import split_sentences
from training.sentences.prepare import load_chunker, write
from training.sentences.sections import Labels

_FOLDER: Final = Path(__file__).parent
_IS_HELD: Final = {"held": True, "trained on": False}
# The label of a sentence that helps and is no answer; one that answers has 1.
_HELPS: Final = 0.3

_Passages: TypeAlias = Mapping[tuple[str, str], tuple[str, str]]
"""Title with headings, and content of a passage, by the path of its document and the hash of its content."""


def judged_labels(documents_dir: Path, *, held: bool) -> Iterator[Labels]:
    """Yield the labels of each judged passage that the documents still have.

    Args:
        documents_dir: A folder for each repository, named owner+name, with the folders of repositories.csv.
        held: Whether those of the repositories that nothing is trained on, or the others.
    """
    with (_FOLDER / "repositories.csv").open(encoding="utf-8") as file:
        is_held = {row["repository"]: _IS_HELD[row["use"]] for row in csv.DictReader(file)}
    of_repository = defaultdict[str, list[dict[str, Any]]](list)
    for line in gzip.decompress((_FOLDER / "judged.jsonl.gz").read_bytes()).decode().splitlines():
        row = json.loads(line)
        if is_held[row["documents"]] is held:
            of_repository[row["documents"]].append(row)
    chunker = load_chunker()
    for repository, rows in of_repository.items():
        passages = _passages(documents_dir / repository.replace("/", "+"), chunker)
        found = 0
        for row in rows:
            passage = passages.get((row["document"], row["passage"]))
            if passage is not None:
                found += 1
                yield _labels_of(row, *passage)
        print(f"{repository}: {found} of {len(rows)} judged passages")


def _passages(folder: Path, chunker: Chunker) -> _Passages:
    return {
        (document.document_id, hashlib.sha256(chunk.content.encode()).hexdigest()[:12]): (
            read_topic(document.title, chunk.heading).text,
            chunk.content,
        )
        for document in read_documents([folder])
        if isinstance(document, Document)
        for chunk in chunker.split(document.content)
    }


def _labels_of(row: Mapping[str, Any], title: str, passage: str) -> Labels:
    """Label the sentences, which are numbered from 1."""
    answers = dict.fromkeys(row["helps"], _HELPS) | dict.fromkeys(row["answers"], 1.0)
    sentences = enumerate(split_sentences(passage), start=1)
    labels = tuple((one.start, one.end, answers.get(number, 0.0)) for number, one in sentences)
    return Labels(row["question"], title, passage, labels)


def main() -> None:
    """Read the command line, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("documents_dir", "output"):
        parser.add_argument(name, type=Path)
    given = parser.parse_args()
    write(judged_labels(given.documents_dir, held=False), Windows(pgclarify_minilm.FOLDER), given.output)


if __name__ == "__main__":
    main()
