"""Releases in tests/data/releases: a dump of a database that was used, one of a database with nothing, the extension.

`python -m tests.migration.releases` adds those of this version.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
from packaging.version import Version

from pgclarify import __version__, embedded
from pgclarify.install import installer
from pgclarify.install.create_extension.files import extension_files
from tests.pages import CHECKOUT
from tests.sessions import scalar
from tests.workers import environment, load, model_server, run_command, wait_until_linked, wait_until_searchable, worker

FOLDER = CHECKOUT / "tests" / "data" / "releases"
# The calls of an application that was written for the first release.
ASK = "select interpretation, answer, support, document_ids from pgclarify.clarify('deductible for hail', 'rental')"
SUBMIT = "select pgclarify.submit('clarify', 'what is the refueling fee', 'rental')"
ASKER, ANALYST = "release_asker", "release_analyst"
ROLES = {ASKER: "pgclarify_user", ANALYST: "pgclarify_user", "release_reader": "pgclarify_reader"}
# What the asker pays a model for.
PAID = (
    "select * from pgclarify.clarify('what does a claim need', 'claims')",
    "select * from pgclarify.clarify_many(array['refueling fee', 'tolls'], array['a', 'b'], 'rental', 4)",
    "select * from pgclarify.list_answers('which fees are there', 'rental')",
    "select * from pgclarify.investigate('Who pays the deductible of a rental car?', 'rental')",
    "select * from pgclarify.rewrite('What about that?', array['Do you rent cars?', 'Yes.'])",
    "select * from pgclarify.reply((select run_id from pgclarify.clarifying_questions('fee', 'rental') limit 1), '6')",
    "select * from pgclarify.detect_ambiguity('rental cars')",
    "select * from pgclarify.estimate(array['tires'], 'rental')",
)


def make_roles(connection: psycopg.Connection[Any]) -> None:
    """Make the roles of the people who used the database, and that which reads their tables: a dump only names them."""
    for role, group in ROLES.items():
        if not scalar(connection, "select exists (select from pg_roles where rolname = %s)", role):
            connection.execute(f"create role {role} login in role {group}".encode())
    connection.execute("select pgclarify_private.make_reader_role(10)")


def fill(dsn: str, folder: Path) -> int:
    """Use a database as people do, and leave a run in its queue.

    Args:
        dsn: A new database with the schema.
        folder: Where the log of the worker goes.

    Returns:
        The run that waits.
    """
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        with model_server() as model, worker(dsn, model.base_url, folder):
            connection.execute("create table help_article (id bigint primary key, body text)")
            connection.execute("insert into help_article values (1, 'The shop is open from nine to six.')")
            connection.execute("select pgclarify.create_corpus('help')")
            connection.execute("select pgclarify.attach_table('help', 'public.help_article', 'id', 'body')")
            load(connection)
            make_corpora(connection)
            for corpus in ("rental", "help", "claims"):
                wait_until_searchable(connection, corpus)
                wait_until_linked(connection, corpus)
            ask_with_a_budget(dsn, environment(dsn, model.base_url), folder)
        with worker(dsn, None, folder):
            assert connection.execute(ASK).fetchall()
        return int(scalar(connection, SUBMIT))


def make_corpora(connection: psycopg.Connection[Any]) -> None:
    """Make a corpus in another language with people's rights, and one whose model no worker has."""
    make_roles(connection)
    options = {"search_config": "simple", "reader": ASKER, "analyst": ANALYST}
    connection.execute("select pgclarify.create_corpus('claims', options => %s)", [json.dumps(options)])
    connection.execute("select pgclarify.grant_access('claims', %s)", [ANALYST])
    add = "select pgclarify.add_document('claims', %s, %s, %s, %s, %s, %s)"
    for document_id, content, readers in (
        ("open", "A claim needs a photo of the damage within ten days.", None),
        ("closed", "A claim above one thousand dollars needs two signatures of managers.", [ANALYST]),
    ):
        metadata = json.dumps({"year": 2025, "kind": document_id})
        connection.execute(
            add, [document_id, content, "Claims", f"https://example.org/{document_id}", metadata, readers]
        )
    connection.execute("select pgclarify.create_corpus('elsewhere', 'endpoint:some-model')")
    connection.execute("select pgclarify.add_document('elsewhere', '1', 'Winter tires are fitted from November.')")
    connection.execute("select pgclarify.add_ambiguity_rule('winter', 'syntactic', 'elsewhere', 'Which winter?')")


def ask_with_a_budget(dsn: str, variables: dict[str, str], folder: Path) -> None:
    """Ask a model whose calls have a price, as a role of which the budget is spent afterwards, except for one call."""
    set_budget = "select pgclarify.set_budget('people', options => %s)"
    with (
        closing(psycopg.connect(dsn, autocommit=True)) as owner,
        closing(psycopg.connect(dsn, autocommit=True)) as asker,
    ):
        owner.execute("insert into pgclarify.model_price (model, input_usd, output_usd) values ('rules-1', 1, 2)")
        owner.execute(set_budget, [json.dumps({"role": ASKER, "period": "total", "max_calls": 1000})])
        # A server may ask other logins for a password.
        asker.execute(f"set session authorization {ASKER}".encode())
        for statement in PAID:
            assert asker.execute(statement.encode()).fetchall(), statement
        (folder / "questions.jsonl").write_text('{"question": "refueling fee", "answers": ["ninety dollars"]}\n')
        command = ("eval", "run", "questions.jsonl", "-c", "rental", "-o", "top_k=4", "--yes")
        done = run_command(*command, variables=variables, folder=folder)
        assert done.returncode == 0, done.stderr
        calls = scalar(owner, "select calls from pgclarify.budget")
        owner.execute(set_budget, [json.dumps({"max_calls": calls + 1})])


def dump(dsn: str) -> bytes:
    """Return the statements that make the database again."""
    # A file of a release must not depend on the version of pg_dump.
    command = [str(embedded.binary("pg_dump")), "--inserts", "--rows-per-insert=100", dsn]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=120).stdout


def restore(statements: bytes, dsn: str) -> None:
    """Run them in an empty database. Of one that was used, make_roles makes the roles first."""
    command = [str(embedded.binary("psql")), "-qX", "-v", "ON_ERROR_STOP=1", dsn]
    subprocess.run(command, input=statements, stdout=subprocess.DEVNULL, check=True, timeout=120)


def oldest_unused(dsn: str) -> bytes:
    """Return the dump of the oldest release that was only installed; that of a new database if there is no release."""
    kept = min(FOLDER.glob("*.unused.gz"), key=lambda path: Version(path.name.removesuffix(".unused.gz")), default=None)
    return dump(dsn) if kept is None else gzip.decompress(kept.read_bytes())


def main() -> None:
    """Write the files of this version."""
    FOLDER.mkdir(exist_ok=True)
    script = extension_files()[f"pgclarify--{__version__}.sql"]
    (FOLDER / f"{__version__}.extension.gz").write_bytes(gzip.compress(script.encode(), mtime=0))
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
