"""Turns what psycopg raises into our own exceptions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import psycopg_pool

from pgclarify.errors import DatabaseError, PgclarifyError, RunLost, ServerUnavailable

# Of our own class PC: a run that is no longer carried out here.
_RUN_LOST = "PC006"


@contextmanager
def translated() -> Iterator[None]:
    """Raise our own exceptions in place of psycopg's.

    Raises:
        RunLost: For SQLSTATE PC006.
        ServerUnavailable: If the connection broke, could not be had, or the server is shutting down.
        DatabaseError: For any other error of the server.
    """
    try:
        yield
    except (psycopg_pool.PoolTimeout, psycopg_pool.PoolClosed) as error:
        raise ServerUnavailable("no connection to PostgreSQL", detail=str(error)) from error
    except psycopg.Error as error:
        raise _translation(error) from error


def _translation(error: psycopg.Error) -> PgclarifyError:
    message = error.diag.message_primary or str(error).strip() or type(error).__name__
    if error.sqlstate == _RUN_LOST:
        return RunLost(message, detail=error.diag.message_detail, sqlstate=error.sqlstate)
    is_gone = error.sqlstate is None or error.sqlstate[:2] in ("08", "57")
    kind = ServerUnavailable if isinstance(error, psycopg.OperationalError) and is_gone else DatabaseError
    return kind(message, detail=error.diag.message_detail, hint=error.diag.message_hint, sqlstate=error.sqlstate)
