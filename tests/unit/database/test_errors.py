from __future__ import annotations

import psycopg
import pytest
from psycopg import errors
from psycopg.pq import DiagnosticField

from pgclarify.database.errors import CLIENT_REFUSALS, translated, translation
from pgclarify.errors import DatabaseBusy, DatabaseError, RunLost, ServerUnavailable


class NoLongerCarriedOut(psycopg.DatabaseError):
    sqlstate = "PC006"


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        # After these errors, a run is tried again.
        (errors.SerializationFailure, DatabaseBusy),
        (errors.DeadlockDetected, DatabaseBusy),
        (errors.QueryCanceled, DatabaseBusy),
        (errors.TooManyConnections, DatabaseBusy),
        (errors.AdminShutdown, ServerUnavailable),
        (errors.ConnectionFailure, ServerUnavailable),
        (psycopg.OperationalError, ServerUnavailable),
        (NoLongerCarriedOut, RunLost),
        # These errors end a run as failed.
        (errors.InsufficientPrivilege, DatabaseError),
    ],
)
def test_temporary_errors_are_translated_apart_from_permanent_ones(
    raised: type[psycopg.Error], kind: type[DatabaseError]
) -> None:
    with pytest.raises(Exception) as caught, translated():
        raise raised("so")
    assert type(caught.value) is kind


@pytest.mark.parametrize(
    ("raised", "severity", "kind"),
    [
        # Citus raises what a node has reported as an error of its own server.
        (errors.ConnectionFailure, b"ERROR", DatabaseBusy),
        (errors.AdminShutdown, b"ERROR", DatabaseBusy),
        (errors.AdminShutdown, b"FATAL", ServerUnavailable),
        (errors.CannotConnectNow, b"FATAL", ServerUnavailable),
        (errors.ProtocolViolation, b"ERROR", ServerUnavailable),
    ],
)
def test_the_end_of_a_node_is_not_the_end_of_the_server(
    raised: type[psycopg.Error], severity: bytes, kind: type[DatabaseError]
) -> None:
    with pytest.raises(Exception) as caught, translated():
        raise raised("so", info={DiagnosticField.SEVERITY_NONLOCALIZED: severity})
    assert type(caught.value) is kind


def test_the_hint_of_a_missing_function_speaks_of_its_arguments() -> None:
    assert "arguments" in str(translation(errors.UndefinedFunction("so"), CLIENT_REFUSALS).hint)
    assert "arguments" not in str(translation(errors.UndefinedTable("so"), CLIENT_REFUSALS).hint)
