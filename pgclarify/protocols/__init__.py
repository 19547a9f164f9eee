"""What the pipelines expect of the world. `pgclarify.testing` ships a fake of each."""

from __future__ import annotations

from pgclarify.protocols.completers import (
    AnswerLister,
    Begin,
    Completer,
    EntailmentJudge,
    Investigator,
    Questioner,
    RelevanceJudge,
    Rewriter,
    Verifier,
)
from pgclarify.protocols.evaluation import (
    BaselineModel,
    Judge,
    JudgeModel,
    Method,
    ReadFromPassages,
    Retriever,
)
from pgclarify.protocols.models import (
    Classifier,
    CrossEncoder,
    Embedder,
    Entailment,
    Judged,
    Meter,
    Reranker,
    Said,
)
from pgclarify.protocols.stores import (
    CompletionKey,
    DialogueStore,
    DocumentStore,
    EstimateStore,
    ExplorationStore,
    Ledger,
    RunStore,
    SpaceStore,
    StepStore,
)

__all__ = [
    "AnswerLister",
    "BaselineModel",
    "Begin",
    "Classifier",
    "Completer",
    "CompletionKey",
    "CrossEncoder",
    "DialogueStore",
    "DocumentStore",
    "Embedder",
    "Entailment",
    "EntailmentJudge",
    "EstimateStore",
    "ExplorationStore",
    "Investigator",
    "Judge",
    "JudgeModel",
    "Judged",
    "Ledger",
    "Meter",
    "Method",
    "Questioner",
    "ReadFromPassages",
    "RelevanceJudge",
    "Reranker",
    "Retriever",
    "Rewriter",
    "RunStore",
    "Said",
    "SpaceStore",
    "StepStore",
    "Verifier",
]
