"""The resources of an idle worker, and the time that a worker needs to start.

python -m benchmarks.speed.idle [--seconds 120]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import product
from benchmarks.figures import Figure, show, step
from pgclarify import embedded
from pgclarify.install.installer import install

_SECONDS = 120.0
# The start of a worker does not count, and after half a minute it polls less often.
_SETTLING_SECONDS = 40.0


def measure(seconds: float = _SECONDS) -> list[Figure]:
    """One worker on a server of its own, with no corpus in it."""
    environment = os.environ | {"PGCLARIFY_LLM_PROVIDER": "extractive"}
    with _database() as dsn, product.connect(dsn) as connection:
        started = time.perf_counter()
        with product.running_worker(dsn, environment | {"PGCLARIFY_DATABASE_URL": dsn}) as process:
            until_serving = time.perf_counter() - started
            cpu_until_serving = _cpu(process.pid)
            with step(f"{_SETTLING_SECONDS + seconds:.0f} seconds of nothing"):
                time.sleep(_SETTLING_SECONDS)
                cpu, sent = _cpu(process.pid), _statements(connection)
                time.sleep(seconds)
                cpu, sent = _cpu(process.pid) - cpu, _statements(connection) - sent
    return [
        Figure("worker, until it serves", until_serving, "s", aim="<= 2"),
        Figure("the same, CPU", cpu_until_serving, "s"),
        Figure("idle worker, CPU", 100 * cpu / seconds, "% of a core", aim="<= 0.2"),
        Figure("idle worker, statements that it sends", sent / seconds, "a second", aim="<= 2"),
    ]


@contextmanager
def _database() -> Iterator[str]:
    """A server with the schema, which counts statements. It is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="pgclarify-benchmark-") as folder:
        Path(folder).chmod(0o711)  # the server may run as a user of its own
        data_dir = Path(folder, "data")
        try:
            with product.connect(embedded.start(data_dir)) as connection:
                connection.execute("alter system set shared_preload_libraries = 'pg_stat_statements'")
            embedded.stop(data_dir)
            dsn = embedded.start(data_dir)
            install(dsn)
            with product.connect(dsn) as connection:
                connection.execute("create extension pg_stat_statements")
            yield dsn
        finally:
            embedded.stop(data_dir)


def _cpu(process_id: int) -> float:
    """CPU seconds of a process, as Linux counts them."""
    _, _, counted = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")
    user, system = counted.split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _statements(connection: product.Connection) -> float:
    """Statements from clients, including this one, but not those inside functions."""
    (row,) = connection.execute("select sum(calls)::float8 as calls from pg_stat_statements").fetchall()
    return float(row["calls"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=_SECONDS)
    show(measure(parser.parse_args().seconds))
