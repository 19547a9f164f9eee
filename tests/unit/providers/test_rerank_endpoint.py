"""Rerankers of an endpoint: the requests, their forms, and how each response is handled."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import SecretStr

from pgclarify.data.model_calls import Completion
from pgclarify.errors import (
    EndpointFailed,
    EndpointUnavailable,
    ModelNotFound,
    RequestRefused,
    describe,
)
from pgclarify.prompts.cross_encoding import inference, reranking
from pgclarify.providers.client import Address
from pgclarify.providers.rerank_endpoint import RerankEndpoint, RerankModel
from tests.fakes import FakeSending
from tests.openai_server import Reply, RerankBehavior, Server, as_tei, shared_words

KEY = "sk-very-secret-0123456789"
QUESTION = "who pays tolls"
TEXTS = ("A deductible applies to hail.", "The renter pays all tolls.", "Tolls are due.")


@asynccontextmanager
async def model_of(server: Server, name: str = "endpoint:words-1", **changes: Any) -> AsyncIterator[RerankModel]:
    address = Address(server.base_url, SecretStr(KEY))
    endpoint = RerankEndpoint(address, **{"max_retries": 1, "timeout": 20, **changes})
    try:
        yield endpoint.model(name)
    finally:
        await endpoint.aclose()


async def complete(model: RerankModel, *texts: str) -> Completion:
    call = reranking(QUESTION, texts or TEXTS, ["d1"])
    completion = await model.complete(model.request(call))
    # An unreadable reply would be paid for in vain.
    call.read(completion)
    return completion


async def scores_of(model: RerankModel, *texts: str) -> list[float]:
    sent: list[float] = json.loads((await complete(model, *texts)).reply)
    return sent


def changed(change: Callable[[dict[str, Any]], Any]) -> RerankBehavior:
    """Change the reply of the server."""

    def rerank(body: Mapping[str, Any]) -> Reply:
        reply = json.loads(shared_words(body).body or "")
        change(reply)
        return Reply(body=json.dumps(reply))

    return rerank


async def test_scores_come_in_the_order_of_the_texts(server: Server) -> None:
    async with model_of(server) as model:
        completion = await complete(model)
    assert json.loads(completion.reply) == pytest.approx([0, 2 / 3, 1 / 3])
    assert server.rerank_bodies == [{"model": "words-1", "query": QUESTION, "documents": list(TEXTS)}]
    assert server.keys == {KEY}
    tokens = sum(len(QUESTION) + len(text) for text in TEXTS) // 4
    assert (completion.prompt_tokens, completion.completion_tokens) == (tokens, 0)


@pytest.mark.parametrize(
    ("sent", "tokens"),
    [
        ({"usage": {"prompt_tokens": 9, "total_tokens": 12}}, 12),
        ({"usage": {"total_tokens": "12"}}, None),
        ({"usage": None, "meta": {"billed_units": {"input_tokens": 12}}}, 12),
        # A count of searches is not a count of tokens.
        ({"usage": None, "meta": {"billed_units": {"search_units": 1}}}, None),
        ({"usage": None, "meta": [1]}, None),
    ],
)
async def test_tokens_are_those_that_are_charged(server: Server, sent: dict[str, Any], tokens: int | None) -> None:
    server.rerank = changed(lambda reply: reply.update(sent))
    async with model_of(server) as model:
        assert (await complete(model)).prompt_tokens == tokens


async def test_the_form_of_text_embeddings_inference_is_found_and_remembered(server: Server) -> None:
    server.rerank = as_tei
    async with model_of(server) as model:
        completions = [await complete(model), await complete(model)]
    assert [json.loads(one.reply) for one in completions] == [pytest.approx([0, 2 / 3, 1 / 3])] * 2
    assert completions[0].prompt_tokens is None
    assert ["texts" in body for body in server.rerank_bodies] == [False, True, True]
    assert server.rerank_bodies[-1] == {"query": QUESTION, "texts": list(TEXTS), "truncate": True}


async def test_all_requests_of_a_call_have_one_time_limit(server: Server) -> None:
    """Otherwise the call could outlive its lease, and another worker would make it again."""
    server.latency = 0.4
    server.rerank = lambda body: shared_words(body) if len(body["documents"]) == 1 else Reply.error(413, "too many")
    async with model_of(server, timeout=1.0, max_retries=0) as model:
        with pytest.raises(EndpointUnavailable):
            await complete(model)
    assert server.rerank_calls < 7


def at_most(most: int, behavior: RerankBehavior, key: str) -> RerankBehavior:
    def rerank(body: Mapping[str, Any]) -> Reply:
        count = len(body.get(key, "x" * 1000))
        return Reply.error(422, f"batch size {count} > {most}") if count > most else behavior(body)

    return rerank


@pytest.mark.parametrize(("behavior", "key"), [(shared_words, "documents"), (as_tei, "texts")])
async def test_a_server_that_takes_few_texts_is_found_out(server: Server, behavior: RerankBehavior, key: str) -> None:
    server.rerank = at_most(4, behavior, key)
    texts = [f"tolls {'pays ' * (number % 2)}{number}" for number in range(13)]
    async with model_of(server) as model:
        first = await scores_of(model, *texts)
        server.rerank_bodies.clear()
        second = await complete(model, *texts)
    assert first == json.loads(second.reply) == pytest.approx([(1 + number % 2) / 3 for number in range(13)])
    # No size is refused a second time, and the tokens are those of all requests.
    assert [len(body[key]) for body in server.rerank_bodies] == [4, 3, 3, 3]
    expected = sum(sum(len(QUESTION) + len(text) for text in body[key]) // 4 for body in server.rerank_bodies)
    assert second.prompt_tokens == (expected if key == "documents" else None)


async def test_long_texts_that_are_too_many_say_nothing_about_short_ones(server: Server) -> None:
    def refuses(body: Mapping[str, Any]) -> Reply:
        if "documents" not in body or sum(map(len, body["documents"])) > 1000:
            return Reply.error(413, "too large")
        return shared_words(body)

    server.rerank = refuses
    async with model_of(server) as model:
        for _ in range(2):
            server.rerank_bodies.clear()
            await complete(model, *(f"{number} {'tolls ' * 100}" for number in range(4)))
        # A refused size is not sent again.
        assert [len(body["documents"]) for body in server.rerank_bodies] == [1, 1, 1, 1]
        server.rerank_bodies.clear()
        await complete(model, *(f"toll {number}" for number in range(50)))
    assert [len(body["documents"]) for body in server.rerank_bodies] == [50]


@pytest.mark.parametrize("status", [400, 413, 422, 500])
async def test_a_text_that_is_too_long_is_cut_alone(server: Server, status: int) -> None:
    def refuses(body: Mapping[str, Any]) -> Reply:
        if any(len(text) > 300 for text in body.get("documents", [])) or "texts" in body:
            return Reply.error(status, "input is too large to process")
        return shared_words(body)

    server.rerank = refuses
    long = "tolls " + "word " * 200
    async with model_of(server, max_retries=0) as model:
        assert await scores_of(model, *TEXTS, long) == pytest.approx([0, 2 / 3, 1 / 3, 1 / 3])
        assert max(len(text) for body in server.rerank_bodies for text in body.get("documents", [])) == len(long)
        server.rerank_bodies.clear()
        # The refusal of one long text says nothing about the number of texts.
        await complete(model, *TEXTS, *TEXTS)
    assert len(server.rerank_bodies) == 1


async def test_a_text_that_is_refused_whatever_its_length_fails_the_call(server: Server) -> None:
    server.rerank = lambda body: (
        Reply.error(400, "no")
        if any("poison" in text for text in body.get("documents", ["poison"]))
        else shared_words(body)
    )
    async with model_of(server) as model:
        with pytest.raises(RequestRefused) as caught:
            await complete(model, "poison" * 4, *TEXTS)
    assert caught.value.sqlstate == "PC014"
    # The halves of the texts, no part of a text, and none of the later texts.
    asked = [body["documents"] for body in server.rerank_bodies if "documents" in body]
    assert [len(documents) for documents in asked] == [4, 2, 1]


async def test_a_text_that_the_model_cannot_score_is_not_cut(server: Server) -> None:
    def computes_nan(body: Mapping[str, Any]) -> Reply:
        texts = body.get("documents", body.get("texts"))
        if any("poison" in text and len(text) > 9 for text in texts):
            return Reply.error(500, "Out of range float values are not JSON compliant: nan")
        return shared_words(body)

    server.rerank = computes_nan
    async with model_of(server, max_retries=0) as model:
        with pytest.raises(EndpointUnavailable):
            await complete(model, "poison " * 4, *TEXTS)
    sent = {text for body in server.rerank_bodies for text in body.get("documents", ())}
    assert sent <= {"poison " * 4, *TEXTS}


ENTRY = {"index": 0, "relevance_score": 0.5}


@pytest.mark.parametrize(
    "rerank",
    [
        changed(lambda reply: reply["results"].pop()),
        changed(lambda reply: reply["results"].append(ENTRY)),
        changed(lambda reply: reply["results"][0].update(index=7)),
        changed(lambda reply: reply["results"][0].update(reply["results"][1])),
        changed(lambda reply: reply["results"][0].update(relevance_score=math.nan)),
        changed(lambda reply: reply.update(results=None, error={"message": "overloaded"})),
        lambda _: Reply(body="[" * 30_000),
    ],
)
async def test_wrong_scores_are_requested_again_and_then_an_error(server: Server, rerank: RerankBehavior) -> None:
    server.rerank = rerank
    async with model_of(server) as model:
        with pytest.raises(EndpointUnavailable) as caught:
            await complete(model)
    assert caught.value.sqlstate == "PC013"
    assert len(server.rerank_bodies) == 2


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply.error(401, f"wrong key {KEY}"), EndpointUnavailable),
        (Reply.error(400, f"this is a chat model, {KEY}"), RequestRefused),
        (Reply.error(500, "out of memory"), EndpointFailed),
        (Reply(body="x" * 3_000_000), EndpointFailed),
        (Reply(status=307, headers={"Location": "http://127.0.0.1:1/"}, body=""), EndpointUnavailable),
    ],
)
async def test_a_server_that_scores_nothing(server: Server, reply: Reply, kind: type[EndpointUnavailable]) -> None:
    server.rerank = lambda _: reply
    async with model_of(server) as model:
        with pytest.raises(EndpointUnavailable) as caught:
            await complete(model)
    assert type(caught.value) is kind
    assert caught.value.hint
    assert KEY not in f"{caught.value}{describe(caught.value)}"
    # Only a refusal that may be about the texts is followed by requests with fewer and shorter texts.
    assert server.rerank_calls <= (10 if reply.status in (400, 500) else 2)


PAIRS = (("it opened in 1902", "in 1902"), ("in 1902", "it opened in 1902"), ("1902", "1903"))


async def entailed(model: RerankModel, *pairs: tuple[str, str]) -> list[bool]:
    call = inference(pairs or PAIRS)
    return call.read(await model.complete(model.request(call)))


class TestInference:
    async def test_pairs_are_entailed_if_that_is_the_likeliest_label(self, server: Server) -> None:
        async with model_of(server) as model:
            assert await entailed(model) == [True, False, False]
            assert await entailed(model, PAIRS[0]) == [True]
        assert server.predict_bodies == [
            {"inputs": [list(pair) for pair in PAIRS], "truncate": True},
            {"inputs": [list(PAIRS[0])], "truncate": True},
        ]
        assert server.keys == {KEY}

    @pytest.mark.parametrize(
        "body",
        [
            "[]",
            json.dumps([[{"label": "entailment", "score": 0.9}]] * 3),
            json.dumps([[{"label": "LABEL_0", "score": 0.9}, {"label": "LABEL_1", "score": 0.1}]] * 3),
            json.dumps([[{"label": "entailment", "score": math.nan}, {"label": "neutral", "score": 0.1}]] * 3),
            json.dumps([[{"label": "entailment", "score": 0.9}, {"label": "neutral", "score": 0.1}]] * 2),
        ],
    )
    async def test_anything_else_is_an_error(self, server: Server, body: str) -> None:
        server.predict = lambda _: Reply(body=body)
        async with model_of(server) as model:
            with pytest.raises(EndpointUnavailable) as caught:
                await entailed(model)
        assert caught.value.sqlstate == "PC013"
        assert len(server.predict_bodies) == 2


@pytest.mark.parametrize("name", ["extractive", "extractive-1", " extractive-12\u00a0"])
async def test_the_name_of_the_extractive_provider_is_refused(server: Server, name: str) -> None:
    # Calls under this name would be free, and no budget would stop them.
    with pytest.raises(ModelNotFound):
        async with model_of(server, f"endpoint:{name}"):
            pass
    async with model_of(server, "endpoint:extractive-qa") as model:
        assert model.model == "extractive-qa"


async def test_each_request_that_may_be_charged_is_another_call(server: Server) -> None:
    server.rerank = lambda body: shared_words(body) if len(body["documents"]) == 1 else Reply.error(413, "too many")
    sending = FakeSending()
    async with model_of(server) as model:
        # The form that the server takes is known then.
        await complete(model, "one text")
        await model.complete(model.request(reranking(QUESTION, TEXTS, ["d1"])), sending)
    # All three texts, two of them, and each alone. Only the requests for one text are answered.
    assert sending.begun == [False, False, False, True, True]
