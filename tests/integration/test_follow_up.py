"""A follow-up question in one call: with a history, clarify finds what is meant, with a model and without one."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from typing import Any

import psycopg
import pytest

from pgclarify.cli.main import main
from tests.integration.manual_worker import MAKE_OPEN_CORPUS
from tests.openai_server import Server
from tests.sessions import Connection, scalar
from tests.workers import Service, Worker, as_role, wait_until_searchable

pytestmark = pytest.mark.xdist_group("follow_up")

ARTISTS = "artists"
BORN = {"holm": ("Ida Holm", "Varden"), "berg": ("Anna Berg", "Marstad"), "lund": ("Eva Lund", "Osterby")}
ASKED = "Where was she born?"
ASK = """
select run_id, interpretation, answer, document_ids
from pgclarify.clarify(%s, corpus => %s, top_k => 1, history => %s)
"""


def said(name: str) -> list[str]:
    return ["Who painted it?", f"It was {name}."]


def add_artists(connection: Connection) -> None:
    """Make the corpus, and wait until a worker has indexed it."""
    with connection.transaction():
        connection.execute(MAKE_OPEN_CORPUS, [ARTISTS])
        for document_id, (name, place) in BORN.items():
            content = f"The painter {name} was born in {place}."
            connection.execute("select pgclarify.add_document(%s, %s, %s, %s)", [ARTISTS, document_id, content, name])
    wait_until_searchable(connection, ARTISTS)


@pytest.fixture(scope="module")
def artists(service: Service) -> None:
    with closing(service.connect()) as connection:
        add_artists(connection)


def clarify(connection: Connection, history: list[str], question: str = ASKED) -> Any:
    (row,) = connection.execute(ASK, [question, ARTISTS, history]).fetchall()
    return row


@pytest.mark.parametrize("document_id", BORN)
def test_a_follow_up_finds_the_document_that_is_meant(
    artists: None, asker: Connection, model: Server, document_id: str
) -> None:
    name, place = BORN[document_id]
    run_id, _, answer, document_ids = clarify(asker, said(name))

    assert document_ids == [document_id]
    assert place in answer
    # The question stays as it was asked; what it became stands beside it.
    run = "select question, relaxed_question, history from pgclarify.run where run_id = %s"
    alone = f"Where was {name} born?"
    assert asker.execute(run, [run_id]).fetchall() == [(ASKED, alone, said(name))]
    rewriting = "select rewritten from pgclarify.rewriting where run_id = %s"
    assert scalar(asker, rewriting, run_id) == alone
    told = "\n".join(line for (line,) in asker.execute("select * from pgclarify.explain(%s)", [run_id]))
    assert f'1 more, and then "It was {name}."' in told
    assert f"Note: {alone}" in told


def test_an_answer_is_reused_for_the_same_history_alone(artists: None, asker: Connection, model: Server) -> None:
    first = clarify(asker, said("Ida Holm"))
    before = model.calls
    assert clarify(asker, ["", *said("Ida Holm")]) == first
    assert model.calls == before
    others = [clarify(asker, history)[0] for history in (said("Anna Berg"), [])]
    assert len({first[0], *others}) == 3
    # Without turns it is the question as it always was.
    plain = "select run_id from pgclarify.clarify(%s, corpus => %s, top_k => 1)"
    assert scalar(asker, plain, ASKED, ARTISTS) == others[1]


def test_it_can_be_submitted(artists: None, asker: Connection, model: Server) -> None:
    run_id = clarify(asker, said("Eva Lund"))[0]
    options = json.dumps({"top_k": 1, "history": said("Eva Lund")})
    assert scalar(asker, "select pgclarify.submit('clarify', %s, %s, %s)", ASKED, ARTISTS, options) == run_id
    many = "select pgclarify.submit_many('clarify', array[%s], %s, %s)"
    assert scalar(asker, many, ASKED, ARTISTS, options) == [run_id]


def test_a_command_asks_it(
    artists: None,
    service: Service,
    model: Server,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", as_role(service.dsn, service.asker))
    turns = [argument for turn in said("Anna Berg") for argument in ("--history", turn)]
    with pytest.raises(SystemExit) as ended:
        main(["ask", ASKED, "--corpus", ARTISTS, "--top-k", "1", *turns])
    assert not ended.value.code
    assert "Marstad" in capsys.readouterr().out


def test_without_a_model_too(database: str, run_worker: Callable[..., Worker], subtests: pytest.Subtests) -> None:
    run_worker(database)
    with closing(psycopg.connect(database, autocommit=True)) as connection:
        add_artists(connection)
        for document_id, (name, place) in BORN.items():
            with subtests.test(name):
                run_id, _, answer, document_ids = clarify(connection, said(name))
                assert (answer, document_ids) == (place, [document_id])
                run = "select question, relaxed_question from pgclarify.run where run_id = %s"
                searched = f"Who painted it? It was {name}. {ASKED}"
                assert connection.execute(run, [run_id]).fetchall() == [(ASKED, searched)]
