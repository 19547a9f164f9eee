"""Shared by tests of asking back: a vague question, proposals, and a small corpus."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pgclarify.data.dialogue import ClarifyingQuestion, ProposedQuestion
from pgclarify.data.documents import Passage
from pgclarify.data.runs import Run
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import AmbiguityType
from pgclarify.errors import CompletionError
from pgclarify.operations.execution import execute
from tests.fakes import (
    FakeExplorationStore,
    FakeStore,
    RunRecord,
    scripts,
)
from tests.fakes.completer import Line, Prompt, ScriptedCompleter
from tests.fakes.context import context_of

QUESTION = "Lindvik harbor"
NOVEL = "Lindvik Harbor is a novel that was written by Ida Holm."
BERTH = "A berth costs forty crowns a night."
FERRY = "The ferry leaves at noon."
WHO, COST = "Who wrote the novel Lindvik Harbor?", "What does a berth cost?"
CONTENTS = (NOVEL, BERTH, FERRY)

SETTINGS: Mapping[str, object] = {
    "form": "select",
    "count": 5,
    "check": "drop",
    "method": "dense",
    "top_k": 3,
}


def proposal(reformulation: str, ambiguity_type: AmbiguityType = AmbiguityType.SEMANTIC) -> ProposedQuestion:
    return ProposedQuestion(ambiguity_type, "There is a novel of that name.", None, reformulation)


PROPOSED = (proposal(WHO), proposal(COST, AmbiguityType.SPECIFY))
READINGS: Mapping[str, Reading] = {
    WHO + NOVEL: Reading(WHO, "Ida Holm", "a novel that was written by Ida Holm"),
    COST + BERTH: Reading(COST, "forty crowns", "A berth costs forty crowns"),
}


def harbor(
    proposed: Mapping[str, object], verdicts: Mapping[str, Reading | CompletionError] | None = None
) -> ScriptedCompleter:
    """Proposals by question, and verdicts by a question followed by a passage."""
    known = READINGS if verdicts is None else verdicts

    def say(prompt: Prompt) -> Line:
        line = known.get(prompt.question + prompt.passage)
        return line if isinstance(line, CompletionError) else scripts.verdict_reply(line)

    return ScriptedCompleter({**scripts.proposals(proposed), "verdict": say})


@dataclass
class Asked:
    """The result of a run."""

    run: Run
    record: RunRecord
    questions: list[ClarifyingQuestion]
    exploration: FakeExplorationStore
    completer: ScriptedCompleter

    @property
    def said(self) -> list[str | None]:
        return [one.proposed.clarifying_question or one.proposed.reformulation for one in self.questions or []]

    def stages(self) -> list[tuple[str, int | None, int]]:
        return [(stage.name, stage.rows, stage.calls) for stage in self.record.stages]


async def ask_back(
    proposed: object = PROPOSED,
    verdicts: Mapping[str, Reading | CompletionError] | None = None,
    *,
    is_checked: bool = True,
    gone: Sequence[int] = (),
    **settings: object,
) -> Asked:
    """Execute a run. By default, the corpus answers both proposals."""
    completer = harbor({QUESTION: proposed}, verdicts)
    store = FakeStore()
    passages = [Passage(f"d{number}", number, text, start_char=100 * number) for number, text in enumerate(CONTENTS, 1)]
    exploration = FakeExplorationStore(store, passages, gone=gone)
    run = store.add_run(QUESTION, operation="clarifying_questions", settings={**SETTINGS, **settings})
    # Without a corpus, nothing can be checked.
    asked = run if is_checked else replace(run, corpus_id=None, embedding_model=None, dimensions=None)
    await execute(context_of(asked, store, completer, passages=exploration))
    record = store.runs[run.run_id]
    return Asked(run, record, record.results_of(ClarifyingQuestion), exploration, completer)
