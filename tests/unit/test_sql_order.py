"""sql/order.txt: which files are applied."""

from __future__ import annotations

from pathlib import Path

from pgclarify.install.shipped import sql_files

SQL = Path(__file__).parents[2] / "sql"


def test_names_every_file_once() -> None:
    assert sorted(name for name, _ in sql_files()) == sorted(
        path.relative_to(SQL).as_posix() for path in SQL.rglob("*.sql")
    )
