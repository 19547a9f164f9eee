"""Fakes of the tables and models that operations use. They need no database, model or network, and are fast."""

from tests.fakes.classifier import FakeClassifier
from tests.fakes.cross_encoder import FakeCrossEncoder
from tests.fakes.dialogue import FakeDialogueStore
from tests.fakes.documents import FakeDocumentStore
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.entailment import FakeEntailment
from tests.fakes.exploration import FakeExplorationStore
from tests.fakes.ledger import FakeLedger, FakeLedgerTable
from tests.fakes.sending import FakeSending
from tests.fakes.spaces import FakeSpaceStore
from tests.fakes.store import FakeStore, RunRecord

__all__ = [
    "FakeClassifier",
    "FakeCrossEncoder",
    "FakeDialogueStore",
    "FakeDocumentStore",
    "FakeEmbedder",
    "FakeEntailment",
    "FakeExplorationStore",
    "FakeLedger",
    "FakeLedgerTable",
    "FakeSending",
    "FakeSpaceStore",
    "FakeStore",
    "RunRecord",
]
