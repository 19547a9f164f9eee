"""A server without a free connection: calls and workers say so, lose nothing, and go on when one comes free."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path

import psycopg
import pytest

import pgclarify
from pgclarify import embedded
from pgclarify.errors import ServerUnavailable
from pgclarify.install.installer import install
from tests.conftest import trust_everybody
from tests.openai_server import Server
from tests.sessions import scalar, sqlstate_of
from tests.workers import StartWorker, as_role, load, until, wait_until_searchable

NO_LOOPBACK = "PC005"
ASK = "select count(*) from pgclarify.clarify('what does a rental cost', 'rental', top_k => 3)"


@pytest.fixture
def small_server(new_server: str) -> str:
    """A server with few connections, and the schema."""
    install(new_server)
    with closing(psycopg.connect(new_server, autocommit=True)) as superuser:
        superuser.execute("alter system set max_connections = 30")
        superuser.execute("create role asks login in role pgclarify_user")
        superuser.execute("create role works login in role pgclarify_worker")
        superuser.execute("create role idles login")
        (folder,) = superuser.execute("select current_setting('data_directory')").fetchone() or ("",)
    data_dir = Path(folder).parent
    embedded.stop(data_dir)
    assert embedded.start(data_dir) == new_server
    trust_everybody(new_server)
    return new_server


def taken(dsn: str, stack: ExitStack) -> ExitStack:
    """Take every connection that the server has for roles like these."""
    with ExitStack() as opened:
        try:
            while True:
                opened.enter_context(closing(psycopg.connect(as_role(dsn, "idles"))))
        except psycopg.OperationalError as error:
            # libpq has no SQLSTATE of a refused connection.
            assert "connection" in str(error)
        return stack.enter_context(opened.pop_all())


def test_calls_and_workers_survive_that_no_connection_is_free(
    small_server: str, own_model: Server, run_worker: StartWorker
) -> None:
    worker = run_worker(small_server, own_model.base_url, user="works")
    with ExitStack() as stack:
        superuser = stack.enter_context(closing(psycopg.connect(small_server, autocommit=True)))
        load(superuser)
        wait_until_searchable(superuser)
        asks = stack.enter_context(closing(psycopg.connect(as_role(small_server, "asks"), autocommit=True)))
        held = taken(small_server, stack)

        assert sqlstate_of(asks, ASK) == NO_LOOPBACK
        assert scalar(superuser, "select count(*) from pgclarify.run") == 0
        with pytest.raises(ServerUnavailable):
            pgclarify.connect(as_role(small_server, "asks"))
        submitted = scalar(asks, "select pgclarify.submit('clarify', 'what does a rental cost', 'rental')")
        assert worker.process.is_alive()
        held.close()

        until(
            lambda: scalar(superuser, "select status from pgclarify.run where run_id = %s", submitted) == "succeeded",
            120,
        )
        assert scalar(asks, ASK) > 0
