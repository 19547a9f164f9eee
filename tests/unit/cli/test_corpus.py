"""How documents are put into batches."""

from __future__ import annotations

from pgclarify.cli.corpus import BATCH_CHARS, BATCH_DOCUMENTS, LoadReport, batches
from pgclarify.errors import MissingReader, UnreadableFile
from pgclarify.vocabulary import Document


def test_batches_are_bounded_and_complete() -> None:
    documents = [Document(str(number), "text") for number in range(2 * BATCH_DOCUMENTS + 1)]
    found = list(batches(documents, LoadReport()))
    assert [len(batch) for batch in found] == [BATCH_DOCUMENTS, BATCH_DOCUMENTS, 1]
    assert [document for batch in found for document in batch] == documents


def test_long_documents_make_short_batches() -> None:
    documents = [Document(str(number), "x" * (BATCH_CHARS // 2)) for number in range(5)]
    assert [len(batch) for batch in batches(documents, LoadReport())] == [2, 2, 1]


def test_of_equal_ids_the_last_counts_and_the_others_are_reported() -> None:
    report = LoadReport()
    (batch,) = batches([Document("a", "old"), Document("b", "other"), Document("a", "new")], report)
    assert {document.document_id: document.content for document in batch} == {"a": "new", "b": "other"}
    assert report.repeated == ["a"]


def test_what_could_not_be_read_is_reported_and_loses_nothing_else() -> None:
    report = LoadReport()
    problem = UnreadableFile("cannot read b.md", detail="It is not UTF-8 text.", hint="Convert it.")
    (batch,) = batches([Document("a", "1"), problem, Document("c", "3")], report)
    assert [document.document_id for document in batch] == ["a", "c"]
    assert report.problems == ["cannot read b.md: It is not UTF-8 text. Convert it."]


def test_nothing_makes_no_batch() -> None:
    assert list(batches([], LoadReport())) == []


def test_files_whose_reader_is_missing_are_put_together_by_what_to_install() -> None:
    report = LoadReport()
    missing = [MissingReader(f"cannot read {name}", detail="Why.", hint="Install it.") for name in ("a.pdf", "b.pdf")]
    (batch,) = batches([missing[0], Document("a", "1"), missing[1]], report)
    assert [document.document_id for document in batch] == ["a"]
    assert report.unread == {"Why. Install it.": ["cannot read a.pdf", "cannot read b.pdf"]}
    assert not report.problems
