"""The revisions, and that a worker knows them without importing alembic."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from pgclarify.install import versions
from pgclarify.install.shipped import shipped

TEMPLATE = 'revision = "{}"\ndown_revision = {!r}\nbranch_labels = None\ndepends_on = None\n'


def revisions_of_alembic(folder: Path) -> list[str]:
    config = Config()
    config.set_main_option("script_location", str(folder))
    config.set_main_option("path_separator", "os")
    return [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]


def test_the_shipped_revisions_are_those_that_alembic_finds() -> None:
    assert versions.known_revisions() == revisions_of_alembic(shipped("migrations"))


def test_newest_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "versions").mkdir()
    for name, before in (("b", "v1"), ("v1", None), ("a", "b")):
        (tmp_path / "versions" / f"{name}.py").write_text(TEMPLATE.format(name, before))
    monkeypatch.setattr(versions, "shipped", lambda _: tmp_path)
    assert versions.known_revisions() == revisions_of_alembic(tmp_path) == ["a", "b", "v1"]


@pytest.mark.slow
def test_a_worker_starts_without_what_migrates() -> None:
    code = "import sys, pgclarify.worker.serving; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert "pgclarify.install.versions" in loaded
    assert {"alembic", "sqlalchemy"}.isdisjoint(loaded)
