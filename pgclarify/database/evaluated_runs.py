"""What an evaluation asks about single runs and the workers behind them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pgclarify.database.evaluated_world import EvaluatedWorld
from pgclarify.vocabulary import RunStatus


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a run did beside what it found.

    Attributes:
        status: How it stands; None of one that the caller may not see.
        relaxed_question: As it searched; None if it searched with the question itself.
        stop_reason: Why it went no further; None if nothing stopped it.
        error_code: Why it failed, as a SQLSTATE; of a partial rewrite, why its call failed; None otherwise.
        was_there: Whether it had been asked for before a certain time.
        retrievals: How often it searched the corpus; neighbors of passages, which a graph has, are no search.
    """

    status: RunStatus | None
    relaxed_question: str | None
    stop_reason: str | None
    error_code: str | None
    was_there: bool
    retrievals: int


class EvaluatedRuns:
    """Reads runs and workers as whoever evaluates.

    Args:
        world: Where evaluations read.
    """

    def __init__(self, world: EvaluatedWorld) -> None:
        self._world = world

    async def now(self) -> datetime:
        """The server's clock.

        Raises:
            DatabaseError: If the server refuses.
        """
        (row,) = await self._world.fetch("eval_get_time")
        now: datetime = row["now"]
        return now

    async def facts(self, run_id: int, time: datetime) -> RunFacts:
        """What a run did beside what it found; nothing of one that the caller may not see.

        Args:
            run_id: The run.
            time: Before which it may have been asked for.

        Raises:
            DatabaseError: If the server refuses.
        """
        rows = await self._world.fetch("eval_get_run_facts", run_id=run_id, time=time)
        if not rows:
            return RunFacts(None, None, None, None, was_there=False, retrievals=0)
        return RunFacts(**{**rows[0], "status": RunStatus(rows[0]["status"])})

    async def find_reply(self, run_id: int) -> int | None:
        """The latest run of reply to what a run asked back; None if the caller can see none.

        Args:
            run_id: Of clarifying_questions.

        Raises:
            DatabaseError: If the server refuses.
        """
        rows = await self._world.fetch("eval_find_reply", run_id=run_id)
        return rows[0]["run_id"] if rows else None

    async def find(
        self, operation: str, question: str, corpus_id: int, settings: Mapping[str, Any], *, since: datetime
    ) -> int | None:
        """The run of a call that told no number: the caller's latest that answered; None if there is none.

        Args:
            operation: Which was called.
            question: With which question.
            corpus_id: On which corpus.
            settings: With which parameters, by the names of column run.settings.
            since: When it was called, by the server's clock: earlier runs had other parameters, maybe.

        Raises:
            DatabaseError: If the server refuses.
        """
        rows = await self._world.fetch(
            "eval_find_run",
            operation=operation,
            question=question,
            corpus_id=corpus_id,
            settings=json.dumps(settings),
            since=since,
        )
        run_id: int | None = rows[0]["run_id"]
        return run_id
