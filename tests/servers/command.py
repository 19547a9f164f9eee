"""The command line in a forked process. Each of them imports this module, so it must not import pytest or ours."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path


def run(
    arguments: Sequence[str],
    variables: Mapping[str, str],
    folder: Path,
    streams: tuple[Path, Path],
    lease: timedelta,
    *,
    tries_model: bool = False,
) -> None:
    """Run `pgclarify` as in a process of its own, with what tests/servers/preloaded.py has loaded.

    tries_model: Whether a worker makes a trial of its model. Most tests count calls, so they do without.
    """
    from pgclarify.cli.main import main
    from pgclarify.database import presence
    from pgclarify.providers import client
    from pgclarify.worker import batches, serving

    presence.LEASE = lease
    # A call that fails is tried again sooner.
    client._FIRST_PAUSE = 0.05
    # What is preloaded is frozen already.
    serving._freeze = lambda: None
    # Batches are looked after sooner, and stored in more pieces.
    batches.QUIET, batches._SHORTEST_PAUSE, batches.STORED_AT_ONCE = timedelta(seconds=0.5), timedelta(seconds=0.2), 5
    serving._BATCH_SECONDS = 0.2
    serving._HANDOVER_SECONDS = 1.0
    serving._UPKEEP_SECONDS = 2.0
    serving._TRIES_MODELS = tries_model
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    for stream, path in enumerate(streams, start=1):
        written = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.dup2(written, stream)
        os.close(written)
    main(list(arguments))
