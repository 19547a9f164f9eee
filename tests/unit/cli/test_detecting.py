"""Many questions for the command detect."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from pgclarify.cli.main import main
from pgclarify.cli.questions import Questions, read_questions
from pgclarify.errors import InputError


def written(folder: Path, content: bytes) -> Path:
    file = folder / "searches.txt"
    file.write_bytes(content)
    return file


def test_a_question_a_line(tmp_path: Path) -> None:
    content = "\ufeffrental cars\r\n\n  When was she born? \n\t\n東京\x00駅\x85まで".encode()
    asked = ("rental cars", "When was she born?", "東京 駅\x85まで")
    assert read_questions(written(tmp_path, content)) == Questions(asked, lines=(1, 3, 5), blank=2)


def test_the_end_of_the_last_line_is_no_line(tmp_path: Path) -> None:
    assert read_questions(written(tmp_path, b"one\n")).blank == 0
    assert read_questions(written(tmp_path, b"one\n\n")).blank == 1


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
    assert read_questions(None) == Questions(("one", "two"), lines=(1, 2), blank=0)


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"", "There is no question"), (b" \n\n", "There is no question"), (b"q\n" + b"a" * 10_001, "Line 2 is too long")],
)
def test_a_file_without_questions_or_with_a_long_line_is_refused(
    content: bytes, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["detect-ambiguity", "--file", str(written(tmp_path, content))])
    assert caught.value.code == 1
    captured = capsys.readouterr()
    assert (captured.out, told in captured.err) == ("", True)
