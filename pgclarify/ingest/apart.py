"""Parses files in a separate process, which is killed if it needs too much time or memory.

A small file can expand to any amount of text (compressed streams, nested forms), or make a parser run forever; the
parsing libraries have no time limit. One process parses many files, because it is slow to start.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict
from typing import IO, Any, Final, cast

from pgclarify.errors import MissingReader, UnreadableFile
from pgclarify.ingest.parsed import Parsed, Place
from pgclarify.ingest.scans import Ocr

# Recognizing a page takes a second or more.
_OCR_TAKES: Final = 20
_SECONDS_PER_BYTE: Final = 0.5e-6
_HINT: Final = "Leave it out, or convert it to a text file and load that."


class ParsingProcess:
    """A process that parses one file after another. It is started when needed, and restarted after it was killed.

    Args:
        seconds: Most time for a file, in addition to half a second for each million bytes; with OCR, 20 times as long.
        memory_bytes: Most memory for a file, in addition to eight times its size.
    """

    def __init__(self, *, seconds: float = 20.0, memory_bytes: int = 2**30) -> None:
        self._seconds = seconds
        self._memory_bytes = memory_bytes
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def parse(self, data: bytes, suffix: str, name: str, ocr: Ocr | None = None) -> list[Parsed]:
        """Parse one file to text, with its attachments or members.

        Raises:
            MissingReader: If the kind of file needs an extra that is not installed.
            UnreadableFile: If it is not what its suffix says, is too long, or exceeds the limits.
        """
        return [_parsed(found) for found in self._answer(data, suffix, name, "parse", ocr)["parsed"]]

    def member_names(self, data: bytes, suffix: str, name: str, ocr: Ocr | None = None) -> list[str]:
        """Return the paths of the attachments or members of a file that may have a document.

        Raises:
            UnreadableFile: If it is not what its suffix says, or exceeds the limits.
        """
        return list(self._answer(data, suffix, name, "names", ocr)["names"])

    def _answer(self, data: bytes, suffix: str, name: str, what: str, ocr: Ocr | None) -> dict[str, Any]:
        seconds = (self._seconds + len(data) * _SECONDS_PER_BYTE) * (_OCR_TAKES if ocr else 1)
        most_bytes = self._memory_bytes + 8 * len(data)
        request = {
            "what": what,
            "bytes": len(data),
            "suffix": suffix,
            "name": str(name),
            "memory_bytes": most_bytes,
            "ocr": asdict(ocr) if ocr else None,
        }
        with self._lock:
            began = time.monotonic()
            answer = self._ask(json.dumps(request).encode() + b"\n" + data, seconds)
            is_late = time.monotonic() - began >= seconds
            if answer is None or is_late or answer.get("problem") == "memory":
                # It has ended, or has little memory left for the next file.
                self.close()
        if answer is None:
            reason = (
                f"Reading it takes longer than {seconds:.0f} seconds."
                if is_late
                else "The process that reads files crashed."
            )
            raise UnreadableFile(f"cannot read {name}", detail=reason, hint=_HINT)
        match answer:
            case {"problem": "memory"}:
                raise UnreadableFile(
                    f"cannot read {name}",
                    detail=f"Reading it takes more than {most_bytes // 1_000_000} MB of memory.",
                    hint=_HINT,
                )
            case {"problem": "missing"}:
                raise MissingReader(answer["message"], detail=answer["detail"], hint=answer["hint"])
            case {"problem": _}:
                raise UnreadableFile(answer["message"], detail=answer["detail"], hint=answer["hint"])
        return answer

    def close(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _ask(self, request: bytes, seconds: float) -> dict[str, Any] | None:
        """Send a request and read its answer; None if the process ended first, or was killed after the time limit."""
        process = self._process = self._process or _start()
        # Both are pipes.
        to_it, from_it = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        timer = threading.Timer(seconds, process.kill)
        timer.start()
        try:
            with suppress(BrokenPipeError):
                to_it.write(request)
                to_it.flush()
            answer = from_it.readline()
        except BaseException:
            # After an interrupt, for example, this answer would be read as that of the next file.
            self.close()
            raise
        finally:
            timer.cancel()
        return cast("dict[str, Any]", json.loads(answer)) if answer.endswith(b"\n") else None


def _parsed(found: dict[str, Any]) -> Parsed:
    return Parsed(**found | {"places": tuple(Place(**place) for place in found["places"])})


def _start() -> subprocess.Popen[bytes]:
    # -P: do not import from the current folder, which may have other files.
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "pgclarify.ingest.parsing_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
