"""The setting of all stages: the server, the corpus, and the figures so far."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks import product
from benchmarks.figures import Figure
from benchmarks.scale.one_server import world
from tests import openai_server

CORPUS = "far"


@dataclass
class Setting:
    """A server with the corpus.

    Attributes:
        dsn: The database, as its superuser.
        folder: The folder of the server's data and of the figures.
        passages: How many passages the corpus should have.
        linking_seconds: How long the stage `graph` may take.
        connection: A connection to the database, in autocommit.
    """

    dsn: str
    folder: Path
    passages: int
    linking_seconds: float
    connection: product.Connection

    @property
    def documents(self) -> int:
        """How many documents the corpus should have."""
        return self.passages // world.PASSAGES_A_DOCUMENT

    @property
    def build_memory(self) -> str:
        """maintenance_work_mem that the whole index over vectors fits into. It takes 1.5 kB a passage."""
        return f"{max(256, self.passages * 2 // 1000)}MB"

    @cached_property
    def corpus_id(self) -> int:
        """Key of the corpus. Creates the corpus if it does not exist."""
        found = self.connection.execute("select corpus_id from pgclarify.corpus where corpus = %s", [CORPUS]).fetchall()
        if not found:
            found = self.connection.execute(
                "select pgclarify.create_corpus(%s, %s) as corpus_id", [CORPUS, world.MODEL]
            ).fetchall()
        return int(found[0]["corpus_id"])

    @cached_property
    def space_id(self) -> int:
        """Key of the embedding space of the corpus."""
        (row,) = self.connection.execute(
            "select embedding_space_id from pgclarify_private.embedding_space where corpus_id = %s", [self.corpus_id]
        ).fetchall()
        return int(row["embedding_space_id"])

    @property
    def vectors(self) -> str:
        """The table of vectors."""
        return f"pgclarify_private.passage_embedding_{self.space_id}"

    @property
    def vector_index(self) -> str:
        """The index over vectors."""
        return f"{self.vectors}_vector_idx"

    def status(self) -> dict[str, Any]:
        """Counts of the corpus, from view corpus."""
        (row,) = self.connection.execute(
            "select documents, passages, pending, linked, failed from pgclarify.corpus where corpus = %s",
            [CORPUS],
        ).fetchall()
        assert not row["failed"], row
        return row

    @contextmanager
    def worker(self, *, with_graph: bool = True) -> Iterator[Meter]:
        """A worker with a made-up model, and the resources of worker and server from now on."""
        program = ("-m", "benchmarks.scale.one_server.worker", *(() if with_graph else ("--no-graph",)))
        with (
            openai_server.spawn() as endpoint,
            product.worker(self.dsn, endpoint, concurrency=1, program=program) as process,
        ):
            yield Meter(self.connection, process)


class Meter:
    """The resources that the server and a worker have used since this object was made or reset.

    Args:
        connection: A connection to the server.
        process: The worker; None if there is none.
    """

    def __init__(self, connection: product.Connection, process: subprocess.Popen[str] | None = None) -> None:
        self._connection = connection
        self.process = process
        self.begin()

    def begin(self) -> None:
        """Reset: count from now on."""
        self._started = time.perf_counter()
        self._before = self._worker(), product.server_cpu_seconds(self._connection), self._wal()

    @property
    def seconds(self) -> float:
        """Seconds that have passed."""
        return time.perf_counter() - self._started

    @property
    def worker(self) -> float:
        """CPU seconds of the worker."""
        return self._worker() - self._before[0]

    @property
    def server(self) -> float:
        """CPU seconds of the server with all its processes."""
        return product.server_cpu_seconds(self._connection) - self._before[1]

    @property
    def wal_bytes(self) -> float:
        """Bytes of write-ahead log."""
        return self._wal() - self._before[2]

    def _worker(self) -> float:
        return product.cpu_seconds(self.process) if self.process else 0.0

    def _wal(self) -> float:
        (row,) = self._connection.execute("select pg_current_wal_lsn() - '0/0' as bytes").fetchall()
        return float(row["bytes"])


class Book:
    """The figures of a database, by size and stage, in a file beside it."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "figures.json"
        self._figures: dict[str, dict[str, list[dict[str, object]]]] = (
            json.loads(self._file.read_text()) if self._file.exists() else {}
        )

    def has(self, passages: int, stage: str) -> bool:
        """Whether a stage was measured at this size."""
        return stage in self._figures.get(str(passages), {})

    def keep(self, passages: int, stage: str, figures: list[Figure]) -> None:
        """Record the figures of a stage."""
        self._figures.setdefault(str(passages), {})[stage] = [asdict(figure) for figure in figures]
        self._file.write_text(json.dumps(self._figures, indent=1))

    def figures(self, passages: int) -> Iterator[Figure]:
        """All figures at this size, stage by stage."""
        for stage, kept in self._figures.get(str(passages), {}).items():
            for figure in kept:
                yield Figure(**(figure | {"name": f"{stage}: {figure['name']}"}))  # type: ignore[arg-type]
