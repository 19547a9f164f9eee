"""Citus in a database that has the schema already."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.distributed.corpora import assert_same
from tests.integration.manual_worker import ManualWorker
from tests.servers import cluster
from tests.sessions import Connection

pytestmark = cluster.needed


@pytest.fixture(scope="module")
def cluster_dsn() -> Iterator[str]:
    """A database in which Citus came after the install."""
    with cluster.database(is_installed_first=True) as dsn:
        yield dsn


def test_citus_in_an_installed_database_gives_the_same_results(
    connection: Connection, both: ManualWorker, reader: str
) -> None:
    assert_same(connection, reader)
