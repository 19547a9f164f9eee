"""A Citus cluster, for tests that need one. PGCLARIFY_TEST_CLUSTER_URL is the URL of its coordinator for a superuser.

That database lists the nodes (pg_dist_node), and each server of the cluster trusts connections from the others. Without
the variable, these tests are skipped. `pytest --server cluster` runs other tests there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Final
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from pgclarify.install.installer import install
from tests.pages import CHECKOUT, blocks
from tests.rolled_back import RESET
from tests.servers import drop_database, in_database

URL: Final = os.environ.get("PGCLARIFY_TEST_CLUSTER_URL")
needed = pytest.mark.skipif(URL is None, reason="PGCLARIFY_TEST_CLUSTER_URL names no Citus cluster")
# As on the page: on all servers, then on the coordinator. Its third block comes after the install.
EVERYWHERE, JOIN, PREPARE_OWNER, DISTRIBUTE = (block.code for block in blocks(CHECKOUT / "docs/citus.md", "sql"))


# What distributes each corpus when it is made, for the tests of all that users do.
_MADE: Final = "    return v_corpus_id;\nend"
_SCHEMAS_OF_TESTS: Final = """
    select nspname from pg_namespace where nspname !~ '^(pg_|pgclarify|citus|public$|information_schema$)'
"""
_MADE_DISTRIBUTED: Final = """
    perform pgclarify_private.move_corpus(corpus, 2) from pgclarify.corpus where corpus.corpus_id = v_corpus_id;
"""


@contextmanager
def database() -> Iterator[str]:
    """Make a database on all servers of the cluster, set it up as on the page, and install the schema.

    Yields:
        Its URL.
    """
    assert URL is not None
    name = f"test_{uuid4().hex[:12]}"
    with closing(psycopg.connect(URL, autocommit=True)) as admin:
        nodes = admin.execute("select nodename, nodeport, groupid from pg_dist_node order by groupid").fetchall()
    servers = [psycopg.conninfo.make_conninfo(URL, host=host, port=port) for host, port, _ in nodes]
    try:
        for server in servers:
            with closing(psycopg.connect(server, autocommit=True)) as node:
                node.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
            with closing(psycopg.connect(server, dbname=name, autocommit=True)) as node:
                node.execute(EVERYWHERE.encode())
        dsn = in_database(URL, name)
        with closing(psycopg.connect(dsn, autocommit=True)) as coordinator:
            join, *join_node = JOIN.splitlines()
            for host, port, group in nodes:
                statement = join if group == 0 else join_node[0]
                coordinator.execute(re.sub(r"\(.*\)", f"('{host}', {port})", statement).encode())
            install(dsn)
            coordinator.execute(PREPARE_OWNER.encode())
        yield dsn
    finally:
        for server in servers:
            with closing(psycopg.connect(server, autocommit=True)) as node:
                drop_database(node, name)


@contextmanager
def shared_database() -> Iterator[str]:
    """Make a database in which each corpus is distributed when it is made. Yields its URL."""
    with database() as dsn:
        with closing(psycopg.connect(dsn, autocommit=True)) as coordinator:
            create = "select pg_get_functiondef(oid) from pg_proc where oid::regprocedure::text ~ %s"
            ((definition,),) = coordinator.execute(create, ["private.create_corpus[(]"]).fetchall()
            assert definition.count(_MADE) == 1
            coordinator.execute(definition.replace(_MADE, _MADE_DISTRIBUTED + _MADE).encode())
        yield dsn


def empty_tables(dsn: str) -> list[str]:
    """Our tables without rows."""
    with closing(psycopg.connect(dsn, autocommit=True)) as coordinator:
        tables = coordinator.execute(
            "select oid::regclass::text from pg_class where relkind in ('r', 'p') and not relispartition"
            " and relnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)"
        ).fetchall()
        return [table for (table,) in tables if not coordinator.execute(f"table {table} limit 1".encode()).fetchall()]


@contextmanager
def emptied(dsn: str, tables: list[str]) -> Iterator[str]:
    """Lend the shared database. Afterwards, tables and the queue are emptied, and sequences start anew."""
    yield dsn
    filled = ", ".join([*tables, "pgclarify_queue.procrastinate_jobs"])
    with closing(psycopg.connect(dsn, autocommit=True)) as coordinator:
        coordinator.execute(f"truncate {filled} cascade".encode())
        coordinator.execute(RESET)
        for (schema,) in coordinator.execute(_SCHEMAS_OF_TESTS).fetchall():
            coordinator.execute(sql.SQL("drop schema {} cascade").format(sql.Identifier(schema)))
        coordinator.execute(sql.SQL("alter database {} reset all").format(sql.Identifier(coordinator.info.dbname)))
        while coordinator.execute("select pgclarify_private.drop_orphan_partition()").fetchone() != (None,):
            pass
