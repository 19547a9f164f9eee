"""What the tests of asking back have in common: a vague question, what is proposed, and a small corpus."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pgclarify.dialogue import AmbiguityType, ClarifyingQuestion, ProposedQuestion
from pgclarify.model import CompletionRequest, Passage, Reading, Run
from pgclarify.pipelines.clarifying_questions import propose_questions
from pgclarify.pipelines.completions import Pace
from pgclarify.protocols import Embedder
from pgclarify.testing import (
    FakeDialogueStore,
    FakeEmbedder,
    FakeExplorationStore,
    FakeLedgerTable,
    FakeQuestioner,
    FakeStore,
    FakeVerifier,
    RunRecord,
)

QUESTION = "Lindvik harbor"
NOVEL = "A novel of that name was written by Ida Holm."
BERTH = "A berth costs forty crowns a night."
FERRY = "The ferry leaves at noon."
WHO, COST = "Who wrote the novel Lindvik Harbor?", "What does a berth cost?"
CONTENTS = (NOVEL, BERTH, FERRY)
PACE = Pace(first=0.001, longest=0.001)

SETTINGS: Mapping[str, object] = {
    "scheme": "at_cot",
    "form": "respond",
    "count": 5,
    "check": "drop",
    "search": "dense",
    "top_k": 3,
}


def proposal(
    asked: str | None = "Do you mean the novel?",
    reformulation: str | None = WHO,
    *,
    ambiguity_type: AmbiguityType = AmbiguityType.SEMANTIC,
) -> ProposedQuestion:
    return ProposedQuestion(ambiguity_type, "There is a novel of that name.", asked, reformulation)


PROPOSED = (
    proposal(),
    proposal("Do you want to keep a boat there?", COST, ambiguity_type=AmbiguityType.SPECIFY),
)
READINGS: Mapping[str, Reading] = {
    WHO + NOVEL: Reading(WHO, "Ida Holm", "written by Ida Holm"),
    COST + BERTH: Reading(COST, "forty crowns", "A berth costs forty crowns"),
}


class HarborVerifier(FakeVerifier):
    """Judges by a script whose keys are a question with a passage behind it."""

    def verdict_request(self, question: str, passage: Passage, *, retry: bool = False) -> CompletionRequest:
        key = question + passage.content
        return self._request("verdict", question, passage.content, sample=int(retry), content=key)


@dataclass
class Asked:
    """What became of a run."""

    run: Run
    record: RunRecord
    questions: list[ClarifyingQuestion] | None
    exploration: FakeExplorationStore
    questioner: FakeQuestioner
    verifier: FakeVerifier

    @property
    def said(self) -> list[str | None]:
        return [one.proposed.clarifying_question or one.proposed.reformulation for one in self.questions or []]

    def stages(self) -> list[tuple[str, int | None, int]]:
        return [(stage.name, stage.rows, stage.calls) for stage in self.record.stages]


async def ask_back(
    questioner: FakeQuestioner | None = None,
    verifier: FakeVerifier | None = None,
    *,
    is_checked: bool = True,
    first: Sequence[int] | None = None,
    gone: Sequence[int] = (),
    table: FakeLedgerTable | None = None,
    store: FakeStore | None = None,
    embedder: Embedder | None = None,
    question: str = QUESTION,
    **settings: object,
) -> Asked:
    """Carry a run out; by default, two proposals of which the corpus answers both."""
    questioner = questioner or FakeQuestioner({question: PROPOSED})
    verifier = verifier or HarborVerifier(dict(READINGS))
    store = store or FakeStore(table=table)
    passages = [Passage(f"d{number}", number, text, start_char=100 * number) for number, text in enumerate(CONTENTS, 1)]
    exploration = FakeExplorationStore(store, passages, first=first, gone=gone)
    dialogue = FakeDialogueStore(store)
    run = store.add_run(question, operation="clarifying_questions", settings={**SETTINGS, **settings})
    corpus_embedder = (embedder or FakeEmbedder()) if is_checked else None
    await propose_questions(run, store, exploration, dialogue, questioner, verifier, corpus_embedder, pace=PACE)
    return Asked(run, store.runs[run.run_id], dialogue.questions.get(run.run_id), exploration, questioner, verifier)
