"""What a database sets for people does not reach the statements of workers."""

from __future__ import annotations

import psycopg

from pgclarify.database import open_pool

SETTINGS = {
    "statement_timeout": "1s",
    "idle_in_transaction_session_timeout": "1s",
    "default_transaction_isolation": "serializable",
    "default_transaction_read_only": "on",
}


async def test_what_a_database_sets_for_people_is_not_for_workers(
    database: str, connection: psycopg.Connection[object]
) -> None:
    for name, value in SETTINGS.items():
        connection.execute(f"alter database {connection.info.dbname} set {name} = '{value}'".encode())

    async with open_pool(database) as pool, pool.connection() as worker:
        found = {}
        for name in SETTINGS:
            cursor = await worker.execute("select current_setting(%s) as value", [name])
            (row,) = await cursor.fetchall()
            found[name] = row["value"]

    assert found == {
        "statement_timeout": "0",
        "idle_in_transaction_session_timeout": "0",
        "default_transaction_isolation": "read committed",
        "default_transaction_read_only": "off",
    }
