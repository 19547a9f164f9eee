"""The process that `apart` starts. It parses the files from standard input, until that ends.

A request is a line of JSON and the file. The answer is a line of JSON.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pgclarify.errors import MissingReader, UnreadableFile
from pgclarify.ingest.parsing import member_names, parse
from pgclarify.ingest.scans import Ocr


def _limit_memory(most_bytes: int) -> None:
    # On systems without this limit, the time limit must suffice.
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, hard))


def _answer(request: dict[str, Any], data: bytes) -> dict[str, Any]:
    suffix, name = request["suffix"], request["name"]
    ocr = Ocr(tuple(request["ocr"]["languages"]), request["ocr"]["folder"]) if request["ocr"] else None
    try:
        if request["what"] == "names":
            return {"names": member_names(data, suffix, name, ocr)}
        return {"parsed": [asdict(one) for one in parse(data, suffix, name, ocr)]}
    except UnreadableFile as error:
        kind = "missing" if isinstance(error, MissingReader) else "unreadable"
        return {"problem": kind, "message": error.message, "detail": error.detail, "hint": error.hint}


def main() -> None:
    """Answer requests."""
    # A library may print, which would be read as an answer.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    with Path(os.devnull).open("wb") as nothing:
        os.dup2(nothing.fileno(), sys.stdout.fileno())
    while line := sys.stdin.buffer.readline():
        request = json.loads(line)
        data = sys.stdin.buffer.read(request["bytes"])
        try:
            _limit_memory(request["memory_bytes"])
            answer = json.dumps(_answer(request, data)).encode()
        except MemoryError:
            answer = b'{"problem": "memory"}'
        answers.write(answer + b"\n")
        answers.flush()
    # Not the usual end, at which a library may crash.
    os._exit(0)


if __name__ == "__main__":
    main()
