"""Reads many questions for a command: one on each line of a file or of standard input."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import typer

from pgclarify.errors import InputError

STANDARD_INPUT: Final = "-"
"""The argument instead of a question that reads many from standard input."""

_QUESTION_CHARS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions of a file.

    Attributes:
        texts: The questions.
        lines: The number of each in the file, from 1.
        blank: How many blank lines were skipped.
    """

    texts: tuple[str, ...]
    lines: tuple[int, ...]
    blank: int


def check_file(file: Path | None) -> None:
    """Check the value of --file before anything else; None means no file.

    Raises:
        typer.BadParameter: If it is not a file.
    """
    if file is not None and (file.is_dir() or not file.exists()):
        raise typer.BadParameter(f"{str(file)!r} is not a file", param_hint="--file")


def read_questions(file: Path | None) -> Questions:
    """Read the lines of a file, or of standard input, that are not blank.

    Raises:
        InputError: If there is none, if one is too long, or if the text is not UTF-8.
    """
    content = sys.stdin.buffer.read() if file is None else file.read_bytes()
    lines = _decoded(content).replace("\x00", " ").removesuffix("\n").split("\n")
    questions: dict[int, str] = {}
    for number, line in enumerate(lines, start=1):
        question = line.strip()
        if len(question) > _QUESTION_CHARS:
            raise InputError(
                f"line {number} is too long for a question",
                detail=f"It has {len(question):,} characters; {_QUESTION_CHARS:,} is the most.",
                hint="Give one question a line.",
            )
        if question:
            questions[number] = question
    if not questions:
        raise InputError("there is no question", detail="All lines are blank.", hint="Give one question a line.")
    return Questions(tuple(questions.values()), tuple(questions), len(lines) - len(questions))


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"line {line} is not in UTF-8",
            detail=f"Its byte 0x{error.object[error.start]:02x} is invalid.",
            hint="Convert it first, for example: iconv -f latin1 -t utf-8 PATH > OTHER",
        ) from error
