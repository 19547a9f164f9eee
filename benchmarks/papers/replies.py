"""Keeps the replies of a language model in a file, and gives them again without the model.

python -m benchmarks.papers.replies FILE [--endpoint URL] [--port N]

It serves the chat API of OpenAI on 127.0.0.1. A request whose reply is in FILE gets that reply. Any other goes to the
endpoint, and its reply is appended to FILE; without an endpoint, it is refused. So a table of a paper that took hours
can be made again in minutes, on any machine, from the same replies; and a run that stopped goes on from the file. Of
several replies to equal requests, the first request after each start gets the first, and so on; without an endpoint,
the last is given again.

FILE has JSON lines. It may be gzipped if there is no endpoint.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, Final

import aiohttp
from aiohttp import web

from pgclarify.errors import PgclarifyError, describe
from pgclarify.evaluation.data_sets import read_records

# Fields that count as null if a request lacks them.
_FIELDS: Final = ("model", "messages", "response_format", "temperature", "max_tokens", "max_completion_tokens")
SMALL_REPLIES: Final = Path(__file__).with_name("replies.jsonl.gz")
SMALL_MODEL: Final = "Qwen2.5-Coder-1.5B-Instruct-Q4_K_M"
"""The model that wrote them."""
NO_REPLY: Final = "has no reply to this request"
_KEPT: Final = ("object", "model", "choices", "usage")
_MOST_BYTES: Final = 2**26


class ReplyServer:
    """The replies of a file, and those that an endpoint adds to it.

    Args:
        path: The file; it is made if it is missing and there is an endpoint.
        endpoint: The address of the model, such as http://127.0.0.1:8080/v1; None for none.
    """

    def __init__(self, path: Path, endpoint: str | None) -> None:
        self._replies: defaultdict[str, list[Any]] = defaultdict(list)
        self._given: Counter[str] = Counter()
        self._path = path
        self._endpoint = endpoint
        if path.exists() or endpoint is None:
            for _, line in read_records(path):
                self._replies[line["asked"]].append(line["reply"])

    def app(self) -> web.Application:
        """Return what serves the chat API."""
        app = web.Application(client_max_size=_MOST_BYTES)
        app.router.add_post("/v1/chat/completions", self.complete)
        return app

    async def complete(self, request: web.Request) -> web.Response:
        """Answer POST /v1/chat/completions."""
        body = await request.json()
        asked = hash_of(body)
        known, place = self._replies[asked], self._given[asked]
        self._given[asked] += 1
        if known and (place < len(known) or self._endpoint is None):
            # A reply that does not fit is asked for again by each row, so a replay asks more often than the first run.
            reply = known[min(place, len(known) - 1)]
        else:
            status, reply = await self._ask(body)
            if status != web.HTTPOk.status_code:
                self._given[asked] -= 1
                return web.json_response(reply, status=status)
            reply = {name: reply[name] for name in _KEPT if name in reply}
            self._keep(asked, reply)
        return web.json_response({"id": asked, "created": 0, **reply})

    async def _ask(self, body: dict[str, Any]) -> tuple[int, Any]:
        if self._endpoint is None:
            # A refusal of this request, after which others go on.
            return 422, {"error": {"message": f"{self._path.name} {NO_REPLY}", "code": "no_reply"}}
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as session,
            session.post(f"{self._endpoint}/chat/completions", json=body) as response,
        ):
            return response.status, await response.json()

    def _keep(self, asked: str, reply: dict[str, Any]) -> None:
        self._replies[asked].append(reply)
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"asked": asked, "reply": reply}) + "\n")


def hash_of(body: dict[str, Any]) -> str:
    """Return the key of a request."""
    asked = dict.fromkeys(_FIELDS) | {name: value for name, value in body.items() if name != "stream"}
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:32]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Keep and give the replies of a language model.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--endpoint", help="the address of the model; without it, only kept replies are given")
    parser.add_argument("--port", type=int, default=8900)
    given = parser.parse_args()
    if given.endpoint and given.file.suffix == ".gz":
        parser.error("replies are not added to a gzipped file: gunzip it first")
    try:
        server = ReplyServer(given.file, given.endpoint)
    except PgclarifyError as error:
        raise SystemExit(describe(error)) from None
    web.run_app(server.app(), host="127.0.0.1", port=given.port)
