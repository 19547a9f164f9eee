"""The client of the commands: that of applications, and what only commands ask."""

from __future__ import annotations

from typing import Any

from pgclarify.cli import mirroring, state
from pgclarify.client import Client
from pgclarify.client.blocking import iterating_method, method
from pgclarify.errors import PgclarifyError


class CommandClient(Client):
    """A client that raises psycopg's errors. Applications read what it lists from views."""

    check_load = method(mirroring.check_load)
    loaded_from = iterating_method(mirroring.loaded_from)
    remove_loaded = method(mirroring.remove_loaded)
    documents = method(state.documents)
    attached_tables = method(state.attached_tables)
    runs = method(state.runs)
    show_progress = method(state.show_progress)
    last_run = method(state.last_run)
    workers = method(state.workers)
    queue = method(state.queue)
    findings = method(state.findings)

    def _take(self, step: Any) -> Any:  # noqa: ANN401
        try:
            return super()._take(step)
        except PgclarifyError as error:
            raise error.__cause__ or error from None
