"""The tables of a dialogue, in memory."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from pgclarify.data.dialogue import (
    ClarifyingQuestion,
    Detection,
    ListedAnswer,
    MatchedRule,
    Rewriting,
    TrainedVersion,
    Turn,
)
from pgclarify.data.runs import Run
from pgclarify.database.dialogue import DialogueTables
from tests.fakes.store import FakeStore


class FakeDialogueStore(DialogueTables):
    """The tables of a dialogue of the runs of a `FakeStore`, in memory.

    Args:
        store: The store of the runs.
        rules: Rules of ambiguity for all corpora, in order: pattern (a Python regular expression), kind, note.
        conversations: By run_id of a reply: the first question, and the turns.

    Attributes:
        trained: The trained version that judges the questions of all corpora, with its key; None for none.
        sent: Keys of the trained versions that were read, in order.
        detections: By run_id.
        routes: By run_id.
        rewritings: By run_id.
        questions: By run_id.
        answers: By run_id, in order.
    """

    def __init__(
        self,
        store: FakeStore,
        *,
        rules: Sequence[tuple[str, str, str | None]] = (),
        conversations: Mapping[int, tuple[str, list[Turn]]] | None = None,
    ) -> None:
        self.trained: tuple[int, TrainedVersion] | None = None
        self.sent: list[int] = []
        self.detections: dict[int, list[Detection]] = {}
        self.routes: dict[int, str] = {}
        self.rewritings: dict[int, Rewriting] = {}
        self.questions: dict[int, list[ClarifyingQuestion]] = {}
        self.answers: dict[int, list[ListedAnswer]] = {}
        self._store = store
        self._rules = list(rules)
        self._conversations = dict(conversations or {})

    async def match_rules(self, run: Run, questions: Sequence[str]) -> list[MatchedRule]:
        """Match the rules."""
        await self._store.record(run)
        found = []
        for ordinal, question in enumerate(questions, start=1):
            for number, (pattern, kind, note) in enumerate(self._rules, start=1):
                match = re.search(pattern, question, re.IGNORECASE)
                if match is not None:
                    found.append(MatchedRule(ordinal, number, kind, note, match[0]))
        return found

    async def trained_classifier(
        self, run: Run, known_ids: Collection[int]
    ) -> tuple[int, TrainedVersion | None] | None:
        """Return the version."""
        await self._store.record(run)
        if self.trained is None:
            return None
        key, trained = self.trained
        if key in known_ids:
            return key, None
        self.sent.append(key)
        return key, trained

    async def record_detections(self, run: Run, detections: Sequence[Detection]) -> None:
        """Store the result of a detection."""
        await self._store.record(run)
        self.detections[run.run_id] = list(detections)

    async def record_route(self, run: Run, route: str) -> None:
        """Store the route."""
        await self._store.record(run)
        self.routes[run.run_id] = route

    async def record_rewriting(self, run: Run, rewriting: Rewriting) -> None:
        """Store the question."""
        await self._store.record(run)
        self.rewritings[run.run_id] = rewriting

    async def record_clarifying_questions(self, run: Run, questions: Sequence[ClarifyingQuestion]) -> None:
        """Store the clarifying questions."""
        await self._store.record(run)
        self.questions[run.run_id] = list(questions)

    async def turns(self, run: Run) -> tuple[str, list[Turn]]:
        """Read the conversation."""
        await self._store.record(run)
        return self._conversations[run.run_id]

    async def record_answers(self, run: Run, answers: Sequence[ListedAnswer]) -> None:
        """Store the answers."""
        await self._store.record(run)
        self.answers[run.run_id] = list(answers)
