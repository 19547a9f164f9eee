"""A corpus with two readings of "rental cars", replies about it, and a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pgclarify.data.documents import Passage
from pgclarify.data.runs import Run
from pgclarify.data.verdicts import Reading
from pgclarify.database.exploration import ExplorationTables
from pgclarify.operations.execution import execute
from pgclarify.operations.retrieval.reranking import Rerankers
from pgclarify.protocols import Completer, Embedder
from tests.fakes import FakeStore, RunRecord
from tests.fakes.context import context_of

# Three readings of "rental cars": two documents say the same about coverage.
COVERED = "Rental cars are covered up to 30 dollars a day. Keep the receipt."
ALSO_COVERED = "In short: Rental cars are covered up to 30 dollars a day."
DRIVERS = "Every driver of a rental car must hold a license for two years."
ASIDE = "Rental offices are often near an airport."
QUOTE = "Rental cars are covered up to 30 dollars a day."

COVERAGE = Reading("How much does the basic policy pay for a rental car?", "up to 30 dollars a day", QUOTE)
LICENSE = Reading("How long must a driver have held a license?", "two years", DRIVERS)


def passage(document_id: str, content: str, *, passage_id: int = 1, start_char: int = 0) -> Passage:
    return Passage(document_id, passage_id, content, start_char=start_char)


async def carry_out(
    passages: Sequence[Passage],
    verifier: Completer,
    *,
    store: FakeStore | None = None,
    embedder: Embedder | None = None,
    settings: Mapping[str, object] | None = None,
) -> RunRecord:
    store = FakeStore(passages) if store is None else store
    run = store.add_run("rental cars", settings=settings)
    await clarify_with(store, run, verifier, embedder)
    return store.runs[run.run_id]


async def clarify_with(
    store: FakeStore,
    run: Run,
    verifier: Completer,
    embedder: Embedder | None = None,
    *,
    exploration: ExplorationTables | None = None,
    rerankers: Rerankers | None = None,
) -> None:
    context = context_of(run, store, verifier, passages=exploration, embedder=embedder, rerankers=rerankers)
    await execute(context)


def corpus() -> list[Passage]:
    return [
        passage("drivers", DRIVERS),
        passage("policy", COVERED),
        passage("aside", ASIDE),
        passage("faq", ALSO_COVERED),
    ]


def script() -> dict[str, Reading | None]:
    return {COVERED: COVERAGE, ALSO_COVERED: COVERAGE, DRIVERS: LICENSE, ASIDE: None}
