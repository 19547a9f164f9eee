"""The exceptions for the server's errors; docs/errors.md has the same table for people."""

from __future__ import annotations

from collections.abc import Mapping

from pgclarify.errors import (
    AlreadyExists,
    CallCancelled,
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
    RunTimeout,
    SchemaMismatch,
)

REFUSALS: Mapping[str, type[PgclarifyError]] = {
    "22": InputError,
    "23505": AlreadyExists,
    "42501": PermissionDenied,
    "42704": NotFound,
    "42710": AlreadyExists,
    # Beyond PostgreSQL's limits.
    "54000": InputError,
    "55000": NotReady,
    "57014": CallCancelled,
    "PC001": NoWorker,
    "PC002": RunTimeout,
    "PC003": RunFailed,
    "PC004": NotCommitted,
    "PC005": LoopbackUnavailable,
    "PC018": NotIndexed,
    # A schema, table, column or function is missing: pgclarify is not installed, or is another version.
    "3F000": SchemaMismatch,
    "42P01": SchemaMismatch,
    "42703": SchemaMismatch,
    "42883": SchemaMismatch,
}
