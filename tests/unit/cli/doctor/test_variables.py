"""The doctor's findings about variables."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pgclarify.cli.doctor.check import Level
from pgclarify.cli.doctor.variables import check_variables


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
    assert [check.level for check in check_variables()] == [Level.OK]
    if is_in_file:
        (tmp_path / ".env").write_text(f"{name}=sesame\n")
    else:
        monkeypatch.setenv(name, "sesame")
    (check,) = check_variables()
    assert check.level is Level.WARNING
    assert name in check.finding
    assert (likest or "settings.md") in str(check.remedy)
    assert "sesame" not in f"{check.finding} {check.remedy}"


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT"])
def test_a_key_or_an_address_in_the_env_file_of_another_program_is_named(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for variable in [one for one in os.environ if "OPENAI" in one]:
        monkeypatch.delenv(variable)
    monkeypatch.chdir(tmp_path)
    file = tmp_path / ".env"
    file.write_text(f"SECRET_OF_AN_APP=1\n{name}=sesame\n")
    (check,) = check_variables()
    assert check.level is Level.WARNING
    assert name in check.finding
    assert str(file) in check.finding
    assert "sesame" not in f"{check.finding} {check.remedy}"

    # As pgclarify use writes it.
    file.write_text(f"{name}=sesame\nPGCLARIFY_LLM_MODEL=a-model\n")
    assert [check.level for check in check_variables()] == [Level.OK]
    # The environment has precedence.
    file.write_text(f"{name}=sesame\n")
    monkeypatch.setenv(name, "of the shell")
    assert [check.level for check in check_variables()] == [Level.OK]
