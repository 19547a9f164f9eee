"""Several endpoints of one model, each a real server: which one gets a call, and what happens if one fails."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from pgclarify.config import Settings
from pgclarify.errors import ConfigurationError, EndpointUnavailable, RequestRefused
from pgclarify.providers import endpoint_pool
from pgclarify.providers.endpoint import Endpoint
from pgclarify.providers.endpoint_pool import EndpointPool, endpoints_of, open_endpoints
from tests.openai_server import HANG, Reply, Server, serve
from tests.raw_server import completion, serve_raw
from tests.unit.providers.test_endpoint import arrivals, request, settled

DOWN = "http://127.0.0.1:1/v1"


@pytest.fixture
async def servers() -> AsyncIterator[list[Server]]:
    async with serve() as first, serve() as second:
        yield [first, second]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_pool, "_FIRST_PAUSE", 0.001)


@pytest.fixture
def left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """An endpoint that fails is avoided until the end of the test."""
    monkeypatch.setattr(endpoint_pool, "_FIRST_PAUSE", 1000.0)
    monkeypatch.setattr(endpoint_pool, "_LONGEST_PAUSE", 1000.0)


def pool_of(*addresses: str, concurrency: int = 4, timeout: float = 20.0, key: str | None = None) -> EndpointPool:
    pool = open_endpoints(
        Settings(
            llm_endpoints=" ".join(addresses),
            llm_model="rules-1",
            llm_concurrency=concurrency,
            llm_timeout=timeout,
            openai_api_key=None if key is None else SecretStr(key),
        )
    )
    assert isinstance(pool, EndpointPool)
    return pool


def calls(servers: list[Server]) -> list[int]:
    return [server.calls for server in servers]


async def test_they_take_calls_by_turns(servers):
    async with pool_of(*(server.base_url for server in servers), key="sk-1") as pool:
        for _ in range(6):
            await pool.complete(request())
    assert calls(servers) == [3, 3]
    assert [server.keys for server in servers] == [{"sk-1"}, {"sk-1"}]


async def test_calls_go_where_fewest_are_in_flight_and_no_more_than_the_limit_to_each(servers):
    busy, idle = servers
    busy.behavior = lambda chat: HANG
    async with pool_of(busy.base_url, idle.base_url, concurrency=2) as pool:
        tasks = [asyncio.create_task(pool.complete(request(f"Question: {place}"))) for place in range(12)]
        finished = asyncio.as_completed(tasks, timeout=30)
        for _ in range(10):
            await next(finished)
        # Two calls hang, and all others were made at the other endpoint.
        assert calls(servers) == [2, 10]
        assert idle.most_in_flight <= 2
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


FAILURES = {
    "an error": Reply.error(500),
    "overloaded": Reply.error(429, retry_after=30),
    "no such model": Reply.error(404),
    "a wrong key": Reply.error(401),
    "no completion": Reply(body="<html>Welcome</html>"),
}


@pytest.mark.usefixtures("left_out")
@pytest.mark.parametrize("failure", FAILURES)
async def test_a_call_goes_to_another_one_and_the_one_that_failed_is_left_out(servers, caplog, failure):
    broken, whole = servers
    broken.behavior = lambda chat: FAILURES[failure]
    async with pool_of(broken.base_url, whole.base_url) as pool:
        for _ in range(5):
            assert (await pool.complete(request())).reply
    assert calls(servers) == [1, 5]
    assert [record.message.split()[0] for record in caplog.records] == [broken.base_url]


@pytest.mark.usefixtures("left_out")
async def test_one_that_is_down_costs_no_call(servers):
    async with pool_of(DOWN, servers[0].base_url) as pool:
        for _ in range(3):
            assert (await pool.complete(request())).reply
    assert servers[0].calls == 3


@pytest.mark.usefixtures("left_out")
async def test_one_that_hangs_is_left_out_once_its_time_is_over(servers):
    hanging, whole = servers
    hanging.behavior = lambda chat: HANG
    async with pool_of(hanging.base_url, whole.base_url, timeout=0.5) as pool:
        for _ in range(3):
            assert (await pool.complete(request())).reply
    assert calls(servers) == [1, 3]


async def test_one_call_finds_out_whether_it_works_again(servers):
    broken, whole = servers
    broken.script.extend([Reply.error(500), HANG])
    async with pool_of(broken.base_url, whole.base_url) as pool:
        await pool.complete(request())
        await asyncio.sleep(0.01)
        trying = asyncio.create_task(pool.complete(request()))
        await arrivals(broken, 2)
        # While that call is in flight, all others go to the other endpoint, although it has more calls.
        whole.script.extend([HANG] * 3)
        others = [asyncio.create_task(pool.complete(request())) for _ in range(3)]
        await arrivals(whole, 4)
        assert calls(servers) == [2, 4]
        for task in (trying, *others):
            task.cancel()
        await asyncio.gather(trying, *others, return_exceptions=True)
        await settled()
        for _ in range(4):
            await pool.complete(request())
    assert broken.calls > 3


async def test_one_call_finds_out_whether_each_works_again_when_all_are_left_out(servers, monkeypatch):
    monkeypatch.setattr(endpoint_pool, "_FIRST_PAUSE", 0.5)
    for server in servers:
        server.script.extend([Reply.error(500), HANG])
    async with pool_of(*(server.base_url for server in servers), concurrency=16) as pool:
        tasks = [asyncio.create_task(pool.complete(request()))]
        for server in servers:
            await arrivals(server, 1)
        await settled()
        # These calls begin while both endpoints are avoided, and the next ones while both are tried again.
        tasks += [asyncio.create_task(pool.complete(request())) for _ in range(5)]
        for server in servers:
            await arrivals(server, 1)
        tasks += [asyncio.create_task(pool.complete(request())) for _ in range(5)]
        await settled()
        assert calls(servers) == [2, 2]
        # Cancelled calls show nothing about the endpoints, so other calls try them.
        for task in tasks[:6]:
            task.cancel()
        assert len(await asyncio.wait_for(asyncio.gather(*tasks[6:]), timeout=30)) == 5


async def test_a_try_that_fails_counts_for_all_calls_that_wait_for_it(servers):
    for server in servers:
        server.behavior = lambda chat: Reply.error(500)
    async with pool_of(*(server.base_url for server in servers), concurrency=16) as pool:
        with pytest.raises(EndpointUnavailable):
            await pool.complete(request())
        before = sum(calls(servers))
        results = await asyncio.gather(*(pool.complete(request()) for _ in range(20)), return_exceptions=True)
    assert all(isinstance(result, EndpointUnavailable) for result in results)
    assert sum(calls(servers)) - before < 20


async def test_an_error_of_another_call_does_not_show_what_the_server_said_about_it(servers):
    for server in servers:
        server.behavior = lambda chat: Reply.error(500, f"cannot read: {chat.user}")
    async with pool_of(*(server.base_url for server in servers), concurrency=16) as pool:
        # Both endpoints get a pause. After that, one call tests each of them, and the other calls wait for the tests.
        with pytest.raises(EndpointUnavailable):
            await pool.complete(request("Question: first"))
        asked = [f"Question: {place:02}" for place in range(20)]
        errors = await asyncio.gather(*(pool.complete(request(text)) for text in asked), return_exceptions=True)
    details = [str(error.detail) for error in errors if isinstance(error, EndpointUnavailable)]
    assert len(details) == len(asked)
    shown = [[text for text in asked if text in detail] for detail in details]
    assert all(texts in ([], [own]) for texts, own in zip(shown, asked, strict=True))
    # Some calls fail because of their own request, and others because of another call's.
    assert {len(texts) for texts in shown} == {0, 1}


@pytest.mark.slow
async def test_white_space_keeps_a_try_alive_as_it_does_at_one_endpoint():
    async def alive(writer: asyncio.StreamWriter) -> None:
        reply = json.dumps(completion()).encode()
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(reply) + 13}\r\n\r\n".encode())
        for _ in range(13):
            writer.write(b" ")
            await asyncio.sleep(0.2)
        writer.write(reply)

    async with serve_raw() as first, serve_raw() as second:
        first.answer = second.answer = alive
        async with pool_of(first.base_url, second.base_url, timeout=2) as pool:
            assert (await pool.complete(request())).reply == "yes"
    assert first.calls + second.calls == 1


def test_a_try_may_take_as_long_as_a_call_of_one_endpoint():
    alone, *several = (
        endpoint
        for addresses in ("http://a/v1", "http://a/v1 http://b/v1")
        for endpoint in endpoints_of(Settings(llm_endpoints=addresses, llm_model="m"))
    )
    assert [endpoint.longest_call for endpoint in several] == [alone.longest_call] * 2


async def test_a_try_ends_with_the_time_of_its_call(servers):
    for server in servers:
        server.behavior = lambda chat: HANG
    endpoints = [Endpoint(model="m", base_url=server.base_url, timeout=1000.0, max_retries=0) for server in servers]
    async with EndpointPool(endpoints, concurrency=1, timeout=0.1) as pool:
        with pytest.raises(EndpointUnavailable):
            await asyncio.wait_for(pool.complete(request()), timeout=30)


async def test_all_that_fail_for_a_while_are_asked_again(servers):
    for server in servers:
        server.script.append(Reply.error(503, retry_after=0.01))
    async with pool_of(*(server.base_url for server in servers)) as pool:
        assert (await pool.complete(request())).reply
    assert sum(calls(servers)) == 3


async def test_a_call_ends_if_all_fail(servers):
    for server in servers:
        server.behavior = lambda chat: Reply.error(500)
    async with pool_of(*(server.base_url for server in servers)) as pool:
        with pytest.raises(EndpointUnavailable):
            await pool.complete(request())
    assert sum(calls(servers)) == 3 + 2


async def test_a_call_ends_at_once_if_none_may_answer_it(servers):
    for server in servers:
        server.behavior = lambda chat: Reply.error(401)
    async with pool_of(*(server.base_url for server in servers)) as pool:
        with pytest.raises(EndpointUnavailable) as caught:
            await pool.complete(request())
    assert calls(servers) == [1, 1]
    assert "OPENAI_API_KEY" in str(caught.value.hint)


async def test_a_request_that_is_refused_for_its_own_sake_goes_to_no_other(servers):
    servers[0].behavior = servers[1].behavior = lambda chat: Reply.error(
        400, "too long", param="messages", code="context_length_exceeded"
    )
    async with pool_of(*(server.base_url for server in servers)) as pool:
        for _ in range(2):
            with pytest.raises(RequestRefused):
                await pool.complete(request())
    assert calls(servers) == [1, 1]


async def test_each_is_asked_in_the_form_that_it_takes(servers):
    old, new = servers
    old.behavior = lambda chat: (
        Reply.error(400, param="response_format") if "response_format" in chat.body else Reply("{}")
    )
    async with pool_of(old.base_url, new.base_url) as pool:
        for _ in range(4):
            await pool.complete(request())
        assert pool.most_output_tokens(64) == 64
    assert ["response_format" in body for body in old.bodies] == [True, True, False, False]
    assert all("response_format" in body for body in new.bodies)


async def test_what_opens_a_run_does_not_wait_for_the_verdicts_of_all_others(servers):
    for server in servers:
        server.script.append(HANG)
    async with pool_of(*(server.base_url for server in servers), concurrency=1) as pool:
        asked = [*(("verdict", f"Question: {number}") for number in range(6)), ("relaxation", "Question: opens")]
        tasks = [asyncio.create_task(pool.complete(request(text, purpose=purpose))) for purpose, text in asked]
        for server in servers:
            await arrivals(server, 1)
        await settled()
        tasks[0].cancel()
        await asyncio.gather(*tasks[2:])
        tasks[1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    order = [body["messages"][1]["content"] for server in servers for body in server.bodies[1:]]
    assert order[0] == "Question: opens"


async def test_a_call_that_is_not_to_be_made_is_no_failure(servers):
    class Refused(Exception):
        """This call must not be made."""

    async def begin() -> None:
        raise Refused

    async with pool_of(*(server.base_url for server in servers)) as pool:
        for _ in range(3):
            with pytest.raises(Refused):
                await pool.complete(request(), begin)
        for _ in range(2):
            await pool.complete(request())
    assert calls(servers) == [1, 1]


def test_addresses_are_separated_by_blanks_and_commas():
    settings = Settings(llm_endpoints=" http://a/v1, http://b/v1,http://a/v1\nhttp://c/v1 ")
    assert settings.llm_addresses == ("http://a/v1", "http://b/v1", "http://c/v1")
    assert settings.has_endpoint
    assert not Settings(llm_endpoints=" , ").has_endpoint


def test_an_endpoint_of_several_is_never_taken_for_openai():
    with pytest.raises(ValueError, match="llm_addresses"):
        Endpoint.from_settings(Settings(llm_endpoints="http://a/v1", llm_model="m", openai_api_key="secret"))


def test_one_address_makes_one_endpoint():
    assert isinstance(open_endpoints(Settings(llm_endpoints="http://a/v1", llm_model="m")), Endpoint)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"llm_endpoints": "http://a/v1 b/v1"}, "PGCLARIFY_LLM_ENDPOINTS is not a web address"),
        ({"llm_endpoints": "http://a/v1 http://b/v1?key=1"}, "PGCLARIFY_LLM_ENDPOINTS carries more"),
        ({"llm_endpoints": "http://a/v1", "openai_base_url": "http://b/v1"}, "both set"),
    ],
)
def test_addresses_that_make_no_endpoints_are_refused(settings, named):
    with pytest.raises(ConfigurationError) as caught:
        open_endpoints(Settings(llm_model="m", **settings))
    assert named in caught.value.message
