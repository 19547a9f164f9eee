"""Sessions of workers: settings that a database has for people do not apply, and refused logins get the reason."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

from pgclarify.cli.doctor.server import check_pooler
from pgclarify.database.connections import Connections
from pgclarify.database.pool import open_pool
from pgclarify.database.sessions import require_direct, stripping
from pgclarify.errors import ServerUnavailable

SETTINGS = {
    "statement_timeout": "1h",
    "idle_in_transaction_session_timeout": "1h",
    "default_transaction_isolation": "serializable",
    "default_transaction_read_only": "on",
}


async def test_settings_of_a_database_for_people_do_not_apply_to_workers(
    database: str, connection: psycopg.Connection[object]
) -> None:
    for name, value in SETTINGS.items():
        connection.execute(f"alter database {connection.info.dbname} set {name} = '{value}'".encode())

    async with open_pool(database, connections=Connections()) as pool, pool.connection() as worker:
        found = {}
        for name in SETTINGS:
            cursor = await worker.execute("select current_setting(%s) as value", [name])
            (row,) = await cursor.fetchall()
            found[name] = row["value"]

    assert found == {
        "statement_timeout": "1min",
        "idle_in_transaction_session_timeout": "20s",
        "default_transaction_isolation": "read committed",
        "default_transaction_read_only": "off",
    }


def test_a_server_that_turns_everybody_away_is_no_pooler(
    database: str, connection: psycopg.Connection[object], make_role: Callable[..., str]
) -> None:
    role = make_role("pgclarify_worker")
    dsn = psycopg.conninfo.make_conninfo(database, user=role)
    require_direct(dsn)

    connection.execute(f"alter role {role} connection limit 0".encode())
    with pytest.raises(ServerUnavailable) as refused:
        stripping(dsn)
    assert "too many connections" in str(refused.value)
    assert "could not be looked for" in check_pooler(dsn).finding
