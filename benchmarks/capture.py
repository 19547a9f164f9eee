"""The user's writes with and without the triggers of an attached table."""

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
# Long enough that what each new session does once, to load and plan the function, does not count.
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
_AIM = "<= 1.3"


def measure() -> list[Figure]:
    """One table, attached and detached in turns; no worker, so that nothing else is measured."""
    with product.database() as dsn, product.connect(dsn) as connection, tempfile.TemporaryDirectory() as folder:
        connection.execute("select pgclarify.create_corpus('articles')")
        with step(f"a table of {_ROWS:,} rows"):
            connection.execute("create table article (id bigint primary key, title text, body text, views integer)")
            connection.execute(
                "insert into article select n, 'Title ' || n, repeat(md5(n::text), 20), 0"
                " from generate_series(1, %s) as n",
                [_ROWS],
            )
            connection.execute("vacuum analyze")
        figures = []
        for name, (clients, script) in _WORKLOADS.items():
            path = Path(folder, "script.sql")
            path.write_text(script)
            rates: dict[bool, list[float]] = {False: [], True: []}
            with step(name):
                # In turns, so that whatever else the machine does hits both.
                for turn in range(2 * _ROUNDS):
                    is_attached = turn % 4 in (1, 2)
                    if is_attached:
                        connection.execute("select pgclarify.attach_table('articles', 'article', 'id', 'body')")
                    rates[is_attached].append(_rate(dsn, path, clients))
                    if is_attached:
                        connection.execute("select pgclarify.detach_table('articles', 'article')")
                    connection.execute("truncate pgclarify_private.change")
                    connection.execute("vacuum article")
            without, attached = (statistics.median(rates[is_attached]) for is_attached in (False, True))
            figures += [
                Figure(f"{name}: without triggers", without, "a second"),
                Figure(f"{name}: time with triggers over without", without / attached, aim=_AIM),
            ]
    return figures


def _rate(dsn: str, script: Path, clients: int) -> float:
    """Transactions a second."""
    options = ["--no-vacuum", "--protocol=prepared", f"--client={clients}", "--jobs=2", f"--time={_SECONDS}"]
    done = subprocess.run(
        [embedded.binary("pgbench"), *options, f"--file={script}", dsn], capture_output=True, text=True, check=True
    )
    found = re.search(r"^tps = ([\d.]+)", done.stdout, re.M)
    assert found, done.stdout
    return float(found[1])


if __name__ == "__main__":
    show(measure())
