"""What an installation has and does: workers, the queue, documents, tables, runs, and what is wrong with them.

The scripts return rows of the statements in database/client_queries.sql, which commands render or print as JSON. The
docstrings are those of the methods of CommandClient.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pgclarify.client.scripts import Script, Session, Statement, only_value

if TYPE_CHECKING:
    from pgclarify.cli.rendering import Row


def findings(session: Session, /) -> Script[Sequence[Row]]:
    """List what is wrong in the installation, and what to do, the most serious first; nothing if all is well."""
    return (yield Statement("client_list_findings"))


def workers(session: Session, /) -> Script[Sequence[Row]]:
    """List the workers that serve the queue now."""
    return (yield Statement("client_list_workers"))


def queue(session: Session, /) -> Script[Row]:
    """Tell how much is waiting."""
    (row,) = yield Statement("client_get_queue")
    return row


def attached_tables(session: Session, /) -> Script[Sequence[Row]]:
    """List the tables that are attached to your corpora, and how far they are loaded."""
    return (yield Statement("client_list_attached_tables"))


def documents(
    session: Session,
    /,
    corpus: str | None = None,
    *,
    limit: int = 100,
    has_failed: bool = False,
) -> Script[Sequence[Row]]:
    """List documents of a corpus that you may read, by id.

    Args:
        corpus: Its name; None means the client's. The server has no default here.
        limit: How many at most.
        has_failed: Only those that cannot be indexed.
    """
    return (
        yield Statement(
            "client_list_documents",
            {"corpus": corpus or session.corpus, "most": limit, "has_failed": has_failed},
        )
    )


def runs(session: Session, /, run_ids: Sequence[int] | None = None, *, limit: int = 20) -> Script[Sequence[Row]]:
    """List runs that you may see, newest first, with why they failed or found nothing.

    Args:
        run_ids: These runs; None means the latest ones.
        limit: How many at most.
    """
    return (yield Statement("client_list_runs", {"run_ids": None if run_ids is None else list(run_ids), "most": limit}))


def show_progress(session: Session, /) -> Script[None]:
    """Let calls of this transaction report as notices, each second, what they are waiting for."""
    yield Statement("client_show_progress")


def last_run(session: Session, /) -> Script[int | None]:
    """Return the run of the last question of this transaction, which may have no rows; None if there is none.

    with connection.transaction():
        if not client.clarify("rental cars"):
            print(client.explain(client.last_run()))
    """
    value = only_value((yield Statement("client_get_asked_run")))
    return None if value is None else int(value)
