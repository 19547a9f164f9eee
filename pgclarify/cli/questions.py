"""Reads many questions for a command: one on each line of a file or of standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from pgclarify.errors import InputError

STANDARD_INPUT = "-"
"""The argument instead of a question that reads many from standard input."""


def read_questions(file: Path | None) -> list[str]:
    """Read the lines of a file, or of standard input, that are not blank.

    Raises:
        InputError: If the text is not UTF-8.
        OSError: If the file cannot be read.
    """
    content = sys.stdin.buffer.read() if file is None else file.read_bytes()
    try:
        lines = content.decode("utf-8-sig").replace("\x00", " ").split("\n")
    except UnicodeDecodeError as error:
        number = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"line {number} is not in UTF-8",
            detail=f"Its byte 0x{error.object[error.start]:02x} is invalid.",
            hint="Convert it first, for example: iconv -f latin1 -t utf-8 PATH > OTHER",
        ) from error
    return [line.strip() for line in lines if line.strip()]
