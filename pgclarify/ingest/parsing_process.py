"""The process that `apart` starts. It parses the files from standard input, until that ends.

A request is a line of JSON and the file. The answer is a line of JSON.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from typing import Any

from pgclarify.errors import MissingReader, UnreadableFile
from pgclarify.ingest.parsing import parse


def _limit_memory(most_bytes: int) -> None:
    # On systems without this limit, the time limit must suffice.
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, hard))


def _parse(data: bytes, suffix: str, name: str) -> dict[str, Any]:
    try:
        title, content, metadata = parse(data, suffix, name)
    except UnreadableFile as error:
        kind = "missing" if isinstance(error, MissingReader) else "unreadable"
        return {"problem": kind, "message": error.message, "detail": error.detail, "hint": error.hint}
    return {"title": title, "content": content, "metadata": metadata}


def main() -> None:
    """Answer requests."""
    while line := sys.stdin.buffer.readline():
        request = json.loads(line)
        data = sys.stdin.buffer.read(request["bytes"])
        try:
            _limit_memory(request["memory_bytes"])
            answer = json.dumps(_parse(data, request["suffix"], request["name"])).encode()
        except MemoryError:
            answer = b'{"problem": "memory"}'
        sys.stdout.buffer.write(answer + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
