"""What the parts of one investigation share."""

from __future__ import annotations

from dataclasses import dataclass, field

from pgclarify.errors import CompletionError
from pgclarify.ledger.calls import Calls
from pgclarify.operations.context import RunContext
from pgclarify.operations.investigation.uncertainty import SemanticEquivalence
from pgclarify.protocols import Embedder, Reranker


@dataclass(frozen=True, slots=True)
class InvestigationContext:
    """What the parts of one investigation share: its models, its remaining calls, and the errors so far.

    Attributes:
        context: The run; settings: method, retrieval, top_k, max_passages, max_steps, samples.
        embedder: The corpus's model.
        reranker: Scores passages; None for the retrieval signal that the first stage does not use.
        calls: The run's remaining calls.
        equivalence: Compares sampled answers by meaning; None if none are sampled.
        errors: The errors so far.
    """

    context: RunContext
    embedder: Embedder
    reranker: Reranker | None
    calls: Calls
    equivalence: SemanticEquivalence | None
    errors: list[CompletionError] = field(default_factory=list)
