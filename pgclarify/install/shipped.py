"""Files of the package: the migrations, the files of sql/, and the dbt package.

python -m pgclarify.install.shipped prints the folder of the dbt package.
"""

from __future__ import annotations

import hashlib
from importlib.resources import files
from pathlib import Path


def shipped(name: str) -> Path:
    """Return a folder that is _name in the wheel, and next to the package in a checkout."""
    package = Path(str(files("pgclarify")))
    installed = package / f"_{name}"
    return installed if installed.is_dir() else package.parent / name


def sql_files() -> list[tuple[str, str]]:
    """Return names and texts of the files of sql/, in the order of sql/order.txt, in which they are applied."""
    folder = shipped("sql")
    lines = (folder / "order.txt").read_text(encoding="utf-8").splitlines()
    names = [line for line in lines if line and not line.startswith("#")]
    return [(name, (folder / name).read_text(encoding="utf-8")) for name in names]


def shipped_revisions() -> list[str]:
    """Return the revisions of the tables, newest first, such as v0_10_0, without importing Alembic."""
    names = (path.stem for path in shipped("migrations").glob("versions/v*.py"))
    return sorted(names, key=lambda name: [int(number) for number in name[1:].split("_")], reverse=True)


def shipped_hash() -> str:
    """SHA-256 of migrations and sql/, in hexadecimal. A worker compares it with that of the installed ones."""
    migrations = [(path.name, path.read_text("utf-8")) for path in sorted(shipped("migrations").glob("versions/*.py"))]
    return hashlib.sha256("\0".join(part for file in (*migrations, *sql_files()) for part in file).encode()).hexdigest()


if __name__ == "__main__":
    print(shipped("dbt"))  # noqa: T201
