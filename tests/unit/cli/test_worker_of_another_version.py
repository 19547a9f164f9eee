"""Starting a detached worker where one runs already."""

from __future__ import annotations

import socket
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pgclarify import __version__
from pgclarify.cli import connection, processes, server
from pgclarify.config import Settings

HERE = socket.gethostname()


def worker(worker_id: int, host: str, version: str) -> dict[str, Any]:
    return {"worker_id": worker_id, "host": host, "version": version, "provider": "extractive", "model": "m"}


@pytest.mark.parametrize(
    ("alive", "is_replaced"),
    [
        ([worker(1, HERE, "0.3.0")], True),
        ([worker(1, HERE, __version__)], False),
        # One of the two is a service.
        ([worker(1, HERE, "0.3.0"), worker(2, HERE, __version__)], False),
        ([worker(1, "elsewhere", "0.3.0"), worker(2, HERE, __version__)], False),
        ([worker(1, HERE, "0.3.0"), worker(2, "elsewhere", __version__)], True),
    ],
)
def test_up_replaces_a_worker_of_another_version(
    alive: list[dict[str, Any]], is_replaced: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = Settings(data_dir=tmp_path, database_url=None)
    files = processes.WorkerFiles.of(settings)
    listed = list(alive)
    monkeypatch.setattr(connection, "connect", lambda dsn: nullcontext())
    client = SimpleNamespace(rows=lambda statement: list(listed))
    monkeypatch.setattr(connection, "client_of", lambda database: client)
    # Stands for a worker of any version: it waits for the signal.
    command = [sys.executable, "-c", "import signal; signal.pause()"]
    start = processes.start

    def start_another(*args: Any, **given: Any) -> bool:
        listed.append(worker(3, HERE, __version__))
        return start(*args, **given | {"command": command})

    monkeypatch.setattr(processes, "start", start_another)
    start(files, lambda: True, command=command, environment={})
    before = files.pid_file.read_text()
    try:
        server.start_worker(settings, "")
        assert (files.pid_file.read_text() != before) is is_replaced
    finally:
        processes.stop(files)
