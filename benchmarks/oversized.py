"""The memory for replies that are too large: it should not grow with their number.

python -m benchmarks.oversized [--calls N]
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import re
import sys
from pathlib import Path

from benchmarks.figures import Figure, show, step
from pgclarify.errors import EndpointUnavailable
from pgclarify.model_calls import CompletionRequest, Message
from pgclarify.providers.endpoint import Endpoint
from tests.raw_server import Answer, completion, http, serve_raw

_CALLS = 64
_LARGE = 22 * 10**6
_BOMB = 600 * 10**6
_MAX_TOKENS = 512


def measure(calls: int = _CALLS) -> list[Figure]:
    """Send this many calls at once from a separate process, and read its peak memory."""
    bomb = gzip.compress(b'{"x": "' + b"a" * _BOMB)
    answers: dict[str, tuple[int, Answer]] = {
        "a reply, once": (1, http(completion())),
        f"replies, {calls} at once": (calls, http(completion())),
        f"of 22 MB, {calls} at once": (calls, http(completion("a" * _LARGE))),
        "that inflates to 600 MB": (1, http(bomb, "200 OK", "Content-Encoding: gzip")),
        f"that inflate to 600 MB, {calls} at once": (calls, http(bomb, "200 OK", "Content-Encoding: gzip")),
    }
    figures = []
    for name, (number, answer) in answers.items():
        with step(name):
            figures.append(Figure(name, asyncio.run(_answering(number, answer)), "MB at most"))
    return figures


async def _answering(number: int, answer: Answer) -> float:
    async with serve_raw() as server:
        server.answer = answer
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "benchmarks.oversized", "--ask", server.base_url, str(number),
            stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        told, _ = await process.communicate()
    return float(told)


async def _ask(base_url: str, number: int) -> None:
    async with Endpoint(model="m", base_url=base_url, concurrency=number, max_retries=0) as endpoint:
        await asyncio.gather(*(_once(endpoint) for _ in range(number)))


async def _once(endpoint: Endpoint) -> None:
    request = CompletionRequest(
        purpose="verdict",
        model="m",
        parameters={"temperature": 0, "max_tokens": _MAX_TOKENS},
        prompt_version="1",
        messages=(Message("user", "Question: what?"),),
    )
    try:
        await endpoint.complete(request)
    except EndpointUnavailable:
        return


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=_CALLS)
    parser.add_argument("--ask", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.ask:
        asyncio.run(_ask(arguments.ask[0], int(arguments.ask[1])))
        # Not getrusage, whose peak includes the memory of the process from which this one was forked.
        highest = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
        print(int(highest[1]) / 1024 if highest else float("nan"))
    else:
        show(measure(arguments.calls))
