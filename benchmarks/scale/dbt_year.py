"""A dbt model over a year of searches: its first build, the builds of later nights, and a full refresh.

By default the log has 200,000 searches for 30,000 different questions, a few of which are frequent (Zipf's law), and
`dbt build` also builds the citations and runs the package's tests. The endpoint answers at once, so what is measured is
the product and dbt.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks import made_up, product
from benchmarks.figures import Figure, show, step
from benchmarks.speed.dbt_throughput import DBT, dbt, write_project
from tests import openai_server

_AT_ONCE = 64
_MODEL = """
{{{{ config(
    materialized='pgclarify_interpretations', corpus='{corpus}', id='search_id', question='query', top_k={top_k}
) }}}}
select search_id, query from public.search_log
"""
_CITATIONS = "{{ pgclarify.citations(ref('interpretations')) }}"
_TESTS = """
models:
  - name: interpretations
    data_tests:
      - pgclarify.every_interpretation_is_cited
      - pgclarify.cited_documents_are_current
      - pgclarify.quotes_are_verbatim
"""


class Year:
    """The log of searches, and builds of the model over it."""

    def __init__(
        self, connection: product.Connection, folder: Path, calls: Callable[[], int], worker: subprocess.Popen[str]
    ) -> None:
        self._connection = connection
        self._folder = folder
        self._calls = calls
        self._worker = worker
        self._random = np.random.default_rng(23)
        connection.execute("create table public.search_log (search_id bigint primary key, query text not null)")

    def search(self, questions: list[str], searches: int, *, first_id: int) -> None:
        """Add searches to the log: each question once, and then some again, the first ones most often."""
        chances = 1 / np.arange(1, len(questions) + 1)
        again = self._random.choice(len(questions), searches - len(questions), p=chances / chances.sum())
        with (
            self._connection.cursor() as cursor,
            cursor.copy("copy public.search_log (search_id, query) from stdin") as copy,
        ):
            for search_id, number in enumerate([*range(len(questions)), *again], start=first_id):
                copy.write_row((search_id, questions[number]))

    def build(self, name: str, *arguments: str) -> list[Figure]:
        """Build, check that each search has rows, and say what it took."""
        calls, cpu = self._calls(), product.cpu_seconds(self._worker)
        server_cpu = product.server_cpu_seconds(self._connection)
        started = time.perf_counter()
        with step(name):
            dbt(self._folder, "build", *arguments)
        seconds = time.perf_counter() - started
        (row,) = self._connection.execute(
            """select (select count(distinct search_id) from dbt.interpretations) as built,
                (select count(*) from public.search_log) as searches"""
        ).fetchall()
        assert row["built"] == row["searches"], row
        return [
            Figure(name, seconds, "s"),
            Figure(f"{name}: CPU of the worker", product.cpu_seconds(self._worker) - cpu, "s"),
            Figure(f"{name}: CPU of the server", product.server_cpu_seconds(self._connection) - server_cpu, "s"),
            Figure(f"{name}: calls", self._calls() - calls, "calls"),
        ]


def measure(dsn: str, corpus: str, *, searches: int, distinct: int, top_k: int) -> list[Figure]:
    """Build the model of a year, and then of nights after it."""
    new = max(distinct // 200, 1)
    questions = made_up.questions(distinct + 2 * new, seed=22)
    a_night = max(searches // 365, new)
    with (
        tempfile.TemporaryDirectory(prefix="pgclarify-benchmark-") as name,
        openai_server.spawn(latency=0, concurrency=_AT_ONCE) as endpoint,
        product.worker(dsn, endpoint, concurrency=_AT_ONCE) as worker,
        product.connect(dsn) as connection,
    ):
        folder = Path(name)
        write_project(
            folder,
            dsn,
            {
                "models/interpretations.sql": _MODEL.format(corpus=corpus, top_k=top_k),
                "models/citations.sql": _CITATIONS,
                "models/models.yml": _TESTS,
            },
        )
        dbt(folder, "deps")
        year = Year(connection, folder, lambda: endpoint.stats["calls"], worker)
        year.search(questions[:distinct], searches, first_id=1)
        figures = year.build(f"first build of {searches:,} searches, {distinct:,} questions")
        year.search(questions[distinct : distinct + new], a_night, first_id=searches + 1)
        figures += year.build(f"a night with {a_night:,} searches, {new:,} new questions")
        figures += year.build("a night without new searches")
        # Their ids are lower than all others: a model that reads only what is above its highest id would miss them.
        year.search(questions[distinct + new :], a_night, first_id=-a_night)
        figures += year.build(f"{a_night:,} late searches, {new:,} new questions")
        connection.execute(
            "select pgclarify.add_document(%s, '0', %s)", [corpus, "The first document has another text now."]
        )
        figures += year.build("a night after one document has changed")
        figures += year.build("full refresh", "--full-refresh")
        figures.append(Figure("memory of the worker then", product.megabytes(worker), "MB"))
    return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--searches", type=int, default=200_000)
    parser.add_argument("--distinct", type=int, default=30_000)
    parser.add_argument("--top-k", type=int, default=5)
    chosen = parser.parse_args()
    if not DBT.exists():
        parser.error(f"there is no {DBT}: make dbt, or set PGCLARIFY_DBT")
    with product.made_up_corpus() as (dsn, corpus):
        show(measure(dsn, corpus, searches=chosen.searches, distinct=chosen.distinct, top_k=chosen.top_k))
