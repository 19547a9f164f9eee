"""The commands of a dialogue against a real server and worker, and on a terminal; an empty result names its own run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from io import StringIO
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row
from rich.console import Console, RenderableType

from pgclarify.cli import asking, connection, terminal
from pgclarify.cli.main import main
from tests.integration.attaching import make_outdated_corpus
from tests.integration.held_replies import hold_replies
from tests.integration.manual_worker import MAKE_OPEN_CORPUS
from tests.openai_server import PROSE, Server
from tests.sessions import Connection, scalar
from tests.workers import CORPUS, Service, as_role, until, wait_until_searchable

pytestmark = pytest.mark.xdist_group("dialogue_commands")

FOLLOW_UP = "When does she have time?"
CLEAR = "How high is the deductible for a rental car that is damaged by hail?"
HINT = re.compile(r"^run (\d+): pgclarify explain \1$", re.MULTILINE)
Run = Callable[..., "Done"]


class Done:
    """The result of a command."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def run(service: Service, model: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run commands as a role that may only ask."""
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", as_role(service.dsn, service.asker))
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments: str) -> Done:
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        return Done(int(caught.value.code or 0), *capsys.readouterr())

    return call


class TestDetect:
    def test_a_single_question_is_detected(self, run: Run) -> None:
        done = run("detect-ambiguity", FOLLOW_UP)
        assert done.code == 0
        assert done.out.startswith("Ambiguous, pragmatic: what it refers to is missing  (probability ")
        assert "\n  - " in done.out
        assert HINT.search(done.out)


def test_the_command_rewrites_a_question(run: Run) -> None:
    said = ("--history", "Who fixes it?", "--history", "Nora Blum.")
    # A script takes standard output as the question.
    assert run("rewrite", FOLLOW_UP, *said, "-o", "threshold=0").out == "When does Nora Blum have time?\n"
    clear = run("rewrite", CLEAR, "--history", "Is it insured?", "-o", "threshold=1")
    assert clear.out == f"{CLEAR}\n"
    assert clear.err.startswith("the question is clear, and stays as it is\n")
    assert HINT.search(clear.err)


def test_a_question_that_could_not_be_rewritten_is_printed_and_the_command_fails(run: Run, model: Server) -> None:
    healthy, model.behavior = model.behavior, lambda chat: PROSE
    try:
        done = run("rewrite", f"And {FOLLOW_UP}", "--history", "Who fixes it?", "-o", "threshold=0")
    finally:
        model.behavior = healthy
    assert (done.code, done.out) == (1, f"And {FOLLOW_UP}\n")


def test_an_empty_corpus_is_named_as_such(run: Run, asker: psycopg.Connection[Any]) -> None:
    asker.execute("select pgclarify.create_corpus(name => 'bare')")
    # The worker must notice it first.
    until(lambda: run("ask", "rental car", "--corpus", "bare").code == 0)
    for command in (("ask",), ("list-answers",), ("clarifying-questions", "-o", "form=select")):
        done = run(*command, "rental car", "--corpus", "bare")
        assert (done.code, "The corpus bare is empty: it has 0 documents." in done.out) == (0, True), done.err


class TestList:
    def test_answers_with_their_proof(self, run: Run) -> None:
        done = run("list-answers", "What costs dollars?", "-o", "max_answers=2", "--top-k", "12")
        assert re.match(r'2 answers to "What costs dollars\?", each with its proof\n\n1\. ', done.out)
        assert "   [1] 1" in done.out
        assert HINT.search(done.out)

    def test_a_list_without_answers_says_so(self, run: Run) -> None:
        done = run("list-answers", "zzzz qqqq?", "-o", "method=lexical")
        assert (done.code, "(no_passage)" in done.out) == (0, True)
        as_json = run("list-answers", "zzzz qqqq?", "-o", "method=lexical", "--json")
        assert (as_json.out, "(no_passage)" in as_json.err) == ("", True)


class TestAskBack:
    def test_reformulations_and_how_to_choose_are_shown(self, run: Run) -> None:
        done = run("clarifying-questions", "rental car", "-o", "form=select", "-o", "count=2")
        assert done.out.startswith('What do you mean by "rental car"?\n\n1. What about ')
        assert "\n   answered by 1" in done.out
        assert HINT.search(done.out)
        run_id = HINT.findall(done.out)[0]
        assert f".reply({run_id}, ordinal => 1)" in done.out
        rows = run("clarifying-questions", "rental car", "--json").rows
        assert all(row["clarifying_question"] and row["ambiguity_type"] for row in rows)

    def test_the_history_is_sent_with_the_question(self, run: Run, superuser: psycopg.Connection[Any]) -> None:
        (row, *_) = run("clarifying-questions", "rental car", "--history", "I am in Canada.", "--json").rows
        history = scalar(superuser, "select history from pgclarify.run where run_id = %s", row["run_id"])
        assert history == ["I am in Canada."]


# By the rules of the model, passages of so few words answer nothing.
TEXTS = {"one": ["Hail."], "two": ["Hail.", "Snow."]}
QUESTION = "  deductible\u00a0"


@pytest.fixture
def database(service: Service, superuser: Connection) -> Iterator[psycopg.Connection[dict[str, Any]]]:
    for corpus, texts in TEXTS.items():
        if not scalar(superuser, "select count(*) from pgclarify.corpus where corpus = %s", corpus):
            superuser.execute(MAKE_OPEN_CORPUS, [corpus])
        for text in texts:
            superuser.execute("select pgclarify.add_document(%s, %s, %s)", [corpus, text, text])
        wait_until_searchable(superuser, corpus)
    with closing(psycopg.connect(service.dsn, user=service.asker, autocommit=True, row_factory=dict_row)) as connection:
        yield connection


def printed(what: RenderableType) -> str:
    console = Console(width=200)
    with console.capture() as capture:
        console.print(what)
    return capture.get()


def test_a_reused_run_is_told_from_a_newer_one(database: psycopg.Connection[dict[str, Any]], model: Server) -> None:
    runs = []
    for corpus in ("one", "two", "one"):
        rows, run_id, _ = asking.perform(database, "clarify", "Reading", question=QUESTION, corpus=corpus, timeout=60.0)
        assert rows == []
        assert run_id is not None
        runs.append(run_id)
        judged = "1 of 1 passage" if corpus == "one" else "2 of 2 passages"
        run = connection.client_of(database).run(run_id)
        said = printed(asking.nothing(database, QUESTION, corpus, run))
        assert f"found in the corpus {corpus}: {judged} judged" in said
    assert runs[0] == runs[2] < runs[1]


def test_a_terminal_shows_how_many_passages_are_judged(
    database: psycopg.Connection[dict[str, Any]], model: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = StringIO()
    monkeypatch.setattr(terminal, "notices", lambda: Console(file=screen, force_terminal=True, width=200))
    asked = {"question": "fuel for a car", "corpus": CORPUS, "top_k": 4}
    with ThreadPoolExecutor(1) as pool, hold_replies(model, after=3):
        asking_for = pool.submit(asking.perform, database, "clarify", "Reading", timeout=60.0, **asked)
        until(lambda: re.search(r"\b\d of 4\b.*the call waits", screen.getvalue()))
    assert asking_for.result()[0]


def test_a_notice_is_shown(run: Run) -> None:
    done = run("ask", "rental cars", "-c", CORPUS, "--filter", '{"yaer": 2026}')
    assert "Notice: no document that you may read has metadata yaer." in done.err


def test_a_command_says_that_its_answer_may_be_out_of_date(run: Run, service: Service) -> None:
    with service.connect() as superuser:
        make_outdated_corpus(superuser, "outdated")
    done = run("ask", "tug", "-c", "outdated")
    assert done.code == 0
    assert done.err.count("Warning: ") == 1
    assert "source_status" in done.err
