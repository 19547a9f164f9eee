"""Work on runs that have ended: group questions with the same meaning."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial

from pgvector import HalfVector

from pgclarify.database.pool import Pool, fetch
from pgclarify.errors import ConfigurationError, EmbeddingError, describe
from pgclarify.protocols import Embedder
from pgclarify.worker.maintenance import in_turn

_logger = logging.getLogger(__name__)

# A transaction takes a few tenths of a second, or longer if all words are new.
_MOST_RUNS = 200
# A few milliseconds.
_MOST_GROUPS = 2000
# Grouping yields to runs, because both need the CPU. But a queue may never be empty, so grouping waits only this long.
_MOST_BEHIND_SECONDS = 300.0
# A model that fails is retried soon. If it keeps failing, questions are grouped by words alone.
_RETRY_SECONDS = 60.0
_PATIENCE_SECONDS = 900.0


@dataclass(frozen=True, slots=True)
class _Failure:
    """When a model began to fail and when it was last tried, in seconds of the clock."""

    began_at: float
    tried_at: float


class QuestionGrouping:
    """Groups ended runs whose questions mean the same, and deletes groups without runs.

    Args:
        pool: The worker's connections.
        embedder: Loads a model by its name.
        turn: Lock that is held while questions are embedded; embedding documents and passages needs it too.
        is_busy: Whether the worker has more important work.
        clock: Returns seconds; only differences count.
    """

    def __init__(
        self,
        pool: Pool,
        embedder: Callable[[str], Awaitable[Embedder]],
        turn: asyncio.Lock,
        *,
        is_busy: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pool = pool
        self._embedder = embedder
        self._turn = turn
        self._is_busy = is_busy
        self._clock = clock
        self._behind_since: float | None = None
        self._failures: dict[str, _Failure] = {}
        self._pruned_to: int | None = None

    async def catch_up(self) -> None:
        """Group until nothing is left or the worker is busy. Ignore that it is busy if grouping waited too long.

        A question that was retrieved with in other words than it was asked in is embedded for that, unless its words
        are known.
        """
        vectors: dict[int, str | None] = {}
        if self._behind_since is None:
            self._behind_since = self._clock()
        while not self._is_busy() or self._clock() - self._behind_since >= _MOST_BEHIND_SECONDS:
            (row,) = await fetch(
                self._pool,
                "group_questions",
                most=_MOST_RUNS,
                run_ids=list(vectors),
                vectors=list(vectors.values()),
                skipped_models=[model for model in self._failures if self._is_skipped(model)],
            )
            if not row["grouped"] and not row["wanted_run_ids"]:
                self._behind_since = None
                return
            vectors = {}
            for model in sorted(set(row["wanted_models"])):
                wanted = {
                    run_id: question
                    for run_id, question, of in zip(
                        row["wanted_run_ids"], row["wanted_questions"], row["wanted_models"], strict=True
                    )
                    if of == model
                }
                vectors |= await self._embed(model, wanted)

    async def prune(self) -> None:
        """Check the next groups, and delete those whose runs were all deleted."""
        (row,) = await fetch(self._pool, "prune_question_groups", after=self._pruned_to, most=_MOST_GROUPS)
        self._pruned_to = row["seen"]

    def _is_skipped(self, model: str) -> bool:
        """Return whether questions wait for this model, which must not be tried again yet."""
        failure, now = self._failures[model], self._clock()
        return now - failure.tried_at < _RETRY_SECONDS and now - failure.began_at < _PATIENCE_SECONDS

    async def _embed(self, model: str, wanted: Mapping[int, str]) -> dict[int, str | None]:
        """Return vectors of questions as text, by run.

        None for a run that is grouped by words alone; no runs at all if they must wait for the model.
        """
        failure = self._failures.get(model)
        if failure is None or self._clock() - failure.tried_at >= _RETRY_SECONDS:
            try:
                embedder = await self._embedder(model)
                vectors = await in_turn(self._turn, partial(embedder.encode, list(wanted.values())))
            except (EmbeddingError, ConfigurationError) as error:
                _logger.warning("questions are not compared by meaning: %s", describe(error))
                now = self._clock()
                self._failures[model] = _Failure(now if failure is None else failure.began_at, tried_at=now)
            else:
                self._failures.pop(model, None)
                return {run_id: HalfVector(vector).to_text() for run_id, vector in zip(wanted, vectors, strict=True)}
        return {} if self._is_skipped(model) else dict.fromkeys(wanted)
