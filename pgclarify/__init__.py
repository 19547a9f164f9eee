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

    from pgclarify.client import (
        Ambiguity,
        Answer,
        AsyncClient,
        Citation,
        CitedPassage,
        Client,
        CorpusStatus,
        Document,
        Estimate,
        Interpretation,
        Investigation,
        ListedAnswer,
        Neighbor,
        ProposedQuestion,
        ReformulatedQuestion,
        Results,
        RewrittenQuestion,
        RunOutcome,
        SearchResult,
        Step,
        Verdict,
        connect,
        connect_async,
    )

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
        return getattr(import_module("pgclarify.client"), name)

    def __dir__():  # noqa: ANN202
        return sorted(__all__)
