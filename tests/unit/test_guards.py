"""The table of guards fits the repository. A row that does not fit would break nothing and show nothing."""

from __future__ import annotations

from pathlib import Path

from benchmarks.guards import table

ROOT = Path(__file__).parents[2]


def test_each_guard_can_be_broken() -> None:
    guards = table.read(sorted(table.HERE.glob("*.toml")), "")
    assert guards
    for guard in guards:
        assert (ROOT / guard.file).read_text(encoding="utf-8").count(guard.text) == 1, guard.id
        missing = [test for test in guard.tests if not (ROOT / test.partition("::")[0]).exists()]
        assert missing == [], guard.id
