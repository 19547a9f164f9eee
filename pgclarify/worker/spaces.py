"""Embedding spaces: loads the models of new spaces, and takes the steps that follow."""

from __future__ import annotations

import asyncio
import logging
from functools import partial

from pgclarify.corpora.embedding_models import public_reason
from pgclarify.corpora.splitting import chunker_of
from pgclarify.database.pool import Pool, fetch, fetch_value
from pgclarify.embedding.registry import Embedders
from pgclarify.errors import DatabaseError, ModelNotFound, PgclarifyError, ServerUnavailable, describe

_logger = logging.getLogger(__name__)

_RECONNECT_SECONDS = 2.0
_MODEL_RETRY_SECONDS = 30.0


class Spaces:
    """Opens new spaces. Each model has its own task, because the search for a missing model can take a minute."""

    def __init__(self, pool: Pool, embedders: Embedders) -> None:
        self._pool = pool
        self._embedders = embedders
        self._opening: dict[str, asyncio.Task[None]] = {}

    async def open_new(self) -> None:
        """Begin to load the models of spaces that wait."""
        waiting: dict[str, list[int]] = {}
        for space in await fetch(self._pool, "building_spaces"):
            waiting.setdefault(space["model"], []).append(space["embedding_space_id"])
        for model, space_ids in waiting.items():
            if model not in self._opening:
                task = asyncio.create_task(self._open(model, space_ids))
                self._opening[model] = task
                task.add_done_callback(partial(self._forget, model))

    async def advance(self) -> None:
        """Take the next step of spaces that are opened, complete, replaced or given up, until no step is left."""
        is_moving = True
        while is_moving:
            is_moving = False
            for space in await fetch(self._pool, "due_spaces"):
                space_id = space["embedding_space_id"]
                try:
                    is_done = await fetch_value(self._pool, "advance_space", embedding_space_id=space_id)
                except ServerUnavailable:
                    raise
                except DatabaseError as error:
                    # A space that cannot go on must not block the others.
                    _logger.warning("space %d has to wait: %s", space_id, describe(error))
                else:
                    is_moving = is_moving or is_done

    async def _open(self, model: str, space_ids: list[int]) -> None:
        try:
            # The dimensions of a space never change, so an earlier answer of an endpoint is not enough.
            self._embedders.forget(model)
            embedder = await self._embedders.get(model)
            chunker_of(embedder)
        except Exception as error:  # any error: a folder or a download may have any content
            reason = public_reason(model, error)
            # The log has it already if the hub does not have the model.
            if not (isinstance(error, ModelNotFound) and error.is_lasting):
                # Log the traceback of an error that is not our own.
                trace = None if isinstance(error, PgclarifyError) else error
                _logger.warning("embedding model %r cannot be used: %s", model, describe(error), exc_info=trace)
            for space_id in space_ids:
                await self._refuse(space_id, reason)
            await asyncio.sleep(_MODEL_RETRY_SECONDS)
            return
        pause = 0.0
        for space_id in space_ids:
            try:
                await fetch(self._pool, "open_space", embedding_space_id=space_id, dimensions=embedder.dimensions)
            except ServerUnavailable:
                raise
            except DatabaseError as error:
                if error.is_about_data:
                    await self._refuse(space_id, describe(error))
                    pause = _MODEL_RETRY_SECONDS
                else:
                    _logger.warning("space %d could not be opened, trying again: %s", space_id, describe(error))
                    pause = max(pause, _RECONNECT_SECONDS)
        await asyncio.sleep(pause)

    async def _refuse(self, space_id: int, reason: str) -> None:
        try:
            await fetch(self._pool, "note_space_error", embedding_space_id=space_id, error=reason)
        except ServerUnavailable:
            raise
        except DatabaseError as error:
            _logger.warning("space %d keeps no reason: %s", space_id, describe(error))

    def _forget(self, model: str, task: asyncio.Task[None]) -> None:
        del self._opening[model]
        if not task.cancelled() and (error := task.exception()) is not None:
            _logger.warning("the spaces of model %s could not be opened, trying again: %s", model, error)

    async def close(self) -> None:
        """Cancel the tasks that still load models."""
        tasks = list(self._opening.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
