"""What tests of list_answers share: three passages, what a model says of them, and a run over them."""

from __future__ import annotations

from collections.abc import Sequence

from pgclarify.data.dialogue import ListedAnswer
from pgclarify.data.documents import Passage
from pgclarify.data.investigation import Evidence, Finding
from pgclarify.data.vocabulary import RunStatus
from pgclarify.errors import CompletionError, EndpointUnavailable
from pgclarify.operations.execution import execute
from tests.fakes import FakeDialogueStore, FakeEmbedder, FakeExplorationStore, FakeStore, RunRecord, scripts
from tests.fakes.completer import ScriptedCompleter
from tests.fakes.context import context_of

QUESTION = "Who played the queen in Lindvik Castle?"
FILM = "In the film of 2003, Ida Holm played the queen."
SERIES = "In the series of 1988, the queen was played by Ada Berg."
REVIEW = "After Ida Holm, Ada Berg: Holm is a fine queen, and Berg was the better one."
CONTENTS = (FILM, SERIES, REVIEW)
HOLM = Finding("Ida Holm", (Evidence(1, "Ida Holm played the queen"),))
BERG = Finding("Ada Berg", (Evidence(2, "the queen was played by Ada Berg"),))
HOLM_AGAIN = Finding("Holm", (Evidence(3, "Holm is a fine queen"),))
FROM_MEMORY = Finding("Eva Lund", (Evidence(1, FILM),))
MADE_UP = Finding("Eva Lund", (Evidence(1, "Eva Lund was the queen"),))
GONE = EndpointUnavailable("the model does not answer")
PROSE = "Ida Holm, I think."
Line = Finding | str | CompletionError
SETTINGS = {"method": "dense", "top_k": 20, "max_answers": 10}


def passages(contents: Sequence[str] = CONTENTS) -> list[Passage]:
    return [
        Passage(f"d{number}", number, content, start_char=100 * number) for number, content in enumerate(contents, 1)
    ]


class World:
    """A run of list_answers with its stores and models."""

    def __init__(
        self,
        *lines: Line | list[Line],
        contents: Sequence[str] = CONTENTS,
        question: str = QUESTION,
        lister: ScriptedCompleter | None = None,
        **settings: object,
    ) -> None:
        self.store = FakeStore(passages(contents))
        self.run = self.store.add_run(question, operation="list_answers", settings=SETTINGS | settings)
        self.exploration = FakeExplorationStore(self.store, passages(contents), gone=())
        self.dialogue = FakeDialogueStore(self.store)
        self.lister = scripts.lister(list(lines)) if lister is None else lister
        self.embedder = FakeEmbedder()

    async def carry_out(self) -> RunRecord:
        context = context_of(
            self.run,
            self.store,
            self.lister,
            passages=self.exploration,
            dialogue=self.dialogue,
            embedder=self.embedder,
        )
        await execute(context)
        return self.store.runs[self.run.run_id]

    @property
    def answers(self) -> list[ListedAnswer]:
        return self.dialogue.answers.get(self.run.run_id, [])


def ended(record: RunRecord) -> tuple[RunStatus, str | None]:
    return record.status, record.stop_reason
