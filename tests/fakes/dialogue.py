"""The tables of a dialogue, in memory."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from pgclarify.data.dialogue import (
    MatchedRule,
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
        routes: By run_id.
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
        self.routes: dict[int, str] = {}
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

    async def record_route(self, run: Run, route: str) -> None:
        """Store the route."""
        await self._store.record(run)
        self.routes[run.run_id] = route

    async def turns(self, run: Run) -> tuple[str, list[Turn]]:
        """Read the conversation."""
        await self._store.record(run)
        return self._conversations[run.run_id]
