"""The throughput of a dbt model of 1,000 questions, as a share of the endpoint's: 64 calls at once, 400 ms each.

dbt's own start counts, because a user of `dbt run` waits for it. The dbt is the one that `make dbt` installs, or the
one that PGCLARIFY_DBT names.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from benchmarks import made_up, product
from benchmarks.figures import Figure, show, step
from benchmarks.speed.clarify_throughput import AT_ONCE, CALL_SECONDS, TOP_K
from tests import openai_server

_CHECKOUT = Path(__file__).parents[2]
DBT = Path(os.environ.get("PGCLARIFY_DBT", _CHECKOUT / ".venv-dbt/bin/dbt"))
_PROJECT = """
name: benchmark
version: 1.0.0
profile: benchmark
"""
_PACKAGES = f"""
packages:
  - local: {_CHECKOUT / "dbt"}
"""
_PROFILE = """
benchmark:
  target: dev
  outputs:
    dev:
      type: postgres
      host: {host}
      port: {port}
      user: {user}
      password: ""
      dbname: {database}
      schema: dbt
      threads: 4
"""
_MODEL = """
{{{{ config(
    materialized='pgclarify_interpretations', corpus='{corpus}', id='search_id', question='query', top_k={top_k}
) }}}}
select search_id, query from public.search_log
"""


def measure(dsn: str, corpus: str, *, questions: int) -> list[Figure]:
    """Build the model twice: first all questions are new, then none."""
    with (
        tempfile.TemporaryDirectory(prefix="pgclarify-benchmark-") as folder,
        openai_server.spawn(latency=CALL_SECONDS, concurrency=AT_ONCE) as endpoint,
        product.worker(dsn, endpoint, concurrency=AT_ONCE),
        product.connect(dsn) as connection,
    ):
        model = _MODEL.format(corpus=corpus, top_k=TOP_K)
        write_project(Path(folder), dsn, {"models/interpretations.sql": model})
        connection.execute("create table public.search_log (search_id bigint primary key, query text not null)")
        with connection.cursor() as cursor:
            cursor.executemany(
                "insert into public.search_log values (%s, %s)",
                list(enumerate(made_up.questions(questions, seed=22), start=1)),
            )
        for question in made_up.questions(3, seed=20):
            product.clarify(connection, question, corpus, TOP_K)
        dbt(Path(folder), "deps")
        figures = []
        for name in ("the first time", "again"):
            calls_before = endpoint.stats["calls"]
            with step(f"dbt run of {questions:,} questions, {name}"):
                started = time.perf_counter()
                dbt(Path(folder), "run")
                seconds = time.perf_counter() - started
            figures.append((seconds, endpoint.stats["calls"] - calls_before))
        (built,) = connection.execute(
            """select count(distinct search_id) as ids, count(*) filter (where status = 'succeeded') = count(*) as whole
            from dbt.interpretations"""
        ).fetchall()
        (judged,) = connection.execute("select count(*) as verdicts from pgclarify.verdict").fetchall()
    assert built == {"ids": questions, "whole": True}
    (seconds, calls), (seconds_again, calls_again) = figures
    limit = calls * CALL_SECONDS / AT_ONCE
    return [
        Figure(
            f"dbt run, {questions:,} questions, {judged['verdicts']:,} verdicts, over the endpoint's limit",
            seconds / limit,
            aim="<= 1.15",
        ),
        Figure(f"of which {calls:,} calls", seconds, "s"),
        Figure("the same dbt run again", seconds_again, "s"),
        Figure("calls of that", calls_again, "calls", aim="0"),
    ]


def write_project(folder: Path, dsn: str, files: Mapping[str, str]) -> None:
    """Write a project that uses the package of this checkout. files: its models, by their paths."""
    url = urlsplit(dsn)
    options = parse_qs(url.query)
    profile = _PROFILE.format(
        host=options["host"][0], port=options["port"][0], user=url.username, database=url.path.removeprefix("/")
    )
    written = {"dbt_project.yml": _PROJECT, "packages.yml": _PACKAGES, "profiles.yml": profile, **files}
    for name, content in written.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content.lstrip(), encoding="utf-8")


def dbt(folder: Path, *arguments: str) -> None:
    """Run a command of dbt in such a project. Raises RuntimeError with its log if it fails."""
    done = subprocess.run(
        [DBT, *arguments, "--project-dir", folder, "--profiles-dir", folder],
        cwd=folder,
        env=os.environ | {"DO_NOT_TRACK": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"dbt {arguments[0]} failed:\n{done.stdout[-4000:]}{done.stderr[-2000:]}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=1_000)
    chosen = parser.parse_args()
    if not DBT.exists():
        parser.error(f"there is no {DBT}: make dbt, or set PGCLARIFY_DBT")
    with product.made_up_corpus() as (dsn, corpus):
        show(measure(dsn, corpus, questions=chosen.questions))
