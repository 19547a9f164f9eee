"""What up says before it starts a worker."""

from __future__ import annotations

import pytest

from pgclarify.cli import server
from pgclarify.config import Settings


def test_up_says_who_reads_passages(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    server.say_who_reads(Settings())
    assert "without a language model" in capsys.readouterr().err
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("PGCLARIFY_LLM_MODEL", "small")
    server.say_who_reads(Settings())
    assert "small" in capsys.readouterr().err
