"""What applications import; `pgclarify` exports it.

Scripts say which statements each call sends, and what it returns of the rows: asking.py, conversing.py, detecting.py,
documents.py, estimating.py, explaining.py, investigating.py, listing.py, submitting.py, watching.py. The clients in
blocking.py and awaiting.py execute these scripts.
"""

from pgclarify.client.awaiting import AsyncClient, connect_async
from pgclarify.client.blocking import Client, connect
from pgclarify.client.dialogue_records import (
    Ambiguity,
    AmbiguityReason,
    EvidenceCitation,
    ListedAnswer,
    ProposedQuestion,
    ReformulatedQuestion,
    RewrittenQuestion,
    Route,
)
from pgclarify.client.estimating import Estimate
from pgclarify.client.records import (
    Answer,
    Citation,
    CorpusStatus,
    Interpretation,
    Investigation,
    RunOutcome,
    SearchResult,
    Step,
    StepCitation,
    Verdict,
)
from pgclarify.vocabulary import AmbiguityType, Document, Outcome, RunStatus, StepKind, StepOutcome, StopCode

__all__ = [
    "Ambiguity",
    "AmbiguityReason",
    "AmbiguityType",
    "Answer",
    "AsyncClient",
    "Citation",
    "Client",
    "CorpusStatus",
    "Document",
    "Estimate",
    "EvidenceCitation",
    "Interpretation",
    "Investigation",
    "ListedAnswer",
    "Outcome",
    "ProposedQuestion",
    "ReformulatedQuestion",
    "RewrittenQuestion",
    "Route",
    "RunOutcome",
    "RunStatus",
    "SearchResult",
    "Step",
    "StepCitation",
    "StepKind",
    "StepOutcome",
    "StopCode",
    "Verdict",
    "connect",
    "connect_async",
]
