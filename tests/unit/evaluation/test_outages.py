"""Which failures are unrelated to a case."""

from __future__ import annotations

import pytest

from pgclarify.errors import BudgetSpent, CompletionError, InvalidReply, PriceMissing, code_of
from pgclarify.evaluation.outages import Outage, outage_of
from pgclarify.model_calls import CompletionRequest, Message
from pgclarify.operations.missing_models import cannot_load, no_language_model
from pgclarify.providers.endpoint import Endpoint
from tests.openai_server import MODEL, Reply, serve

REQUEST = CompletionRequest(
    purpose="verdict",
    model=MODEL,
    parameters={},
    prompt_version="1",
    messages=(Message("user", "q"),),
)


async def error_of(base_url: str) -> str:
    async with Endpoint(model=MODEL, base_url=base_url, timeout=60.0, max_retries=0) as endpoint:
        with pytest.raises(CompletionError) as caught:
            await endpoint.complete(REQUEST)
    return code_of(caught.value)


@pytest.mark.parametrize(
    ("status", "outage"),
    [
        (400, None),
        (413, None),
        (422, None),
        (401, Outage.LASTING),
        (403, Outage.LASTING),
        (404, Outage.LASTING),
        (429, Outage.LASTING),
        (500, Outage.PASSING),
        (503, Outage.PASSING),
    ],
)
async def test_what_an_endpoint_answers(status: int, outage: Outage | None) -> None:
    async with serve() as server:
        server.behavior = lambda chat: Reply.error(status, "the endpoint failed and refused the key")
        error_code = await error_of(server.base_url)
    assert outage_of(error_code) is outage


async def test_no_endpoint() -> None:
    assert outage_of(await error_of("http://127.0.0.1:1/v1")) is Outage.LASTING


def test_what_a_worker_is_not_set_up_for() -> None:
    for error in (no_language_model("asking back", "clarify"), cannot_load("reranker", "x", "signal")):
        assert outage_of(code_of(error)) is Outage.LASTING


def test_what_a_budget_refuses() -> None:
    for error in (BudgetSpent("it is spent"), PriceMissing("the model has no price")):
        assert outage_of(code_of(error)) is Outage.LASTING


@pytest.mark.parametrize("error", [None, InvalidReply("the model's reply does not fit its form"), KeyError(1)])
def test_what_belongs_to_its_case(error: Exception | None) -> None:
    assert outage_of(None if error is None else code_of(error)) is None
