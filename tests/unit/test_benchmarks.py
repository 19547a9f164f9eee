"""Benchmarks that are asked for help."""

from __future__ import annotations

from typing import NoReturn

import pytest

from benchmarks import __main__ as all_of_them


def fail() -> NoReturn:
    raise AssertionError("a server was started")


def test_help_starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["benchmarks", "--help"])
    monkeypatch.setattr("benchmarks.__main__.product.made_up_corpus", fail)
    with pytest.raises(SystemExit) as ended:
        all_of_them.main()
    assert ended.value.code == 0
