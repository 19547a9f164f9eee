"""The interfaces that operations, the ledger and corpora depend on."""

from __future__ import annotations

from pgclarify.protocols.completers import (
    Begin,
    Completer,
)
from pgclarify.protocols.dialogues import DialogueStore
from pgclarify.protocols.models import (
    Classifier,
    CrossEncoder,
    Embedder,
    Entailment,
    Judged,
    Meter,
    Reranker,
    Said,
    SpanReader,
    TextsFailed,
)
from pgclarify.protocols.paid_texts import EmbeddingTally, PaidTexts, Payer, current_payer, paid_by
from pgclarify.protocols.rates import Booking, Rates
from pgclarify.protocols.stores import (
    CompletionKey,
    DocumentStore,
    EstimateStore,
    ExplorationStore,
    Ledger,
    LongDocumentStore,
    RunStore,
    SpaceStore,
    StepStore,
)
from pgclarify.protocols.urgency import Urgency, current_urgency, is_waited_for, urgent, waited_for

__all__ = [
    "Begin",
    "Booking",
    "Classifier",
    "Completer",
    "CompletionKey",
    "CrossEncoder",
    "DialogueStore",
    "DocumentStore",
    "Embedder",
    "EmbeddingTally",
    "Entailment",
    "EstimateStore",
    "ExplorationStore",
    "Judged",
    "Ledger",
    "LongDocumentStore",
    "Meter",
    "PaidTexts",
    "Payer",
    "Rates",
    "Reranker",
    "RunStore",
    "Said",
    "SpaceStore",
    "SpanReader",
    "StepStore",
    "TextsFailed",
    "Urgency",
    "current_payer",
    "current_urgency",
    "is_waited_for",
    "paid_by",
    "urgent",
    "waited_for",
]
