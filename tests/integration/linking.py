"""Shared by tests of the neighborhood graph."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from tests.integration.graph_check import check
from tests.integration.manual_worker import ManualWorker
from tests.sessions import Connection

MANY = {str(number): f"Passage number {number}." for number in range(40)}
CLEAN = {
    "unlinked": 0,
    "pending": 0,
    "self_edges": 0,
    "dangling": 0,
    "orphans": 0,
    "gaps": 0,
    "unordered": 0,
    "recall": 1.0,
}


@pytest.fixture
def corpus(connection: Connection) -> Connection:
    connection.execute("select pgclarify.create_corpus('insurance')")
    return connection


@pytest.fixture
def small(corpus: Connection) -> Connection:
    """A corpus that keeps two neighbors of a passage."""
    corpus.execute("update pgclarify_private.corpus set graph_degree = 2")
    return corpus


def link(worker: ManualWorker, max_passages: int = 100) -> int:
    """Link until no passage is left that can be linked; return how many were processed."""
    done = 0
    while passages := worker.value("link_passages", max_passages=max_passages):
        done += passages
    return done


def add(connection: Connection, documents: Mapping[str, str], corpus: str = "insurance", **options: Any) -> None:
    """Add documents by id. Each paragraph will be a passage."""
    for document_id, content in documents.items():
        connection.execute(
            "select pgclarify.add_document(%s, %s, %s, readers => %s::name[])",
            [corpus, document_id, content, options.get("readers")],
        )


def faults(connection: Connection, corpus: str = "insurance") -> dict[str, Any]:
    """The faults of the graph; empty if there is none."""
    found = check(connection, corpus)
    return {name: found[name] for name, right in CLEAN.items() if found[name] != right}


def lists(connection: Connection) -> dict[str, list[str]]:
    """Neighbors in the tables, nearest first, by document, for documents with one passage each."""
    rows = connection.execute(
        "select document_id, neighbor_document_ids from pgclarify_private.neighborhood"
    ).fetchall()
    return dict(rows)


def neighbors(connection: Connection, document_id: str, k: int = 10, corpus: str = "insurance") -> list[str]:
    """Documents of the neighbors of a document with one passage, as `neighbors` returns them to this role."""
    rows = connection.execute(
        "select near.document_id from pgclarify.passage"
        " cross join lateral pgclarify.neighbors(%s, passage.document_id, passage.id, %s) as near"
        " where passage.document_id = %s order by near.rank",
        [corpus, k, document_id],
    ).fetchall()
    return [row[0] for row in rows]


def circle(*degrees: float) -> dict[str, list[float]]:
    """Contents with vectors at these angles, so that it is obvious which are near."""
    return {
        f"At {angle}.": [math.cos(math.radians(angle)), math.sin(math.radians(angle)), 0.0, 0.0] for angle in degrees
    }


def load(connection: Connection, worker: ManualWorker, *degrees: float) -> None:
    """Add documents named by their angles, with a passage each."""
    add(connection, {f"{angle:g}": f"At {angle}." for angle in degrees})
    worker.index_everything(circle(*degrees))
