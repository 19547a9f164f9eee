"""Fakes of what pipelines expect of the world, for tests: no database, no model, no network, milliseconds."""

from pgclarify.testing.classifier import FakeClassifier
from pgclarify.testing.cross_encoder import FakeCrossEncoder
from pgclarify.testing.dialogue import FakeAnswerLister, FakeDialogueStore, FakeQuestioner, FakeRewriter
from pgclarify.testing.documents import FakeDocumentStore
from pgclarify.testing.embedder import FakeEmbedder
from pgclarify.testing.entailment import FakeEntailment, FakeEntailmentJudge
from pgclarify.testing.estimates import FakeEstimateStore
from pgclarify.testing.exploration import FakeExplorationStore
from pgclarify.testing.investigator import FakeInvestigator, FakeStepStore
from pgclarify.testing.judge import FakeBaselineModel, FakeJudge, FakeJudgeModel
from pgclarify.testing.ledger import FakeLedger, FakeLedgerTable, LedgerRow
from pgclarify.testing.reranker import FakeRelevanceJudge, FakeReranker
from pgclarify.testing.spaces import FakeSpaceStore
from pgclarify.testing.store import FakeStore, RunRecord
from pgclarify.testing.verifier import FakeVerifier

__all__ = [
    "FakeAnswerLister",
    "FakeBaselineModel",
    "FakeClassifier",
    "FakeCrossEncoder",
    "FakeDialogueStore",
    "FakeDocumentStore",
    "FakeEmbedder",
    "FakeEntailment",
    "FakeEntailmentJudge",
    "FakeEstimateStore",
    "FakeExplorationStore",
    "FakeInvestigator",
    "FakeJudge",
    "FakeJudgeModel",
    "FakeLedger",
    "FakeLedgerTable",
    "FakeQuestioner",
    "FakeRelevanceJudge",
    "FakeReranker",
    "FakeRewriter",
    "FakeSpaceStore",
    "FakeStepStore",
    "FakeStore",
    "FakeVerifier",
    "LedgerRow",
    "RunRecord",
]
