"""How often a question waits for a far server, between its submission and its result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from math import inf
from uuid import uuid4

import pytest

import pgclarify
from tests.integration.network_proxy import Network, network
from tests.openai_server import Server
from tests.sessions import Connection
from tests.workers import CORPUS, StartWorker, wait_until_searchable

pytestmark = pytest.mark.loaded

# So long that other load on the machine adds less than a part of it.
ROUND_TRIP = 1.0
TOP_K = 3
NEAR_TRIES, FAR_TRIES = 5, 30

Ask = Callable[[str], None]


@pytest.fixture
def far_worker(database: str, connection: Connection, own_model: Server, run_worker: StartWorker) -> Iterator[Network]:
    """The way of a worker to a server with a small corpus."""
    with network(database) as (way, dsn):
        run_worker(dsn, own_model.base_url)
        wait_until_searchable(connection)
        yield way


def round_trips(way: Network, ask: Callable[[], object], below: float) -> float:
    """How many round trips a call takes longer if the server is far.

    Other load, and other work of the worker, only add to it. So it is the least of some tries, of which there are no
    more when it is below a number.
    """

    def seconds(round_trip: float) -> float:
        way.round_trip = round_trip
        started = time.monotonic()
        ask()
        return time.monotonic() - started

    near = min(seconds(0.0) for _ in range(NEAR_TRIES))
    least = inf
    for _ in range(FAR_TRIES):
        least = min(least, (seconds(ROUND_TRIP) - near) / ROUND_TRIP)
        if least < below:
            break
    return least


def test_a_new_question_waits_for_four_round_trips_of_its_worker(far_worker: Network, database: str) -> None:
    with pgclarify.connect(database, corpus=CORPUS) as client:
        # It takes the run, searches, claims and ends. Often the notification of the run and the sight of its end add
        # half a trip each, and the worker's other statements one or two.
        assert round_trips(far_worker, lambda: client.clarify(f"rental car {uuid4()}", top_k=TOP_K), 4.5) < 4.5


def test_a_repeated_question_waits_for_one_round_trip_of_its_client(far_worker: Network, database: str) -> None:
    with network(database) as (way, dsn), pgclarify.connect(dsn, corpus=CORPUS) as client:
        client.clarify("rental car", top_k=TOP_K)
        assert round_trips(way, lambda: client.clarify("rental car", top_k=TOP_K), 1.5) < 1.5
