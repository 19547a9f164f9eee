"""Turns what psycopg raises into our own exceptions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import psycopg
import psycopg_pool

from pgclarify.errors import (
    DatabaseBusy,
    DatabaseError,
    InputError,
    PermissionDenied,
    PgclarifyError,
    RunLost,
    SchemaMismatch,
    ServerUnavailable,
)

# The class of codes that are our own.
_OURS = "PC"
# Of our own class PC: a run that is no longer carried out here.
_WORKERS_REFUSALS: Mapping[str, type[PgclarifyError]] = {"PC006": RunLost}
# Deadlocks, lost races, locks not granted, statements cut off, and too little of anything.
_PASSING = frozenset({"40001", "40P01", "55P03", "57014", "53"})
# The server is going, gone, or not there yet; a class or a code.
_GONE = frozenset({"08", "57P01", "57P02", "57P03", "57P05"})
# What the driver refuses before the server sees it, by the code that the server would have for it.
_DATA_EXCEPTION = "22000"
_NOT_IN_REPERTOIRE = "22021"
_HINTS: Mapping[type[PgclarifyError], str] = {
    PermissionDenied: "Have your role granted what it lacks: pgclarify_user may ask, pgclarify_reader may look.",
    SchemaMismatch: "If pgclarify is not installed in this database yet, or in another version, run: pgclarify init",
}


@contextmanager
def translated(refusals: Mapping[str, type[PgclarifyError]] = _WORKERS_REFUSALS) -> Iterator[None]:
    """Raise our own exceptions in place of psycopg's.

    Args:
        refusals: The exception for a SQLSTATE, or for the two characters of its class. Without it, a worker's.

    Raises:
        ServerUnavailable: If the connection broke, could not be had, or the server is shutting down.
        DatabaseBusy: If it may go better the next time.
        DatabaseError: For any other error of the server that refusals do not name.
        PgclarifyError: Those that they do; RunLost for PC006 without any.
    """
    try:
        yield
    except psycopg_pool.PoolTimeout as error:
        raise DatabaseBusy("no connection of the pool came free", detail=str(error)) from error
    except psycopg_pool.PoolClosed as error:
        raise ServerUnavailable("no connection to PostgreSQL", detail=str(error)) from error
    except psycopg.Error as error:
        raise _translation(error, refusals) from error
    except UnicodeEncodeError as error:
        raise _kind(_NOT_IN_REPERTOIRE, refusals)(
            "a text has half a surrogate pair in it",
            detail=f"It is character {error.start + 1} of {len(error.object)}.",
            hint="Remove it, or decode the text in its own encoding.",
            sqlstate=_NOT_IN_REPERTOIRE,
        ) from error


def _translation(error: psycopg.Error, refusals: Mapping[str, type[PgclarifyError]]) -> PgclarifyError:
    # What did not come from the server may have several lines.
    first_line, _, other_lines = str(error).strip().partition("\n")
    message = error.diag.message_primary or first_line or type(error).__name__
    detail = error.diag.message_detail if error.diag.message_primary else " ".join(other_lines.split()) or None
    sqlstate = error.sqlstate
    if sqlstate is None and isinstance(error, psycopg.DataError):
        sqlstate = _DATA_EXCEPTION
    kind = _kind(sqlstate, refusals)
    code = sqlstate or ("08" if isinstance(error, psycopg.OperationalError) else "")
    if kind is DatabaseError and {code, code[:2]} & _GONE:
        kind = ServerUnavailable
    elif kind is DatabaseError and {code, code[:2]} & _PASSING:
        kind = DatabaseBusy
    # PostgreSQL's own hint on a function that is not there speaks of type casts.
    hint = None if kind is SchemaMismatch else error.diag.message_hint
    said = kind(message, detail=detail, hint=hint or _HINTS.get(kind), sqlstate=sqlstate)
    values = tuple(value for value in (error.diag.datatype_name or "").split(",") if value)
    if code.startswith(_OURS) and error.diag.table_name == "run":
        said.run_ids = tuple(int(value) for value in values)
    elif isinstance(said, InputError):
        said.parameter, said.choices = error.diag.column_name or None, values
    return said


def _kind(sqlstate: str | None, refusals: Mapping[str, type[PgclarifyError]]) -> type[PgclarifyError]:
    code = sqlstate or ""
    return refusals.get(code) or refusals.get(code[:2]) or DatabaseError
