"""The loopback: a role that functions connect back as, and that may do nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.integration.in_turn import in_turn

pytestmark = pytest.mark.rolled_back

Connect = Callable[..., psycopg.Connection[Any]]
MakeRole = Callable[..., str]


def test_dblink_is_out_of_reach(connect: Connect, make_role: MakeRole) -> None:
    user = connect(make_role("pgclarify_user", "pgclarify_worker"))

    for attempt in (
        "select pgclarify_dblink.dblink_connect('a', 'dbname=postgres')",
        "select pgclarify_dblink.dblink_connect_u('a', 'dbname=postgres')",
        "select pgclarify_dblink.dblink_get_connections()",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            user.execute(attempt.encode())


def test_the_loopbacks_login_is_limited(connection: psycopg.Connection[Any]) -> None:
    assert connection.execute(
        "select rolsuper, rolcreatedb, rolcreaterole, rolbypassrls, rolconnlimit > 0 from pg_roles"
        " where rolname = 'pgclarify_loopback'"
    ).fetchone() == (False, False, False, False, True)
    assert connection.execute(
        "select count(*) from pg_auth_members where member = 'pgclarify_loopback'::regrole"
    ).fetchone() == (0,)


@in_turn(
    "attempt",
    [
        "select * from pgclarify.corpus",
        "select * from pgclarify_private.caller",
        "select * from pgclarify_queue.procrastinate_jobs",
        "select pgclarify_private.sign('loopback')",
        "select pgclarify_private.living_workers()",
        "select pgclarify.submit('clarify', 'cars')",
        "create table pgclarify.mine ()",
    ],
)
def test_the_loopback_is_refused_everything_else(connect: Connect, attempt: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect("pgclarify_loopback").execute(attempt.encode())
