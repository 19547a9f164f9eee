from __future__ import annotations

import gzip
import json
import tracemalloc
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pgclarify.data.vocabulary import Document
from pgclarify.errors import InputError, UnreadableFile
from pgclarify.ingest import FieldMapping, read_documents


def read(path: Path, mapping: FieldMapping | None = None) -> list[Document | UnreadableFile]:
    found = read_documents([path], fields=mapping)
    return [replace(one, origin=None, places=()) if isinstance(one, Document) else one for one in found]


def write(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_usual_fields(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.jsonl",
        {"id": 12, "text": "one", "url": "https://example.org", "title": 1984},
        {
            "id": "b",
            "content": "two",
            "text": "not this",
            "uri": "file:b",
            "metadata": {"year": 2024, "tags": ["ü", None]},
            "readers": ["sales"],
            "dated": "2026-03-01T10:00:00Z",
            "author": "Ada",
            "unknown": 1,
        },
    )
    assert read(path) == [
        Document("12", "one", title="1984", uri="https://example.org"),
        Document(
            "b",
            "two",
            uri="file:b",
            metadata={"year": 2024, "tags": ["ü", None]},
            readers=("sales",),
            dated=datetime(2026, 3, 1, 10, tzinfo=UTC),
            author="Ada",
        ),
    ]


def test_mapping_names_other_fields(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {"key": "k", "body": "text", "id": "not this", "extra": {"a": 1}})
    mapping = FieldMapping.parse(["id=key", "content=body", "metadata=extra"])
    assert read(path, mapping) == [Document("k", "text", metadata={"a": 1})]


@pytest.mark.parametrize("assignment", ["body", "body=content", "content=", "=x"])
def test_mapping_that_makes_no_sense_is_refused(assignment: str) -> None:
    with pytest.raises(InputError):
        FieldMapping.parse([assignment])


def test_gzip_byte_order_mark_and_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    with gzip.open(path, "wb") as stream:
        stream.write(b'\xef\xbb\xbf{"id": 1, "text": "a"}\r\n\r\n  \n{"id": 2, "text": "b"}')
    assert [document.document_id for document in read(path) if isinstance(document, Document)] == ["1", "2"]


@pytest.mark.parametrize(
    ("line", "detail"),
    [
        (b"{", "no JSON"),
        (b"[1]", "an array"),
        (b'{"text": "a"}', "no id"),
        (b'{"id": "", "text": "a"}', "no id"),
        (b'{"id": 1.5, "text": "a"}', "a number"),
        (b'{"id": 1}', "no content"),
        (b'{"id": 1, "text": "a\\u0000b"}', "NUL character at offset 1"),
        (b'{"id": 1, "text": "a\\ud800"}', "surrogate"),
        (b'{"id": 1, "text": "a", "metadata": {"a": [{"b\\u0000": 1}]}}', "NUL"),
        (b'{"id": 1, "text": "a", "metadata": {"a": NaN}}', "NaN is no JSON"),
        (b'{"id": 1, "text": "a", "readers": "sales"}', "role names"),
        (b'{"id": 1, "text": "a", "dated": "1 March"}', "no ISO date"),
        (b'{"id": 1, "text": "a", "dated": 2026}', "no ISO date"),
        (b'{"id": 1, "text": "\xe9"}', "not UTF-8"),
        (b'{"id": 1, "text": "a", "metadata": ' + b'{"a":' * 100_000 + b"}" * 100_001, "nested too deeply"),
        (b'{"id": 1, "text": "a", "metadata": {"a": ' + b"9" * 5000 + b"}}", "4,300 digits"),
    ],
)
def test_bad_line_is_a_problem_with_its_number_and_the_rest_is_read(tmp_path: Path, line: bytes, detail: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"id": "first", "text": "a"}\n' + line + b'\n{"id": "last", "text": "b"}\n')

    first, problem, last = read(path)

    assert isinstance(first, Document) and first.document_id == "first"
    assert isinstance(last, Document) and last.document_id == "last"
    assert isinstance(problem, UnreadableFile)
    assert "line 2 of" in problem.message
    assert detail in (problem.detail or "")


def test_broken_gzip_keeps_what_came_before(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(b'{"id": %d, "text": "a"}\n' % number for number in range(50_000)))
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(whole[: len(whole) // 2])
    *documents, problem = read(path)
    assert len(documents) > 1000
    assert isinstance(problem, UnreadableFile)
    assert f"beyond line {len(documents)}" in problem.message


def test_file_is_not_held_in_memory(tmp_path: Path) -> None:
    record: dict[str, Any] = {"id": 1, "text": "x" * 10_000}
    path = write(tmp_path / "a.jsonl", *[record] * 1000)
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_documents([path])) == 1000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < path.stat().st_size / 10


def test_line_over_the_limit_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgclarify.ingest.records._MAX_LINE_CHARS", 100)
    path = write(tmp_path / "a.jsonl", {"id": 1, "text": "x" * 1000}, {"id": 2, "text": "b"})
    problem, document = read(path)
    assert isinstance(problem, UnreadableFile) and "line 1 of" in problem.message
    assert isinstance(document, Document) and document.document_id == "2"
