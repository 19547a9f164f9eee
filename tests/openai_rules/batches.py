"""The batch API of the model server: files and batches, as OpenAI has them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

from aiohttp import web

Answer = Callable[[dict[str, Any]], tuple[int, Any]]


class BatchApi:
    """Files and batches in memory.

    Args:
        answer: Returns the status and the body of the answer to the body of a call.

    Attributes:
        files: Contents by id.
        batches: Batches by id, the oldest first.
        calls: How many calls of batches were answered, and would be paid.
        is_held: While true, batches stay in progress.
        is_missing: Whether the server has no batch API.
        is_down: Whether the batch API answers with status 503.
        failure: The code of the error with which a new batch fails; None if it does not.
        stops_at: A step that does not answer after it was done: file, batch, look or content.
        stopped: Set when a request has come to that step.
    """

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.forget()

    def forget(self) -> None:
        """Start again without files and batches."""
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.calls = 0
        self.is_held = False
        self.is_missing = False
        self.is_down = False
        self.failure: str | None = None
        self.stops_at: str | None = None
        self.stopped = False

    def add_routes(self, application: web.Application) -> None:
        """Add the routes."""
        router = application.router
        router.add_post("/v1/files", self._upload)
        router.add_get("/v1/files/{id}/content", self._content)
        router.add_delete("/v1/files/{id}", self._delete)
        router.add_post("/v1/batches", self._create)
        router.add_get("/v1/batches", self._list)
        router.add_get("/v1/batches/{id}", self._retrieve)
        router.add_post("/v1/batches/{id}/cancel", self._cancel)

    async def _done(self, step: str, answer: web.Response) -> web.Response:
        if self.is_missing:
            return web.json_response({"error": {"message": "Not Found"}}, status=404)
        if self.is_down:
            return web.json_response({"error": {"message": "Service Unavailable"}}, status=503)
        if self.stops_at == step:
            self.stopped = True
            await asyncio.Event().wait()
        return answer

    async def _upload(self, request: web.Request) -> web.Response:
        posted = await request.post()
        field = posted["file"]
        assert isinstance(field, web.FileField)
        assert posted["purpose"] == "batch"
        with field.file as file:
            file_id = self._keep(file.read())
        return await self._done(
            "file",
            web.json_response(
                {
                    "id": file_id,
                    "object": "file",
                    "bytes": len(self.files[file_id]),
                    "created_at": int(time.time()),
                    "filename": field.filename,
                    "purpose": "batch",
                    "status": "processed",
                }
            ),
        )

    async def _content(self, request: web.Request) -> web.Response:
        return await self._done("content", web.Response(body=self.files[request.match_info["id"]]))

    async def _delete(self, request: web.Request) -> web.Response:
        file_id = request.match_info["id"]
        del self.files[file_id]
        return web.json_response({"id": file_id, "object": "file", "deleted": True})

    async def _create(self, request: web.Request) -> web.Response:
        asked = await request.json()
        batch_id = f"batch_{time.monotonic_ns()}"
        self.batches[batch_id] = {
            "id": batch_id,
            "object": "batch",
            "endpoint": asked["endpoint"],
            "input_file_id": asked["input_file_id"],
            "completion_window": asked["completion_window"],
            "metadata": asked.get("metadata"),
            "created_at": int(time.time()),
            "status": "in_progress",
        }
        if self.failure is not None:
            self.batches[batch_id] |= {"status": "failed", "errors": {"data": [{"code": self.failure}]}}
            self.failure = None
        return await self._done("batch", web.json_response(self.batches[batch_id]))

    async def _list(self, _: web.Request) -> web.Response:
        data = [*self.batches.values()][::-1]
        return await self._done("list", web.json_response({"object": "list", "data": data, "has_more": False}))

    async def _retrieve(self, request: web.Request) -> web.Response:
        batch = self.batches.get(request.match_info["id"])
        if batch is None:
            return web.json_response({"error": {"message": "No such batch"}}, status=404)
        if batch["status"] == "in_progress" and not self.is_held:
            self._carry_out(batch)
        return await self._done("look", web.json_response(batch))

    async def _cancel(self, request: web.Request) -> web.Response:
        batch = self.batches[request.match_info["id"]]
        batch["status"] = "cancelled"
        return web.json_response(batch)

    def _carry_out(self, batch: dict[str, Any]) -> None:
        outputs: list[str] = []
        errors: list[str] = []
        for line in self.files[batch["input_file_id"]].splitlines():
            call = json.loads(line)
            assert (call["method"], call["url"]) == ("POST", batch["endpoint"])
            status, body = self._answer(call["body"])
            self.calls += status == 200
            answered = {"id": "batch_req_1", "custom_id": call["custom_id"], "error": None}
            answered["response"] = {"status_code": status, "request_id": "req_1", "body": body}
            (outputs if status == 200 else errors).append(json.dumps(answered))
        # Replies come in any order, and a bad server may send lines that are none.
        noise = ["[" * 100_000, '{"custom_id": 1e999, "response": {"status_code": 200, "body": {}}}']
        noise += [outputs[0].replace('"custom_id": "', '"custom_id": "9999999999999999999')] if outputs else []
        batch["output_file_id"] = self._keep("\n".join(noise + outputs[::-1]).encode()) if outputs else None
        batch["error_file_id"] = self._keep("\n".join(errors).encode()) if errors else None
        batch["status"] = "completed"

    def _keep(self, content: bytes) -> str:
        file_id = f"file-{len(self.files) + 1}-{time.monotonic_ns()}"
        self.files[file_id] = content
        return file_id
