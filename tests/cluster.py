"""A Citus cluster, for tests that need one. PGCLARIFY_TEST_CLUSTER_URL is the URL of its coordinator for a superuser.

That database lists the nodes (pg_dist_node), and each server of the cluster trusts connections from the others. Without
the variable, these tests are skipped.
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
from tests.conftest import drop_database, in_database
from tests.pages import CHECKOUT, blocks

URL: Final = os.environ.get("PGCLARIFY_TEST_CLUSTER_URL")
needed = pytest.mark.skipif(URL is None, reason="PGCLARIFY_TEST_CLUSTER_URL names no Citus cluster")
# As on the page: on all servers, then on the coordinator. Its third block comes after the install.
EVERYWHERE, JOIN, PREPARE_OWNER, DISTRIBUTE = (block.code for block in blocks(CHECKOUT / "docs/citus.md", "sql"))


@contextmanager
def database() -> Iterator[str]:
    """Make a database on all servers of the cluster, and install the schema. Yields its URL."""
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
