"""Benchmarks that are asked for help, or fail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from benchmarks import __main__ as all_of_them
from benchmarks.faults import kills


def fail(*arguments: object) -> NoReturn:
    raise ZeroDivisionError


def test_help_starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["benchmarks", "--help"])
    monkeypatch.setattr("benchmarks.__main__.product.made_up_corpus", fail)
    with pytest.raises(SystemExit) as ended:
        all_of_them.main()
    assert ended.value.code == 0


@pytest.mark.parametrize("failing", ["hire", "look"])
def test_a_benchmark_of_kills_that_fails_ends(monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    crew = SimpleNamespace(hire=lambda dsn: None, look=lambda: None, kill=lambda member: None, key_of=lambda member: "")
    setattr(crew, failing, fail)
    stage: Any = SimpleNamespace(
        crew=crew, dsn="", endpoint=SimpleNamespace(), begin=lambda: None, calls=[SimpleNamespace(caller="")],
        states=lambda run_ids: {}, ask=lambda questions: [],
    )  # fmt: skip

    @contextmanager
    def staged() -> Iterator[Any]:
        yield stage

    monkeypatch.setattr(kills, "staged", staged)
    with pytest.raises(ZeroDivisionError):
        kills.measure(life=0.1)
