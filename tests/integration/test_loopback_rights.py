"""The loopback: a role that functions connect back as. tests/snapshots/rights.txt lists its rights."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.integration.by_hand import Connect, MakeRole

pytestmark = pytest.mark.rolled_back


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
