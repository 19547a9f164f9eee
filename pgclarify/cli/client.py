"""The client of the commands: that of applications, and statements that only commands send."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pgclarify.cli.rendering import Row
from pgclarify.client.blocking import Client
from pgclarify.client.scripts import Call, Statement
from pgclarify.client.storing import loading
from pgclarify.data.vocabulary import Document


class CommandClient(Client):
    """The client of applications, and what only commands ask. Applications read that from views."""

    def rows(self, statement: str, **parameters: object) -> list[Row]:
        """Return the rows of a statement in database/client_queries.sql, by its name."""
        return list(self._take(Statement(statement, parameters)))

    def call(self, function: str, **arguments: object) -> list[Row]:
        """Return the rows of an internal function, which also gets the role that calls it."""
        return list(self._take(Call(function, arguments, names_caller=True)))

    def load(self, batch: Sequence[Document]) -> Row:
        """Load documents into the client's corpus: how many are new or changed, and how many are not."""
        (row,) = self._take(loading(self.corpus, batch))
        return row

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all calls in the block together; after an error, none of them."""
        with self._borrowed() as connection, connection.transaction():
            yield

    def run(self, run_id: int | None) -> Row:
        """Return a run, with why it failed or found nothing; empty if there is none, or none on this standby yet."""
        return next(iter(self.runs([run_id])), {}) if run_id is not None else {}

    def runs(self, run_ids: list[int] | None = None, *, limit: int = 20) -> list[Row]:
        """List runs that you may see, newest first, with why they failed or found nothing; None means the latest."""
        return self.rows("client_list_runs", run_ids=run_ids, most=limit)
