"""The documents of the package."""

from __future__ import annotations

import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import pairwise

import pytest

DOCUMENTS = sorted((files("pgclarify") / "demo_corpus").iterdir(), key=lambda file: file.name)


def text_of(document: Traversable) -> str:
    return document.read_text(encoding="utf-8")


def test_there_are_enough_and_nothing_else() -> None:
    assert len(DOCUMENTS) >= 60
    assert all(document.name.endswith(".md") for document in DOCUMENTS)


def test_indexing_them_is_no_long_wait() -> None:
    # Every heading starts a passage.
    assert sum(text_of(document).count("\n#") + 1 for document in DOCUMENTS) <= 340


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_a_document_is_a_page_with_headings(document: Traversable) -> None:
    lines = text_of(document).splitlines()
    assert lines[0].startswith("# ")
    assert sum(line.startswith("# ") for line in lines) == 1
    assert any(line.startswith("## ") for line in lines)
    assert 80 <= sum(len(line.split()) for line in lines) <= 350
    # A heading needs empty lines around it: some parsers of Markdown ignore it otherwise.
    assert all(not after for line, after in pairwise(lines) if line.startswith("#"))
    assert max(map(len, lines)) <= 128


def test_no_title_comes_twice() -> None:
    titles = [text_of(document).partition("\n")[0] for document in DOCUMENTS]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize(
    ("pattern", "value", "documents"),
    [
        (r"rental\s+reimbursement\s+endorsement\s+pays\s+(?:up\s+to\s+)?(\$\d+)", "$45", 3),
        (r"glass\s+deductible\s+(?:of\s+the\s+Personal\s+Auto\s+Policy\s+is|is|of)\s+(\$\d+)", "$100", 3),
        (r"comprehensive\s+deductible\s+of\s+(\$\d+)", "$250", 4),
        (r"auto\s+premiums\s+rise\s+by\s+([\d.]+)\s+percent", "4.2", 2),
        (r"driven\s+less\s+than\s+([\d,]+)\s+miles", "7,500", 2),
        (r"adding\s+a\s+teen\s+driver\s+raises\s+.{0,60}\s(\$[\d,]+)\s+a\s+year", "$1,150", 1),
        (r"up\s+to\s+(\$\d+,\d+)(?:\s+for\s+removing\s+mold|,\s+provided\s+that\s+the\s+water)", "$5,000", 2),
    ],
)  # fmt: skip
def test_a_fact_is_the_same_in_all_documents(pattern: str, value: str, documents: int) -> None:
    told = [
        {found for match in re.finditer(pattern, text_of(document), re.IGNORECASE) for found in match.groups() if found}
        for document in DOCUMENTS
    ]
    assert sum(bool(one) for one in told) >= documents
    assert set().union(*told) == {value}
