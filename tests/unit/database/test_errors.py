from __future__ import annotations

import psycopg
import pytest
from psycopg import errors

from pgclarify.database.errors import translated
from pgclarify.errors import DatabaseBusy, DatabaseError, RunLost, ServerUnavailable


class NoLongerCarriedOut(psycopg.DatabaseError):
    sqlstate = "PC006"


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        # After these errors, a run is tried again.
        (errors.SerializationFailure, DatabaseBusy),
        (errors.DeadlockDetected, DatabaseBusy),
        (errors.LockNotAvailable, DatabaseBusy),
        (errors.QueryCanceled, DatabaseBusy),
        (errors.TooManyConnections, DatabaseBusy),
        (errors.AdminShutdown, ServerUnavailable),
        (errors.CrashShutdown, ServerUnavailable),
        (errors.CannotConnectNow, ServerUnavailable),
        (errors.ConnectionFailure, ServerUnavailable),
        (psycopg.OperationalError, ServerUnavailable),
        (NoLongerCarriedOut, RunLost),
        # These errors end a run as failed.
        (errors.UniqueViolation, DatabaseError),
        (errors.InsufficientPrivilege, DatabaseError),
    ],
)
def test_what_passes_is_told_from_what_does_not(raised: type[psycopg.Error], kind: type[DatabaseError]) -> None:
    with pytest.raises(Exception) as caught, translated():
        raise raised("so")
    assert type(caught.value) is kind
