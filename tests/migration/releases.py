"""Dumps of databases in tests/data/releases: of each release one that was used, and one that was only installed.

`python -m tests.migration.releases` adds both.
"""

from __future__ import annotations

import gzip
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

import psycopg
from packaging.version import Version

from pgclarify import __version__, embedded
from pgclarify.install import installer
from tests.pages import CHECKOUT
from tests.sessions import scalar
from tests.workers import load, wait_until_linked, wait_until_searchable, worker

FOLDER = CHECKOUT / "tests" / "data" / "releases"
# The calls of an application that was written for the first release.
ASK = "select interpretation, answer, support, document_ids from pgclarify.clarify('deductible for hail', 'rental')"
SUBMIT = "select pgclarify.submit('clarify', 'what is the refueling fee', 'rental')"


def fill(dsn: str, folder: Path) -> int:
    """Use a database as people do, and leave a run in its queue.

    Args:
        dsn: A new database with the schema.
        folder: Where the log of the worker goes.

    Returns:
        The run that waits.
    """
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        with worker(dsn, None, folder):
            connection.execute("create table help_article (id bigint primary key, body text)")
            connection.execute("insert into help_article values (1, 'The shop is open from nine to six.')")
            connection.execute("select pgclarify.create_corpus('help')")
            connection.execute("select pgclarify.attach_table('help', 'public.help_article', 'id', 'body')")
            load(connection)
            for corpus in ("rental", "help"):
                wait_until_searchable(connection, corpus)
                wait_until_linked(connection, corpus)
            assert connection.execute(ASK).fetchall()
        return int(scalar(connection, SUBMIT))


def dump(dsn: str) -> bytes:
    """Return the statements that make the database again."""
    # A file of a release must not depend on the version of pg_dump.
    command = [str(embedded.binary("pg_dump")), "--inserts", "--rows-per-insert=100", dsn]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=120).stdout


def restore(statements: bytes, dsn: str) -> None:
    """Run them in an empty database."""
    command = [str(embedded.binary("psql")), "-qX", "-v", "ON_ERROR_STOP=1", dsn]
    subprocess.run(command, input=statements, stdout=subprocess.DEVNULL, check=True, timeout=120)


def oldest_unused(dsn: str) -> bytes:
    """Return the dump of the oldest release that was only installed; that of a new database if there is no release."""
    kept = min(FOLDER.glob("*.unused.gz"), key=lambda path: Version(path.name.removesuffix(".unused.gz")), default=None)
    return dump(dsn) if kept is None else gzip.decompress(kept.read_bytes())


def main() -> None:
    """Write the dumps of this version."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="pgclarify-release-") as folder:
        data = Path(folder) / "data"
        dsn = embedded.start(data)
        try:
            installer.install(dsn)
            (FOLDER / f"{__version__}.unused.gz").write_bytes(gzip.compress(dump(dsn), mtime=0))
            fill(dsn, Path(folder))
            (FOLDER / f"{__version__}.sql.gz").write_bytes(gzip.compress(dump(dsn), mtime=0))
        finally:
            embedded.stop(data)


if __name__ == "__main__":
    main()
