"""Writes the sources of the dbt package from the comments in the database: `python -m website.dbt_sources`.

A test fails if the file differs from the database.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import psycopg

from website.reference import RELATIONS, installed

FILE = Path(__file__).parents[1] / "dbt" / "models" / "sources.yml"
HEAD = """\
# Written by `make reference` from the comments in the database.
sources:
  - name: pgclarify
    description: Views of pgclarify. They start nothing, and show what the role that reads them may see.
    tables:
"""
# What `dbt source freshness` measures: since when the oldest change is not searchable, or the oldest question waits.
LOADED_AT = {
    "corpus": "coalesce(min(clock_timestamp() - coalesce(lag, interval '0')), clock_timestamp())",
    "queue_status": "coalesce(min(oldest_queued_at), clock_timestamp())",
}
FRESHNESS = """\
        config:
          loaded_at_query: >
            select {}
            from pgclarify.{}
          freshness:
            warn_after: {{count: 1, period: hour}}
            error_after: {{count: 1, period: day}}
"""


def render(connection: psycopg.Connection[Any]) -> str:
    """Return the content of the file, with all views and their columns."""
    with connection.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        views = [one for one in cursor.execute(RELATIONS.encode()) if one["kind"] == "v"]
    return HEAD + "".join(_table(view) for view in views)


def _table(view: dict[str, Any]) -> str:
    lines = [f"      - name: {view['relname']}\n        description: {quoted(view['comment'])}\n"]
    if view["relname"] in LOADED_AT:
        lines.append(FRESHNESS.format(LOADED_AT[view["relname"]], view["relname"]))
    lines.append("        columns:\n")
    for name, kind, comment in view["columns"]:
        lines.append(
            f"          - name: {name}\n            data_type: {kind}\n            description: {quoted(comment)}\n"
        )
    return "".join(lines)


def quoted(text: str) -> str:
    """Return a comment as a YAML scalar. dbt would interpret a brace before another brace, a % or a #."""
    plain = re.sub(r"\{(?=[{%#])", "{ ", " ".join(text.split())).replace("'", "''")
    return f"'{plain}'"


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    with installed() as database:
        FILE.write_text(render(database), encoding="utf-8")
