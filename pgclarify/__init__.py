"""pgclarify: ask PostgreSQL a vague question; get the readings your documents can answer, each with its evidence.

    import pgclarify

    with pgclarify.connect() as client:
        for reading in client.clarify("rental cars", corpus="insurance"):
            print(reading.interpretation, reading.answer, reading.document_ids)

Errors are those of `pgclarify.errors`. Names are imported when they are first used, so that a program which only wants
the version, or the command line, does not wait for a database driver.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from pgclarify import errors

if TYPE_CHECKING:
    __version__: str

    from pgclarify.client.awaiting import AsyncClient, connect_async
    from pgclarify.client.blocking import Client, connect
    from pgclarify.client.parts import Citation
    from pgclarify.client.records import Answer, CitedPassage, CorpusStatus, Verdict
    from pgclarify.client.result_records import (
        Ambiguity,
        Estimate,
        Interpretation,
        Investigation,
        ListedAnswer,
        Neighbor,
        ProposedQuestion,
        RewrittenQuestion,
        RunOutcome,
        SearchResult,
        Step,
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
    "Results",
    "RewrittenQuestion",
    "RunOutcome",
    "SearchResult",
    "Step",
    "Verdict",
    "__version__",
    "connect",
    "connect_async",
    "errors",
]

# Type checkers use the imports above. If they saw this function, they would accept any name.
if not TYPE_CHECKING:

    def __getattr__(name):  # noqa: ANN001, ANN202
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if name == "__version__":
            return import_module("importlib.metadata").version("pgclarify")
        homes = ("blocking", "awaiting", "results", "records", "result_records", "parts")
        modules = map(import_module, [*(f"pgclarify.client.{home}" for home in homes), "pgclarify.data.vocabulary"])
        return next(getattr(module, name) for module in modules if hasattr(module, name))

    def __dir__():  # noqa: ANN202
        return sorted(__all__)
