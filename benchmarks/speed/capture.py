"""Writes to an attached table: with its triggers, without them, and with the cheapest trigger that records a change."""

from __future__ import annotations

import re
import statistics
import subprocess
import tempfile
from pathlib import Path

from benchmarks import product
from benchmarks.figures import Figure, show, step
from pgclarify import embedded

_ROWS = 100_000
_ROUNDS = 4
# Each new session loads and plans the function once. The time is long enough to make that negligible.
_SECONDS = 6
_WORKLOADS = {
    # name: clients, script
    "UPDATE of one row, 16 clients": (
        16,
        f"\\set id random(1, {_ROWS})\nupdate article set views = views + 1 where id = :id;\n",
    ),
    "UPDATE of 1,000 rows in one statement": (
        1,
        f"\\set id random(1, {_ROWS - 999})\n"
        "update article set views = views + 1 where id between :id and :id + 999;\n",
    ),
}
_AIMS = {"UPDATE of one row, 16 clients": "<= 1.15", "UPDATE of 1,000 rows in one statement": "<= 1.2"}
# The cheapest trigger that records a change: it inserts one row.
_FLOOR = """
    create table noted (
        noted_id bigint generated always as identity primary key,
        key text,
        noted_at timestamptz default clock_timestamp()
    );
    create function note() returns trigger language plpgsql as
        'begin insert into noted (key) select min(id) from new_rows; return null; end';
"""
_SWITCHES = {
    # name: on, off
    "without": ("select", "select"),
    "floor": (
        "create trigger note after update on article referencing new table as new_rows for each statement"
        " execute function note()",
        "drop trigger note on article; truncate noted",
    ),
    "attached": (
        "select pgclarify.attach_table('articles', 'article', 'id', 'body')",
        "select pgclarify.detach_table('articles', 'article'); truncate pgclarify_private.change",
    ),
}


def measure() -> list[Figure]:
    """Attach and detach one table in turns. No worker runs, so that only the writes are measured."""
    with product.database() as dsn, product.connect(dsn) as connection, tempfile.TemporaryDirectory() as folder:
        connection.execute("select pgclarify.create_corpus('articles')")
        with step(f"a table of {_ROWS:,} rows"):
            connection.execute("create table article (id bigint primary key, title text, body text, views integer)")
            connection.execute(
                "insert into article select n, 'Title ' || n, repeat(md5(n::text), 20), 0"
                " from generate_series(1, %s) as n",
                [_ROWS],
            )
            connection.execute(_FLOOR)
            connection.execute("vacuum analyze")
        figures = []
        for name, (clients, script) in _WORKLOADS.items():
            path = Path(folder, "script.sql")
            path.write_text(script)
            rates: dict[str, list[float]] = {kind: [] for kind in _SWITCHES}
            with step(name):
                # In turns, forwards and backwards, so that other load on the machine affects all variants.
                for turn in range(_ROUNDS):
                    for kind in sorted(_SWITCHES, reverse=turn % 2 == 1):
                        on, off = _SWITCHES[kind]
                        connection.execute(on.encode())
                        rates[kind].append(_rate(dsn, path, clients))
                        connection.execute(off.encode())
                        connection.execute("vacuum article")
            without = statistics.median(rates["without"])
            figures += [
                Figure(f"{name}: without triggers", without, "a second"),
                Figure(
                    f"{name}: time with triggers over without",
                    without / statistics.median(rates["attached"]),
                    aim=_AIMS[name],
                ),
                Figure(
                    f"{name}: the same of a trigger that inserts one row", without / statistics.median(rates["floor"])
                ),
            ]
    return figures


def _rate(dsn: str, script: Path, clients: int) -> float:
    """Measure transactions a second."""
    options = ["--no-vacuum", "--protocol=prepared", f"--client={clients}", "--jobs=2", f"--time={_SECONDS}"]
    done = subprocess.run(
        [embedded.binary("pgbench"), *options, f"--file={script}", dsn], capture_output=True, text=True, check=True
    )
    found = re.search(r"^tps = ([\d.]+)", done.stdout, re.M)
    assert found, done.stdout
    return float(found[1])


if __name__ == "__main__":
    show(measure())
