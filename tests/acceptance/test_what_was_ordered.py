"""What pgclarify was ordered as, one step after the other, on a database that starts empty.

The steps use only what users have: the command line, public functions and views, dbt, and a role with pgclarify_user.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from alembic.script import ScriptDirectory

from pgclarify import embedded
from tests.openai_server import Chat, Reply, Server, by_rules
from tests.pages import CHECKOUT, blocks
from tests.workers import CORPUS, environment, model_server, scalar, until, wait_until_searchable

Connection = psycopg.Connection[Any]

SESAME = "open sesame"
# The reading that the model finds in a passage with this word, and its answer.
READINGS = {
    "hail": ("What is the deductible for damage by hail?", "four hundred dollars"),
    "Canada": ("Which country may the car be driven into?", "Canada"),
}
# Rows of the user's own table, by id: the word that decides what the model reads in the row, and the text.
ARTICLES = {
    1: ("hail", "The deductible for hail damage to a rental car is four hundred dollars."),
    2: ("hail", "After a storm with hail, a deductible of four hundred dollars applies to the rental car."),
    3: ("hail", "If hail dents a rental car, the renter pays a deductible of four hundred dollars."),
    4: ("Canada", "The country that a rental car may be driven into is Canada."),
    5: ("Canada", "A rental car may be driven into Canada, and into no other country."),
    6: ("Canada", "Renters drive the car into Canada without a fee; every other country is excluded."),
    7: ("", "The rental desk has a new carpet, and new chairs for those who wait."),
}
ASK = "select * from pgclarify.clarify('rental cars', corpus => %s, top_k => 7, options => %s)"

# The command line. At its end, the process writes the names of the modules that it has imported.
RECORDED = """
import atexit, os, sys
atexit.register(lambda: open(os.environ["IMPORTED"], "w").write(" ".join(sys.modules)))
from pgclarify.cli.main import main
main()
"""


def judged(chat: Chat) -> Reply:
    """The reply of a model that reads `READINGS`, and abstains on other passages."""
    if chat.passage is None:
        return by_rules(chat)
    (content,) = (content for _, content in ARTICLES.values() if content in chat.passage)
    word = next((word for word in READINGS if word in content), None)
    interpretation, answer = READINGS[word] if word else (None, None)
    return Reply(json.dumps({"interpretation": interpretation, "answer": answer, "quote": content if word else None}))


@dataclass(frozen=True)
class Product:
    """An embedded server with an empty database, and our command line on it.

    Attributes:
        folder: The folder where commands run.
        dsn: URL of the database for its owner.
        variables: The environment of commands.
    """

    folder: Path
    dsn: str
    variables: dict[str, str]

    def start(self, command: str, *options: str) -> subprocess.Popen[str]:
        """Start `pgclarify` in a process of its own."""
        with (self.folder / f"{command}.log").open("w") as log:
            return subprocess.Popen(
                [sys.executable, "-c", RECORDED, command, *options],
                env=self.variables | {"IMPORTED": str(self._recorded(command))},
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def log(self, command: str) -> str:
        """What a command wrote to standard error."""
        return (self.folder / f"{command}.log").read_text()

    def imported(self, command: str) -> list[str]:
        """The modules that a process which has ended had imported."""
        return self._recorded(command).read_text().split()

    def _recorded(self, command: str) -> Path:
        return self.folder / f"{command}.imported"


@pytest.fixture(scope="module")
def model() -> Iterator[Server]:
    """A language model behind a real endpoint of this machine."""
    with model_server(behavior=judged) as server:
        yield server


@pytest.fixture(scope="module")
def product(model: Server) -> Iterator[Product]:
    """A server, and an empty database."""
    # Not tmp_path: the server's user may not read its parent folders.
    with tempfile.TemporaryDirectory(prefix="pgclarify-test-") as name:
        folder = Path(name)
        try:
            dsn = embedded.start(folder / "data")
            # all-MiniLM-L6-v2 with sentence-transformers, as any other model by name; the default is ONNX Runtime.
            settings = {"PGCLARIFY_DEVICE": "cpu"}
            yield Product(folder, dsn, environment(dsn, model.base_url) | settings)
        finally:
            embedded.stop(folder / "data")


@pytest.fixture(scope="module")
def migration(product: Product) -> dict[str, Any]:
    """What `pgclarify init` reports of the empty database."""
    with product.start("init", "--json") as process:
        printed, _ = process.communicate(timeout=300)
    assert process.returncode == 0, product.log("init")
    report: dict[str, Any] = json.loads(printed)
    return report


@pytest.fixture(scope="module")
def worker(product: Product, migration: dict[str, Any]) -> Iterator[subprocess.Popen[str]]:
    """A worker that serves the migrated database."""
    process = product.start("worker")
    try:
        with closing(psycopg.connect(product.dsn, autocommit=True)) as owner:

            def is_ready() -> bool:
                assert process.poll() is None, product.log("worker")
                return bool(scalar(owner, "select count(*) from pgclarify.worker_status where is_alive"))

            until(is_ready)
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def user(product: Product, worker: subprocess.Popen[str]) -> Iterator[Connection]:
    """A session of a role that may only use pgclarify, with a table of its own and a corpus of its rows."""
    with closing(psycopg.connect(product.dsn, autocommit=True)) as owner:
        owner.execute(f"create role asker login password '{SESAME}' in role pgclarify_user".encode())
        owner.execute(f'grant create on database "{owner.info.dbname}" to asker'.encode())
    with closing(psycopg.connect(product.dsn, user="asker", password=SESAME, autocommit=True)) as session:
        session.execute("create schema searches")
        session.execute("create table searches.article (article_id bigint primary key, body text not null)")
        for article_id, (_, body) in ARTICLES.items():
            session.execute("insert into searches.article values (%s, %s)", [article_id, body])
        session.execute("select pgclarify.create_corpus(%s)", [CORPUS])
        session.execute("select pgclarify.add_document(%s, article_id::text, body) from searches.article", [CORPUS])
        wait_until_searchable(session)
        yield session


@pytest.fixture(scope="module")
def run_id(user: Connection) -> int:
    """A run whose readings HDBSCAN has grouped."""
    return int(scalar(user, ASK, CORPUS, '{"consolidation": "hdbscan"}'))


def test_alembic_migrates_an_empty_database(migration: dict[str, Any]) -> None:
    newest = ScriptDirectory(str(CHECKOUT / "migrations")).get_current_head()
    assert (migration["previous_revision"], migration["revision"]) == (None, newest)


def test_a_sql_function_asks(user: Connection, model: Server) -> None:
    before = model.calls
    found = user.execute(ASK.encode(), [CORPUS, "{}"]).fetchall()
    assert {row[1] for row in found} == {"succeeded"}
    assert model.calls - before >= len(ARTICLES)


def test_passages_are_judged(user: Connection, run_id: int) -> None:
    outcomes = "select outcome, count(*) from pgclarify.verdict where run_id = %s group by outcome order by outcome"
    assert user.execute(outcomes.encode(), [run_id]).fetchall() == [("abstained", 1), ("grounded", 6)]


def test_hdbscan_groups_readings(user: Connection, run_id: int) -> None:
    groups = "select interpretation, answer, support, document_ids from pgclarify.result(%s)"
    assert {
        (interpretation, answer, support, *sorted(document_ids))
        for interpretation, answer, support, document_ids in user.execute(groups.encode(), [run_id])
    } == {(*READINGS["hail"], 3, "1", "2", "3"), (*READINGS["Canada"], 3, "4", "5", "6")}


def test_citations_join_to_the_rows_that_they_quote(user: Connection, run_id: int) -> None:
    joined = """
        select article.article_id, cited.answer, strpos(article.body, cited.quote) > 0
        from pgclarify.citation as cited
        join searches.article on article.article_id::text = cited.document_id
        where cited.run_id = %s order by article.article_id
    """
    answers = {article_id: READINGS[word][1] for article_id, (word, _) in ARTICLES.items() if word}
    assert user.execute(joined.encode(), [run_id]).fetchall() == [(*item, True) for item in answers.items()]


def test_a_dashboard_query_answers(user: Connection, run_id: int) -> None:
    queries = [block.code for block in blocks(CHECKOUT / "docs" / "dashboards.md", "sql")]
    (newest_answers,) = (query for query in queries if "pgclarify.citation" in query)
    shown = user.execute(newest_answers.encode()).fetchall()
    assert {(interpretation, answer) for _, _, interpretation, answer, _, _ in shown} >= set(READINGS.values())


@pytest.fixture(scope="module")
def imported(product: Product, worker: subprocess.Popen[str], run_id: int) -> dict[str, list[str]]:
    """The modules that two processes have imported: the one that migrated, and the worker that answered.

    This stops the worker, so only the last test may need it.
    """
    worker.terminate()
    assert worker.wait(180) == 0, product.log("worker")
    return {command: product.imported(command) for command in ("init", "worker")}


@pytest.mark.parametrize(
    ("command", "library"),
    [
        ("init", "alembic"),
        ("init", "sqlalchemy"),
        ("init", "psycopg"),
        ("worker", "psycopg"),
        ("worker", "pgvector"),
        ("worker", "sentence_transformers"),
        ("worker", "hdbscan"),
        ("worker", "openai"),
    ],
)
def test_the_process_that_does_the_work_has_the_library(
    imported: dict[str, list[str]], command: str, library: str
) -> None:
    assert library in imported[command]
