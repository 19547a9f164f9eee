"""Tests run without the settings of the user who runs them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.startswith(("PGCLARIFY_", "OPENAI_", "PG")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PGCLARIFY_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "200")
    # There may be a .env file in the working directory.
    monkeypatch.chdir(tmp_path)
