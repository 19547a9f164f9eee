"""The neighborhood graph: built in bulk, compared with faiss on the same machine; and the cost of adding a passage.

CPU seconds are those of the worker and the database together (Linux only), and those of faiss.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg import sql

from benchmarks import made_up, product
from benchmarks.figures import Figure, show, step
from pgclarify.database.pool import fetch_value, open_pool
from pgclarify.database.presence import Presence
from pgclarify.worker.graph_building import GraphBuilding, link
from tests.integration.graph_check import check

DEGREE = 16
PASSAGES = 50_000
ADDED = 1000
SIZES = (10_000, 100_000)
_PASSAGES_A_BATCH = 2000
_SAMPLE = 500
# Each method must find 0.98 of the true neighbors. Of its settings that do, the fastest one counts.
_LEAST_RECALL = 0.98
_HNSW_LINKS = 16
_EF_SEARCH = (16, 24, 32, 48, 64, 96, 128, 192, 256)
_PROBES = (1, 2, 4, 8, 16, 32)

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Built:
    """A graph: seconds to build it, CPU seconds, and its recall."""

    seconds: float
    cpu: float
    recall: float


def measure(dsn: str, passages: int = PASSAGES, sizes: Sequence[int] = SIZES) -> list[Figure]:
    """Link in bulk, build the same graph with faiss, and add passages to graphs of several sizes."""
    vectors = made_up.vectors(passages, seed=50)
    with product.connect(dsn) as connection:
        with step(f"linking {passages:,} passages"):
            corpus = _store(connection, f"graph of {passages}", vectors)
            ours = _link(dsn, connection, corpus)
        megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        with step("the same by the index over vectors"):
            connection.execute("select pgclarify.alter_corpus(%s, jsonb_build_object('graph', 'rebuild'))", [corpus])
            walked = _link(dsn, connection, corpus, in_memory=False)
        with step("the same by faiss"):
            hnsw, ivf = _faiss_hnsw(vectors, _LEAST_RECALL), _faiss_ivf(vectors)
            as_good = _faiss_hnsw(vectors, ours.recall)
        named = f"graph of {passages:,} vectors"
        figures = [
            Figure(f"{named}, reading and writing included", ours.seconds, "s"),
            Figure("its recall against exact search", ours.recall, aim="≥ 0.98"),
            Figure("its CPU time", ours.cpu, "s"),
            Figure("memory of the largest process so far", megabytes, "MB"),
            Figure("the same by the index over vectors", walked.seconds, "s"),
            Figure("its recall", walked.recall),
            Figure("its CPU time", walked.cpu, "s"),
            Figure("faiss HNSW, vectors in memory", hnsw.seconds, "s"),
            Figure("its recall", hnsw.recall),
            Figure("faiss IVF, vectors in memory", ivf.seconds, "s"),
            Figure("its recall", ivf.recall),
            Figure("CPU time of faiss HNSW", hnsw.cpu, "s"),
            Figure("linking over faiss HNSW", ours.seconds / hnsw.seconds, aim="≤ 1.5"),
            Figure("in CPU time", ours.cpu / hnsw.cpu, aim="≤ 1.5"),
            Figure("in CPU time, by the index over vectors", walked.cpu / hnsw.cpu),
            Figure("faiss HNSW, where it finds as much as ours, or most", as_good.seconds, "s"),
            Figure("its recall", as_good.recall),
            Figure("linking over that", ours.seconds / as_good.seconds),
            Figure("linking over faiss IVF", ours.seconds / ivf.seconds),
        ]
        _drop(connection, corpus)
        for size in sizes:
            with step(f"adding {ADDED:,} passages to {size:,}"):
                added, recall = _add(dsn, connection, size)
            figures += [
                Figure(f"linking a passage more, {ADDED:,} at once, at {size:,}", 1000 * added / ADDED, "ms a passage"),
                Figure("recall of that graph", recall),
            ]
    return figures


def _store(connection: product.Connection, corpus: str, vectors: Vectors) -> str:
    """Make a corpus of these vectors, which wait to be linked. Its passages have no text. Returns its name."""
    connection.execute("select pgclarify.create_corpus(%s)", [corpus])
    (space,) = connection.execute(
        "select max(embedding_space_id) as id from pgclarify_private.embedding_space"
    ).fetchall()
    connection.execute("select pgclarify_private.open_space(%s, %s)", [space["id"], vectors.shape[1]])
    _copy(connection, corpus, vectors, first=0)
    return corpus


def _copy(connection: product.Connection, corpus: str, vectors: Vectors, *, first: int) -> None:
    """Add a passage for each vector, one in each document, numbered from first."""
    register_vector(connection)
    (known,) = connection.execute(
        "select corpus_id, embedding_space_id from pgclarify_private.corpus where name = %s", [corpus]
    ).fetchall()
    partition = sql.Identifier("pgclarify_private", f"passage_embedding_{known['embedding_space_id']}")
    index = sql.Identifier("pgclarify_private", f"passage_embedding_{known['embedding_space_id']}_vector_idx")
    (definition,) = connection.execute(
        "select indexdef from pg_indexes where schemaname = 'pgclarify_private' and indexname = %s",
        [f"passage_embedding_{known['embedding_space_id']}_vector_idx"],
    ).fetchall()
    if first == 0:
        connection.execute(sql.SQL("drop index {}").format(index))
    with connection.transaction(), connection.cursor() as cursor:
        statement = sql.SQL("copy {} (embedding_space_id, document_id, passage_id, vector) from stdin (format binary)")
        with cursor.copy(statement.format(partition)) as copy:
            copy.set_types(["int8", "text", "int8", "halfvec"])
            for number, vector in enumerate(vectors, start=first + 1):
                copy.write_row((known["embedding_space_id"], str(number), number, HalfVector(vector)))
        cursor.execute(
            "insert into pgclarify_private.pending_link (embedding_space_id, document_id, passage_id)"
            " select %s, number::text, number from generate_series(%s::bigint, %s) as number",
            [known["embedding_space_id"], first + 1, first + len(vectors)],
        )
        cursor.execute(
            "insert into pgclarify_private.corpus_tally (corpus_id, passages) values (%s, %s)",
            [known["corpus_id"], len(vectors)],
        )
    if first == 0:
        connection.execute("set maintenance_work_mem = '512MB'")
        connection.execute(definition["indexdef"])
    connection.execute("vacuum analyze")


def _link(dsn: str, connection: product.Connection, corpus: str, *, in_memory: bool = True) -> Built:
    """Link all pending passages, as a worker does. in_memory: False to use only the index over vectors."""
    cpu, started = _cpu_seconds(connection), time.perf_counter()
    asyncio.run(_link_all(dsn, in_memory))
    seconds, cpu = time.perf_counter() - started, _cpu_seconds(connection) - cpu
    found = check(connection, corpus, _SAMPLE)
    wrong = {name: found[name] for name in ("unlinked", "pending", "self_edges", "dangling", "gaps", "unordered")}
    assert not any(wrong.values()), wrong
    return Built(seconds, cpu, found["recall"])


async def _link_all(dsn: str, in_memory: bool) -> None:
    entry: dict[str, Any] = {"version": "", "provider": "none", "model": "none", "prompt_version": ""}
    async with open_pool(dsn) as pool, Presence.enter(dsn, **entry) as presence:
        if in_memory:
            await link(pool, GraphBuilding(pool, presence.worker_id))
        while await fetch_value(pool, "link_passages", max_passages=_PASSAGES_A_BATCH):
            pass


def _cpu_seconds(connection: product.Connection) -> float:
    """CPU seconds so far of this process, its children, and the server with all its processes."""
    return product.server_cpu_seconds(connection) + _own_cpu_seconds()


def _own_cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _add(dsn: str, connection: product.Connection, size: int) -> tuple[float, float]:
    """Seconds to link ADDED passages in a graph of a given size, and the recall afterwards."""
    vectors = made_up.vectors(size + ADDED, seed=51)
    corpus = _store(connection, f"graph of {size}, and more", vectors[:size])
    _link(dsn, connection, corpus)
    _copy(connection, corpus, vectors[size:], first=size)
    added = _link(dsn, connection, corpus)
    _drop(connection, corpus)
    return added.seconds, added.recall


def _drop(connection: product.Connection, corpus: str) -> None:
    connection.execute("select pgclarify.drop_corpus(%s)", [corpus])
    while connection.execute("select pgclarify_private.drop_orphan_partition() as name").fetchall()[0]["name"]:
        pass


def _faiss_hnsw(vectors: Vectors, least_recall: float) -> Built:
    started, cpu = time.perf_counter(), _own_cpu_seconds()
    index = faiss.IndexHNSWFlat(vectors.shape[1], _HNSW_LINKS, faiss.METRIC_INNER_PRODUCT)
    index.add(vectors)
    building, cpu_building = time.perf_counter() - started, _own_cpu_seconds() - cpu
    for index.hnsw.efSearch in _EF_SEARCH:
        started, cpu = time.perf_counter(), _own_cpu_seconds()
        _, neighbors = index.search(vectors, DEGREE + 1)
        searching, cpu_searching = time.perf_counter() - started, _own_cpu_seconds() - cpu
        if (recall := _recall(vectors, neighbors)) >= least_recall:
            break
    return Built(building + searching, cpu_building + cpu_searching, recall)


def _faiss_ivf(vectors: Vectors) -> Built:
    started, cpu = time.perf_counter(), _own_cpu_seconds()
    index = faiss.IndexIVFFlat(
        faiss.IndexFlatIP(vectors.shape[1]),
        vectors.shape[1],
        round(len(vectors) ** 0.5),
        faiss.METRIC_INNER_PRODUCT,
    )
    index.train(vectors)
    index.add(vectors)
    building, cpu_building = time.perf_counter() - started, _own_cpu_seconds() - cpu
    for index.nprobe in _PROBES:
        started, cpu = time.perf_counter(), _own_cpu_seconds()
        _, neighbors = index.search(vectors, DEGREE + 1)
        searching, cpu_searching = time.perf_counter() - started, _own_cpu_seconds() - cpu
        if (recall := _recall(vectors, neighbors)) >= _LEAST_RECALL:
            break
    return Built(building + searching, cpu_building + cpu_searching, recall)


def _recall(vectors: Vectors, neighbors: NDArray[np.int64]) -> float:
    """Share of the true neighbors of some vectors that were found.

    Args:
        vectors: Rows of unit length.
        neighbors: int64, shape (len(vectors), DEGREE + 1): numbers of rows. Each row is its own nearest neighbor.
    """
    sample = np.random.default_rng(52).integers(len(vectors), size=_SAMPLE)
    similarities = vectors[sample] @ vectors.T
    exact = np.argpartition(-similarities, DEGREE, axis=1)[:, : DEGREE + 1]
    found = [len({*row} & {*true}) for row, true in zip(neighbors[sample].tolist(), exact.tolist(), strict=True)]
    return sum(found) / (len(found) * (DEGREE + 1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=PASSAGES, help="vectors in the graph that is built in bulk")
    parser.add_argument(
        "--sizes", type=int, nargs="*", default=SIZES, help="sizes of graphs that passages are added to"
    )
    arguments = parser.parse_args()
    with product.database() as dsn:
        show(measure(dsn, arguments.passages, arguments.sizes))
