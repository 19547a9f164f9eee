"""Requests and tokens a minute, by a clock of our own: what workers send together, and how long a call waits."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from math import inf

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pgclarify.config import Settings
from pgclarify.protocols import Booking, waited_for
from pgclarify.providers.call_line import CallLine
from pgclarify.providers.embedding_endpoint import EmbeddingEndpoint
from pgclarify.providers.endpoint import Endpoint
from pgclarify.providers.endpoint_embedder import EndpointEmbedder
from pgclarify.providers.rate_limit import RateLimit, Turn
from tests.fakes import FakeSending
from tests.openai_server import MODEL, serve
from tests.rate_limited import Limited
from tests.unit.operations.still_time import carry_out as run
from tests.unit.providers.asking import request

HEADERS = {
    "x-ratelimit-limit-tokens": "60000",
    "x-ratelimit-remaining-tokens": "60000",
    "x-ratelimit-reset-tokens": "0s",
}


class SharedRates:
    """The rates of endpoints in memory, as `book_endpoint` has them in the database."""

    def __init__(self) -> None:
        self.free_at: defaultdict[str, list[float]] = defaultdict(lambda: [-inf, -inf])
        self.bookings = 0

    async def book(self, endpoint: str, requests: Booking, tokens: Booking) -> float:
        now = asyncio.get_running_loop().time()
        self.bookings += 1
        starts = []
        for place, booking in enumerate((requests, tokens)):
            accepted = inf if booking.accepted is None else booking.accepted
            start = max(self.free_at[endpoint][place], now - max(0.5, booking.spare or 0), now - accepted)
            starts.append(start)
            self.free_at[endpoint][place] = start + booking.seconds
        await asyncio.sleep(0.002)
        return max(starts) - now - 0.002


@dataclass
class Load:
    """Workers that call as fast as their concurrency allows, each call with other tokens, and take them from limits."""

    limits: Limited
    rates: SharedRates
    sizes: list[int]
    latency: float = 1.0
    concurrency: int = 16
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None

    async def work(self, seconds: float) -> None:
        clock = asyncio.get_running_loop().time
        rate = RateLimit("an endpoint", self.rates, self.requests_per_minute, self.tokens_per_minute)
        line = CallLine(self.concurrency, rate)

        async def call(tokens: int) -> None:
            # A byte more or less than the average of a token, as with real texts.
            async with line.turn("verdict", 3 * tokens + tokens % 7 * tokens // 10) as turn:
                while True:
                    is_accepted, headers = self.limits.take(tokens)
                    if is_accepted:
                        break
                    wait = float(headers["Retry-After"])
                    rate.learn({name.lower(): value for name, value in headers.items()}, wait)
                    await asyncio.sleep(wait)
                await asyncio.sleep(self.latency)
                rate.learn({name.lower(): value for name, value in headers.items()})
                turn.tokens = tokens

        async def caller(first: int) -> None:
            place = first
            while clock() < seconds:
                await call(self.sizes[place % len(self.sizes)])
                place += 7

        await asyncio.gather(*(caller(number) for number in range(2 * self.concurrency)))


def in_any_minute(limits: Limited) -> float:
    """The most tokens that were accepted within a minute, as a share of the limit."""
    most, total, first = 0, 0, 0
    for at, tokens in limits.accepted:
        total += tokens
        while limits.accepted[first][0] <= at - 60:
            total -= limits.accepted[first][1]
            first += 1
        most = max(most, total)
    return most / limits.tokens


SIZES = [500, 620, 710, 480, 900, 640, 560]


@settings(max_examples=10, deadline=None)
@given(
    limit=st.integers(20_000, 2_000_000),
    workers=st.integers(1, 4),
    latency=st.floats(0.05, 8),
    sizes=st.lists(st.integers(100, 1500), min_size=1, max_size=9),
)
@example(limit=200_000, workers=2, latency=0.5, sizes=SIZES)
def test_no_minute_has_more_tokens_than_the_settings_allow(
    limit: int, workers: int, latency: float, sizes: list[int]
) -> None:
    async def go() -> Limited:
        # Accepts anything: only the workers limit themselves.
        limits = Limited(10**9, clock=asyncio.get_running_loop().time, has_headers=False)
        load = Load(limits, SharedRates(), sizes, latency, tokens_per_minute=limit)
        await asyncio.gather(*(load.work(150) for _ in range(workers)))
        return limits

    limits = run(go())
    # Each worker may be wrong about the tokens of the calls that are in flight.
    assert in_any_minute(limits) * limits.tokens <= limit + workers * 16 * max(sizes) / 4


@pytest.mark.parametrize("is_window", [False, True])
@pytest.mark.parametrize("share", [1.0, 0.0])
@pytest.mark.parametrize("workers", [1, 2, 8])
def test_a_limit_that_headers_tell_is_used_and_not_exceeded(is_window: bool, share: float, workers: int) -> None:
    async def go() -> tuple[Limited, SharedRates]:
        limits = Limited(200_000, is_window=is_window, share=share, clock=asyncio.get_running_loop().time)
        load = Load(limits, rates := SharedRates(), SIZES, concurrency=32)
        await asyncio.gather(*(load.work(300) for _ in range(workers)))
        return limits, rates

    limits, rates = run(go())
    # Until the first answer, a worker does not know the limit.
    assert limits.refused <= 0.01 * len(limits.accepted) + (32 * workers if share == 0 else 0)
    assert limits.used(60, 300) >= (0.9 if is_window else 0.95)
    # Far less than a booking for each call.
    assert rates.bookings < 5 * 300


def test_a_limit_of_requests_is_kept_with_one_call_for_each_booking() -> None:
    async def go() -> Limited:
        limits = Limited(10**9, requests=20, clock=asyncio.get_running_loop().time, has_headers=False)
        load = Load(limits, SharedRates(), SIZES, requests_per_minute=20)
        await asyncio.gather(*(load.work(300) for _ in range(2)))
        return limits

    limits = run(go())
    times = [at for at, _ in limits.accepted if at < 300]
    assert limits.refused == 0
    assert 0.9 * 100 <= len(times) <= 101


@pytest.mark.parametrize(
    ("headers", "is_limited"),
    [
        (HEADERS, True),
        # The limit of a day, as Groq sends it under this name.
        (HEADERS | {"x-ratelimit-remaining-tokens": "59000", "x-ratelimit-reset-tokens": "24m12.5s"}, False),
        (HEADERS | {"x-ratelimit-reset-tokens": "250ms"}, True),
        (HEADERS | {"x-ratelimit-reset-tokens": "1h"}, False),
        (HEADERS | {"x-ratelimit-reset-tokens": "soon"}, True),
        (HEADERS | {"x-ratelimit-limit-tokens": "many"}, False),
        (HEADERS | {"x-ratelimit-limit-tokens": "-1"}, False),
        ({}, False),
    ],
)
def test_only_limits_of_a_minute_are_learnt(headers: Mapping[str, str], is_limited: bool) -> None:
    async def go() -> int:
        rate = RateLimit("an endpoint", rates := SharedRates())
        rate.learn(headers)
        async with CallLine(1, rate).turn("verdict", 1000):
            pass
        return rates.bookings

    assert (run(go()) > 0) == is_limited


def test_a_refusal_stops_the_calls_of_all_workers_for_the_time_that_the_endpoint_asks() -> None:
    async def go() -> list[float]:
        rates = SharedRates()
        limited = [RateLimit("an endpoint", rates, tokens_per_minute=60_000) for _ in range(2)]
        lines = [CallLine(4, rate) for rate in limited]
        limited[0].learn({}, 20.0)
        began = []

        async def call(line: CallLine) -> None:
            async with line.turn("verdict", 1000):
                began.append(asyncio.get_running_loop().time())

        first = asyncio.create_task(call(lines[0]))
        await asyncio.sleep(1)
        await asyncio.gather(first, call(lines[1]))
        return began

    assert min(run(go())) >= 19.9


def test_of_several_waits_that_an_endpoint_asks_for_the_longest_counts() -> None:
    async def go() -> float:
        rate = RateLimit("an endpoint", SharedRates(), tokens_per_minute=60_000)
        for wait in (5.0, 20.0, 1.0, 0.0, -3.0):
            rate.learn({}, wait)
        async with CallLine(1, rate).turn("verdict", 1000) as turn:
            return turn.waited_seconds

    assert 19.9 <= run(go()) < 21


@pytest.mark.parametrize(
    ("headers", "tokens"),
    [({"x-ratelimit-limit-tokens": "1"}, 1000), ({"x-ratelimit-limit-tokens": "60000"}, 2**31 - 1)],
    ids=["limit", "tokens"],
)
def test_a_wrong_number_of_an_endpoint_stops_no_worker_for_long(headers: Mapping[str, str], tokens: int) -> None:
    async def measure() -> float:
        rates = SharedRates()
        wrong = RateLimit("an endpoint", rates)
        wrong.learn(headers)
        for _ in range(2):
            turn = Turn()
            reserved = await wrong.take(turn, 10_000)
            turn.tokens = tokens
            wrong.settle(turn, 10_000, reserved)
        other = RateLimit("an endpoint", rates)
        other.learn(HEADERS)
        turn = Turn()
        await other.take(turn, 100)
        return turn.waited_seconds

    assert run(measure()) < 130


def test_only_some_calls_before_a_limit_is_known_count() -> None:
    async def go() -> float:
        line = CallLine(1, rate := RateLimit("an endpoint", SharedRates()))
        for number in range(500):
            if number == 499:
                rate.learn(HEADERS)
            async with line.turn("verdict", 2100) as turn:
                turn.tokens, turn.tries = 630, 2
        return asyncio.get_running_loop().time()

    # An eighth of a minute, and not the nine minutes that all those calls would be.
    assert run(go()) < 10


def test_a_call_that_is_given_up_while_it_waits_for_the_limit_leaves_its_turn() -> None:
    async def go() -> float:
        line = CallLine(1, RateLimit("an endpoint", SharedRates(), requests_per_minute=60))

        async def call() -> None:
            async with line.turn("verdict"):
                pass

        await call()
        given_up = asyncio.create_task(call())
        await asyncio.sleep(0.1)
        given_up.cancel()
        await asyncio.gather(given_up, return_exceptions=True)
        await call()
        return asyncio.get_running_loop().time()

    # The next call uses what the cancelled one had booked.
    assert run(go()) < 2


def test_an_urgent_call_waits_for_one_other_call_at_most() -> None:
    async def go() -> list[str]:
        line = CallLine(16, RateLimit("an endpoint", SharedRates(), requests_per_minute=60))
        order: list[str] = []

        async def call(name: str) -> None:
            async with line.turn("verdict"):
                order.append(name)

        async def urgent_call() -> None:
            with waited_for(True):
                await call("urgent")

        batch = [asyncio.create_task(call("batch")) for _ in range(8)]
        await asyncio.sleep(1.5)
        before = len(order)
        await asyncio.gather(urgent_call(), *batch)
        return order[before:]

    assert "urgent" in run(go())[:2]


async def test_a_limited_chat_model_holds_up_neither_embeddings_nor_a_lease() -> None:
    rates = SharedRates()
    async with serve() as server:
        settings = Settings(openai_base_url=server.base_url, llm_model=MODEL, llm_requests_per_minute=1)
        async with (
            Endpoint.from_settings(settings, rates) as chat,
            aclosing(EmbeddingEndpoint.from_settings(settings, rates=rates)) as embedding,
        ):
            await chat.complete(request())
            sending = FakeSending()
            waiting = asyncio.create_task(chat.complete(request(), sending))
            embedder = await EndpointEmbedder.open(embedding, "endpoint:a-model")
            await embedder.encode(["a question"])
            # It is noted as sent when the wait is over. A wait can be cancelled.
            assert not waiting.done()
            assert sending.begun == []
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        assert server.calls == 1
