"""Fakes of what pipelines expect of the world, for tests: no database, no model, no network, milliseconds."""

from pgclarify.testing.documents import FakeDocumentStore
from pgclarify.testing.embedder import FakeEmbedder
from pgclarify.testing.exploration import FakeExplorationStore
from pgclarify.testing.ledger import FakeLedger, FakeLedgerTable, LedgerRow
from pgclarify.testing.spaces import FakeSpaceStore
from pgclarify.testing.store import FakeStore, RunRecord
from pgclarify.testing.verifier import FakeVerifier

__all__ = [
    "FakeDocumentStore",
    "FakeEmbedder",
    "FakeExplorationStore",
    "FakeLedger",
    "FakeLedgerTable",
    "FakeSpaceStore",
    "FakeStore",
    "FakeVerifier",
    "LedgerRow",
    "RunRecord",
]
