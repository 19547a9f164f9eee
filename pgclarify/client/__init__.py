"""What applications import; `pgclarify` exports it.

Scripts say which statements each call sends, and what it returns of the rows: operations.py, documents.py, watching.py.
The clients in blocking.py and awaiting.py execute these scripts.
"""

from pgclarify.client.awaiting import AsyncClient, connect_async
from pgclarify.client.blocking import Client, connect
from pgclarify.client.dialogue_records import Ambiguity, ProposedQuestion, ReformulatedQuestion, RewrittenQuestion
from pgclarify.client.records import (
    Answer,
    Citation,
    CitedPassage,
    CorpusStatus,
    Estimate,
    Interpretation,
    Investigation,
    ListedAnswer,
    Neighbor,
    RunOutcome,
    SearchResult,
    Step,
    Verdict,
)
from pgclarify.client.results import Results
from pgclarify.data.vocabulary import Document

__all__ = [
    "Ambiguity",
    "Answer",
    "AsyncClient",
    "Citation",
    "CitedPassage",
    "Client",
    "CorpusStatus",
    "Document",
    "Estimate",
    "Interpretation",
    "Investigation",
    "ListedAnswer",
    "Neighbor",
    "ProposedQuestion",
    "ReformulatedQuestion",
    "Results",
    "RewrittenQuestion",
    "RunOutcome",
    "SearchResult",
    "Step",
    "Verdict",
    "connect",
    "connect_async",
]
