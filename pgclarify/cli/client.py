"""The client of the commands: that of applications, and statements that only commands send."""

from __future__ import annotations

from pgclarify.cli.rendering import Row
from pgclarify.client.blocking import Client
from pgclarify.client.scripts import Call, Statement


class CommandClient(Client):
    """The client of applications, and what only commands ask. Applications read that from views."""

    def rows(self, statement: str, **parameters: object) -> list[Row]:
        """Return the rows of a statement in database/client_queries.sql, by its name."""
        return list(self._take(Statement(statement, parameters)))

    def call(self, function: str, **arguments: object) -> list[Row]:
        """Return the rows of an internal function, which also gets the role that calls it."""
        return list(self._take(Call(function, arguments, names_caller=True)))

    def run(self, run_id: int | None) -> Row:
        """Return a run, with why it failed or found nothing; empty if there is none, or none on this standby yet."""
        return next(iter(self.runs([run_id])), {}) if run_id is not None else {}

    def runs(self, run_ids: list[int] | None = None, *, limit: int = 20) -> list[Row]:
        """List runs that you may see, newest first, with why they failed or found nothing; None means the latest."""
        return self.rows("client_list_runs", run_ids=run_ids, most=limit)
