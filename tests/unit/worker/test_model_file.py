"""A worker serves the model file of its settings while it runs."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import openai
import pytest

from pgclarify.config import Settings
from pgclarify.errors import ConfigurationError
from pgclarify.worker import model_file
from pgclarify.worker.model_file import served
from tests.tiny_model import write_tiny_model

pytestmark = pytest.mark.slow
SCHEMA = {
    "type": "object",
    "properties": {"is_vague": {"type": "boolean"}},
    "required": ["is_vague"],
    "additionalProperties": False,
}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A real model file, whose weights are random."""
    path = tmp_path / "tiny.gguf"
    write_tiny_model(path)
    return path


def server_of(model: Path) -> int | None:
    """The process that serves a file; None if there is none."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (process / "cmdline").read_bytes().decode().split("\0")
            if "pgclarify.worker.model_file_server" in words and str(model) in words:
                return int(process.name)
    return None


def ask(settings: Settings, key: str | None = None) -> Any:
    """Ask for a reply of the schema."""
    given = settings.openai_api_key
    key = key or (given.get_secret_value() if given else "")
    with openai.OpenAI(base_url=settings.openai_base_url, api_key=key, max_retries=0) as client:
        answer = client.chat.completions.create(
            model="tiny",
            messages=[{"role": "user", "content": "Is it vague?"}],
            max_tokens=64,
            response_format={"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA}},
        )
    return json.loads(answer.choices[0].message.content or "")


def wait_until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.05)


async def test_the_file_answers_in_the_schema_until_the_worker_ends_also_after_a_crash(model: Path) -> None:
    async with served(Settings(llm_model=str(model))) as settings:
        assert (settings.openai_base_url or "").startswith("http://127.0.0.1:")
        assert settings.llm_model == "tiny"
        reply = await asyncio.to_thread(ask, settings)
        assert isinstance(reply["is_vague"], bool)
        with pytest.raises(openai.AuthenticationError):
            await asyncio.to_thread(ask, settings, "another key")

        # It is started again at the same address.
        crashed = server_of(model)
        assert crashed is not None
        os.kill(crashed, signal.SIGKILL)
        await asyncio.to_thread(wait_until, lambda: server_of(model) not in (None, crashed))

        def answers() -> bool:
            with suppress(openai.APIError):
                return "is_vague" in ask(settings)
            return False

        await asyncio.to_thread(wait_until, answers)
    assert server_of(model) is None


async def test_a_server_that_crashes_again_and_again_ends_the_worker(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_file, "_MOST_RESTARTS", 0)
    with pytest.raises(ConfigurationError) as caught:
        async with served(Settings(llm_model=str(model))):
            os.kill(server_of(model) or 0, signal.SIGKILL)
            await asyncio.sleep(60)
    assert "again and again" in caught.value.message


def test_the_server_of_the_file_ends_with_a_worker_that_is_killed(model: Path) -> None:
    code = (
        "import asyncio, sys\nfrom pgclarify.config import Settings\nfrom pgclarify.worker.model_file import served\n"
        "async def main():\n"
        "    async with served(Settings(llm_model=sys.argv[1])):\n"
        "        print('ready', flush=True)\n"
        "        await asyncio.sleep(60)\n"
        "asyncio.run(main())"
    )
    with subprocess.Popen([sys.executable, "-c", code, model], stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        assert server_of(model) is not None
        worker.send_signal(signal.SIGKILL)
        wait_until(lambda: server_of(model) is None)


async def refusal(path: Path) -> ConfigurationError:
    with pytest.raises(ConfigurationError) as caught:
        async with served(Settings(llm_model=str(path))):
            pass
    return caught.value


async def test_a_file_that_cannot_be_served_is_an_error(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "missing" in (await refusal(model.with_name("missing.gguf"))).message
    with model.open("ab") as grown:
        # Larger than any memory, and nearly without blocks on the disk.
        grown.truncate(1 << 43)
    assert "does not fit into memory" in (await refusal(model)).message
    model.write_bytes(b"GGUF")  # noqa: ASYNC240 - a small file
    assert "cannot be loaded" in (await refusal(model)).message
    monkeypatch.setattr("pgclarify.worker.model_file.find_spec", lambda _: None)
    assert "pgclarify[local]" in ((await refusal(model)).hint or "")


async def test_no_other_program_takes_the_port_of_a_server_that_crashed(model: Path) -> None:
    async with served(Settings(llm_model=str(model))) as settings:
        crashed = server_of(model)
        assert crashed is not None
        os.kill(crashed, signal.SIGKILL)
        wait_until(lambda: server_of(model) is None)
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind(("127.0.0.1", urlsplit(settings.openai_base_url or "").port))
