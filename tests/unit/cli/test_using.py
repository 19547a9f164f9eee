"""The command use: what it writes into .env, what it says, and what it refuses."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgclarify.cli.main import main
from pgclarify.config import Settings
from tests.unit.cli.model_list import serving


@pytest.fixture
def address() -> Iterator[str]:
    """A model server that lists one model, small."""
    with serving() as listed:
        yield listed.base_url


@pytest.fixture
def model_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model file, where the library that serves it is installed."""
    monkeypatch.setattr("pgclarify.worker.model_file.find_spec", lambda _: True)
    path = tmp_path / "it's small.gguf"
    path.write_bytes(b"GGUF")
    return path


def use(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(("use", *arguments))
    return int(caught.value.code or 0)


def test_an_address_is_kept_and_the_command_says_what_is_sent_there(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(".env").write_text("PGCLARIFY_LLM_CONCURRENCY=3\n")
    assert use(address, "small") == 0
    settings = Settings()
    assert (settings.openai_base_url, settings.llm_model, settings.llm_concurrency) == (address, "small", 3)
    printed = capsys.readouterr().err
    assert f"{address} gets the questions, the passages" in printed
    assert "key" not in printed
    assert "pgclarify up --detach" in printed


def test_a_file_replaces_the_address(model_file: Path, address: str, capsys: pytest.CaptureFixture[str]) -> None:
    use(address, "small")
    assert use(model_file.name) == 0
    assert Settings().model_file == model_file.resolve()
    assert "nothing leaves this machine" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENAI_BASE_URL", "http://elsewhere/v1"),
        ("PGCLARIFY_LLM_MODEL", "another"),
        ("PGCLARIFY_LLM_PROVIDER", "extractive"),
        ("OPENAI_API_KEY", "sk-1"),
    ],
)
def test_a_choice_that_another_variable_would_override_is_refused(
    model_file: Path, name: str, value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(name, value)
    assert use(model_file.name) == 1
    assert f"unset {name}" in capsys.readouterr().err
    assert not Path(".env").exists()


def test_a_model_that_cannot_be_used_is_not_kept(model_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert use("missing.gguf") == 1
    for address in ("http://127.0.0.1:9/v1", "ftp://127.0.0.1/v1", "http://127.0.0.1:9/v1?a=b"):
        assert use(address, "small") == 1
        # Nobody has set that variable.
        assert "OPENAI_BASE_URL" not in capsys.readouterr().err
    assert not Path(".env").exists()


def test_an_address_without_its_path_is_not_kept(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert use(address.removesuffix("/v1"), "small") == 1
    assert f"use {address} as the address" in " ".join(capsys.readouterr().err.split())
    assert not Path(".env").exists()


def test_a_file_that_no_worker_could_serve_is_not_kept(model_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model_file.write_bytes(b"<html>Sign in</html>")
    assert use(model_file.name) == 1
    assert "does not begin with GGUF" in capsys.readouterr().err
    model_file.write_bytes(b"GGUF")
    # Larger than any memory, and nearly without blocks on the disk.
    os.truncate(model_file, 1 << 43)
    assert use(model_file.name) == 1
    assert "does not fit into memory" in capsys.readouterr().err
    assert not Path(".env").exists()


def test_a_model_that_the_server_does_not_list_is_not_kept(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert use(address, "large") == 1
    assert f"pgclarify use {address} small" in " ".join(capsys.readouterr().err.split())
    assert not Path(".env").exists()


def test_a_key_is_not_sent_to_another_machine_without_encryption(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert use("http://192.0.2.1/v1", "small") == 1
    assert "https://" in capsys.readouterr().err
    assert not Path(".env").exists()


def test_the_command_says_what_it_sends_before_it_sends_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    printed = []

    with serving() as listed:
        listed.on_request = lambda: printed.append(capsys.readouterr().err)
        address = listed.base_url
        assert use(address, "small") == 0
    assert f"{address} for its models, with the key of OPENAI_API_KEY" in printed[0]
    assert f"{address} gets the questions, the passages" in printed[0]


def test_an_address_needs_a_model_and_a_file_has_none(model_file: Path) -> None:
    assert use("http://127.0.0.1:9/v1") == 2
    assert use(model_file.name, "small") == 2
    assert use("qwen2.5:7b") == 2
