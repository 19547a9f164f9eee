"""A language model in a GGUF file, which the worker serves for itself on loopback while it runs."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import shlex
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from pydantic import SecretStr

from pgclarify.config import Settings
from pgclarify.errors import ConfigurationError
from pgclarify.worker.model_file_server import KEY_VARIABLE, SLOTS

_logger = logging.getLogger(__name__)

# Each GGUF file begins with it.
_MAGIC = b"GGUF"
# A slow disk reads some 100 MB a second, and the files have a few gigabytes.
_LOAD_SECONDS = 300.0
_PROGRESS_SECONDS = 5.0
_END_SECONDS = 5.0
# A processor reads a long passage in some ten seconds, and each slot waits for the others.
_LEAST_TIMEOUT = 300.0
# A server that ends so often, each time within so many seconds, would end again.
_MOST_RESTARTS = 3
_STEADY_SECONDS = 600.0


@asynccontextmanager
async def served(settings: Settings) -> AsyncIterator[Settings]:
    """Serve the model file of the settings, if they name one.

    The server is a process of its own, because a library that crashes must not end the worker. It is started again if
    it ends. It ends with the worker, also if the worker is killed. Only this worker knows its key.

    Args:
        settings: Settings in use.

    Yields:
        Settings of an endpoint: those of the file's server, or the same ones if they name no file.

    Raises:
        ConfigurationError: If the file cannot be served, or its server ends again and again.
    """
    path = settings.model_file
    if path is None:
        yield settings
        return
    check_model_file(path)
    server = _Server(path)
    try:
        await server.start()
        async with _kept_running(server):
            yield settings.model_copy(
                update={
                    "openai_base_url": f"{server.address}/v1",
                    "openai_api_key": SecretStr(server.key),
                    "llm_model": path.stem,
                    "llm_concurrency": SLOTS,
                    "llm_timeout": max(settings.llm_timeout, _LEAST_TIMEOUT),
                }
            )
    finally:
        await server.end()


@asynccontextmanager
async def _kept_running(server: _Server) -> AsyncIterator[None]:
    """Start the server again when it ends. If that does not help, cancel the caller's task and raise the error."""
    caller = asyncio.current_task()
    restarting = asyncio.create_task(server.restart_when_it_ends(), name="model file")
    if caller is not None:
        restarting.add_done_callback(lambda task: None if task.cancelled() else caller.cancel())
    try:
        yield
    except asyncio.CancelledError:
        if caller is not None and restarting.done() and not restarting.cancelled():
            caller.uncancel()
            restarting.result()
        raise
    finally:
        restarting.cancel()
        await asyncio.gather(restarting, return_exceptions=True)


class _Server:
    """The process that serves a file, and those that replace it. All have the same address and the same key."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.key = secrets.token_urlsafe(32)
        self.address = ""
        # It keeps the port while no process serves, so that no other program gets the key and the passages.
        self._port = socket.socket()
        self._port.bind(("127.0.0.1", 0))
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start the process and wait until the model is loaded.

        Raises:
            ConfigurationError: If it cannot be loaded.
        """
        size = await asyncio.to_thread(checked_size, self.path)
        began = time.monotonic()
        _logger.info("loading %s, %.1f GB", self.path, size / 1e9)
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "pgclarify.worker.model_file_server",
            self.path,
            str(self._port.fileno()),
            pass_fds=[self._port.fileno()],
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=os.environ | {KEY_VARIABLE: self.key},
        )
        self.address = await _address_of(self._process, self.path)
        _logger.info("serving %s at %s, loaded in %.0f s", self.path, self.address, time.monotonic() - began)

    async def restart_when_it_ends(self) -> None:
        """Replace the process each time it ends.

        Raises:
            ConfigurationError: If it ends too often, or cannot be loaded again.
        """
        restarts = 0
        while self._process is not None:
            began = time.monotonic()
            status = await self._process.wait()
            restarts = restarts + 1 if time.monotonic() - began < _STEADY_SECONDS else 1
            if restarts > _MOST_RESTARTS:
                raise ConfigurationError(
                    "the server of the language model ends again and again",
                    detail=f"The file is {self.path}, and the last status was {status}.",
                    hint="The lines before this one may say why. With status -9, memory ran out: try a smaller model.",
                )
            _logger.warning("the server of %s ended with status %d, and is started again", self.path, status)
            await self.start()

    async def end(self) -> None:
        """End the process."""
        self._port.close()
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.terminate()
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _END_SECONDS)
        if process.returncode is None:
            process.kill()
            await process.wait()


def check_model_file(path: Path) -> None:
    """Check that a file begins as a model, and that a library can serve it.

    Raises:
        ConfigurationError: If there is no such file, it is no model, or the library is not installed.
    """
    if not path.is_file():
        raise ConfigurationError(
            "the file of the language model is missing",
            detail=f"There is no file {path}.",
            hint="Set PGCLARIFY_LLM_MODEL to the path of a .gguf file, or to the name of a model and OPENAI_BASE_URL.",
        )
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise ConfigurationError(
            "the file of the language model cannot be read",
            detail=f"{path}: {error.strerror}.",
            hint="Let the user of the worker read it.",
        ) from error
    if magic != _MAGIC:
        raise ConfigurationError(
            "the file of the language model is damaged",
            detail=f"{path} does not begin with {_MAGIC.decode()}.",
            hint="Download it again.",
        )
    if find_spec("xllamacpp") is None:
        raise ConfigurationError(
            "the library that serves a .gguf file is not installed",
            detail="The package is xllamacpp.",
            hint=f"Run where the worker runs: {shlex.quote(sys.executable)} -m pip install 'pgclarify[local]'",
        )


def checked_size(path: Path) -> int:
    """Return the bytes of the weights, which have to fit into memory.

    llama.cpp copies most weights into a form that the processor reads faster. The file itself can stay on the disk.

    Raises:
        ConfigurationError: If they do not fit.
    """
    size = path.stat().st_size
    lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    available = int(lines["MemAvailable"].split()[0]) * 1024
    if size > available:
        raise ConfigurationError(
            "the language model does not fit into memory",
            detail=f"It needs {size / 1e9:.1f} GB, and {available / 1e9:.1f} GB are available.",
            hint="Choose a smaller model, or one with fewer bits a weight; or first stop a worker that serves a file.",
        )
    return size


async def _address_of(process: asyncio.subprocess.Process, path: Path) -> str:
    """Wait until the model is loaded, and say every few seconds that it is not. The server then prints its address."""
    began = time.monotonic()
    reading = asyncio.create_task(cast("asyncio.StreamReader", process.stdout).readline())
    try:
        while not reading.done() and (waited := time.monotonic() - began) < _LOAD_SECONDS:
            await asyncio.wait([reading], timeout=_PROGRESS_SECONDS)
            if not reading.done():
                _logger.info("still loading %s after %.0f s", path.name, waited + _PROGRESS_SECONDS)
        line = reading.result() if reading.done() else b""
    finally:
        reading.cancel()
    address = line.decode(errors="replace").strip()
    if not address.startswith("http://127.0.0.1:"):
        raise ConfigurationError(
            "the language model cannot be loaded",
            detail=f"The file is {path}; the lines before this one say more.",
            hint="It may be damaged, or need more memory than is free. Try a smaller model.",
        )
    return address
