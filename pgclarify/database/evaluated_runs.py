"""Reads single runs and their workers, for evaluations."""

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
    """What a run did, besides its result.

    Attributes:
        status: Its state; None if the caller may not see the run.
        relaxed_question: The relaxed question that it searched with; None if it used the question itself.
        stop_reason: Why it stopped early; None if it did not.
        stop_code: The code of that reason, or another reason why its result is not complete; None if it is.
        error_code: Why it failed, as a SQLSTATE; for a partial run, why calls failed; else None.
        failure: For a run with an error_code, the message of a call that failed; None if no table has one.
        was_there: Whether it existed before a given time.
        retrievals: How often it searched the corpus. Looking up neighbors in the graph does not count.
    """

    status: RunStatus | None
    relaxed_question: str | None
    stop_reason: str | None
    stop_code: str | None
    error_code: str | None
    failure: str | None
    was_there: bool
    retrievals: int


class EvaluatedRuns:
    """Reads runs and workers as the role that evaluates.

    Args:
        world: Reads what evaluations need.
    """

    def __init__(self, world: EvaluatedWorld) -> None:
        self._world = world

    async def now(self) -> datetime:
        """The server's clock.

        Raises:
            DatabaseError: If the server refuses.
        """
        (row,) = await self._world.fetch("client_get_time")
        now: datetime = row["now"]
        return now

    async def facts(self, run_id: int, time: datetime) -> RunFacts:
        """Return what a run did; empty if the caller may not see it.

        Args:
            run_id: The run.
            time: The time for was_there.

        Raises:
            DatabaseError: If the server refuses.
        """
        rows = await self._world.fetch("eval_get_run_facts", run_id=run_id, time=time)
        if not rows:
            return RunFacts(None, None, None, None, None, None, was_there=False, retrievals=0)
        return RunFacts(**{**rows[0], "status": RunStatus(rows[0]["status"])})

    async def find_reply(self, run_id: int) -> int | None:
        """Find the latest run of reply to a run of clarifying_questions; None if the caller can see none.

        Args:
            run_id: The run of clarifying_questions.

        Raises:
            DatabaseError: If the server refuses.
        """
        rows = await self._world.fetch("eval_find_reply", run_id=run_id)
        return rows[0]["run_id"] if rows else None

    async def find(
        self, operation: str, question: str, corpus_id: int, settings: Mapping[str, Any], *, since: datetime
    ) -> int | None:
        """Find the run of a call that returned no run id: the caller's latest that answered; None if there is none.

        Args:
            operation: The operation.
            question: Its question.
            corpus_id: Its corpus.
            settings: Its parameters, by the names of column run.settings.
            since: The time of the call, by the server's clock, because earlier runs may have had other parameters.

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
