"""Erasing a document of a distributed corpus."""

from __future__ import annotations

from tests.integration.distributed.corpora import found
from tests.integration.manual_worker import ManualWorker
from tests.servers import cluster
from tests.sessions import Connection, scalar

pytestmark = cluster.needed


def test_a_document_is_erased(connection: Connection, both: ManualWorker, reader: str) -> None:
    assert found(connection, "there", [reader], "lexical", "item7")
    for corpus in ("here", "there"):
        assert scalar(connection, "select pgclarify.erase_document(%s, 'd7')", corpus)
    both.index_everything()

    for method in ("dense", "lexical"):
        here, there = (found(connection, corpus, [reader], method, "item7", 100) for corpus in ("here", "there"))
        assert here == there
        assert "d7" not in {document_id for document_id, *_ in there}
