"""The replies of a model that benchmarks keep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from benchmarks.papers.replies import ReplyServer


async def test_replies_are_given_again_in_their_order_without_the_model(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    async with TestServer(_model()) as model:
        first = await _ask(ReplyServer(path, str(model.make_url("/v1"))), "a", "b", "a")
    assert first == ["1. a", "2. b", "3. a"]
    assert await _ask(ReplyServer(path, None), "a", "a", "b") == ["1. a", "3. a", "2. b"]


async def test_a_replay_that_asks_more_often_gets_the_last_reply_again(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    async with TestServer(_model()) as model:
        await _ask(ReplyServer(path, str(model.make_url("/v1"))), "a", "a")
    assert await _ask(ReplyServer(path, None), "a", "a", "a") == ["1. a", "2. a", "2. a"]


async def test_a_reply_that_is_not_kept_is_asked_for_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    path.touch()
    assert await _ask(ReplyServer(path, None), "a") == [422]
    async with TestServer(_model(fails=True)) as model:
        assert await _ask(ReplyServer(path, str(model.make_url("/v1"))), "a") == [503]
    assert not path.read_text("utf-8")


def _model(*, fails: bool = False) -> web.Application:
    asked: list[str] = []

    async def complete(request: web.Request) -> web.Response:
        if fails:
            return web.json_response({"error": {"message": "busy"}}, status=503)
        asked.append((await request.json())["messages"][0]["content"])
        choice = {"message": {"content": f"{len(asked)}. {asked[-1]}"}}
        return web.json_response({"object": "chat.completion", "model": "one", "choices": [choice], "usage": {}})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", complete)
    return app


async def _ask(server: ReplyServer, *questions: str) -> list[Any]:
    """Return the content of each reply, or the status of a refusal."""
    found: list[Any] = []
    async with TestClient(TestServer(server.app())) as client:
        for question in questions:
            body = {"model": "one", "messages": [{"role": "user", "content": question}], "stream": False}
            async with client.post("/v1/chat/completions", json=body) as response:
                reply = await response.json()
                is_given = response.status == web.HTTPOk.status_code
                found.append(reply["choices"][0]["message"]["content"] if is_given else response.status)
    return found
