"""`python -m benchmarks.scale.one_server`."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks import product
from benchmarks.figures import Figure, show, step
from benchmarks.scale import one_server
from benchmarks.scale.one_server import loading, searching, upkeep
from benchmarks.scale.one_server.setting import Book, Setting
from pgclarify import embedded
from pgclarify.install.installer import install

# The order matters: after the stage `readers`, no document is visible to all roles.
_STAGES: dict[str, Callable[[Setting], list[Figure]]] = {
    "add": loading.add,
    "index": loading.index,
    "load": loading.load,
    "build": loading.build,
    "size": upkeep.size,
    "search": searching.search,
    "views": upkeep.views,
    "init": upkeep.init,
    "graph": loading.graph,
    "edits": loading.edits,
    "vacuum": upkeep.vacuum,
    "restart": searching.restart,
    "dump": upkeep.dump,
    "reindex": searching.reindex,
    "readers": loading.readers,
    "visibility": searching.visibility,
}

# They load a larger corpus in the same time, but do not measure how the index over vectors is kept up to date.
_IN_PLACE_OF_INDEX = ("load", "build")


def measure(data_dir: Path, passages: int, stages: list[str], linking_seconds: float) -> Book:
    """Run the stages that were not measured at this size."""
    data_dir.mkdir(parents=True, exist_ok=True)
    data_dir.chmod(0o711)  # the server may run as a user of its own
    book = Book(data_dir)
    dsn = embedded.start(data_dir)
    try:
        install(dsn)
        with product.connect(dsn) as connection:
            setting = Setting(dsn, data_dir, passages, linking_seconds, connection)
            for stage in stages:
                if not book.has(passages, stage):
                    with step(f"stage {stage} of {passages:,} passages"):
                        book.keep(passages, stage, _STAGES[stage](setting))
    finally:
        embedded.stop(data_dir)
    return book


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=one_server.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", type=int, required=True, help="a multiple of 10")
    parser.add_argument("--database", type=Path, help="a folder that stays; without it, all data are removed")
    parser.add_argument(
        "--stages",
        nargs="+",
        choices=[*_STAGES],
        default=[stage for stage in _STAGES if stage not in _IN_PLACE_OF_INDEX],
    )
    parser.add_argument("--linking-seconds", type=float, default=60.0, help="how long the stage graph may take")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pgclarify-benchmark-") as folder:
        Path(folder).chmod(0o711)  # the server may run as a user of its own
        data_dir = given.database or Path(folder, "far")
        book = measure(data_dir, given.passages, given.stages, given.linking_seconds)
        show(book.figures(given.passages))
