"""What runs read about a question: rules of ambiguity, trained classifiers and turns of conversations."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final
from weakref import WeakValueDictionary

from pgclarify.data.dialogue import (
    MatchedRule,
    TrainedVersion,
    Turn,
)
from pgclarify.data.runs import Run
from pgclarify.database.pool import fetch_within
from pgclarify.database.runs import Runs
from pgclarify.errors import ConfigurationError, DatabaseError

# Owners of corpora write the patterns, which can be arbitrarily slow. So a statement that matches them is limited in
# time, only one runs at a time for a corpus, and a few in all: questions of other corpora do not wait for it.
_MATCHING_LIMIT: Final = "10s"
_MOST_MATCHINGS: Final = 3
# Enough for about a thousand usual questions, or ten of the longest.
_CHARS_AT_ONCE: Final = 100_000
_PROGRAM_LIMIT_EXCEEDED: Final = "54000"


class DialogueTables:
    """Rules of ambiguity, trained classifiers, turns and routes of the runs of a worker."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._matching = asyncio.Semaphore(_MOST_MATCHINGS)
        self._matching_of: WeakValueDictionary[int | None, asyncio.Lock] = WeakValueDictionary()

    async def match_rules(self, run: Run, questions: Sequence[str]) -> list[MatchedRule]:
        """Find the rules of ambiguity that questions match: those for all corpora, and those for the run's.

        Returns:
            By question, then by rule.

        Raises:
            RunLost: If the run is no longer this worker's.
            ConfigurationError: If a rule takes too long; it names the rule.
        """
        matched: list[MatchedRule] = []
        turn = self._matching_of.setdefault(run.corpus_id, asyncio.Lock())
        for start, some in _slices(questions):
            try:
                async with turn, self._matching:
                    rows = await fetch_within(
                        self._runs.pool,
                        _MATCHING_LIMIT,
                        "match_ambiguity_rules",
                        run_id=run.run_id,
                        attempt=run.attempt,
                        questions=some,
                    )
            except DatabaseError as error:
                if error.sqlstate != _PROGRAM_LIMIT_EXCEEDED:
                    raise
                # Only the author of the rule can fix it. Trying again would take as long.
                raise ConfigurationError(
                    error.message, detail=error.detail, hint=error.hint, sqlstate=error.sqlstate
                ) from error
            found = (MatchedRule(**row) for row in rows)
            matched += [replace(rule, ordinal=start + rule.ordinal) for rule in found]
        return sorted(matched, key=lambda rule: (rule.ordinal, rule.ambiguity_rule_id))

    async def trained_classifier(
        self, run: Run, known_ids: Collection[int]
    ) -> tuple[int, TrainedVersion | None] | None:
        """Find the trained version that judges the questions of a run's corpus.

        Args:
            run: The run, which has a corpus.
            known_ids: Keys of versions that the caller has read before: none of them ever changes.

        Returns:
            Its key and the version, or the key alone if it is known; None if the classifier that ships judges.

        Raises:
            RunLost: If the run is no longer this worker's.
        """
        found = await self._runs.fetch(run, "classifier_of_run", known_ids=list(known_ids))
        for row in found:
            key = row.pop("trained_classifier_id")
            return key, None if row["weights"] is None else TrainedVersion(**row)
        return None

    async def record_route(self, run: Run, route: str) -> None:
        """Store the route of a run with ask_back when_vague.

        Args:
            run: The run.
            route: answered or clarified.

        Raises:
            RunLost: If the run is no longer this worker's.
        """
        await self._runs.fetch(run, "record_route", route=route)

    async def turns(self, run: Run) -> tuple[str, list[Turn]]:
        """Read the conversation that a run of reply continues.

        Returns:
            The original question; and the questions and replies since then, in order. The last one is the turn of this
            run.

        Raises:
            RunLost: If the run is no longer this worker's.
        """
        rows = await self._runs.fetch(run, "conversation_turns")
        return rows[0]["question"], [Turn(asked=row["asked"], reply=row["reply"]) for row in rows]


def _slices(questions: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Split questions into lists of limited length, each with the number of questions before it."""
    start = length = 0
    for place, question in enumerate(questions):
        if place > start and length + len(question) > _CHARS_AT_ONCE:
            yield start, list(questions[start:place])
            start, length = place, 0
        length += len(question)
    if questions:
        yield start, list(questions[start:])
