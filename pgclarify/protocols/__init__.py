"""What the pipelines expect of the world. `pgclarify.testing` ships a fake of each."""

from __future__ import annotations

from pgclarify.protocols.completers import (
    Completer,
    EntailmentJudge,
    Investigator,
    RelevanceJudge,
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
    DocumentStore,
    ExplorationStore,
    Ledger,
    RunStore,
    SpaceStore,
    StepStore,
)

__all__ = [
    "Completer",
    "CrossEncoder",
    "DocumentStore",
    "Embedder",
    "Entailment",
    "EntailmentJudge",
    "ExplorationStore",
    "Investigator",
    "Ledger",
    "Meter",
    "RelevanceJudge",
    "Reranker",
    "RunStore",
    "SpaceStore",
    "StepStore",
    "Verifier",
]
