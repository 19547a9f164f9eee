"""The batch API of an endpoint: many calls in one file, answered within a day at a lower price."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from io import BytesIO
from itertools import islice
from typing import Any, Final

import openai
from openai.types import Batch

from pgclarify.data.model_calls import FILTERED, Completion, CompletionRequest
from pgclarify.errors import EndpointUnavailable, NoBatches
from pgclarify.language.foreign_text import storable
from pgclarify.providers.endpoint import Endpoint
from pgclarify.providers.failures import REFUSING, FailedReply, UnreadableReply, fields_of, is_of_filter
from pgclarify.providers.reply import read_reply
from pgclarify.providers.transport import MOST_BYTES

_logger = logging.getLogger(__name__)

_PATH: Final = "/v1/chat/completions"
# The field of a batch's metadata that has our id of it.
_KEY: Final = "pgclarify_batch"
_MOST_FILE_BYTES: Final = 512 * 1024 * 1024
# JSON can need thirty times its size in memory. A longer line is no reply.
_MOST_LINE_BYTES: Final = 4 * 1024 * 1024
# Ten for each call. What follows has replies to other calls, or none.
_MOST_LINES: Final = 100_000
# A list that has more batches of the last hours may have no end.
_MOST_LISTED: Final = 10_000
# A hundred batches, each with metadata of any owner.
_MOST_LIST_BYTES: Final = 8 * 1024 * 1024
# An upload or a download takes longer than a call.
_SECONDS: Final = 300.0
# Statuses of an endpoint without a batch API, or whose key may not use it.
_WITHOUT: Final = frozenset({403, 404, 405, 501})
_CLOCKS_DIFFER_SECONDS: Final = 3600.0
_OVER: Final = frozenset({"completed", "expired", "cancelled", "failed"})
# The endpoint takes no more calls in batches until others are answered.
_FULL: Final = "token_limit_exceeded"
_SERVER_ERROR: Final = 500
_LARGEST_ID: Final = 2**63 - 1
# Ids are stored, logged, and a part of addresses.
_ID: Final = re.compile(r"(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9_.:/=~-]{0,199}")


@dataclass(frozen=True, slots=True)
class RemoteBatch:
    """A batch at the endpoint.

    Attributes:
        remote_id: Its id there.
        is_over: Whether it has ended, so that its replies can be read.
        is_full: Whether the endpoint refused it because too many calls of other batches wait there.
        status: What the endpoint calls its state.
        refused: How many of its calls the endpoint counts as failed.
        output_file_id: The file with its replies; None if there is none.
        error_file_id: The file with the calls that failed; None if there is none.
        input_file_id: The file with its calls.
    """

    remote_id: str
    is_over: bool
    is_full: bool
    status: str
    refused: int
    output_file_id: str | None
    error_file_id: str | None
    input_file_id: str


class BatchEndpoint:
    """Sends batches to an endpoint, and reads them. Each method is one request; the caller tries again later.

    Args:
        endpoint: The endpoint of single calls, which knows the form of requests that the server takes.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._client = endpoint.address.openai_client(silence=_SECONDS, connections=2)

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._endpoint.model

    @property
    def base_url(self) -> str:
        """The address."""
        return self._endpoint.address.base_url

    def render(self, request: CompletionRequest) -> str:
        """Return the body of a call, as JSON."""
        return json.dumps(self._endpoint.body(request), ensure_ascii=False, separators=(",", ":"))

    async def find(self, key: str, age: timedelta) -> RemoteBatch | None:
        """Find a batch that was created before, also if the answer to that was lost.

        Args:
            key: Our id of it.
            age: How long ago it was made in the database.

        Raises:
            NoBatches: If the endpoint has no batch API.
            EndpointUnavailable: If the endpoint cannot tell.
        """
        # The clocks of the database and of the endpoint may differ.
        earliest = time.time() - age.total_seconds() - _CLOCKS_DIFFER_SECONDS
        with _at_most(_MOST_LIST_BYTES), _explained(_WITHOUT):
            listed = 0
            # The newest first.
            async for found in self._client.batches.list(limit=100):
                if isinstance(found.metadata, dict) and found.metadata.get(_KEY) == key:
                    return _remote(found)
                if found.created_at < earliest:
                    return None
                listed += 1
                if listed == _MOST_LISTED:
                    raise UnreadableReply
        return None

    async def create(self, key: str, requests: Sequence[tuple[int, str]]) -> RemoteBatch:
        """Upload calls, and create a batch of them.

        Args:
            key: Our id of the batch.
            requests: The id and the body of each call.

        Raises:
            NoBatches: If the endpoint refuses it, now and later.
            EndpointUnavailable: If it is unknown whether the batch was created.
        """
        lines = (
            f'{{"custom_id":"{number}","method":"POST","url":"{_PATH}","body":{body}}}\n' for number, body in requests
        )
        content = "".join(lines).encode("utf-8", "surrogatepass")
        with _explained(_WITHOUT | REFUSING):
            file = await self._client.files.create(file=(f"pgclarify-{key}.jsonl", content), purpose="batch")
            try:
                created = await self._client.batches.create(
                    input_file_id=file.id,
                    endpoint=_PATH,
                    completion_window="24h",
                    metadata={_KEY: key},
                )
            except openai.APIStatusError as error:
                if error.status_code < _SERVER_ERROR:
                    # The refusal says what to do next, also if the file cannot be deleted.
                    with suppress(openai.OpenAIError):
                        await self._delete(file.id)
                raise
            return _remote(created)

    async def look(self, remote_id: str) -> RemoteBatch | None:
        """Return the state of a batch; None if the endpoint does not know it any more.

        Raises:
            EndpointUnavailable: If the endpoint cannot tell.
        """
        with _explained():
            try:
                return _remote(await self._client.batches.retrieve(remote_id))
            except openai.NotFoundError:
                return None

    async def cancel(self, remote_id: str) -> None:
        """Cancel a batch. Calls that were answered are paid, and can be read when it has ended.

        Raises:
            EndpointUnavailable: If the endpoint does not do it.
        """
        with _explained():
            await self._client.batches.cancel(remote_id)

    async def read(self, batch: RemoteBatch) -> list[tuple[int, Completion]]:
        """Read the replies of a batch that is over, by the ids of the calls. Calls that were refused have none.

        A call that a filter of the endpoint refused has an empty reply, because the endpoint may charge for it.

        Raises:
            EndpointUnavailable: If the file cannot be read now.
        """
        replies: dict[int, Completion] = {}
        for file_id in filter(None, (batch.output_file_id, batch.error_file_id)):
            with _at_most(_MOST_FILE_BYTES), _explained():
                file = await self._client.files.content(file_id)
            replies = await asyncio.to_thread(_replies, file.content) | replies
        return [*replies.items()]

    async def forget(self, batch: RemoteBatch) -> None:
        """Delete the files of a batch at the endpoint, because they have texts of documents.

        Raises:
            EndpointUnavailable: If the endpoint does not delete one.
        """
        with _explained():
            for file_id in filter(None, (batch.input_file_id, batch.output_file_id, batch.error_file_id)):
                await self._delete(file_id)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _delete(self, file_id: str) -> None:
        with suppress(openai.NotFoundError):
            await self._client.files.delete(file_id)


@contextmanager
def _at_most(size: int) -> Iterator[None]:
    """Allow answers of so many bytes in the block."""
    token = MOST_BYTES.set(size)
    try:
        yield
    finally:
        MOST_BYTES.reset(token)


@contextmanager
def _explained(refusals: Collection[int] = ()) -> Iterator[None]:
    """Convert errors of the openai client, and of what is below it, to ours.

    Args:
        refusals: Statuses that mean that the endpoint takes no batch.
    """
    try:
        yield
    except openai.APIStatusError as error:
        detail = f"It answered with status {error.status_code}."
        if error.status_code in refusals:
            raise NoBatches("the endpoint takes no batch", detail=detail) from None
        raise EndpointUnavailable("the batch API of the endpoint failed", detail=detail) from None
    # Several libraries below HTTP have their own errors, and a server may send anything.
    except Exception as error:
        raise EndpointUnavailable(
            "the batch API of the endpoint cannot be reached", detail=f"The error is {type(error).__name__}."
        ) from None


def _remote(batch: Batch) -> RemoteBatch:
    """Read a batch. The client checks no types.

    Raises:
        UnreadableReply: If an id or the state is missing, or cannot be one.
    """
    given = batch.to_dict(warnings=False)
    remote_id, input_file_id = (_id(given.get(name)) for name in ("id", "input_file_id"))
    output_file_id, error_file_id = (
        None if given.get(name) is None else _id(given[name]) for name in ("output_file_id", "error_file_id")
    )
    status = _id(given.get("status"))
    errors = fields_of(given.get("errors")).get("data")
    codes = [fields_of(error).get("code") for error in errors] if isinstance(errors, list) else []
    refused = fields_of(given.get("request_counts")).get("failed")
    return RemoteBatch(
        remote_id=remote_id,
        is_over=status in _OVER,
        is_full=status == "failed" and _FULL in codes,
        status=status,
        refused=refused if isinstance(refused, int) else 0,
        output_file_id=output_file_id,
        error_file_id=error_file_id,
        input_file_id=input_file_id,
    )


def _id(sent: object) -> str:
    if not isinstance(sent, str) or _ID.fullmatch(sent) is None:
        raise UnreadableReply
    return sent


def _replies(file: bytes) -> dict[int, Completion]:
    """Read the replies, of several to one call the first one."""
    replies: dict[int, Completion] = {}
    unread = 0
    for line in islice(BytesIO(file), _MOST_LINES):
        try:
            found = _reply(line)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError, UnreadableReply):
            unread += 1
            continue
        if found is not None:
            replies.setdefault(*found)
    if unread:
        # One message for all, because a file may have very many of them.
        _logger.warning("lines of a batch that could not be read: %d", unread)
    return replies


def _reply(line: bytes) -> tuple[int, Completion] | None:
    """Read a line of the file: the id of a call, and its reply; None for a call that was refused."""
    if len(line) > _MOST_LINE_BYTES:
        raise UnreadableReply
    answered: Mapping[str, Any] = json.loads(line)
    response = answered["response"]
    status, body = response["status_code"], response["body"]
    if status != 200 and not is_of_filter(body, status):
        return None
    custom_id = answered["custom_id"]
    number = int(custom_id)
    # int() also takes 2.9, true and " 2", which are not what was sent.
    if custom_id != str(number) or not 0 < number <= _LARGEST_ID:
        raise ValueError
    filtered = Completion("", None, None, 0.0, finish_reason=FILTERED)
    if status != 200:
        return number, filtered
    try:
        reply = read_reply(json.dumps(body).encode())
    except FailedReply as failure:
        return (number, filtered) if failure.is_filtered else None
    return number, Completion(
        reply=storable(reply.text),
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        latency_ms=0.0,
        cached_tokens=reply.cached_tokens,
        finish_reason=reply.finish_reason,
    )
