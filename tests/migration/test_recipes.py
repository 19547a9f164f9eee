"""The recipes of CONTRIBUTING.md give a release to which each earlier one is upgraded: by init, and as an extension.

What users made before goes on working.
"""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import cycle
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from pgclarify.install.create_extension.files import EARLIER
from tests.integration.manual_worker import ManualWorker
from tests.integration.stored_answers import reading
from tests.migration import catalog, recipes, releases
from tests.servers import copy_database, drop_database, folder_of_servers, in_database
from tests.sessions import Connection, scalar

MADE_BEFORE = """
    select pgclarify.create_corpus('kb');
    select pgclarify.add_document('kb', 'hail', 'Hail is covered.');
    select pgclarify.add_document('kb', 'theft', 'Theft is excluded.');
    select pgclarify.add_document('kb', 'old', 'It goes.');
    create view reading as select run_id, ordinal, interpretation, answer, is_contested from pgclarify.interpretation;
    create view found as select answer, document_ids from pgclarify.result((select max(run_id) from reading));
    create view added as select pgclarify.add_document('kb', id, body, title => 'T') as is_added
        from (values ('later', 'A later document.')) as given (id, body);
    create view removed as select pgclarify.remove_document('kb', 'old') as is_removed;
"""


@pytest.fixture(scope="module")
def later(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout in which the recipes were followed."""
    folder = tmp_path_factory.mktemp("later")
    recipes.follow(folder)
    return folder


@pytest.fixture(scope="module")
def make_empty(server: str, admins: Sequence[psycopg.Connection[Any]], template: str) -> Iterator[Callable[[], str]]:
    """Make empty databases, which the module shares."""
    made: list[str] = []

    def make() -> str:
        made.append(copy_database(admins, "template1"))
        return in_database(server, made[-1])

    yield make
    for database in made:
        drop_database(admins[0], database)


@pytest.fixture(scope="module")
def extensions(later: Path) -> Iterator[Path]:
    """The files of the extension, of this release and of earlier ones, where the server's user may read them."""
    with tempfile.TemporaryDirectory(prefix="pgclarify-later-", dir=folder_of_servers()) as name:
        folder = Path(name, "extension")
        folder.mkdir()
        recipes.write_extension(later, folder)
        for earlier in EARLIER:
            script = gzip.decompress((releases.FOLDER / f"{earlier}.extension.gz").read_bytes())
            (folder / f"pgclarify--{earlier}.sql").write_bytes(script)
        for path in (folder.parent, folder, *folder.iterdir()):
            path.chmod(0o755)
        yield folder.parent


# Each release once, and each way: tests of the releases and of the extension upgrade them in the other one, too.
UPGRADES = [f"{how} {earlier}" for how, earlier in zip(cycle(("init", "extension")), EARLIER, strict=False)]


@pytest.fixture(scope="module", params=UPGRADES)
def upgraded(
    request: pytest.FixtureRequest, make_empty: Callable[[], str], later: Path, extensions: Path
) -> Iterator[str]:
    """A database of an earlier release that was used, and is upgraded."""
    how, earlier = request.param.split()
    dsn = make_empty()
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        if how == "init":
            releases.restore(gzip.decompress((releases.FOLDER / f"{earlier}.unused.gz").read_bytes()), dsn)
        else:
            path = sql.SQL("alter database {} set extension_control_path = {}")
            connection.execute(path.format(sql.Identifier(connection.info.dbname), f"{extensions}:$system"))
            connection.execute(f"set extension_control_path = '{extensions}:$system'".encode())
            connection.execute("create schema pgclarify_dblink")
            connection.execute("create extension dblink schema pgclarify_dblink")
            connection.execute(f"create extension pgclarify version '{earlier}' cascade".encode())
        connection.execute(MADE_BEFORE)
    recipes.install(later, dsn)
    yield dsn


@pytest.fixture
def owner(upgraded: str) -> Iterator[Connection]:
    with closing(psycopg.connect(upgraded, autocommit=True)) as connection:
        yield connection


@pytest.fixture
def make_worker(upgraded: str, make_role: Callable[..., str]) -> Iterator[Callable[[], ManualWorker]]:
    """Workers that have the documents of the corpus indexed."""
    role = make_role("pgclarify_worker")
    with ExitStack() as opened:

        def make() -> ManualWorker:
            worker = ManualWorker(opened.enter_context(closing(psycopg.connect(upgraded, user=role, autocommit=True))))
            worker.open_spaces()
            while documents := worker.claim():
                worker.store(documents)
            return worker

        yield make


@pytest.fixture(scope="module")
def new(make_empty: Callable[[], str], later: Path) -> set[str]:
    """All objects of a new database."""
    dsn = make_empty()
    recipes.install(later, dsn)
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        return catalog.everything(connection)


def candidate(connection: Connection, rank: int, document_id: str) -> dict[str, Any]:
    passage = scalar(connection, "select id from pgclarify_private.passage where document_id = %s", document_id)
    return {"rank": rank, "document_id": document_id, "passage_id": passage}


def test_an_upgraded_database_has_what_a_new_one_has(owner: Connection, new: set[str]) -> None:
    found = catalog.everything(owner)

    assert new - found == set()
    assert [line for line in found - new if line.startswith("routine")] == []


def test_a_column_is_read_in_views_and_rows(owner: Connection, make_worker: Callable[[], ManualWorker]) -> None:
    worker = make_worker()
    run_id = scalar(owner, "select pgclarify.submit('clarify', 'hail', 'kb')")
    worker.start(run_id)
    worker.record_candidates(run_id, candidate(owner, 1, "hail"))
    worker.finish(run_id, interpretations=[reading("Is hail covered?", "Hail", quote="Hail") | {"mood": "calm"}])

    assert scalar(owner, "select mood from pgclarify.interpretation where run_id = %s", run_id) == "calm"
    assert scalar(owner, "select mood from pgclarify.result(%s)", run_id) == "calm"
    assert owner.execute("select interpretation, answer from reading").fetchall() == [("Is hail covered?", "Hail")]
    assert owner.execute("select * from found").fetchall() == [("Hail", ["hail"])]


def test_a_field_is_passed_and_stored_and_views_keep_the_functions_that_they_had(owner: Connection) -> None:
    assert scalar(owner, "select pgclarify.add_document('kb', 'noted', 'A.', note => 'mine', dated => '2026-01-01')")
    assert scalar(owner, "select note from pgclarify.document where id = 'noted'") == "mine"
    assert scalar(owner, "select note from pgclarify.get_document('kb', 'noted')") == "mine"
    assert scalar(owner, "select is_added from added")
    assert not scalar(owner, "select pgclarify.remove_document('kb', 'noted', '{\"is_trial\": true}')")
    assert scalar(owner, "select is_removed from removed")
    removed = scalar(owner, "select array_agg(id order by id) from pgclarify.document")
    assert removed == ["hail", "later", "noted", "theft"]


def test_a_crashed_attempt_of_an_operation_leaves_nothing_that_the_next_one_cites(
    owner: Connection, make_worker: Callable[[], ManualWorker]
) -> None:
    run_id = scalar(owner, "select pgclarify.submit('summarize', 'what is covered?', 'kb')")

    def summarize(worker: ManualWorker, attempt: int, document_id: str, sentence: str) -> None:
        assert worker.start(run_id) is not None
        worker.record_candidates(run_id, candidate(owner, 1, document_id), attempt=attempt)
        cited = {"candidate_rank": 1, "quote": sentence, "start_char": 0, "end_char": len(sentence)}
        worker.record_results(run_id, "summary", {"sentence": sentence, "citations": [cited]}, attempt=attempt)

    first = make_worker()
    summarize(first, 1, "hail", "Hail is covered.")
    first.die()
    second = make_worker()
    second.send("requeue_lost_runs", worker_id=second.worker_id)
    summarize(second, 2, "theft", "Theft is excluded.")
    second.finish(run_id, 2)

    found = "select sentence, document_ids from pgclarify_private.sentence_rows(%s, 'postgres')"
    assert owner.execute(found, [[run_id]]).fetchall() == [("Theft is excluded.", ["theft"])]
