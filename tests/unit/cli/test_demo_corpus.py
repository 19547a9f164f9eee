"""The documents that come with the package."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import pairwise

import pytest

DOCUMENTS = sorted((files("pgclarify.cli") / "demo_corpus").iterdir(), key=lambda file: file.name)


def test_there_are_enough_and_nothing_else() -> None:
    assert len(DOCUMENTS) >= 18
    assert all(document.name.endswith(".md") for document in DOCUMENTS)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_a_document_is_a_page_with_headings(document: Traversable) -> None:
    lines = document.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    assert sum(line.startswith("## ") for line in lines) >= 3
    assert 150 <= sum(len(line.split()) for line in lines) <= 400
    # A heading stands between empty lines, or it is no heading in every reader of Markdown.
    assert all(not after for line, after in pairwise(lines) if line.startswith("#"))


@pytest.mark.parametrize("topic", ["rental car", "deductible", "cancel"])
def test_every_topic_is_in_many_documents(topic: str) -> None:
    assert sum(topic in document.read_text(encoding="utf-8").lower() for document in DOCUMENTS) >= 8
