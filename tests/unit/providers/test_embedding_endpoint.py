"""Embeddings of an endpoint, with a real server over HTTP: requests, checks, and errors."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from pgclarify.config import Settings
from pgclarify.corpora.embedders import open_embedders
from pgclarify.errors import ConfigurationError, DimensionMismatch, EmbeddingError, EmbeddingUnavailable, ModelNotFound
from pgclarify.protocols import EmbeddingTally, PaidTexts, Payer, paid_by, waited_for
from pgclarify.providers.embedding_endpoint import EmbeddingEndpoint
from pgclarify.providers.endpoint_embedder import EndpointEmbedder, prefixes_of
from tests.openai_server import DIMENSIONS, Reply, Server, bags_of_words, embeddings
from tests.unit.providers.embedding_server import KEY, MODEL, endpoint_of, opened, raw


async def test_vectors_are_of_unit_length_and_in_the_order_of_the_texts(server: Server) -> None:
    async with opened(server) as embedder:
        vectors = await embedder.encode(["red cars", "blue boats", "boats and cars"])
        apart = [await embedder.encode([text]) for text in ("red cars", "blue boats", "boats and cars")]
    assert (embedder.model, embedder.dimensions) == (MODEL, DIMENSIONS)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert np.array_equal(vectors, np.concatenate(apart))
    assert server.embedding_bodies[0] == {
        "model": "words-1",
        "encoding_format": "base64",
        "input": ["red cars", "blue boats", "boats and cars"],
    }
    assert server.keys == {KEY}


async def test_a_server_that_refuses_base64_is_asked_without(server: Server) -> None:
    def only_floats(body: Mapping[str, Any]) -> Reply:
        if "encoding_format" in body:
            return Reply.error(422, "unknown field encoding_format")
        return bags_of_words(body)

    async with opened(server) as embedder:
        exact = await embedder.encode(["red cars"])
    server.embed = only_floats
    async with opened(server) as embedder:
        assert np.array_equal(await embedder.encode(["red cars"]), exact)
    assert len(server.embedding_bodies) == 1


async def test_a_server_that_sends_numbers_where_base64_was_asked_for_is_understood(server: Server) -> None:
    server.embed = lambda body: bags_of_words({**body, "encoding_format": "float"})
    async with opened(server) as embedder:
        assert np.allclose(np.linalg.norm(await embedder.encode(["red cars"]), axis=1), 1)


async def test_texts_that_wait_share_requests_and_large_batches_are_cut(server: Server) -> None:
    async with opened(server, concurrency=1) as embedder:
        server.latency = 0.01
        many = [f"text {number}" for number in range(70)]
        together = await asyncio.gather(embedder.encode(many), *(embedder.encode([text]) for text in many))
    assert np.array_equal(together[0], np.concatenate(together[1:]))
    assert [len(body["input"]) for body in server.embedding_bodies] == [32, 32, 32, 32, 12]
    assert server.most_in_flight == 1


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        # The texts have 4 and 8 bytes.
        ({"usage": {"prompt_tokens": 7, "total_tokens": 9}}, (2, 5)),
        ({"usage": {"prompt_tokens": "many"}}, (2, 4)),
        ({"usage": None}, (2, 4)),
    ],
)
async def test_payers_of_one_request_share_its_tokens(
    server: Server, usage: Mapping[str, Any], tokens: tuple[int, int]
) -> None:
    tally, payers = EmbeddingTally(), (Payer(run_id=1), Payer(embedding_space_id=2))

    async def embed(embedder: EndpointEmbedder, payer: Payer, text: str) -> None:
        with paid_by(payer):
            await embedder.encode([text])

    async with opened(server, tally=tally) as embedder:
        server.embed = raw(usage)
        await asyncio.gather(*(embed(embedder, *each) for each in zip(payers, ("cars", "cars car"), strict=True)))
    assert len(server.embedding_bodies) == 1
    assert tally.take() == [PaidTexts(payer, MODEL, 1, share) for payer, share in zip(payers, tokens, strict=True)]


async def test_useless_responses_are_counted_and_refusals_are_not(server: Server) -> None:
    tally = EmbeddingTally()
    async with opened(server, tally=tally, max_retries=0) as embedder:
        server.embed = lambda _: Reply.error(400)
        with pytest.raises(EmbeddingError):
            await embedder.encode(["four"])
        assert tally.take() == []
        server.embed = lambda body: embeddings([[0.0] * DIMENSIONS for _ in body["input"]], body)
        with pytest.raises(EmbeddingError):
            await embedder.encode(["four"])
    assert [(paid.texts, paid.tokens) for paid in tally.take()] == [(1, 1)]


async def test_questions_come_before_passages_and_the_oldest_first(server: Server) -> None:
    # More questions than fit into a request, and fewer passages: the purpose decides the order, not the number.
    questions = [f"question {number}" for number in range(33)]
    async with opened(server, concurrency=1) as embedder:
        server.latency = 0.01
        waiting = [asyncio.create_task(embedder.encode(["first"]))]
        await server.arrivals.get()
        for texts, are_passages in (
            (["passage"], True),
            (questions, False),
            (["another question"], False),
            (["another passage"], True),
        ):
            waiting.append(asyncio.create_task(embedder.encode(texts, are_passages=are_passages)))
            await asyncio.sleep(0)
        await asyncio.gather(*waiting)
    sent = [text for body in server.embedding_bodies for text in body["input"]]
    assert sent == ["first", *questions, "another question", "passage", "another passage"]


async def test_a_question_that_is_waited_for_comes_before_those_of_a_batch(server: Server) -> None:
    questions = [f"question {number}" for number in range(64)]
    async with opened(server, concurrency=1) as embedder:
        server.latency = 0.01
        waiting = [asyncio.create_task(embedder.encode(["first"]))]
        await server.arrivals.get()
        waiting.append(asyncio.create_task(embedder.encode(questions)))
        await asyncio.sleep(0)
        with waited_for(True):
            waiting.append(asyncio.create_task(embedder.encode(["a person's"])))
        await asyncio.gather(*waiting)
    sent = [text for body in server.embedding_bodies for text in body["input"]]
    assert sent == ["first", "a person's", *questions]


async def test_texts_of_a_cancelled_caller_are_not_sent(server: Server) -> None:
    async with opened(server, concurrency=1) as embedder:
        server.latency = 0.01
        first = asyncio.create_task(embedder.encode(["first"]))
        await server.arrivals.get()
        second = asyncio.create_task(embedder.encode(["second"]))
        third = asyncio.create_task(embedder.encode(["third"]))
        await asyncio.sleep(0.001)
        second.cancel()
        await asyncio.gather(first, third)
    assert [body["input"] for body in server.embedding_bodies] == [["first"], ["third"]]


async def test_closing_ends_what_waits(server: Server) -> None:
    async with opened(server) as embedder:
        server.embedding_script.append(Reply(hangs=True))
        waiting = asyncio.create_task(embedder.encode(["red cars"]))
        await server.arrivals.get()
        embedder.close()
        with pytest.raises(asyncio.CancelledError):
            await waiting


async def test_an_error_that_nobody_expects_is_no_cancellation(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask(*_: object) -> Any:
        raise RuntimeError("a bug")

    async with opened(server) as embedder:
        with monkeypatch.context() as patch:
            patch.setattr(EmbeddingEndpoint, "ask", ask)
            outcomes = await asyncio.gather(
                embedder.encode(["red cars"]), embedder.encode(["blue boats"]), return_exceptions=True
            )
        assert all(isinstance(outcome, EmbeddingError) for outcome in outcomes)
        assert (await embedder.encode(["red cars"])).shape == (1, DIMENSIONS)


async def test_a_caller_is_not_told_what_a_server_says_of_the_texts_of_others(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    def repeats(body: Mapping[str, Any]) -> Reply:
        return Reply.error(503, f"no room for {body['input']}")

    async with opened(server, max_retries=0) as embedder:
        server.embed = repeats
        outcomes = await asyncio.gather(
            embedder.encode(["a question"]),
            embedder.encode(["a secret"], are_passages=True),
            return_exceptions=True,
        )
    assert [body["input"] for body in server.embedding_bodies] == [["a question", "a secret"], ["probe"]]
    for outcome in outcomes:
        assert isinstance(outcome, EmbeddingUnavailable)
        assert "secret" not in str(outcome)
    assert "secret" in caplog.text


@pytest.mark.parametrize("model", ["endpoint:words-1@16", "endpoint:words-1"])
async def test_dimensions_that_are_not_asked_for_or_fit_no_index(server: Server, model: str) -> None:
    server.embed = lambda body: bags_of_words({**body, "dimensions": 4001})
    async with endpoint_of(server) as endpoint:
        with pytest.raises(DimensionMismatch) as caught:
            await EndpointEmbedder.open(endpoint, model)
    assert "4001" in (caught.value.detail or "")


@pytest.mark.parametrize("model", ["endpoint:", "endpoint:\n", "endpoint:extractive", "endpoint:extractive-1@16"])
async def test_no_name_that_a_model_may_have(server: Server, model: str) -> None:
    async with endpoint_of(server) as endpoint:
        with pytest.raises(ModelNotFound):
            await EndpointEmbedder.open(endpoint, model)
    assert server.embedding_bodies == []


async def test_text_that_is_not_unicode_is_not_sent(server: Server) -> None:
    async with opened(server) as embedder:
        with pytest.raises(EmbeddingError):
            await embedder.encode(["fine", "half a \ud800 pair"])
    assert server.embedding_bodies == []


async def test_long_texts_are_cut_to_what_is_counted(server: Server) -> None:
    texts = ["word " * 1000, " " * 5000 + "x", "日本" * 300, "short"]
    async with opened(server) as embedder:
        await embedder.encode(texts)
        sent = server.embedding_bodies[0]["input"]
        counts = [len(encoding) for encoding in embedder.tokenizer.encode_batch(sent)]
        beyond = len(embedder.tokenizer.encode("x" * 4 * embedder.max_tokens))
    assert all(text.startswith(start) for text, start in zip(texts, sent, strict=True))
    assert counts == [256, 256, 256, 2]
    assert beyond == embedder.max_tokens == 256


async def test_prefixes(server: Server) -> None:
    async with opened(server, model="endpoint:intfloat/multilingual-e5-small") as embedder:
        await embedder.encode(["red cars"])
        await embedder.encode(["red cars", "word " * 1000], are_passages=True)
    asked = [body["input"] for body in server.embedding_bodies if "probe" not in str(body["input"])]
    assert asked[0] == ["query: red cars"]
    first, second = asked[1]
    assert first == "passage: red cars"
    assert second.startswith("passage: word word")
    assert len(second) < 2000


@pytest.mark.parametrize(
    ("model", "question", "passage"),
    [
        ("intfloat/e5-base-v2", "query: ", "passage: "),
        ("nomic-embed-text:latest", "search_query: ", "search_document: "),
        # It expects instructions of another form.
        ("intfloat/multilingual-e5-large-instruct", "", ""),
        ("text-embedding-3-small", "", ""),
    ],
)
def test_prefixes_go_by_the_name_of_the_model(model: str, question: str, passage: str) -> None:
    assert prefixes_of(model) == (question, passage)


@pytest.fixture
def settings_of(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    def make(**values: str) -> Settings:
        return Settings.model_validate(values)

    yield make


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"openai_base_url": "URL", "openai_api_key": "chat"}, "chat"),
        ({"openai_base_url": "URL", "openai_api_key": "chat", "embedding_api_key": "own"}, "own"),
        ({"embedding_base_url": "URL", "embedding_api_key": "own"}, "own"),
        ({"openai_base_url": "http://127.0.0.1:1", "embedding_base_url": "URL", "embedding_api_key": "own"}, "own"),
        # A blank variable is not set.
        (
            {"openai_base_url": "URL", "openai_api_key": "chat", "embedding_base_url": " ", "embedding_api_key": ""},
            "chat",
        ),
        # The key of one server is not sent to another.
        ({"embedding_base_url": "URL", "openai_api_key": "chat"}, "no-key-set"),
    ],
)
async def test_address_and_key(
    server: Server, settings_of: Any, monkeypatch: pytest.MonkeyPatch, values: dict[str, str], key: str
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    settings = settings_of(**{name: value.replace("URL", server.base_url) for name, value in values.items()})
    endpoint = EmbeddingEndpoint.from_settings(settings, max_retries=0)
    await (await EndpointEmbedder.open(endpoint, MODEL)).encode(["red cars"])
    assert server.embedding_bodies[-1]["input"] == ["red cars"]
    await endpoint.aclose()
    assert server.keys == {key}
    # Organizations belong to the key of OpenAI.
    assert server.organizations == ({"org-1"} if key == "chat" else {""})


async def test_a_model_whose_dimensions_changed_is_opened_anew(server: Server, settings_of: Any) -> None:
    async with open_embedders(settings_of(embedding_base_url=server.base_url)) as embedders:
        before = await embedders.get(MODEL)
        server.embed = lambda body: bags_of_words({**body, "dimensions": 32})
        with pytest.raises(EmbeddingUnavailable):
            await before.encode(["red cars"])
        after = await embedders.get(MODEL)
        assert (before.dimensions, after.dimensions) == (DIMENSIONS, 32)
        assert (await after.encode(["red cars"])).shape == (1, 32)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"embedding_base_url": "localhost"},
        {"embedding_base_url": "http://user:secret@localhost/v1"},
        {"embedding_base_url": "http://localhost/v1?api-key=secret"},
    ],
)
def test_no_address(settings_of: Any, values: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        EmbeddingEndpoint.from_settings(settings_of(**values))
    assert "secret" not in str(caught.value)
    assert caught.value.hint
