"""Stages that fill the corpus: documents are added, made searchable, linked, edited and removed."""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np

from benchmarks import made_up, product
from benchmarks.figures import Figure, step
from benchmarks.scale.one_server import world
from benchmarks.scale.one_server.setting import CORPUS, Meter, Setting
from benchmarks.speed.ingest import add as add_documents
from tests.integration.graph_check import check

_LOOK_SECONDS = 0.5
_PARTS = 10
_SAMPLE = 200
_EDITED = 200
_RESTRICT = """
    with given as materialized (
        select id, string_to_array(names, ',')::name[] as readers
        from unnest(%(documents)s::text[], %(readers)s::text[]) as listed (id, names)
    ),
    of_documents as (
        update pgclarify_private.document set readers = given.readers
        from given
        where document.corpus_id = {id} and document.id = given.id
    ),
    updated as (
        update pgclarify_private.passage_{id} as passage set readers = given.readers
        from given
        where passage.document_id = given.id
        returning passage.readers, passage.lexemes, passage.lexeme_count
    ),
    counted as (
        insert into pgclarify_private.term_change (corpus_id, lexeme, passages, restricted_passages)
        select {id}, occurrence.lexeme, 0, count(*)
        from updated
        cross join unnest(tsvector_to_array(updated.lexemes)) as occurrence (lexeme)
        where updated.readers is not null
        group by occurrence.lexeme
    )
    insert into pgclarify_private.corpus_tally (corpus_id, restricted_passages, restricted_lexemes)
    select {id}, count(readers), coalesce(sum(lexeme_count) filter (where readers is not null), 0) from updated
"""


def add(setting: Setting) -> list[Figure]:
    """Add documents until there are enough. No worker runs."""
    setting.corpus_id  # noqa: B018 - makes it
    present = setting.status()["documents"]
    meter = Meter(setting.connection)
    with step(f"adding {setting.documents - present:,} documents"):
        add_documents(setting.connection, CORPUS, world.documents(present, setting.documents - present))
    count = max(1, setting.documents - present)
    return [
        Figure("documents", count / meter.seconds, "a second"),
        Figure("CPU of the server", 1000 * meter.server / count, "ms a document"),
        Figure("WAL", meter.wal_bytes / count, "bytes a document"),
    ]


def index(setting: Setting) -> list[Figure]:
    """Make the documents searchable, with a worker that does not link. Logs each tenth."""
    first = setting.status()
    figures: list[Figure] = []
    memory = 0.0
    with setting.worker(with_graph=False) as meter:
        assert meter.process
        part = Meter(setting.connection, meter.process)
        done_before, least = first["passages"], first["pending"]
        while (status := setting.status())["pending"]:
            if status["pending"] <= least - max(1, first["pending"] // _PARTS):
                figures += _part(part, status["passages"], status["passages"] - done_before)
                done_before, least = status["passages"], status["pending"]
                part.begin()
            memory = max(memory, product.megabytes(meter.process))
            time.sleep(_LOOK_SECONDS)
        count = max(1, status["passages"] - first["passages"])
        return [
            Figure("passages", count / meter.seconds, "a second"),
            Figure("CPU of the worker", 1000 * meter.worker / count, "ms a passage"),
            Figure("CPU of the server", 1000 * meter.server / count, "ms a passage"),
            Figure("WAL", meter.wal_bytes / count, "bytes a passage"),
            Figure("memory of the worker, most", memory, "MB"),
            *figures,
        ]


def load(setting: Setting) -> list[Figure]:
    """The same without the index over vectors, which takes most of the server's time. `build` makes it afterwards."""
    setting.connection.execute("select pgclarify_private.open_space(%s, %s)", [setting.space_id, made_up.DIMENSIONS])
    setting.connection.execute(f"drop index if exists {setting.vector_index}".encode())
    return index(setting)


def build(setting: Setting) -> list[Figure]:
    """Make the index over vectors, with enough memory for the whole index."""
    meter = Meter(setting.connection)
    setting.connection.execute(f"set maintenance_work_mem = '{setting.build_memory}'".encode())
    setting.connection.execute(
        f"create index passage_embedding_{setting.space_id}_vector_idx on {setting.vectors}"
        f" using hnsw ((vector::halfvec({made_up.DIMENSIONS})) halfvec_cosine_ops)".encode()
    )
    setting.connection.execute("reset maintenance_work_mem")
    setting.connection.execute(f"vacuum (analyze) {setting.vectors}".encode())
    return [
        Figure("index over vectors", meter.seconds, "s"),
        Figure("CPU of the server", 1000 * meter.server / setting.passages, "ms a passage"),
    ]


def _part(meter: Meter, size: int, count: int) -> list[Figure]:
    """The cost of the last passages at this size of the corpus. Logs it to stderr, too."""
    figures = [
        Figure(f"up to {size:,}: passages", count / meter.seconds, "a second"),
        Figure(f"up to {size:,}: CPU of the worker", 1000 * meter.worker / count, "ms a passage"),
        Figure(f"up to {size:,}: CPU of the server", 1000 * meter.server / count, "ms a passage"),
        Figure(f"up to {size:,}: WAL", meter.wal_bytes / count, "bytes a passage"),
    ]
    for figure in figures:
        print(f"  {figure.name} {figure.value:.3g} {figure.unit}", file=sys.stderr, flush=True)
    return figures


def graph(setting: Setting) -> list[Figure]:
    """Let the worker link for `linking_seconds`, or until all passages are linked."""
    with setting.worker() as meter:
        before = setting.status()["linked"]
        while meter.seconds < setting.linking_seconds and setting.status()["linked"] < setting.passages:
            time.sleep(_LOOK_SECONDS)
        linked = setting.status()["linked"] - before
        figures = [
            Figure("linked", linked, "passages"),
            Figure("linked", linked / meter.seconds, "a second"),
            Figure("CPU of worker and server", 1000 * (meter.worker + meter.server) / max(1, linked), "ms a passage"),
            Figure("WAL", meter.wal_bytes / max(1, linked), "bytes a passage"),
        ]
    found = check(setting.connection, CORPUS, _SAMPLE)
    figures += [Figure("recall", found["recall"] or 0.0), Figure("wait to be linked", found["pending"], "passages")]
    return figures


def edits(setting: Setting) -> list[Figure]:
    """Change the last passage of documents, then remove documents, and let the worker catch up after each."""
    numbers = np.random.default_rng(70).permutation(setting.documents).tolist()
    count = min(_EDITED, setting.documents // 4)
    edited, removed = numbers[:count], numbers[count : 2 * count]
    connection = setting.connection
    figures = []
    with setting.worker(with_graph=False) as meter:
        add_documents(connection, CORPUS, (world.document(number, edition=1) for number in edited))
        while setting.status()["pending"]:
            time.sleep(0.05)
        figures += [
            Figure("edited and searchable", count / meter.seconds, "documents a second"),
            Figure("CPU of the worker for an edit of one passage of ten", 1000 * meter.worker / count, "ms a document"),
            Figure("CPU of the server for it", 1000 * meter.server / count, "ms a document"),
        ]
        meter.begin()
        seconds = []
        for number in removed:
            started = time.perf_counter()
            connection.execute("select pgclarify.remove_document(%s, %s)", [CORPUS, str(number)])
            seconds.append(time.perf_counter() - started)
        figures += [
            Figure("removing a document, median", 1000 * statistics.median(seconds), "ms"),
            Figure("removing a document, slowest", 1000 * max(seconds), "ms"),
            Figure("CPU of the server for it", 1000 * meter.server / count, "ms a document"),
        ]
        meter.begin()
        add_documents(connection, CORPUS, (world.document(number) for number in removed))
        while setting.status()["pending"]:
            time.sleep(0.05)
        figures.append(Figure("added again and searchable", count / meter.seconds, "documents a second"))
    return figures


def readers(setting: Setting) -> list[Figure]:
    """Give each document readers, in one statement: roles that may read a hundredth, a tenth, all, and some topics."""
    meter = Meter(setting.connection)
    names = [",".join(world.readers_of(number)) for number in range(setting.documents)]
    given = {"documents": [str(number) for number in range(setting.documents)], "readers": names}
    with step("giving readers"):
        setting.connection.execute(_RESTRICT.format(id=setting.corpus_id).encode(), given)
        setting.connection.execute("select pgclarify_private.fold_tallies()")
        while setting.connection.execute("select from pgclarify_private.term_change limit 1").fetchall():
            setting.connection.execute("select pgclarify_private.apply_term_changes()")
    # As autovacuum does after so many changes. Searches rely on its statistics of readers.
    setting.connection.execute(f"vacuum (analyze) pgclarify_private.passage_{setting.corpus_id}".encode())
    return [
        Figure("CPU of the server", 1000 * meter.server / setting.passages, "ms a passage"),
        Figure("WAL", meter.wal_bytes / setting.passages, "bytes a passage"),
    ]
