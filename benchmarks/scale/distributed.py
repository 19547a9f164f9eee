"""A corpus on one server and in 2, 4, 8 shards of a Citus cluster: CPU of loading; recall, pages and time of a search.

python -m benchmarks.scale.distributed --url postgresql://postgres@coordinator/bench [--passages 20000] [--shards 2 4 8]

The database is set up as docs/citus.md says, and has no corpus. All servers of the cluster run on this machine.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from psycopg import sql

from benchmarks import made_up, product
from benchmarks.figures import Figure, show, step

PASSAGES = 20_000
SHARDS = (2, 4, 8)
_QUESTIONS = 50
_DEPTH = 20
# The query of pgclarify_private.dense, for a corpus that all roles may read.
_NEAREST = """
    explain (analyze, buffers, timing off, format json)
    select embedding.document_id, embedding.passage_id
    from {table} as embedding
    order by embedding.vector::halfvec({dimensions}) <=> {vector}::halfvec({dimensions})
    limit {depth}
"""


def measure(dsn: str, passages: int = PASSAGES, shards: Sequence[int] = SHARDS) -> Iterator[Figure]:
    """Load and measure a corpus on one server, then a distributed one for each number of shards.

    Args:
        dsn: The database, as a superuser of the coordinator. No worker may serve it.
        passages: Passages of each corpus.
        shards: Numbers of shards.
    """
    documents = passages // made_up.PASSAGES_A_DOCUMENT
    drawn = made_up.vectors(documents * made_up.PASSAGES_A_DOCUMENT, seed=3)
    asked = made_up.vectors(_QUESTIONS, seed=61)
    nearest = np.argsort(-(asked @ drawn.T), axis=1)[:, :_DEPTH]
    by_document = drawn.reshape(documents, made_up.PASSAGES_A_DOCUMENT, made_up.DIMENSIONS)
    for parts in (0, *shards):
        corpus, name = f"in {parts} shards", f"{parts} shards" if parts else "one server"
        with product.connect(dsn) as connection:
            product.create(connection, corpus, shards=parts or None)
            before = _processor_seconds(connection)
            with step(f"storing {len(drawn):,} passages, {name}"):
                product.fill(
                    dsn,
                    connection,
                    corpus,
                    islice(made_up.documents(), documents),
                    lambda document_id: by_document[int(document_id)],
                )
            after = _processor_seconds(connection)
            _vacuum(connection, corpus)
            for server, used in enumerate(np.subtract(after, before)):
                what = f"node {server}" if server else "coordinator"
                yield Figure(f"{name}: loading, CPU of the {what}", used / len(drawn) * 1000, "ms/passage")
            yield from _searches(connection, name, corpus, asked, nearest)
            yield from _reads(connection, name, corpus, len(drawn), asked)


def _processor_seconds(connection: product.Connection) -> list[float]:
    """Seconds of CPU that each server of the cluster has used, the coordinator first."""
    rows = connection.execute(
        "select result as file from run_command_on_all_nodes($$ select pg_read_file('postmaster.pid') $$)"
        " order by nodeid"
    ).fetchall()
    return [_of_process(Path("/proc", row["file"].split()[0])) for row in rows]


def _of_process(server: Path) -> float:
    """Seconds of CPU of a server's first process and its children. A child that ended counts as the first process."""
    children = (server / "task" / server.name / "children").read_text().split()
    ticks = 0
    for process in (server, *(server.parent / child for child in children)):
        with suppress(FileNotFoundError, ProcessLookupError):
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _vacuum(connection: product.Connection, corpus: str) -> None:
    """Vacuum and analyze the two tables that a search of the corpus reads."""
    (tables,) = connection.execute(
        "select pgclarify_private.partition_name('passage', corpus_id) as passages,"
        " pgclarify_private.partition_name('passage_embedding', embedding_space_id) as vectors"
        " from pgclarify_private.corpus where name = %s",
        [corpus],
    ).fetchall()
    connection.execute(f"vacuum (analyze) {tables['passages']}, {tables['vectors']}".encode())


def _searches(
    connection: product.Connection,
    name: str,
    corpus: str,
    asked: NDArray[np.float32],
    nearest: NDArray[np.int64],
) -> Iterator[Figure]:
    """Recall of the search by vectors, and the time of a hybrid search."""
    found, milliseconds = list[float](), list[float]()
    statement = (
        "select result.document_id, result.content from pgclarify.corpus cross join lateral"
        " pgclarify_private.search(corpus.corpus_id, '{}', %s, %s, %s::text::halfvec, %s) as result"
        " where corpus.corpus = %s"
    )
    places = _places(connection, corpus)
    for vector, expected, question in zip(asked, nearest, made_up.questions(len(asked), seed=60), strict=True):
        text = HalfVector(vector).to_text()
        rows = connection.execute(statement, ["dense", question, text, _DEPTH, corpus]).fetchall()
        seen = {places[row["document_id"], row["content"]] for row in rows}
        found.append(len(seen & set(expected.tolist())) / _DEPTH)
        started = time.perf_counter()
        connection.execute(statement, ["hybrid", question, text, _DEPTH, corpus]).fetchall()
        milliseconds.append((time.perf_counter() - started) * 1000)
    yield Figure(f"{name}: recall@{_DEPTH} of vectors", statistics.fmean(found))
    yield Figure(f"{name}: hybrid search, median", statistics.median(milliseconds), "ms")


def _places(connection: product.Connection, corpus: str) -> dict[tuple[str, str], int]:
    """The row of each passage among the vectors that were drawn."""
    rows = connection.execute(
        "select document.id, document.content from pgclarify.document"
        " inner join pgclarify.corpus on corpus.corpus_id = document.corpus_id where corpus.corpus = %s",
        [corpus],
    ).fetchall()
    return {
        (row["id"], line): int(row["id"]) * made_up.PASSAGES_A_DOCUMENT + place
        for row in rows
        for place, line in enumerate(row["content"].splitlines())
    }


def _reads(
    connection: product.Connection, name: str, corpus: str, passages: int, asked: NDArray[np.float32]
) -> Iterator[Figure]:
    """The rows that a shard sends and the pages that it reads for a search by vectors."""
    (space,) = connection.execute(
        "select embedding_space_id as id from pgclarify_private.corpus where name = %s", [corpus]
    ).fetchall()
    pages, rows = list[float](), list[float]()
    with connection.transaction():
        # The settings with which the functions run. On the nodes, the role has other settings.
        connection.execute("set local role pgclarify_owner")
        connection.execute("set local citus.explain_all_tasks = on")
        connection.execute("set local hnsw.iterative_scan = strict_order")
        connection.execute(
            "select set_config('hnsw.ef_search', pgclarify_private.ef_search(%s, %s)::text, true)", [passages, _DEPTH]
        )
        for vector in asked:
            statement = sql.SQL(_NEAREST).format(
                table=sql.Identifier("pgclarify_private", f"passage_embedding_{space['id']}"),
                dimensions=sql.Literal(made_up.DIMENSIONS),
                vector=sql.Literal(HalfVector(vector).to_text()),
                depth=sql.Literal(_DEPTH),
            )
            (explained,) = connection.execute(statement).fetchall()
            for plan in _shard_plans(explained["QUERY PLAN"][0]["Plan"]):
                pages.append(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])
                rows.append(plan["Actual Rows"])
    yield Figure(f"{name}: rows from a shard", statistics.fmean(rows), "rows")
    yield Figure(f"{name}: pages that a shard reads", statistics.fmean(pages), "pages")


def _shard_plans(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """The plans of the tasks of a distributed query; for another query, its plan."""
    within = plan
    while "Distributed Query" not in within:
        if "Plans" not in within:
            return [plan]
        (within,) = within["Plans"]
    return [task["Remote Plan"][0][0]["Plan"] for task in within["Distributed Query"]["Job"]["Tasks"]]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--passages", type=int, default=PASSAGES)
    parser.add_argument("--shards", type=int, nargs="+", default=SHARDS)
    given = parser.parse_args()
    show(list(measure(given.url, given.passages, given.shards)))
