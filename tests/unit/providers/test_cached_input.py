"""Input that an endpoint has cached: what it reports, and which part of a prompt many calls share."""

import pytest

from pgclarify.data.documents import Passage
from pgclarify.prompts.verdict import verdict
from tests.openai_server import Reply, serve
from tests.unit.providers.test_endpoint import endpoint_of, request


@pytest.mark.parametrize(
    ("details", "cached"),
    [
        ({"cached_tokens": 1920, "audio_tokens": 0}, 1920),
        ({"cached_tokens": 0}, 0),
        ({"cached_tokens": -1}, None),
        ({"cached_tokens": "all"}, None),
        ({}, None),
        (None, None),
        ([1], None),
    ],
)
async def test_tokens_that_were_read_before_are_counted(details, cached):
    reply = Reply("{}", usage={"prompt_tokens_details": details})
    async with serve(script=[reply]) as server, endpoint_of(server) as endpoint:
        completion = await endpoint.complete(request())
    assert completion.cached_tokens == cached
    assert completion.prompt_tokens


def test_the_shared_part_of_verdicts_comes_first():
    pages = [Passage("a", 1, "It opened in 1902.", title="Bridge"), Passage("b", 2, "The tower was closed.")]
    first, second = (verdict("When did it open?", page).messages for page in pages)
    assert first[0] == second[0]
    # The question comes before the parts that differ.
    for message in (first[1], second[1]):
        assert message.content.startswith("Question: When did it open?\n")
