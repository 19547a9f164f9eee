"""The tables, as operations see them. Every statement is named in one of the *.sql files beside this one.

A module is imported when one of its names is first used. The client needs two small modules of this folder, and must
not wait for the others and for numpy.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

_MODULES = {
    "Connections": "connections",
    "DialogueTables": "dialogue",
    "Documents": "documents",
    "EmbeddingSpaces": "spaces",
    "EstimateTables": "estimates",
    "EvaluationTables": "evaluations",
    "ExplorationTables": "exploration",
    "LedgerTables": "runs",
    "LongDocuments": "long_documents",
    "Presence": "presence",
    "RunTables": "runs",
    "Runs": "runs",
    "StepTables": "investigations",
    "open_pool": "pool",
    "require_direct": "sessions",
    "translated": "errors",
    "with_keepalives": "connections",
}

# Type checkers see the imports above, and would take any name for an export if they saw this.
if not TYPE_CHECKING:

    def __getattr__(name):  # noqa: ANN001, ANN202
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
