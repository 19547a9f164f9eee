"""The CPU time of a call of a language model, and the memory of the openai client, in a process of their own.

The server is a stub in another process. Other ways to make the same call are measured beside ours.

python -m benchmarks.speed.model_calls [--calls N] [--concurrency N]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from benchmarks.figures import Figure, show, step
from tests import openai_server

CALLS = 1000
CONCURRENCY = 32
_WAYS = ("ours", "raw", "typed", "httpx", "aiohttp")
_BODY = {
    "model": "rules-1",
    "messages": [{"role": "system", "content": "s" * 1500}, {"role": "user", "content": f"Question: {'p' * 1200}?"}],
    "temperature": 0,
    "max_tokens": 512,
}


def measure(calls: int = CALLS, concurrency: int = CONCURRENCY) -> list[Figure]:
    """Make the same calls in each way, each in a new process."""
    figures = []
    with openai_server.spawn(latency=0.02) as server:
        for way in _WAYS:
            with step(f"{calls:,} calls, {concurrency} at once: {way}"):
                arguments = ["--way", way, "--url", server.base_url, "--calls", str(calls)]
                program = [sys.executable, "-m", __spec__.name, *arguments, "--concurrency", str(concurrency)]
                found = json.loads(
                    subprocess.run(program, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
                )
            figures += [
                Figure(f"CPU time of a call, {way}", found["ms"], "ms", aim="≤ 3" if way == "ours" else ""),
                Figure(f"memory of the process, {way}", found["mb"], "MB", aim="≤ 150" if way == "ours" else ""),
            ]
    return figures


async def _run(way: str, url: str, calls: int, concurrency: int) -> dict[str, float]:
    places = asyncio.Semaphore(concurrency)
    call = _caller(way, url, concurrency)

    async def one() -> None:
        async with places:
            await call()

    await one()
    before = time.process_time()
    await asyncio.gather(*(one() for _ in range(calls)))
    ms = 1000 * (time.process_time() - before) / calls
    return {"ms": ms, "mb": _megabytes()}


def _megabytes() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def _caller(way: str, url: str, concurrency: int) -> Callable[[], Awaitable[object]]:
    if way == "aiohttp":
        import aiohttp

        session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=concurrency))

        async def by_hand() -> None:
            async with session.post(f"{url}/chat/completions", json=_BODY) as response:
                json.loads(await response.read())

        return by_hand
    if way == "ours":
        from pgclarify.data.model_calls import CompletionRequest, Message
        from pgclarify.providers.endpoint import Endpoint

        endpoint = Endpoint(model="rules-1", base_url=url, concurrency=concurrency)
        messages = tuple(Message("system" if not at else "user", text) for at, text in enumerate(_texts()))
        request = CompletionRequest(
            purpose="verdict",
            model="rules-1",
            parameters={"temperature": 0, "max_tokens": 512},
            prompt_version="1",
            messages=messages,
        )
        return lambda: endpoint.complete(request)
    import httpx2
    import openai

    limits = httpx2.Limits(max_connections=concurrency)
    http = httpx2.AsyncClient(limits=limits) if way == "httpx" else openai.DefaultAioHttpClient(limits=limits)
    chat = openai.AsyncOpenAI(api_key="none", base_url=url, http_client=http, max_retries=0).chat.completions
    if way == "typed":
        return lambda: chat.create(**_BODY)  # type: ignore[call-overload]
    return lambda: chat.with_raw_response.create(**_BODY)  # type: ignore[call-overload]


def _texts() -> list[str]:
    return [message["content"] for message in _BODY["messages"]]  # type: ignore[attr-defined]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--concurrency", type=int, default=CONCURRENCY)
    parser.add_argument("--way", choices=_WAYS)
    parser.add_argument("--url")
    given = parser.parse_args()
    if given.way:
        print(json.dumps(asyncio.run(_run(given.way, given.url, given.calls, given.concurrency))))
    else:
        show(measure(given.calls, given.concurrency))
