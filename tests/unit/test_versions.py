"""A worker does not import what it does not need."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.slow
def test_a_worker_starts_without_what_migrates_and_what_only_endpoints_need() -> None:
    code = "import sys, pgclarify.worker.serving; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert "pgclarify.install.versions" in loaded
    assert {"alembic", "openai", "sqlalchemy"}.isdisjoint(loaded)
