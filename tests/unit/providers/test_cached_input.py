"""Input that an endpoint has cached: what it reports, and which part of a prompt many calls share."""

import pytest

from tests.openai_server import Reply, serve
from tests.unit.providers.test_endpoint import endpoint_of, request


@pytest.mark.parametrize(
    ("details", "cached"),
    [
        ({"cached_tokens": 1920, "audio_tokens": 0}, 1920),
        ({"cached_tokens": 0}, 0),
        ({"cached_tokens": -1}, None),
        ({}, None),
        ([1], None),
    ],
)
async def test_tokens_that_were_read_before_are_counted(details, cached):
    reply = Reply("{}", usage={"prompt_tokens_details": details})
    async with serve(script=[reply]) as server, endpoint_of(server) as endpoint:
        completion = await endpoint.complete(request())
    assert completion.cached_tokens == cached
    assert completion.prompt_tokens
