"""A worker's entry in the database, alive as long as one session of its own."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.rows import dict_row

from pgclarify.database.errors import translated
from pgclarify.database.queries import queries


@dataclass(frozen=True, slots=True)
class Presence:
    """An open session that holds the worker's advisory lock: while it lives, the worker does.

    Attributes:
        worker_id: The worker's key.
    """

    worker_id: int
    _connection: psycopg.AsyncConnection[dict[str, Any]]

    @classmethod
    @asynccontextmanager
    async def enter(
        cls, dsn: str, *, version: str, provider: str, model: str, prompt_version: str, is_serving: bool = True
    ) -> AsyncIterator[Presence]:
        """Enter a worker and hold its lock.

        Args:
            dsn: Connection string of the database.
            version: Of pgclarify.
            provider: openai or extractive.
            model: Model that it asks.
            prompt_version: Version of its prompts.
            is_serving: False for a process that only leases replies of the ledger: nobody who asks may wait for it.

        Raises:
            ServerUnavailable: If there is no connection.
            DatabaseError: If the role may not work.
        """
        with translated():
            connection = await psycopg.AsyncConnection.connect(
                dsn, autocommit=True, row_factory=dict_row, application_name="pgclarify worker"
            )
        async with connection:
            with translated():
                is_held = False
                while not is_held:
                    cursor = await connection.execute(
                        queries["register_worker"],
                        {
                            "host": socket.gethostname(),
                            "process_id": os.getpid(),
                            "version": version,
                            "provider": provider,
                            "model": model,
                            "prompt_version": prompt_version,
                            "is_serving": is_serving,
                        },
                    )
                    (row,) = await cursor.fetchall()
                    presence = cls(row["worker_id"], connection)
                    # Anyone may take a lock of any number; under another one we are as good as under this.
                    cursor = await connection.execute(queries["hold_worker_lock"], {"worker_id": presence.worker_id})
                    (row,) = await cursor.fetchall()
                    is_held = row["is_held"]
            yield presence

    async def say(self, embedding_models: Sequence[str], queue_worker_id: int | None) -> None:
        """Say that the worker is there, which also finds out whether its session still is.

        Raises:
            ServerUnavailable: If the session is gone, and with it the lock: the worker counts as dead.
        """
        with translated():
            await self._connection.execute(
                queries["see_worker"],
                {
                    "worker_id": self.worker_id,
                    "embedding_models": list(embedding_models),
                    "queue_worker_id": queue_worker_id,
                },
            )
