"""The fault harness: its counts, and the answers of its endpoint."""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlsplit

import pytest

from benchmarks.faults import wire
from benchmarks.faults.accounts import Stored, account, slope
from benchmarks.faults.catalog import FAULTS
from benchmarks.faults.endpoint import Call, Endpoint, Spoiling

QUESTION = {"model": "rules-1", "messages": [{"role": "user", "content": "Question: rental cars"}]}


def test_a_stored_reply_for_each_input_counts_no_fault() -> None:
    calls = [Call(1, b"a", 1.0, is_whole=True), Call(2, b"b", 1.0), Call(3, b"b", 2.0, is_whole=True)]
    found = account([7, 8], {7: "succeeded", 8: "running"}, calls, [Stored(1, 3.0), Stored(3, 3.0), Stored(99, 1.0)])

    assert (found.calls, found.stored, found.retries) == (3, 2, 1)
    assert (found.paid_twice, found.in_vain, found.lost, found.still_open) == (0, 0, 0, 1)


def test_a_call_after_its_reply_was_stored_is_paid_twice() -> None:
    calls = [Call(1, b"a", 1.0, is_whole=True), Call(2, b"a", 4.0)]

    assert account([], {}, calls, [Stored(1, 3.0)]).paid_twice == 1
    assert account([], {}, calls, [Stored(1, 5.0)]).paid_twice == 0


def test_an_input_that_is_stored_twice_is_paid_twice() -> None:
    calls = [Call(1, b"a", 1.0, is_whole=True), Call(2, b"a", 1.0, is_whole=True)]

    assert account([], {}, calls, [Stored(1, 3.0), Stored(2, 3.0)]).paid_twice == 1


def test_a_whole_reply_that_nobody_stored_was_in_vain() -> None:
    calls = [Call(1, b"a", 1.0, is_whole=True), Call(2, b"a", 2.0, is_whole=True)]
    found = account([1], {}, calls, [Stored(2, 3.0)])

    assert (found.in_vain, found.paid_twice, found.lost) == (1, 0, 1)


def test_slope() -> None:
    assert slope([(0.0, 10.0), (1.0, 12.0), (2.0, 14.0)]) == pytest.approx(2.0)
    assert slope([(1.0, 10.0)]) == slope([]) == 0.0


def test_a_serial_survives_its_reply() -> None:
    reply = wire.with_serial('{"query": null}', 123_456)

    assert wire.serial_of(reply) == 123_456
    assert json.loads(reply) == {"query": None}
    assert wire.serial_of('{"query": null}') is None


def test_there_are_twenty_faults() -> None:
    assert len({fault.name for fault in FAULTS}) == 20
    assert all(fault.replies or fault.disturb for fault in FAULTS)


def asked(endpoint: Endpoint, method: str, path: str, body: object = None) -> tuple[int, bytes]:
    """Status and body of a complete answer."""
    address = urlsplit(endpoint.base_url)
    connection = http.client.HTTPConnection(address.netloc, timeout=30)
    try:
        connection.request(method, address.path + path, json.dumps(body))
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_the_endpoint_spoils_as_many_as_it_is_told_to() -> None:
    endpoint = Endpoint()
    with endpoint.serving():
        endpoint.spoiling = Spoiling((wire.refusal("500 Internal Server Error"),), share=1.0)
        assert asked(endpoint, "POST", "/chat/completions", QUESTION)[0] == 500
        endpoint.spoiling = Spoiling((wire.truncated,), share=1.0)
        with pytest.raises(http.client.IncompleteRead):
            asked(endpoint, "POST", "/chat/completions", QUESTION)
        endpoint.spoiling = Spoiling()
        reply = json.loads(asked(endpoint, "POST", "/chat/completions", QUESTION)[1])
        assert wire.serial_of(reply["choices"][0]["message"]["content"]) == 3
        endpoint.refuse()
        with pytest.raises(OSError):
            asked(endpoint, "POST", "/chat/completions", QUESTION)
        endpoint.listen()
        assert asked(endpoint, "GET", "/models")[0] == 200
        # A client can have the last byte before the endpoint has noted that it sent it; by the next request it has.
        assert [call.is_whole for call in endpoint.calls] == [False, False, True]
