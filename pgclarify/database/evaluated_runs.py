"""What an evaluation asks about single runs and the workers behind them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pgclarify.database.evaluated_world import EvaluatedWorld
from pgclarify.evaluated import LivingJudge


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a run did beside what it found.

    Attributes:
        relaxed_question: As it searched; None if it searched with the question itself.
        stop_reason: Why it went no further; None if nothing stopped it.
        was_there: Whether it had been asked for before a certain time.
    """

    relaxed_question: str | None
    stop_reason: str | None
    was_there: bool


class EvaluatedRuns:
    """Reads runs and workers as whoever evaluates.

    Args:
        world: Where evaluations read.
    """

    def __init__(self, world: EvaluatedWorld) -> None:
        self._world = world

    async def serving(self, except_worker_id: int | None) -> list[LivingJudge]:
        """Who answers on the workers that live, each way once.

        Args:
            except_worker_id: A worker that serves nobody; None if there is none of ours.

        Raises:
            DatabaseError: If the server refuses.
        """
        rows = await self._world.fetch("eval_list_serving_workers", except_worker_id=except_worker_id)
        return [LivingJudge(**row) for row in rows]

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
        return RunFacts(**rows[0]) if rows else RunFacts(None, None, was_there=False)

    async def find(self, operation: str, question: str, corpus_id: int, settings: Mapping[str, Any]) -> int | None:
        """The latest run of the caller that asked a question in this way; None if there is none.

        Raises:
            DatabaseError: If the server refuses.
        """
        rows = await self._world.fetch(
            "eval_find_run",
            operation=operation,
            question=question,
            corpus_id=corpus_id,
            settings=json.dumps(settings),
        )
        run_id: int | None = rows[0]["run_id"]
        return run_id
