"""Fixtures of tests that need a worker, or send the statements of one themselves."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgclarify import embedded
from tests.conftest import hurry, trust_everybody
from tests.integration.attaching import alice, bob
from tests.integration.manual_worker import make_worker
from tests.servers import folder_of_servers
from tests.workers import asker, model, own_model, run_worker, service, superuser

__all__ = [
    "alice",
    "asker",
    "bob",
    "make_worker",
    "model",
    "own_model",
    "run_worker",
    "service",
    "superuser",
]


@pytest.fixture
def new_server() -> Iterator[str]:
    """A server without any of our objects. Not in pytest's folder, because other runs close it to the server's user."""
    with tempfile.TemporaryDirectory(prefix="pgclarify-tests-", dir=folder_of_servers()) as folder:
        dsn = embedded.start(Path(folder))
        hurry(dsn)
        trust_everybody(dsn)
        yield dsn
        embedded.stop(Path(folder))
