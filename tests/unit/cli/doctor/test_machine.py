"""The doctor's findings about this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgclarify.cli.doctor import machine
from pgclarify.cli.doctor.check import Level


@pytest.mark.parametrize(
    ("name", "likest"),
    [
        ("PGCLARIFY_LLM_MODLE", "PGCLARIFY_LLM_MODEL"),
        ("PGCLARIFY_OPENAI_API_KEY", "OPENAI_API_KEY"),
        ("PGCLARIFY_XQ", None),
    ],
)
@pytest.mark.parametrize("is_in_file", [False, True])
def test_a_variable_that_is_no_setting_is_told_with_the_likest_one(
    name: str, likest: str | None, is_in_file: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PGCLARIFY_DATA_DIR", "known")
    monkeypatch.setenv("PGCLARIFY_DEBUG", "0")
    assert [check.level for check in machine.check_variables()] == [Level.OK]
    if is_in_file:
        (tmp_path / ".env").write_text(f"{name}=sesame\n")
    else:
        monkeypatch.setenv(name, "sesame")
    (check,) = machine.check_variables()
    assert check.level is Level.WARNING
    assert name in check.finding
    assert (likest or "settings.md") in str(check.remedy)
    assert "sesame" not in f"{check.finding} {check.remedy}"


@pytest.mark.parametrize(
    ("free", "holds_database", "level"),
    [
        (100_000_000_000, True, Level.OK),
        (1_000_000_000, True, Level.WARNING),
        (1_000_000_000, False, Level.OK),
        (100_000_000, True, Level.PROBLEM),
        (100_000_000, False, Level.WARNING),
    ],
)
def test_a_full_disk_matters_more_where_the_database_is(free: int, holds_database: bool, level: Level) -> None:
    assert machine.disk_check(free, Path("/data"), holds_database=holds_database).level is level
