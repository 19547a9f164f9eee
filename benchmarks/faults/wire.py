"""Bad responses that an endpoint may send instead of a chat completion, as bytes."""

from __future__ import annotations

import json
import re
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache, partial
from typing import Any, TypeAlias

_BLANKS = 32
_CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
_SERIAL = re.compile(rf"\{{([ \t]{{{_BLANKS}}})")

Body: TypeAlias = dict[str, Any]


class Ending(Enum):
    """What happens to the connection after the last byte."""

    KEEP = "the next request may follow"
    CLOSE = "it is closed"
    RESET = "it is reset"
    HANG = "it stays open, and silent"


@dataclass(frozen=True)
class Wire:
    """Bytes for one call. dripped: bytes that follow again and again, with a pause before each, if any."""

    data: bytes
    ending: Ending = Ending.KEEP
    dripped: bytes = b""
    pause_seconds: float = 0.0


Spoil: TypeAlias = Callable[[Body], Wire]
"""Makes a bad reply of a good one."""


def completion(content: str, model: str) -> Body:
    """A good reply, as OpenAI's API describes it."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"},
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150},
    }


def with_serial(content: str, serial: int) -> str:
    """Write a call's number into a JSON object, as blanks and tabs, which JSON parsers ignore."""
    assert content.startswith("{")
    digits = f"{serial:0{_BLANKS}b}".replace("0", " ").replace("1", "\t")
    return "{" + digits + content[1:]


def serial_of(reply: str) -> int | None:
    """The number of the call in a reply; None if the reply has none."""
    found = _SERIAL.match(reply)
    return int(found[1].replace(" ", "0").replace("\t", "1"), 2) if found else None


def http(
    body: bytes, status: str = "200 OK", headers: Mapping[str, str] | None = None, *, length: int | None = None
) -> bytes:
    """A response. length: the false length in its header."""
    lines = [
        f"HTTP/1.1 {status}",
        "Content-Type: application/json",
        f"Content-Length: {len(body) if length is None else length}",
        *(f"{name}: {value}" for name, value in (headers or {}).items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def good(body: Body) -> Wire:
    """The correct reply."""
    return Wire(http(json.dumps(body).encode()))


def refusal(status: str, retry_after: str | None = None) -> Spoil:
    """An error status."""
    error = json.dumps({"error": {"message": "no", "type": "error", "param": None, "code": None}}).encode()
    wire = Wire(http(error, status, {} if retry_after is None else {"Retry-After": retry_after}))
    return lambda _: wire


def raw(data: bytes, ending: Ending = Ending.CLOSE) -> Spoil:
    """The same bytes for each call."""
    return lambda _: Wire(data, ending)


def text(content: str) -> Spoil:
    """A status of success with this text as its body."""
    return raw(http(content.encode()), Ending.KEEP)


def truncated(body: Body) -> Wire:
    """The connection ends in the middle of the body."""
    data = http(json.dumps(body).encode())
    return Wire(data[: -len(data) // 3], Ending.CLOSE)


def byte_too_many(body: Body) -> Wire:
    """One byte more than the header says."""
    encoded = json.dumps(body).encode()
    return Wire(http(encoded + b"x", length=len(encoded)))


def bad_chunk(body: Body) -> Wire:
    """A chunk whose size is not a number."""
    return Wire(_CHUNKED + b'5\r\n{"id"\r\nzz\r\n' + json.dumps(body).encode(), Ending.CLOSE)


def long_header(body: Body) -> Wire:
    """A header of 9 KB."""
    return Wire(http(json.dumps(body).encode(), headers={"X-Long": "a" * 9216}))


def changed(**values: Any) -> Spoil:
    """The reply with other values at its top level."""
    return lambda body: Wire(http(json.dumps(body | values).encode()))


def message(**values: Any) -> Spoil:
    """The reply with other values in its message."""

    def spoil(body: Body) -> Wire:
        (choice,) = body["choices"]
        return changed(choices=[choice | {"message": choice["message"] | values}])(body)

    return spoil


def parts(body: Body) -> Wire:
    """Its content as a list of two parts, as some servers send it."""
    content = body["choices"][0]["message"]["content"]
    middle = len(content) // 2
    pieces = [{"type": "text", "text": piece} for piece in (content[:middle], content[middle:])]
    return message(content=pieces)(body)


def padded(size: int) -> Spoil:
    """A reply of this many bytes."""
    return lambda body: message(content=body["choices"][0]["message"]["content"] + " " * size)(body)


def bomb(size: int) -> Spoil:
    """A gzip of this many blanks before the reply."""
    return partial(_bomb, size)


def drip(pause_seconds: float) -> Spoil:
    """A head, then one blank after another, with pauses, until the client disconnects."""
    wire = Wire(_CHUNKED, Ending.HANG, b"1\r\n \r\n", pause_seconds)
    return lambda _: wire


def hang(_: Body) -> Wire:
    """Nothing at all."""
    return Wire(b"", Ending.HANG)


def _bomb(size: int, body: Body) -> Wire:
    blanks, state = _squeezed_blanks(size)
    squeeze = state.copy()
    data = blanks + squeeze.compress(json.dumps(body).encode()) + squeeze.flush()
    return Wire(http(data, headers={"Content-Encoding": "gzip"}))


@cache
def _squeezed_blanks(size: int) -> tuple[bytes, Any]:
    """Compressed blanks, and the compressor to continue with."""
    squeeze = zlib.compressobj(9, wbits=31)
    piece = b" " * 2**20
    return b"".join(squeeze.compress(piece) for _ in range(size // len(piece))), squeeze
