"""What applications import; `pgclarify` exports it.

Scripts (asking.py, documents.py, investigating.py, watching.py) say what each call sends and what it makes of the rows;
blocking.py and awaiting.py carry them out.
"""

from pgclarify.client.awaiting import AsyncClient, connect_async
from pgclarify.client.blocking import Client, connect
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
from pgclarify.model import Document, Outcome, RunStatus
from pgclarify.steps import StepKind, StepOutcome

__all__ = [
    "Answer",
    "AsyncClient",
    "Citation",
    "Client",
    "CorpusStatus",
    "Document",
    "Interpretation",
    "Investigation",
    "Outcome",
    "RunOutcome",
    "RunStatus",
    "SearchResult",
    "Step",
    "StepCitation",
    "StepKind",
    "StepOutcome",
    "Verdict",
    "connect",
    "connect_async",
]
