"""A language model in a GGUF file, which the worker serves for itself on loopback while it runs."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from pydantic import SecretStr

from pgclarify.config import Settings
from pgclarify.errors import ConfigurationError
from pgclarify.worker.model_file_server import KEY_VARIABLE, SLOTS

_logger = logging.getLogger(__name__)

# A slow disk reads some 100 MB a second, and the files have a few gigabytes.
_LOAD_SECONDS = 300.0
_END_SECONDS = 5.0
# A processor reads a long passage in some ten seconds, and each slot waits for the others.
_LEAST_TIMEOUT = 300.0


@asynccontextmanager
async def served(settings: Settings) -> AsyncIterator[Settings]:
    """Serve the model file of the settings, if they name one.

    The server is a process of its own, because a library that crashes must not end the worker. It ends with the worker,
    also if the worker is killed. Only this worker knows its key.

    Args:
        settings: Settings in use.

    Yields:
        Settings of an endpoint: those of the file's server, or the same ones if they name no file.

    Raises:
        ConfigurationError: If the file cannot be served.
    """
    path = settings.model_file
    if path is None:
        yield settings
        return
    check_model_file(path)
    key = secrets.token_urlsafe(32)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "pgclarify.worker.model_file_server",
        path,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {KEY_VARIABLE: key},
    )
    try:
        address = await _address_of(process, path)
        _logger.info("serving %s at %s", path, address)
        yield settings.model_copy(
            update={
                "openai_base_url": f"{address}/v1",
                "openai_api_key": SecretStr(key),
                "llm_model": path.stem,
                "llm_concurrency": SLOTS,
                "llm_timeout": max(settings.llm_timeout, _LEAST_TIMEOUT),
            }
        )
    finally:
        await _end(process)


def check_model_file(path: Path) -> None:
    """Check that a file can be served.

    Raises:
        ConfigurationError: If there is no such file, or the library is not installed.
    """
    if not path.is_file():
        raise ConfigurationError(
            "the file of the language model is missing",
            detail=f"There is no file {path}.",
            hint="Set PGCLARIFY_LLM_MODEL to the path of a .gguf file, or to the name of a model and OPENAI_BASE_URL.",
        )
    if find_spec("xllamacpp") is None:
        raise ConfigurationError(
            "the library that serves a .gguf file is not installed",
            detail="The package is xllamacpp.",
            hint="Run where the worker runs: pip install 'pgclarify[local]'",
        )


async def _address_of(process: asyncio.subprocess.Process, path: Path) -> str:
    """Wait until the model is loaded. The server then prints its address."""
    line = b""
    with suppress(TimeoutError):
        if process.stdout is not None:
            line = await asyncio.wait_for(process.stdout.readline(), _LOAD_SECONDS)
    address = line.decode(errors="replace").strip()
    if not address.startswith("http://127.0.0.1:"):
        raise ConfigurationError(
            "the language model cannot be loaded",
            detail=f"The file is {path}; the lines before this one say more.",
            hint="It may be damaged, or need more memory than is free. Try a smaller model.",
        )
    return address


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _END_SECONDS)
    if process.returncode is None:
        process.kill()
        await process.wait()
