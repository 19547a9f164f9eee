"""Many questions for the command detect."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from pgclarify.cli.detecting import _read_questions
from pgclarify.cli.main import main


def written(folder: Path, content: bytes) -> Path:
    file = folder / "searches.txt"
    file.write_bytes(content)
    return file


def test_a_question_a_line(tmp_path: Path) -> None:
    content = "\ufeffrental cars\r\n\n  When was she born? \n\t\n東京\x00駅\x85まで".encode()
    assert _read_questions(written(tmp_path, content)) == ["rental cars", "When was she born?", "東京 駅\x85まで"]


def test_another_encoding_costs_a_letter(tmp_path: Path) -> None:
    assert _read_questions(written(tmp_path, "Wo liegt Köln?\nUnd Bonn?".encode("latin-1"))) == [
        "Wo liegt K\ufffdln?",
        "Und Bonn?",
    ]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"one\ntwo\n")))
    assert _read_questions(None) == ["one", "two"]


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"", "There is no question"), (b" \n\n", "There is no question"), (b"q\n" + b"a" * 10_001, "Line 2 is too long")],
)
def test_what_holds_no_questions(content: bytes, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["detect", "--file", str(written(tmp_path, content))])
    assert caught.value.code == 1
    captured = capsys.readouterr()
    assert (captured.out, told in captured.err) == ("", True)
