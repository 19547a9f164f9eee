"""What applications import; `pgclarify` exports it.

Scripts (asking.py, documents.py) say what each call sends and what it makes of the rows; blocking.py and awaiting.py
carry them out.
"""

from pgclarify.client.awaiting import AsyncClient, connect_async
from pgclarify.client.blocking import Client, connect
from pgclarify.client.records import (
    Answer,
    Citation,
    CorpusStatus,
    Interpretation,
    RunOutcome,
    SearchResult,
    Verdict,
)
from pgclarify.model import Document, Outcome, RunStatus

__all__ = [
    "Answer",
    "AsyncClient",
    "Citation",
    "Client",
    "CorpusStatus",
    "Document",
    "Interpretation",
    "Outcome",
    "RunOutcome",
    "RunStatus",
    "SearchResult",
    "Verdict",
    "connect",
    "connect_async",
]
