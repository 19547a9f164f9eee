"""Runs the example: a server, a worker and a corpus of a made-up insurer, and then dbt build. Safe to repeat.

From the checkout: make dbt-example. It takes pgclarify from the Python that runs it, and dbt from .venv-dbt, or from
where PGCLARIFY_DBT says.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psycopg

from pgclarify.cli.terminal import commands

HERE = Path(__file__).parent
DBT = os.environ.get("PGCLARIFY_DBT", str(HERE.parents[1] / ".venv-dbt" / "bin" / "dbt"))
NEXT = """
What to look at next
  psql "$(pgclarify dsn)" -c 'select query, interpretation, answer from insurer.search_interpretations order by 1'
  psql "$(pgclarify dsn)" -c 'select query, stop_code, closest_document_id from insurer.unanswered_searches'
  psql "$(pgclarify dsn)" -c 'select title, searches from insurer.cited_documents order by times desc limit 10'
  make dbt-example     once more: nothing has changed, so no model is called
  pgclarify down       stop it all"""


def main() -> int:
    """Run it; the exit code of dbt."""
    ours = [sys.executable, "-m", "pgclarify.cli"]
    subprocess.run([*ours, "demo"], check=True, stdout=subprocess.DEVNULL)
    dsn = subprocess.run([*ours, "dsn"], check=True, capture_output=True, text=True).stdout.strip()
    server = psycopg.conninfo.conninfo_to_dict(dsn)
    variables = {
        "PGHOST": server.get("host"),
        "PGPORT": server.get("port"),
        "PGUSER": server.get("user"),
        "PGPASSWORD": server.get("password"),
        "PGDATABASE": server.get("dbname"),
    }
    environment = os.environ | {name: str(value) for name, value in variables.items() if value is not None}
    # The package is linked, and so never out of date.
    is_installed = (HERE / "dbt_packages" / "pgclarify" / "dbt_project.yml").exists()
    for command in ["build"] if is_installed else ["deps", "build"]:
        done = subprocess.run(
            [DBT, command, "--profiles-dir", "."], check=False, cwd=HERE, env=environment, stdin=subprocess.DEVNULL
        )
        if done.returncode:
            return done.returncode
    print(commands(NEXT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
