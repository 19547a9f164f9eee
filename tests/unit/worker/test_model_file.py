"""A worker serves the model file of its settings while it runs. A stub stands for the library that serves it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from pgclarify.config import Settings
from pgclarify.errors import ConfigurationError
from pgclarify.worker.model_file import served

# It writes what it was told into a file beside the model.
STUB = """
import json, os, types
from pathlib import Path

class CommonParams:
    def __init__(self):
        self.model = types.SimpleNamespace(path="")
        self.cpuparams = types.SimpleNamespace(n_threads=0)

class Server:
    listening_address = "http://127.0.0.1:9"

    def __init__(self, parameters):
        if not Path(parameters.model.path).read_text():
            raise RuntimeError("damaged")
        told = {"pid": os.getpid(), "hostnames": parameters.hostnames, "keys": parameters.api_keys}
        Path(parameters.model.path).with_suffix(".json").write_text(json.dumps(told))
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model file, in an environment where the library is installed."""
    (tmp_path / "xllamacpp.py").write_text(STUB)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "small.gguf"
    path.write_text("weights")
    return path


def process_of(model: Path) -> int:
    told = json.loads(model.with_suffix(".json").read_text())
    assert told["hostnames"] == ["127.0.0.1"]
    return int(told["pid"])


def is_running(process: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


@pytest.mark.slow
async def test_the_file_is_served_with_a_key_until_the_worker_ends(model: Path) -> None:
    async with served(Settings(llm_model=str(model))) as settings:
        assert settings.openai_base_url == "http://127.0.0.1:9/v1"
        assert settings.llm_model == "small"
        assert settings.openai_api_key is not None
        assert settings.openai_api_key.get_secret_value() in model.with_suffix(".json").read_text()
        process = process_of(model)
        assert is_running(process)
    assert not is_running(process)


@pytest.mark.slow
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
        worker.send_signal(signal.SIGKILL)
        process = process_of(model)
        deadline = time.monotonic() + 10
        while is_running(process) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not is_running(process)


async def test_settings_without_a_file_stay_as_they_are() -> None:
    settings = Settings(llm_model="small.gguf", openai_base_url="http://localhost:1/v1")
    async with served(settings) as same:
        assert same is settings


@pytest.mark.slow
async def test_a_file_that_cannot_be_served_is_an_error(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model.write_text("")  # noqa: ASYNC240 - a small file
    for path in (model, model.with_name("missing.gguf")):
        with pytest.raises(ConfigurationError, match=r"cannot be loaded|is missing"):
            async with served(Settings(llm_model=str(path))):
                pass
    monkeypatch.setattr("pgclarify.worker.model_file.find_spec", lambda _: None)
    with pytest.raises(ConfigurationError) as caught:
        async with served(Settings(llm_model=str(model))):
            pass
    assert "pgclarify[local]" in (caught.value.hint or "")
