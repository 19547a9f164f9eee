"""The product, set up for a benchmark: a temporary server with made-up passages, and a worker."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import sql
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import Jsonb

from benchmarks import made_up
from benchmarks.figures import step
from pgclarify import embedded
from pgclarify.data.documents import Chunk, IndexedDocument
from pgclarify.data.vocabulary import Document
from pgclarify.database.documents import Documents
from pgclarify.database.pool import open_pool
from pgclarify.database.presence import Presence
from pgclarify.install.installer import install
from tests import openai_server

Connection: TypeAlias = psycopg.Connection[DictRow]

WORKER = ("-m", "benchmarks.worker")
_WORKER_SECONDS = 60.0
_DOCUMENTS_A_BATCH = 200


@contextmanager
def server(data_dir: Path) -> Iterator[str]:
    """A server with the schema, and with the same durability as a real one. It stops at the end."""
    # Otherwise a benchmark that is terminated would leave its server running.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    try:
        dsn = embedded.start(data_dir)
        install(dsn)
        yield dsn
    finally:
        embedded.stop(data_dir)


@contextmanager
def database() -> Iterator[str]:
    """A `server` in a folder of its own, which is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="pgclarify-benchmark-") as folder:
        Path(folder).chmod(0o711)  # the server may run as a user of its own
        with server(Path(folder, "data")) as dsn:
            yield dsn


@contextmanager
def made_up_corpus() -> Iterator[tuple[str, str]]:
    """A server with a corpus of 10,000 made-up passages: its URL and the name of the corpus."""
    with database() as dsn:
        load_made_up(dsn, "made up", 10_000)
        yield dsn, "made up"


def connect(dsn: str) -> Connection:
    """An autocommit connection whose rows are dictionaries."""
    return psycopg.connect(dsn, autocommit=True, row_factory=dict_row)


def clarify(connection: Connection, question: str, corpus: str, top_k: int) -> list[DictRow]:
    """Ask, and check that there is an answer, because an empty answer would look fast."""
    rows = connection.execute(
        "select * from pgclarify.clarify(%s, corpus => %s, top_k => %s)", [question, corpus, top_k]
    ).fetchall()
    assert rows, f"no reading of {question!r}"
    return rows


@contextmanager
def worker(
    dsn: str,
    endpoint: openai_server.SpawnedServer,
    *,
    concurrency: int,
    program: Sequence[str] = WORKER,
    variables: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[str]]:
    """A worker that calls an endpoint, with its model loaded.

    program: the arguments of Python. variables: more variables of its environment.
    """
    environment = {
        **os.environ,
        **(variables or {}),
        "PGCLARIFY_DATABASE_URL": dsn,
        "PGCLARIFY_LLM_PROVIDER": "openai",
        "PGCLARIFY_LLM_MODEL": openai_server.MODEL,
        "PGCLARIFY_LLM_CONCURRENCY": str(concurrency),
        "OPENAI_BASE_URL": endpoint.base_url,
        "OPENAI_API_KEY": "none",
    }
    with running_worker(dsn, environment, program) as process:
        yield process


@contextmanager
def running_worker(
    dsn: str, environment: Mapping[str, str], program: Sequence[str] = WORKER
) -> Iterator[subprocess.Popen[str]]:
    """A worker with these settings that is ready. Its log is shown if the block fails."""
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen([sys.executable, *program], env=environment, stdout=log, stderr=log, text=True) as process,
    ):
        try:
            _wait_for_worker(dsn, process)
            yield process
        except BaseException:
            log.seek(0)
            sys.stderr.write(log.read()[-4000:])
            raise
        finally:
            process.terminate()


def cpu_seconds(process: subprocess.Popen[str]) -> float:
    """CPU seconds of a process so far, with all its threads and its ended children. Linux only."""
    return cpu_seconds_of(process.pid)


def cpu_seconds_of(process_id: int) -> float:
    """The same, by the number of the process."""
    return sum(map(int, _status(Path("/proc", str(process_id)))[11:15])) / os.sysconf("SC_CLK_TCK")


def main_thread_seconds(process: subprocess.Popen[str]) -> float:
    """CPU seconds of the first thread of a process, which has the event loop of a worker. Linux only."""
    thread = Path("/proc", str(process.pid), "task", str(process.pid))
    return sum(map(int, _status(thread)[11:13])) / os.sysconf("SC_CLK_TCK")


def megabytes(process: subprocess.Popen[str]) -> float:
    """Memory of a process. Shared memory counts in proportion (PSS). Linux only."""
    return _megabytes(Path("/proc", str(process.pid)))


def server_cpu_seconds(connection: Connection) -> float:
    """CPU seconds of the server so far, with all its processes, including ended ones. Linux only."""
    postmaster = _postmaster(connection)
    ticks = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = _status(folder)
            # After the state and the parent: 11 and 12 are user and system time, 13 and 14 those of ended children.
            if folder.name == postmaster:
                ticks += sum(map(int, fields[11:15]))
            elif fields[1] == postmaster:
                ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def server_megabytes(connection: Connection) -> float:
    """Memory of the server, with all its processes and the shared buffers that are in use. Linux only."""
    postmaster = _postmaster(connection)
    total = 0.0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if postmaster in (folder.name, _status(folder)[1]):
                total += _megabytes(folder)
    return total


def _postmaster(connection: Connection) -> str:
    (server,) = connection.execute("select pg_read_file('postmaster.pid') as pid").fetchall()
    return str(server["pid"]).split()[0]


def _status(folder: Path) -> list[str]:
    """The fields of a process in /proc, from its state on. The name before may have spaces and brackets."""
    return (folder / "stat").read_text().rpartition(")")[2].split()


def _megabytes(folder: Path) -> float:
    (kilobytes,) = re.findall(r"^Pss:\s+(\d+) kB$", (folder / "smaps_rollup").read_text(), re.MULTILINE)
    return int(kilobytes) / 1024


def living_workers(connection: Connection) -> int:
    """How many workers serve the database."""
    (row,) = connection.execute("select count(*) as alive from pgclarify.worker_status where is_alive").fetchall()
    return int(row["alive"])


def _wait_for_worker(dsn: str, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + _WORKER_SECONDS
    with connect(dsn) as connection:
        while not living_workers(connection):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the worker has not become ready")
            time.sleep(0.05)


def load_made_up(dsn: str, corpus: str, passages: int) -> None:
    """Create a corpus of made-up passages with made-up vectors."""
    drawn = made_up.vectors(passages, seed=3).reshape(-1, made_up.PASSAGES_A_DOCUMENT, made_up.DIMENSIONS)
    with step(f"storing {passages:,} passages"):
        load(dsn, corpus, islice(made_up.documents(), len(drawn)), lambda document_id: drawn[int(document_id)])


def load(
    dsn: str,
    corpus: str,
    documents: Iterable[Document],
    vectors: Callable[[str], NDArray[np.float32]],
    **options: object,
) -> None:
    """Create a corpus, fill it, and vacuum the database.

    Args:
        dsn: The database. No worker may serve it.
        corpus: Name of a corpus that does not exist.
        documents: The documents to store.
        vectors: Returns the vectors of a document's lines, by the document's id.
        **options: Options of create_corpus.
    """
    with connect(dsn) as connection:
        create(connection, corpus, options)
        fill(dsn, connection, corpus, documents, vectors)
        connection.execute("vacuum analyze")


def create(connection: Connection, corpus: str, options: Mapping[str, object]) -> None:
    """Create a corpus that can take vectors, with these options of create_corpus."""
    connection.execute("select pgclarify.create_corpus(%s, options => %s)", [corpus, Jsonb(options)])
    connection.execute(
        "select pgclarify_private.open_space(space.embedding_space_id, %s)"
        " from pgclarify_private.embedding_space as space"
        " inner join pgclarify.corpus on corpus.corpus_id = space.corpus_id where corpus.corpus = %s",
        [made_up.DIMENSIONS, corpus],
    )


def fill(
    dsn: str,
    connection: Connection,
    corpus: str,
    documents: Iterable[Document],
    vectors: Callable[[str], NDArray[np.float32]],
) -> None:
    """Store documents as a worker does, but without a model. Each line is a passage.

    The index over vectors is made at the end, which is much faster.

    Args:
        dsn: The database. No worker may serve it.
        connection: To the same database.
        corpus: Name of an empty corpus.
        documents: The documents to store.
        vectors: Returns the vectors of a document's lines, by the document's id.
    """
    with connection.transaction(), connection.cursor() as cursor:
        cursor.executemany(
            "select pgclarify.add_document(%s, %s, %s, %s)",
            ((corpus, one.document_id, one.content, one.title) for one in documents),
        )
    (space,) = connection.execute(
        "select embedding_space_id as id from pgclarify_private.corpus where name = %s", [corpus]
    ).fetchall()
    index = f"passage_embedding_{space['id']}_vector_idx"
    (definition,) = connection.execute("select indexdef from pg_indexes where indexname = %s", [index]).fetchall()
    connection.execute(sql.SQL("drop index pgclarify_private.{}").format(sql.Identifier(index)))
    asyncio.run(_store_pending(dsn, vectors))
    connection.execute(definition["indexdef"])


async def _store_pending(dsn: str, vectors: Callable[[str], NDArray[np.float32]]) -> None:
    entry: dict[str, Any] = {"version": "", "provider": "none", "model": "none", "prompt_version": ""}
    async with open_pool(dsn) as pool, Presence.enter(dsn, **entry) as presence:
        store = Documents(pool, presence.worker_id)
        while pending := await store.claim_documents(max_documents=_DOCUMENTS_A_BATCH, max_chars=10**8):
            await store.store_documents(
                [IndexedDocument(one, _lines(one.content), list(vectors(one.document_id))) for one in pending]
            )
        async with pool.connection() as connection:
            await connection.execute("select pgclarify_private.fold_tallies()")


def _lines(content: str) -> list[Chunk]:
    return [
        Chunk(ordinal, None, line[0], line.start(), line.end())
        for ordinal, line in enumerate(re.finditer(".+", content), start=1)
    ]
