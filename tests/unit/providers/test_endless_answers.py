"""Answers that never end, or inflate to a thousand times their size: they cost an error, and little memory."""

from __future__ import annotations

import asyncio
import gzip
import json
import tracemalloc
import zlib
from collections.abc import AsyncIterator

import pytest

from pgclarify.errors import EmbeddingUnavailable, EndpointUnavailable, PgclarifyError
from pgclarify.providers.client import Address
from pgclarify.providers.embedding_endpoint import EmbeddingEndpoint
from pgclarify.providers.endpoint_embedder import EndpointEmbedder
from tests.unit.providers.asking import endpoint_of, request
from tests.unit.providers.raw_server import Answer, RawServer, completion, http, serve_raw

HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
COMPRESSED = HEAD + b"Content-Encoding: gzip\r\n\r\n"
WHOLE = gzip.compress(json.dumps(completion()).encode())
EMPTY_BLOCK = b"\x00\x00\x00\xff\xff"


@pytest.fixture
async def server() -> AsyncIterator[RawServer]:
    async with serve_raw() as running:
        yield running


def without_end(head: bytes, piece: bytes) -> Answer:
    """A head, and 32 MiB of the same bytes."""
    piece *= 2**16 // len(piece)

    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        for _ in range(512):
            writer.write(piece)
            await writer.drain()

    return send


def bomb(status: str) -> bytes:
    """Half a megabyte that inflates to 512 MiB."""
    compressor = zlib.compressobj(wbits=31)
    head, block = (
        compressor.compress(part) + compressor.flush(zlib.Z_FULL_FLUSH) for part in (b'{"x": "', b"a" * 2**20)
    )
    # After a full flush, a block does not depend on earlier ones.
    return http(head + block * 512, status, "Content-Encoding: gzip")


ATTACKS = {
    "a bomb": bomb("200 OK"),
    "a bomb in a refusal": bomb("503 Service Unavailable"),
    "a body": without_end(HEAD + b"\r\n", b"a"),
    "chunks": without_end(CHUNKED, b"1000\r\n" + b"a" * 4096 + b"\r\n"),
    "a header": without_end(HEAD + b"X-Long: ", b"a"),
    "headers": without_end(HEAD, b"X-a: b\r\n"),
    "interim answers": without_end(b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
    "compressed blocks without content": without_end(COMPRESSED + WHOLE[:10], EMPTY_BLOCK),
}


async def ask_chat_model(server: RawServer) -> None:
    async with endpoint_of(server, max_retries=0, timeout=0.5) as endpoint:
        await endpoint.complete(request())


async def ask_for_embedding(server: RawServer) -> None:
    endpoint = EmbeddingEndpoint(Address(server.base_url, None), max_retries=0, timeout=0.5)
    try:
        await EndpointEmbedder.open(endpoint, "endpoint:m")
    finally:
        await endpoint.aclose()


@pytest.mark.parametrize(
    ("ask", "error"), [(ask_chat_model, EndpointUnavailable), (ask_for_embedding, EmbeddingUnavailable)]
)
@pytest.mark.parametrize("attack", ATTACKS)
async def test_an_answer_without_end_is_an_error_and_takes_little_memory(
    server: RawServer, attack: str, ask: object, error: type[PgclarifyError]
) -> None:
    server.answer = ATTACKS[attack]
    assert callable(ask)
    tracemalloc.start()
    try:
        with pytest.raises(error):
            await ask(server)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # An embedding may have 64 Ki dimensions, of up to 32 bytes each.
    assert peak < 2**24
