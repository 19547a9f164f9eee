"""The tables, as the pipelines see them: every statement named in *.sql beside this file, every write of a run in a batch."""

from pgclarify.database.documents import Documents
from pgclarify.database.errors import translated
from pgclarify.database.pool import open_pool
from pgclarify.database.presence import Presence
from pgclarify.database.runs import RunTables, Runs

__all__ = ["Documents", "Presence", "RunTables", "Runs", "open_pool", "translated"]
