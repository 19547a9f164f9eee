"""Stages that maintain the database: its size, status views, vacuum, an upgrade, dump and restore."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from benchmarks import product
from benchmarks.figures import Figure, step
from benchmarks.scale.one_server.setting import CORPUS, Meter, Setting
from pgclarify.embedded.programs import binary
from pgclarify.install.installer import install

_REPEATS = 20
_SIZES = """
    with named as (
        select
            pg_class.oid,
            regexp_replace(pg_class.relname::text, '_[0-9]+', '', 'g') as name
        from pg_class
        where pg_class.relkind = 'r' and pg_class.relnamespace::regnamespace::text ~ '^pgclarify'
    )
    select named.name || ', rows' as name, sum(pg_relation_size(named.oid)) as bytes from named group by 1
    union all
    select named.name || ', long values', sum(pg_table_size(named.oid) - pg_relation_size(named.oid))
    from named
    group by 1
    union all
    select
        named.name || ', index ' || regexp_replace(indexed.relname::text, '_[0-9]+', '', 'g'),
        sum(pg_relation_size(indexed.oid))
    from named
    inner join pg_index on pg_index.indrelid = named.oid
    inner join pg_class as indexed on indexed.oid = pg_index.indexrelid
    group by 1
    order by bytes desc
"""
_VIEWS = {
    "corpus": "select * from pgclarify.corpus",
    "due_work": "select pgclarify_private.due_work()",
    "document, 100 rows": "select * from pgclarify.document order by corpus_id, id limit 100",
}


def size(setting: Setting) -> list[Figure]:
    """Bytes for each passage: of each table and index with at least one byte a passage, and of the whole database."""
    rows = setting.connection.execute(_SIZES.encode()).fetchall()
    (whole,) = setting.connection.execute("select pg_database_size(current_database()) as bytes").fetchall()
    return [
        Figure("whole database", float(whole["bytes"]) / setting.passages, "bytes a passage"),
        *(
            Figure(row["name"], float(row["bytes"]) / setting.passages, "bytes a passage")
            for row in rows
            if row["bytes"] >= setting.passages
        ),
        Figure("memory of the server", product.server_megabytes(setting.connection), "MB"),
    ]


def views(setting: Setting) -> list[Figure]:
    """The queries that dashboards and workers repeat."""
    figures = []
    for name, statement in _VIEWS.items():
        seconds = []
        for _ in range(_REPEATS):
            started = time.perf_counter()
            setting.connection.execute(statement.encode()).fetchall()
            seconds.append(time.perf_counter() - started)
        figures.append(Figure(f"{name}, median", 1000 * statistics.median(seconds), "ms"))
    return figures


def vacuum(setting: Setting) -> list[Figure]:
    """Vacuum and analyze the two large tables, as autovacuum does after edits and removals."""
    figures = []
    for table, key in (
        ("pgclarify_private.passage", setting.corpus_id),
        ("pgclarify_private.passage_embedding", setting.space_id),
    ):
        meter = Meter(setting.connection)
        setting.connection.execute(f"vacuum (analyze) {table}_{key}".encode())
        figures += [
            Figure(f"{table.partition('.')[2]}", meter.seconds, "s"),
            Figure(f"{table.partition('.')[2]}, CPU of the server", meter.server, "s"),
        ]
    return figures


def init(setting: Setting) -> list[Figure]:
    """Run the upgrade on a database that is up to date, then one that replaces all functions and views."""
    meter = Meter(setting.connection)
    install(setting.dsn)
    figures = [Figure("pgclarify init, nothing to change", meter.seconds, "s")]
    # An install compares what it would apply with this row.
    setting.connection.execute("delete from pgclarify_private.applied_sql")
    meter.begin()
    install(setting.dsn)
    return [*figures, Figure("pgclarify init, all functions replaced", meter.seconds, "s")]


def dump(setting: Setting) -> list[Figure]:
    """Dump the database, restore it into another one, and upgrade that one."""
    file = setting.folder / "far.dump"
    meter = Meter(setting.connection)
    with step("dumping"):
        subprocess.run([binary("pg_dump"), "-Fc", "-f", file, setting.dsn], check=True)
    figures = [
        Figure("dump", meter.seconds, "s"),
        Figure("dump", file.stat().st_size / setting.passages, "bytes a passage"),
    ]
    restored = "restored"
    setting.connection.execute(sql.SQL("drop database if exists {}").format(sql.Identifier(restored)))
    setting.connection.execute(sql.SQL("create database {}").format(sql.Identifier(restored)))
    dsn = make_conninfo(setting.dsn, dbname=restored)
    meter.begin()
    with step("restoring"):
        # Like the command in docs/operations.md: otherwise a large index over vectors is built outside of memory.
        environment = os.environ | {"PGOPTIONS": f"-c maintenance_work_mem={setting.build_memory}"}
        subprocess.run([binary("pg_restore"), "-j", "2", "-d", dsn, file], check=True, env=environment)
    figures += [
        Figure("restore", meter.seconds, "s"),
        Figure("restore, CPU of the server", 1000 * meter.server / setting.passages, "ms a passage"),
    ]
    install(dsn)
    with psycopg.connect(dsn) as connection:
        (passages,) = connection.execute(
            "select passages from pgclarify.corpus where corpus = %s", [CORPUS]
        ).fetchone() or (None,)
    assert passages == setting.status()["passages"]
    setting.connection.execute(sql.SQL("drop database {}").format(sql.Identifier(restored)))
    Path(file).unlink()
    return figures
