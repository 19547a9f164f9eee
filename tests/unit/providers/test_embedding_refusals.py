"""Servers that refuse texts, fail, or do not embed at all: who is blamed, and who tries again."""

from __future__ import annotations

import asyncio
import base64
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from pgclarify.errors import EmbeddingError, EmbeddingUnavailable, describe
from pgclarify.protocols import TextsFailed
from pgclarify.providers.endpoint_embedder import EndpointEmbedder
from pgclarify.providers.failures import UnreadableReply
from pgclarify.providers.reply import read_embeddings
from tests.openai_server import DIMENSIONS, EmbeddingBehavior, Reply, Server, bags_of_words, embeddings
from tests.unit.providers.embedding_server import KEY, MODEL, endpoint_of, opened, raw


@pytest.mark.parametrize(
    "embed",
    [
        raw({"data": []}),
        raw({"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}]}),
        raw({"index": 7}, of="item"),
        raw({"index": [0]}, of="item"),
        raw({"embedding": None}, of="item"),
        raw({"embedding": "=="}, of="item"),
        raw({"embedding": "AAA="}, of="item"),
        lambda _: Reply(body="x" * 3_000_000),
        lambda _: Reply.error(401, f"wrong key {KEY}"),
        lambda _: Reply.error(500, "out of memory"),
        lambda _: Reply(status=307, headers={"Location": "http://127.0.0.1:1/"}, body=""),
    ],
)
async def test_a_server_that_does_not_embed_is_told_from_a_text_that_cannot_be(
    server: Server, embed: EmbeddingBehavior
) -> None:
    async with endpoint_of(server) as endpoint:
        embedder = await EndpointEmbedder.open(endpoint, MODEL)
        server.embed = embed
        for attempt in (embedder.encode(["red cars"]), EndpointEmbedder.open(endpoint, MODEL)):
            with pytest.raises(EmbeddingUnavailable) as caught:
                await attempt
            assert caught.value.sqlstate == "PC013"
            assert caught.value.hint
            assert KEY not in f"{caught.value}{describe(caught.value)}"


@pytest.mark.parametrize("index", [[0], {}, False, "0", None])
def test_an_index_that_is_no_integer_is_unreadable(index: object) -> None:
    body = json.dumps({"data": [{"index": index, "embedding": [1.0]}]}).encode()
    with pytest.raises(UnreadableReply):
        read_embeddings(body, 1)


@pytest.mark.parametrize("vector", [[1.0] * 7, [math.nan] * DIMENSIONS, [math.inf] * DIMENSIONS, [0.0] * DIMENSIONS])
@pytest.mark.parametrize("is_first", [True, False])
async def test_a_wrong_vector_does_not_open_a_model(server: Server, vector: list[float], is_first: bool) -> None:
    wrong = embeddings([vector, vector[::-1]], {"input": ["two", "texts"], "model": "words-1"})
    server.embedding_script.extend([wrong] if is_first else [None, wrong])
    async with endpoint_of(server, max_retries=0) as endpoint:
        with pytest.raises(EmbeddingError):
            await EndpointEmbedder.open(endpoint, MODEL)
        assert (await EndpointEmbedder.open(endpoint, MODEL)).dimensions == DIMENSIONS


def in_base64(kind: str) -> EmbeddingBehavior:
    """Send numbers of another kind, if base64 is asked for."""

    def embed(body: Mapping[str, Any]) -> Reply:
        plain = bags_of_words({**body, "encoding_format": "float"})
        if body.get("encoding_format") != "base64":
            return plain
        reply = json.loads(plain.body or "")
        for item in reply["data"]:
            item["embedding"] = base64.b64encode(np.array(item["embedding"], dtype=kind).tobytes()).decode()
        return Reply(body=json.dumps(reply))

    return embed


def in_another_order(body: Mapping[str, Any]) -> Reply:
    """Give the texts' vectors in alphabetical order."""
    return bags_of_words({**body, "input": sorted(body["input"])})


def without_the_texts(body: Mapping[str, Any]) -> Reply:
    return bags_of_words({**body, "input": ["the same"] * len(body["input"])})


@pytest.mark.parametrize(
    "embed", [in_base64("<f8"), in_base64("<f2"), in_base64(">f4"), in_another_order, without_the_texts]
)
async def test_vectors_that_are_not_those_of_the_texts_do_not_open_a_model(
    server: Server, embed: EmbeddingBehavior
) -> None:
    server.embed = embed
    async with endpoint_of(server) as endpoint:
        with pytest.raises(EmbeddingError):
            await EndpointEmbedder.open(endpoint, MODEL)


@pytest.mark.parametrize("status", [400, 413, 422, 500])
async def test_a_text_that_is_refused_fails_alone(server: Server, status: int) -> None:
    def refuses(body: Mapping[str, Any]) -> Reply:
        if any(text.startswith("p") for text in body["input"] if text != "probe"):
            return Reply.error(status, "input is too large to process")
        return bags_of_words(body)

    async with opened(server, concurrency=1, max_retries=0) as embedder:
        server.embed = refuses
        texts = [f"text {number}" for number in range(20)]
        outcomes = await asyncio.gather(
            *(embedder.encode([text]) for text in [*texts, "poison"]), return_exceptions=True
        )
        with pytest.raises(EmbeddingError) as caught:
            await embedder.encode([*texts, "poison"])
    assert all(isinstance(outcome, np.ndarray) for outcome in outcomes[:-1])
    for error in (outcomes[-1], caught.value):
        assert isinstance(error, EmbeddingError)
        assert not isinstance(error, EmbeddingUnavailable)
        assert error.sqlstate == "PC010"
        assert "too large" in (error.detail or "")


async def test_vectors_beside_a_text_that_is_refused_are_not_lost(server: Server) -> None:
    def refuses(body: Mapping[str, Any]) -> Reply:
        return Reply.error(403) if "poison" in body["input"] else bags_of_words(body)

    texts = [f"text {number}" for number in range(40)]
    async with opened(server, max_retries=0) as embedder:
        expected = await embedder.encode(texts)
        server.embed = refuses
        with pytest.raises(TextsFailed) as caught:
            await embedder.encode([*texts[:10], "poison", *texts[10:]])
    assert list(caught.value.failed) == [10]
    assert np.array_equal(np.stack([*caught.value.vectors.values()]), expected)
    assert list(caught.value.vectors) == [*range(10), *range(11, 41)]


@pytest.mark.parametrize("status", [400, 413, 422, 500])
async def test_a_text_that_has_more_tokens_than_are_counted_is_cut(server: Server, status: int) -> None:
    def refuses(body: Mapping[str, Any]) -> Reply:
        if any(len(text) > 300 for text in body["input"]):
            return Reply.error(status, "input is too large to process")
        return bags_of_words(body)

    async with opened(server, concurrency=1, max_retries=0) as embedder:
        server.embed = refuses
        vectors = await embedder.encode(["red cars", "word " * 200])
        assert np.array_equal(vectors, await embedder.encode(["red cars", "word " * 50]))


@pytest.mark.parametrize(
    "reply",
    [
        Reply.error(400, "no"),
        Reply.error(403),
        Reply.error(500, "failed to encode response: json: unsupported value: NaN"),
        Reply.error(502),
        Reply(body='{"error": {"message": "crashed"}}'),
    ],
)
async def test_a_text_with_which_requests_fail_for_another_reason_fails_alone(server: Server, reply: Reply) -> None:
    def blocks(body: Mapping[str, Any]) -> Reply:
        return reply if any("<script>" in text for text in body["input"]) else bags_of_words(body)

    async with opened(server, concurrency=1, max_retries=0) as embedder:
        server.embed = blocks
        outcomes = await asyncio.gather(
            *(embedder.encode([text]) for text in ["red cars", "blue cars", "a <script>"]), return_exceptions=True
        )
    assert all(isinstance(outcome, np.ndarray) for outcome in outcomes[:-1])
    error = outcomes[-1]
    assert isinstance(error, EmbeddingError)
    assert not isinstance(error, EmbeddingUnavailable)
    assert "key" not in describe(error)
    alone = [body["input"] for body in server.embedding_bodies if "script" in str(body["input"][0])]
    assert alone == [["a <script>"]] * 2, "asked twice, and not shortened"


@pytest.mark.parametrize("reply", [Reply.error(503, "overloaded"), Reply(body="<html>")])
async def test_a_server_that_fails_for_a_moment_does_not_blame_texts(server: Server, reply: Reply) -> None:
    async with opened(server, max_retries=0) as embedder:
        expected = await embedder.encode(["word " * 100])
        server.embedding_script.append(reply)
        assert np.array_equal(await embedder.encode(["word " * 100]), expected)


@pytest.mark.parametrize("number", [math.nan, math.inf, 1e39, 10**400, 0.0])
async def test_a_vector_that_is_no_direction_is_the_fault_of_its_text(server: Server, number: float) -> None:
    def embed(body: Mapping[str, Any]) -> Reply:
        reply = json.loads(bags_of_words({**body, "encoding_format": "float"}).body or "")
        for item in reply["data"]:
            if "poison" in body["input"][item["index"]]:
                item["embedding"] = [number] * DIMENSIONS
        return Reply(body=json.dumps(reply))

    async with opened(server) as embedder:
        server.embed = embed
        with pytest.raises(EmbeddingError) as caught:
            await embedder.encode(["poison"])
        assert not isinstance(caught.value, EmbeddingUnavailable)
        good, bad = await asyncio.gather(
            embedder.encode(["red cars"]), embedder.encode(["poison"]), return_exceptions=True
        )
    assert isinstance(good, np.ndarray)
    assert isinstance(bad, EmbeddingError)
