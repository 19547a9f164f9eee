"""The tables, as operations see them. Every statement is named in one of the *.sql files beside this one."""

from pgclarify.database.connections import Connections, with_keepalives
from pgclarify.database.dialogue import DialogueTables
from pgclarify.database.documents import Documents
from pgclarify.database.errors import translated
from pgclarify.database.estimates import EstimateTables
from pgclarify.database.evaluations import EvaluationTables
from pgclarify.database.exploration import ExplorationTables
from pgclarify.database.investigations import StepTables
from pgclarify.database.long_documents import LongDocuments
from pgclarify.database.pool import open_pool
from pgclarify.database.presence import Presence
from pgclarify.database.runs import LedgerTables, Runs, RunTables
from pgclarify.database.sessions import require_direct
from pgclarify.database.spaces import EmbeddingSpaces

__all__ = [
    "Connections",
    "DialogueTables",
    "Documents",
    "EmbeddingSpaces",
    "EstimateTables",
    "EvaluationTables",
    "ExplorationTables",
    "LedgerTables",
    "LongDocuments",
    "Presence",
    "RunTables",
    "Runs",
    "StepTables",
    "open_pool",
    "require_direct",
    "translated",
    "with_keepalives",
]
