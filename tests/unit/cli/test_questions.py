"""Many questions for a command."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from pgclarify.cli.questions import read_questions
from pgclarify.errors import InputError


def written(folder: Path, content: bytes) -> Path:
    file = folder / "searches.txt"
    file.write_bytes(content)
    return file


def test_a_question_a_line(tmp_path: Path) -> None:
    content = "\ufeffrental cars\r\n\n  When was she born? \n\t\n東京駅\x85まで".encode()
    assert read_questions(written(tmp_path, content)) == ["rental cars", "When was she born?", "東京駅\x85まで"]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("Wer?\nWo liegt Köln?".encode("latin-1"), 2),
        (b"\xef\xbb\xbfWer?\n\nWo liegt K\xf6ln?", 3),
        ("Wer?".encode("utf-16"), 1),
    ],
)
def test_another_encoding_is_an_error_that_names_the_line(content: bytes, line: int, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"line {line} is not in UTF-8") as caught:
        read_questions(written(tmp_path, content))
    assert "iconv" in (caught.value.hint or "")


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"one\ntwo\n")))
    assert read_questions(None) == ["one", "two"]
