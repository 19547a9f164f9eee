"""What eval paper refuses before it connects to a server. Each message names the argument."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgclarify.cli.main import main


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("verdikt", "--data", "."), ("PAPER", "'verdikt'", "verdict")),
        (("verdict", "--data", "gone"), ("--data", "'gone'")),
        (("verdict", "--data", ".", "--judge", "me"), ("--judge", "'me'", "lexical")),
        (("verdict", "--data", ".", "-o", "tables.html"), ("--output", "'tables.html'", ".md", ".json")),
        (("verdict", "--data", ".", "-o", "gone/tables.md"), ("--output", "'gone/tables.md'")),
        (("verdict", "--data", ".", "--set", "top_k=1,2"), ("--set", "top_k")),
    ],
)
def test_a_wrong_argument_is_named(
    arguments: tuple[str, ...],
    named: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main(("eval", "paper", *arguments))
    assert caught.value.code == 2
    told = capsys.readouterr().err
    assert all(one in told for one in named)
