"""A server for each test, and endpoints that do not pause between their tries."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.openai_server import Server, serve


@pytest.fixture(autouse=True, scope="module")
def short_pauses() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pgclarify.providers.client._FIRST_PAUSE", 0.001)
        yield


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serve() as running:
        yield running
