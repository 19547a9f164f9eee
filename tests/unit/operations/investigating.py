"""Shared by tests of investigations: a small corpus, a script, and judges of answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from unittest.mock import patch

from pgclarify.data.candidates import Candidate
from pgclarify.data.documents import Passage
from pgclarify.data.investigation import Evidence, Finding, Step
from pgclarify.data.runs import Run
from pgclarify.database.ledger import LedgerTables
from pgclarify.ledger.calls import Calls
from pgclarify.operations.execution import execute
from pgclarify.operations.investigation import gathering
from pgclarify.operations.investigation.entailment import Entailments
from pgclarify.operations.retrieval.reranking import Rerankers
from pgclarify.protocols import Embedder, Entailment, SpanReader
from tests.fakes import (
    FakeEmbedder,
    FakeEntailment,
    FakeExplorationStore,
    FakeLedgerTable,
    FakeStore,
    RunRecord,
)
from tests.fakes.completer import ScriptedCompleter
from tests.fakes.context import context_of, no_cross_encoder

QUESTION = "Where was the painter of the Lindvik Altar born?"
WHO = "Who painted the Lindvik Altar?"
WHERE = "Where was Ida Holm born?"

ALTAR = "The altar was painted by Ida Holm in 1903."
BIRTH = "Ida Holm was born in Ortval, a fishing village."
CASTLE = "Lindvik Castle opens at 10 am."
RIVAL = "Ida Holm was born in Lindvik, says her sister."
CONTENTS = (ALTAR, BIRTH, CASTLE, RIVAL)

PAINTER = Finding("Ida Holm", (Evidence(1, "painted by Ida Holm"),))
BIRTHPLACE = Finding("Ortval", (Evidence(2, BIRTH),))

PLAN = (WHO, "Where was #1 born?")
ANSWERS = {WHO: PAINTER, WHERE: BIRTHPLACE}
SAMPLES = {WHO: ["Ida Holm"], WHERE: ["Ortval"]}

SETTINGS: Mapping[str, object] = {
    "method": "dense",
    "retrieval": "adaptive",
    "reranker": "signal",
    "top_k": 4,
    "max_passages": 4,
    "max_steps": 4,
    "max_calls": 60,
    "entailment": "pairs",
    "samples": 2,
    "meta": False,
}


def passages(contents: Sequence[str] = CONTENTS) -> list[Passage]:
    return [
        Passage(f"d{number}", number, content, start_char=100 * number) for number, content in enumerate(contents, 1)
    ]


class SameWords(Entailments):
    """Only equal answers entail each other, for each judge that settings can name."""

    async def get(
        self, name: str, ledger: LedgerTables, embedder: Embedder, *, calls: Calls | None = None
    ) -> Entailment:
        return FakeEntailment()


@dataclass
class Told:
    """The result of a run."""

    run: Run
    record: RunRecord
    steps: list[Step]
    exploration: FakeExplorationStore
    investigator: ScriptedCompleter

    @property
    def end(self) -> Step:
        return self.steps[-1]

    @property
    def outcomes(self) -> list[tuple[str, str]]:
        return [(step.kind.value, step.outcome.value) for step in self.steps]

    def candidates(self, step_ordinal: int) -> list[Candidate]:
        return [one for one in self.record.candidates if one.step_ordinal == step_ordinal]


async def carry_out(
    investigator: ScriptedCompleter,
    *,
    contents: Sequence[str] = CONTENTS,
    first: Sequence[int] | None = None,
    neighbors: Mapping[int, Sequence[int]] | None = None,
    signals: Mapping[int, float] | None = None,
    gone: Sequence[int] = (),
    table: FakeLedgerTable | None = None,
    embedder: FakeEmbedder | None = None,
    rerankers: Rerankers | None = None,
    entailments: Entailments | None = None,
    reader: SpanReader | None = None,
    question: str = QUESTION,
    batch: int = 4,
    **settings: object,
) -> Told:
    store = FakeStore(table=table)
    exploration = FakeExplorationStore(
        store, passages(contents), first=first, neighbors=neighbors, signals=signals, gone=gone
    )
    run = store.add_run(question, operation="investigate", settings={**SETTINGS, **settings})
    context = context_of(
        run,
        store,
        investigator,
        passages=exploration,
        embedder=embedder,
        reader=reader,
        rerankers=rerankers,
        entailments=entailments or SameWords(None, no_cross_encoder),
    )
    with patch.object(gathering, "BATCH_SIZE", batch):
        await execute(context)
    return Told(run, store.runs[run.run_id], store.runs[run.run_id].results_of(Step), exploration, investigator)
