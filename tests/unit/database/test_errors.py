from __future__ import annotations

import psycopg
import pytest
from psycopg import errors
from psycopg.pq import DiagnosticField

from pgclarify.database.errors import CLIENT_REFUSALS, translated, translation
from pgclarify.errors import DatabaseBusy, DatabaseError, RunLost, ServerUnavailable, describe


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


@pytest.mark.parametrize(
    "raised",
    [
        errors.CheckViolation,
        errors.NotNullViolation,
        errors.UniqueViolation,
        errors.ForeignKeyViolation,
        errors.ExclusionViolation,
    ],
)
def test_what_a_run_keeps_of_a_violated_constraint_has_nothing_of_the_row(raised: type[psycopg.Error]) -> None:
    with pytest.raises(DatabaseError) as caught, translated():
        raise raised("so", info=said(b"Failing row contains (1, secret)."))
    assert "secret" not in f"{caught.value}{describe(caught.value)}"


def test_callers_learn_which_ids_are_taken() -> None:
    taken = errors.UniqueViolation("so", info=said(b"The ids are 7 and 8."))
    assert translation(taken, CLIENT_REFUSALS).detail == "The ids are 7 and 8."


def said(detail: bytes) -> dict[int, bytes | None]:
    return {DiagnosticField.MESSAGE_PRIMARY: b"so", DiagnosticField.MESSAGE_DETAIL: detail}
