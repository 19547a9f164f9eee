"""Converts psycopg's exceptions into our own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import psycopg
import psycopg_pool

from pgclarify.errors import (
    AlreadyExists,
    CallCancelled,
    DatabaseBusy,
    DatabaseError,
    InputError,
    LoopbackUnavailable,
    NotCommitted,
    NotFound,
    NotIndexed,
    NotReady,
    NoWorker,
    PermissionDenied,
    PgclarifyError,
    RunFailed,
    RunLost,
    RunTimeout,
    SchemaMismatch,
    ServerUnavailable,
)

CLIENT_REFUSALS: Mapping[str, type[PgclarifyError]] = {
    "22": InputError,
    "23505": AlreadyExists,
    "42501": PermissionDenied,
    "42704": NotFound,
    "42710": AlreadyExists,
    # Beyond PostgreSQL's limits.
    "54000": InputError,
    "55000": NotReady,
    "57014": CallCancelled,
    **{
        kind.sqlstate: kind for kind in (NoWorker, RunTimeout, RunFailed, NotCommitted, LoopbackUnavailable, NotIndexed)
    },
    # A schema, table, column or function is missing: pgclarify is not installed, or is another version.
    "3F000": SchemaMismatch,
    "42P01": SchemaMismatch,
    "42703": SchemaMismatch,
    "42883": SchemaMismatch,
}
"""The exceptions for the server's errors, for those who ask; docs/errors.md has the same table for people."""

# The class of our own SQLSTATEs.
_OURS = "PC"
_WORKERS_REFUSALS: Mapping[str, type[PgclarifyError]] = {RunLost.sqlstate: RunLost}
# Temporary: deadlocks, serialization failures, lock timeouts, cancelled statements, and insufficient resources.
_PASSING = frozenset({"40001", "40P01", "55P03", "57014", "53"})
# The server is shutting down, gone, or still starting; a class or a code.
_GONE = frozenset({"08", "57P01", "57P02", "57P03", "57P05"})
# The SQLSTATE for data that the driver itself refuses.
_DATA_EXCEPTION = "22000"
_NOT_IN_REPERTOIRE = "22021"
# The class of violated constraints.
_CONSTRAINT_VIOLATED = "23"
# A function is missing, or an argument has a type that it does not take.
_UNDEFINED_FUNCTION = "42883"
_READ_ONLY = "25006"
_HINTS: Mapping[type[PgclarifyError], str] = {
    PermissionDenied: "Ask for the missing rights: pgclarify_user may ask, pgclarify_reader may read.",
    SchemaMismatch: "If pgclarify is not installed in this database yet, or in another version, run: pgclarify init",
    ServerUnavailable: "Wait until the server is back, and repeat the call: what was stored is kept.",
}


@contextmanager
def translated(refusals: Mapping[str, type[PgclarifyError]] = _WORKERS_REFUSALS) -> Iterator[None]:
    """Convert psycopg's exceptions in the block into our own.

    Args:
        refusals: The exception for a SQLSTATE, or for the two characters of its class. The default is a worker's.

    Raises:
        ServerUnavailable: If the connection broke or could not be opened, or the server is shutting down.
        DatabaseBusy: If a later attempt may succeed, also if a node of a cluster is gone.
        DatabaseError: For any other error of the server that refusals does not have.
        PgclarifyError: The exceptions of refusals; by default, RunLost for PC006.
    """
    try:
        yield
    except psycopg_pool.PoolTimeout as error:
        raise DatabaseBusy("no connection of the pool came free", detail=str(error)) from error
    except psycopg_pool.PoolClosed as error:
        raise ServerUnavailable("no connection to PostgreSQL", detail=str(error)) from error
    except psycopg.Error as error:
        raise translation(error, refusals) from error
    except UnicodeEncodeError as error:
        raise _kind(_NOT_IN_REPERTOIRE, refusals)(
            "a text contains half a surrogate pair",
            detail=f"It is character {error.start + 1} of {len(error.object)}.",
            hint="Remove it, or decode the text with the right encoding.",
            sqlstate=_NOT_IN_REPERTOIRE,
        ) from error


def translation(error: psycopg.Error, refusals: Mapping[str, type[PgclarifyError]]) -> PgclarifyError:
    """Return our exception for one of psycopg's. The arguments are those of `translated`."""
    # An error of the driver itself may have several lines.
    first_line, _, other_lines = str(error).strip().partition("\n")
    message = error.diag.message_primary or first_line or type(error).__name__
    detail = error.diag.message_detail if error.diag.message_primary else " ".join(other_lines.split()) or None
    sqlstate = error.sqlstate
    if sqlstate is None and isinstance(error, psycopg.DataError):
        sqlstate = _DATA_EXCEPTION
    kind = _kind(sqlstate, refusals)
    if kind is DatabaseError and sqlstate is not None and sqlstate.startswith(_CONSTRAINT_VIOLATED):
        # The server shows the row there, and the error may be stored where others see it.
        detail = None
    code = sqlstate or ("08" if isinstance(error, psycopg.OperationalError) else "")
    is_gone = bool({code, code[:2]} & _GONE)
    # A server cannot report its own broken connection, and reports its own end as FATAL. An ERROR is about a node of a
    # cluster. 08P01 is not about a connection, but a violation of the protocol.
    is_about_a_node = is_gone and code != "08P01" and error.diag.severity_nonlocalized == "ERROR"
    if kind is DatabaseError and (is_about_a_node or {code, code[:2]} & _PASSING):
        kind = DatabaseBusy
    elif kind is DatabaseError and is_gone:
        kind = ServerUnavailable
    # For a missing function, PostgreSQL's hint is about type casts, which would mislead.
    hint = None if kind is SchemaMismatch else error.diag.message_hint
    if kind is SchemaMismatch and code == _UNDEFINED_FUNCTION:
        hint = f"Check the types of the arguments: a question is a text, for example. {_HINTS[kind]}"
    if code == _READ_ONLY and hint is None:
        hint = "If the server is a standby, connect to its primary. Otherwise, set default_transaction_read_only = off."
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
