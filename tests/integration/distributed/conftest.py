"""A database on a Citus cluster, and two corpora of the same documents in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest

from tests.integration.distributed.corpora import distribute, fill
from tests.integration.manual_worker import MakeWorker, ManualWorker
from tests.servers import cluster
from tests.sessions import Connection, scalar


@pytest.fixture(scope="package")
def cluster_dsn() -> Iterator[str]:
    """A database of the cluster that the tests of this folder share."""
    with cluster.database() as dsn:
        yield dsn


@pytest.fixture
def admin(cluster_dsn: str) -> Iterator[Connection]:
    """A superuser, who makes roles: in a database of the cluster, so that the nodes have them, too."""
    with closing(psycopg.connect(cluster_dsn, autocommit=True)) as connection:
        yield connection


@pytest.fixture
def admins(admin: Connection) -> list[Connection]:
    """The same: Citus makes the roles on the nodes."""
    return [admin]


@pytest.fixture
def database(cluster_dsn: str, admin: Connection) -> Iterator[str]:
    """That database, without corpora and their tables afterwards."""
    yield cluster_dsn
    for (name,) in admin.execute("select corpus from pgclarify.corpus").fetchall():
        admin.execute("select pgclarify.drop_corpus(%s)", [name])
    while scalar(admin, "select pgclarify_private.remove_dropped_corpora(1000)"):
        pass
    while scalar(admin, "select pgclarify_private.drop_orphan_partition()") is not None:
        pass


@pytest.fixture
def reader(make_role: Any) -> str:
    """The role that may read the restricted documents."""
    return str(make_role("pgclarify_user", name="reader"))


@pytest.fixture
def both(connection: Connection, make_worker: MakeWorker, reader: str) -> ManualWorker:
    """Two corpora of the same documents. The second one is distributed after it was filled."""
    for corpus in ("here", "there"):
        fill(connection, corpus, reader)
    worker = make_worker()
    worker.index_everything()
    assert distribute(connection, "there", shards=4)["is_distributed"]
    return worker
