"""A server with a worker, without a language model, for pictures of the pages."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def served(name: str) -> Iterator[tuple[Callable[..., str], Path]]:
    """Start them in a new folder, and yield a function that runs `pgclarify`, and the folder.

    Args:
        name: Of what is drawn.
    """
    # The server may run as another user, so the folder must be accessible to all users.
    with tempfile.TemporaryDirectory(prefix=f"pgclarify-{name}-") as path:
        folder = Path(path)
        folder.chmod(0o755)
        environment = os.environ | {
            "PGCLARIFY_DATA_DIR": str(folder / "data"),
            "PGCLARIFY_LLM_PROVIDER": "extractive",
        }

        def run(*arguments: str) -> str:
            command = [sys.executable, "-m", "pgclarify.cli", *arguments]
            done = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True)  # noqa: S603
            return done.stdout

        run("up", "--detach")
        try:
            yield run, folder
        finally:
            run("down")
