"""The interfaces of models and endpoints, and what the code between a run and a model reads of the run."""

from __future__ import annotations

from pgclarify.protocols.completers import (
    Begin,
    Completer,
)
from pgclarify.protocols.models import (
    CrossEncoder,
    Embedder,
    Entailment,
    Meter,
    Reranker,
    SpanReader,
    TextsFailed,
)
from pgclarify.protocols.paid_texts import EmbeddingTally, PaidTexts, Payer, current_payer, paid_by
from pgclarify.protocols.rates import Booking, Rates
from pgclarify.protocols.urgency import Urgency, current_urgency, is_waited_for, urgent, waited_for

__all__ = [
    "Begin",
    "Booking",
    "Completer",
    "CrossEncoder",
    "Embedder",
    "EmbeddingTally",
    "Entailment",
    "Meter",
    "PaidTexts",
    "Payer",
    "Rates",
    "Reranker",
    "SpanReader",
    "TextsFailed",
    "Urgency",
    "current_payer",
    "current_urgency",
    "is_waited_for",
    "paid_by",
    "urgent",
    "waited_for",
]
