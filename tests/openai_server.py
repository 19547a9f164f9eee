"""A real OpenAI-compatible HTTP server on 127.0.0.1, whose models are a few rules about words.

In the same process: `async with serve() as server`. In a process of its own: `with spawn(latency=0.2) as server`, or
`python -m tests.openai_server --latency 0.2 --concurrency 64`, which prints its base URL on the first line.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import hashlib
import json
import re
import subprocess
import sys
import time
import urllib.request
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from aiohttp import web
from numpy.typing import NDArray

from tests.openai_rules import investigation, judging, questioning, reading, rewriting
from tests.openai_rules.batches import BatchApi
from tests.openai_rules.reading import words

MODEL = "rules-1"

_FENCE = re.compile(r"<(passage-[0-9a-f]+)>\n(.*?)\n</\1>", re.DOTALL)


@dataclass(frozen=True)
class Chat:
    """One request: its body, and the parts that the rules read."""

    body: Mapping[str, Any]

    @property
    def user(self) -> str:
        """The last user message."""
        return str(next(m["content"] for m in reversed(self.body["messages"]) if m["role"] == "user"))

    @property
    def passage(self) -> str | None:
        """The content of the first fence of the user message, found by a naive reader; None without a fence."""
        fence = _FENCE.search(self.user)
        return fence[2] if fence else None

    @property
    def outside(self) -> str:
        """The user message without that fence."""
        return _FENCE.sub("", self.user, count=1)

    @property
    def purpose(self) -> str | None:
        """The purpose of the reply, by the name of its schema; None without one."""
        name: str | None = self._form.get("name")
        return name

    @property
    def schema(self) -> Mapping[str, Any]:
        """The schema of the reply; empty without one."""
        schema: Mapping[str, Any] = self._form.get("schema", {})
        return schema

    @property
    def _form(self) -> Mapping[str, Any]:
        form: Mapping[str, Any] = self.body.get("response_format", {}).get("json_schema", {})
        for tool in self.body.get("tools", ()):
            form = {"name": tool["function"]["name"], "schema": tool["function"]["parameters"]}
        return form


@dataclass(frozen=True)
class Reply:
    """What the server sends back: a model's message, or with `status` or `body` a response of a broken server.

    The fields in `message` and `usage` are added to the usual ones, or replace them.
    """

    content: str | None = None
    finish_reason: str = "stop"
    refusal: str | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    hangs: bool = False
    message: Mapping[str, Any] = field(default_factory=dict)
    usage: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def error(
        cls, status: int, message: str = "no", *, retry_after: float | None = None, param: str = "", code: str = ""
    ) -> Reply:
        """An error in OpenAI's form."""
        error = {"error": {"message": message, "type": "error", "param": param or None, "code": code or None}}
        headers = {} if retry_after is None else {"Retry-After": f"{retry_after:g}"}
        return cls(status=status, body=json.dumps(error), headers=headers)


Behavior = Callable[[Chat], Reply]

HANG = Reply(hangs=True)
HALF_JSON = Reply('{"interpretation": "When did the bri', finish_reason="length")
PROSE = Reply("Sure! The passage says that it opened in 1902.")


def by_rules(chat: Chat) -> Reply:
    """Reply by the rules of tests.openai_rules."""
    said = (
        investigation.reply(chat.purpose, chat.user)
        or questioning.reply(chat.purpose, chat.user, chat.schema)
        or rewriting.reply(chat.purpose, chat.user)
        or judging.reply(chat.purpose, chat.user)
        or reading.reply(chat.purpose, chat.outside, chat.passage)
    )
    return Reply(json.dumps(said, ensure_ascii=False))


EmbeddingBehavior = Callable[[Mapping[str, Any]], Reply]

DIMENSIONS = 64


def bags_of_words(body: Mapping[str, Any]) -> Reply:
    """Embed texts as sums of their words' directions: not of unit length, and not in order."""
    dimensions = body.get("dimensions", DIMENSIONS)
    return embeddings([_bag(text, dimensions) for text in body["input"]], body)


def embeddings(vectors: Sequence[NDArray[Any] | Sequence[float]], body: Mapping[str, Any]) -> Reply:
    """Vectors in OpenAI's form, in base64 if that is asked for, the last one first."""
    sent: list[Any] = [[float(number) for number in vector] for vector in vectors]
    if body.get("encoding_format") == "base64":
        sent = [base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode() for vector in vectors]
    tokens = sum(len(text) for text in body["input"]) // 4
    items = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(sent)]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return Reply(body=json.dumps({"object": "list", "data": items[::-1], "model": body["model"], "usage": usage}))


def _bag(text: str, dimensions: int) -> NDArray[np.float32]:
    # A text without words gets a vector of its own.
    found = re.findall(r"\w+", text.casefold()) or [""]
    bag: NDArray[np.float32] = np.array([_direction(word, dimensions) for word in found], dtype=np.float32).sum(axis=0)
    return bag


@lru_cache(100_000)
def _direction(word: str, dimensions: int) -> NDArray[np.int8]:
    """Ones and minus ones, so that the vectors of two words are nearly orthogonal."""
    digest = hashlib.shake_128(word.encode("utf-8", "surrogatepass")).digest(-(-dimensions // 8))
    return np.unpackbits(np.frombuffer(digest, dtype=np.uint8), count=dimensions).astype(np.int8) * 2 - 1


RerankBehavior = Callable[[Mapping[str, Any]], Reply]


def shared_words(body: Mapping[str, Any]) -> Reply:
    """Score texts by the share of the question's words in them, and repeat the texts, as Jina does."""
    return rerank_results([_share(body["query"], text) for text in body["documents"]], body)


def rerank_results(scores: Sequence[float], body: Mapping[str, Any]) -> Reply:
    """Scores as Cohere, Jina, vLLM and llama.cpp send them, best first, with tokens, as all except Cohere send them."""
    texts = body["documents"]
    best_first = sorted(range(len(scores)), key=lambda index: -scores[index])
    results = [
        {"index": index, "relevance_score": scores[index], "document": {"text": texts[index]}} for index in best_first
    ]
    tokens = sum(len(body["query"]) + len(text) for text in texts) // 4
    return Reply(body=json.dumps({"model": body["model"], "results": results, "usage": {"total_tokens": tokens}}))


def as_tei(body: Mapping[str, Any]) -> Reply:
    """Score texts in the same way, in the form of text-embeddings-inference, which refuses the form of the others."""
    if "texts" not in body:
        said = "Failed to deserialize the JSON body into the target type: missing field `texts` at line 1 column 80"
        return Reply(status=422, body=said)
    scores = [_share(body["query"], text) for text in body["texts"]]
    best_first = sorted(range(len(scores)), key=lambda index: -scores[index])
    return Reply(body=json.dumps([{"index": index, "score": scores[index]} for index in best_first]))


def _share(query: str, text: str) -> float:
    asked = words(query)
    return len(asked & words(text)) / max(1, len(asked))


def shared_words_entail(body: Mapping[str, Any]) -> Reply:
    """Label pairs as text-embeddings-inference does: a text entails another text if it has all of its words."""
    replies = []
    for premise, hypothesis in body["inputs"]:
        score = 0.75 if words(hypothesis) <= words(premise) else 0.125
        labels = [("ENTAILMENT", score), ("neutral", 0.875 - score), ("contradiction", 0.125)]
        replies.append([{"label": label, "score": share} for label, share in sorted(labels, key=lambda one: -one[1])])
    return Reply(body=json.dumps(replies))


class Server:
    """The server, and the requests that it received.

    Args:
        latency: Seconds that each call takes.
        concurrency: Most calls at once; others queue. concurrency / latency is its limit in calls a second.
        script: Replies to the first calls, in order; None in it means `behavior`.
        behavior: Replies to all further calls.
        keep_bodies: Whether bodies and arrivals are kept.

    Attributes:
        embedding_script: Replies to the first requests for embeddings, likewise.
        embed: Replies to all further requests for embeddings.
        rerank: Replies to all requests for scores.
        predict: Replies to all requests for labels.
        embedding_bodies, rerank_bodies, predict_bodies: Bodies of these requests, in order; only with keep_bodies.
        embedding_calls, rerank_calls, predict_calls: Numbers of these requests.
        calls: Requests for a completion received.
        in_flight: Requests without an answer yet, including waiting ones.
        most_in_flight: The highest value of in_flight so far.
        inputs: How often each input was asked for, by hash of its messages.
        arrivals: One item for each call, for tests that wait until it has arrived.
        releases: A higher number lets requests that hang be answered, by the present behavior.
        batches: Its batch API.
        keys: Bearer tokens seen.
        organizations: OpenAI organizations seen, "" for none.
        bodies: Bodies received, in order; kept, as are arrivals, only with keep_bodies.
    """

    def __init__(
        self,
        *,
        latency: float = 0.0,
        concurrency: int = 1024,
        script: Iterable[Reply | None] = (),
        behavior: Behavior = by_rules,
        keep_bodies: bool = True,
    ) -> None:
        self.latency = latency
        self.embedding_script: deque[Reply | None] = deque()
        self.embed: EmbeddingBehavior = bags_of_words
        self.embedding_bodies: list[dict[str, Any]] = []
        self.embedding_calls = 0
        self.rerank: RerankBehavior = shared_words
        self.rerank_bodies: list[dict[str, Any]] = []
        self.rerank_calls = 0
        self.predict: RerankBehavior = shared_words_entail
        self.predict_bodies: list[dict[str, Any]] = []
        self.predict_calls = 0
        self.script = deque(script)
        self.behavior = behavior
        self.calls = self.in_flight = self.most_in_flight = self.releases = 0
        self.arrivals: asyncio.Queue[None] = asyncio.Queue()
        self.inputs: Counter[bytes] = Counter()
        self.keys: set[str] = set()
        self.organizations: set[str] = set()
        self.bodies: list[dict[str, Any]] = []
        self.base_url = ""
        self._keep_bodies = keep_bodies
        self.batches = BatchApi(self._answer_in_batch)
        self._slots = asyncio.Semaphore(concurrency)

    @property
    def stats(self) -> dict[str, int | float]:
        """The response to GET /stats. `repeated_inputs`: inputs that came more than once. CPU time is in seconds."""
        return {
            "calls": self.calls,
            "distinct_inputs": len(self.inputs),
            "repeated_inputs": sum(times > 1 for times in self.inputs.values()),
            "in_flight": self.in_flight,
            "most_in_flight": self.most_in_flight,
            "embedding_calls": self.embedding_calls,
            "rerank_calls": self.rerank_calls,
            "cpu_seconds": time.process_time(),
        }

    def application(self) -> web.Application:
        """The routes."""
        application = web.Application(client_max_size=2**24)
        application.router.add_get("/v1/models", self._models)
        application.router.add_post("/v1/chat/completions", self._chat)
        application.router.add_post("/v1/embeddings", self._embeddings)
        application.router.add_post("/v1/rerank", self._rerank)
        application.router.add_post("/v1/predict", self._predict)
        application.router.add_get("/stats", self._stats)
        self.batches.add_routes(application)
        return application

    async def _models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "tests"}]})

    async def _stats(self, _: web.Request) -> web.Response:
        return web.json_response(self.stats)

    async def _received(self, request: web.Request, bodies: list[dict[str, Any]]) -> dict[str, Any]:
        """The body of a request, which is noted."""
        body: dict[str, Any] = json.loads(await request.read())
        if self._keep_bodies:
            bodies.append(body)
            self.arrivals.put_nowait(None)
        return body

    async def _chat(self, request: web.Request) -> web.Response:
        body = await self._received(request, self.bodies)
        self.calls += 1
        self.inputs[hashlib.sha256(json.dumps(body["messages"]).encode()).digest()] += 1
        reply = await self._at_work(request, lambda: _next(self.script) or self.behavior(Chat(body)))
        return _response(reply, json.dumps(_completion(body, reply)))

    def _answer_in_batch(self, body: dict[str, Any]) -> tuple[int, Any]:
        """Answer a call of a batch: its status and body."""
        self.inputs[hashlib.sha256(json.dumps(body["messages"]).encode()).digest()] += 1
        reply = self.behavior(Chat(body))
        return reply.status, json.loads(reply.body) if reply.body is not None else _completion(body, reply)

    async def _embeddings(self, request: web.Request) -> web.Response:
        body = await self._received(request, self.embedding_bodies)
        self.embedding_calls += 1
        return _response(await self._at_work(request, lambda: _next(self.embedding_script) or self.embed(body)))

    async def _rerank(self, request: web.Request) -> web.Response:
        body = await self._received(request, self.rerank_bodies)
        self.rerank_calls += 1
        return _response(await self._at_work(request, lambda: self.rerank(body)))

    async def _predict(self, request: web.Request) -> web.Response:
        body = await self._received(request, self.predict_bodies)
        self.predict_calls += 1
        return _response(await self._at_work(request, lambda: self.predict(body)))

    async def _at_work(self, request: web.Request, answer: Callable[[], Reply]) -> Reply:
        """Answer when a slot is free, after the latency."""
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        self.keys.add(request.headers.get("Authorization", "").removeprefix("Bearer "))
        self.organizations.add(request.headers.get("OpenAI-Organization", ""))
        try:
            async with self._slots:
                started = time.perf_counter()
                reply = answer()
                hung_since = self.releases
                while reply.hangs:
                    await asyncio.sleep(0.01)
                    if self.releases > hung_since:
                        reply = answer()
                # The time of the rules is part of the latency.
                if (left := self.latency - (time.perf_counter() - started)) > 0:
                    await asyncio.sleep(left)
                return reply
        finally:
            self.in_flight -= 1


def _next(script: deque[Reply | None]) -> Reply | None:
    return script.popleft() if script else None


def _response(reply: Reply, rendered: str = "") -> web.Response:
    """The response of a reply. rendered: its text, if the reply has no body."""
    text = rendered if reply.body is None else reply.body
    return web.Response(text=text, status=reply.status, headers=reply.headers, content_type="application/json")


def _completion(body: Mapping[str, Any], reply: Reply) -> dict[str, Any]:
    prompt_tokens = sum(len(message["content"]) for message in body["messages"]) // 4
    completion_tokens = len(reply.content or reply.refusal or "") // 4
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": body["model"],
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": reply.content, "refusal": reply.refusal, **reply.message},
                "finish_reason": reply.finish_reason,
            }
        ],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
            **reply.usage,
        },
    }


@contextlib.asynccontextmanager
async def serve(**options: Any) -> AsyncIterator[Server]:
    """Run a Server in this event loop; options are its arguments."""
    server = Server(**options)
    # A call ends when its client disconnects, so that it neither hangs nor keeps its slot.
    runner = web.AppRunner(server.application(), handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=2048)
    await site.start()
    try:
        server.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        yield server
    finally:
        await site.stop()
        # Wait for a connection that is being accepted, so that it is closed with the others.
        await asyncio.sleep(0.01)
        await runner.cleanup()


@dataclass(frozen=True)
class SpawnedServer:
    """A server in a process of its own."""

    base_url: str
    process_id: int

    @property
    def stats(self) -> dict[str, Any]:
        """The counters of the server so far."""
        with urllib.request.urlopen(f"{self.base_url.removesuffix('/v1')}/stats", timeout=120) as response:  # noqa: S310
            stats: dict[str, Any] = json.load(response)
        return stats


@contextlib.contextmanager
def spawn(*, latency: float = 0.0, concurrency: int = 1024) -> Iterator[SpawnedServer]:
    """Run a server in a separate process, so that a test may kill other processes."""
    options = ["--latency", str(latency), "--concurrency", str(concurrency)]
    command = [sys.executable, "-m", "tests.openai_server", *options]
    with subprocess.Popen(command, cwd=Path(__file__).parents[1], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield SpawnedServer(process.stdout.readline().strip(), process.pid)
        finally:
            process.terminate()


async def _main(latency: float, concurrency: int) -> None:
    async with serve(latency=latency, concurrency=concurrency, keep_bodies=False) as server:
        print(server.base_url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.0, help="latency of each call in seconds")
    parser.add_argument("--concurrency", type=int, default=1024, help="most calls at the same time")
    arguments = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_main(arguments.latency, arguments.concurrency))
