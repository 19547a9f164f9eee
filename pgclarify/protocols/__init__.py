"""What the pipelines expect of the world. `pgclarify.testing` ships a fake of each."""

from __future__ import annotations

from pgclarify.protocols.completers import (
    AnswerLister,
    Completer,
    EntailmentJudge,
    Investigator,
    Questioner,
    RelevanceJudge,
    Rewriter,
    Verifier,
)
from pgclarify.protocols.models import (
    CrossEncoder,
    Embedder,
    Entailment,
    Meter,
    Reranker,
)
from pgclarify.protocols.stores import (
    DialogueStore,
    DocumentStore,
    ExplorationStore,
    Ledger,
    RunStore,
    SpaceStore,
    StepStore,
)

__all__ = [
    "AnswerLister",
    "Completer",
    "CrossEncoder",
    "DialogueStore",
    "DocumentStore",
    "Embedder",
    "Entailment",
    "EntailmentJudge",
    "ExplorationStore",
    "Investigator",
    "Ledger",
    "Meter",
    "Questioner",
    "RelevanceJudge",
    "Reranker",
    "Rewriter",
    "RunStore",
    "SpaceStore",
    "StepStore",
    "Verifier",
]
