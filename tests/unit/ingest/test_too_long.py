"""Documents with too many characters for a worker."""

from __future__ import annotations

import json
from pathlib import Path

from pgclarify.data.limits import MOST_CONTENT_CHARS
from pgclarify.data.vocabulary import Document
from pgclarify.errors import UnreadableFile
from pgclarify.ingest import read_documents
from pgclarify.ingest.text import MAX_DOCUMENT_BYTES


def test_a_text_is_read_up_to_the_limit_and_refused_beyond(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x" * MOST_CONTENT_CHARS)
    (tmp_path / "b.txt").write_text("x" * (MOST_CONTENT_CHARS + 1))
    longest, problem = read_documents([tmp_path])
    assert isinstance(longest, Document)
    assert isinstance(problem, UnreadableFile)
    assert "10,000,001 characters" in str(problem.detail)


def test_a_huge_file_is_refused_at_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "huge.txt"
    with path.open("wb") as file:
        # A sparse file: a terabyte that takes no disk space.
        file.truncate(10**12)
    (problem,) = read_documents([path])
    assert isinstance(problem, UnreadableFile)
    assert f"{MAX_DOCUMENT_BYTES // 10**6} MB" in str(problem.detail)


def test_a_record_over_the_limit_leaves_the_others_alone(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    texts = ("first", "x" * (MOST_CONTENT_CHARS + 1), "last")
    path.write_text("".join(json.dumps({"id": number, "text": text}) + "\n" for number, text in enumerate(texts)))
    first, problem, last = read_documents([path])
    assert isinstance(first, Document) and isinstance(last, Document)
    assert isinstance(problem, UnreadableFile)
    assert "line 2" in problem.message
