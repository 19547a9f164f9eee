"""Performs an operation for a command, and shows its result, or why there is none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import psycopg
from rich.console import RenderableType

from pgclarify.cli import connection, progress, rendering, result_rendering, terminal
from pgclarify.cli.rendering import Row
from pgclarify.errors import PROGRESS, UNFOLLOWED

# How many passages are shown if no answer was found.
_MOST_CLOSEST = 3


def perform(
    database: connection.Database,
    operation: str,
    what: str,
    /,
    *,
    timeout: float | None,
    **arguments: Any,  # noqa: ANN401
) -> tuple[list[Row], int | None, bool]:
    """Call the client's method of an operation; return its rows, the run, and whether that was answered before.

    Args:
        database: An autocommit connection.
        operation: Its name, as in SQL.
        what: What is shown meanwhile, such as `Reading passages`.
        timeout: Seconds to wait.
        arguments: Of the method.
    """
    client = connection.client_of(database)
    with _waiting(database, what), database.transaction():
        client.rows("client_show_progress")
        found = getattr(client, operation)(timeout=timeout, **arguments)
        (asked,) = client.rows("client_get_asked_run")
    rows: list[Row] = [asdict(row) for row in (found if isinstance(found, list) else [found])]
    # If there are no rows, none names the run.
    run_id = rows[0]["run_id"] if rows and "run_id" in rows[0] else asked["run_id"]
    return rows, run_id, asked["is_served"] or False


@contextmanager
def _waiting(database: connection.Database, what: str) -> Iterator[None]:
    """Show what is being waited for, as soon as the server says it, its notices, and what an interrupt means.

    Args:
        database: The connection of the call.
        what: What is happening, such as `Reading passages`.
    """

    def on_notice(notice: psycopg.errors.Diagnostic) -> None:
        if notice.sqlstate == PROGRESS:
            show(rendering.printable(notice.message_primary or ""))
        elif notice.sqlstate == UNFOLLOWED:
            terminal.warn(notice.message_primary or "", notice.message_hint)
        elif notice.table_name != "run":
            # Those of the run are shown with its result.
            told = rendering.printable(notice.message_primary or "")
            terminal.notices().print(f"Notice: {told}.", soft_wrap=True)

    database.add_notice_handler(on_notice)
    try:
        with progress.waiting(what) as show:
            yield
    except KeyboardInterrupt:
        terminal.notices().print("Cancelled; what was paid for is kept.")
        raise
    finally:
        database.remove_notice_handler(on_notice)


def nothing(database: connection.Database, question: str, corpus: str | None, run: Row) -> RenderableType:
    """Render why a run has no rows."""
    client = connection.client_of(database)
    asked = [each for each in client.corpora() if corpus in (None, each.corpus)]
    if run["status"] == "succeeded" and asked and not any(each.documents for each in asked):
        return rendering.empty_corpus(corpus)
    closest = [asdict(passage) for passage in client.closest_passages(run["run_id"], top_k=_MOST_CLOSEST)]
    pending = sum(each.pending or 0 for each in asked)
    return result_rendering.nothing_found(question, corpus, run=run, passages=closest, pending=pending)
