"""The commands of a dialogue against a real server and a real worker, and on a terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgclarify.cli import detecting
from pgclarify.cli.main import main
from tests.integration.holding_back import held_back
from tests.openai_rules.questioning import reformulated, reformulation
from tests.openai_server import Reply, Server
from tests.workers import Service, as_role, scalar, until

pytestmark = pytest.mark.xdist_group("dialogue_commands")

FOLLOW_UP = "When does she have time?"
CLEAR = "How high is the deductible for a rental car that is damaged by hail?"
ANSWERED = "How high is the deductible of a rental car?"
OF_MANY = {
    "question_ordinal", "question", "run_id", "is_ambiguous", "probability", "kind", "reasons", "status", "line"
}  # fmt: skip
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

    def test_a_file_of_questions_is_detected_in_batches(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(detecting, "_QUESTIONS_AT_ONCE", 2)
        file = tmp_path / "searches.txt"
        file.write_text(f"{FOLLOW_UP}\n\n{CLEAR}\nrental \x1b[2Jcar\n{FOLLOW_UP}\n{CLEAR}\n")

        done = run("detect-ambiguity", "--file", str(file), "--json", "--timeout", "1min")
        assert [row["question_ordinal"] for row in done.rows] == [1, 2, 3, 4, 5]
        assert [row["question"] for row in done.rows] == [
            FOLLOW_UP, CLEAR, "rental \x1b[2Jcar", FOLLOW_UP, CLEAR
        ]  # fmt: skip
        assert [row["line"] for row in done.rows] == [1, 3, 4, 5, 6]
        assert done.rows[0].keys() == OF_MANY
        assert "1 blank line was left out." in done.err
        ambiguous = sum(row["is_ambiguous"] for row in done.rows)
        assert f"{ambiguous} of 5 questions " in done.err

        none = run("detect-ambiguity", "--file", str(file), "--timeout", "0s")
        assert (none.code, none.out, "Error: " in none.err) == (1, "", True)
        head, *lines = run("detect-ambiguity", "--file", str(file)).out.splitlines()
        assert head.split() == ["probability", "kind", "question"]
        assert [line.split()[1] for line in (lines[0], lines[3])] == ["pragmatic", "pragmatic"]
        assert lines[2].endswith("rental \\u001b[2Jcar")


def test_the_command_rewrites_a_question(run: Run) -> None:
    clear = run("detect-ambiguity", "--rewrite", CLEAR, "--history", "Is it insured?", "-o", "threshold=1")
    assert (clear.code, clear.out) == (0, f"{CLEAR}\n")
    assert HINT.search(clear.err)
    said = ("--history", "Who fixes it?", "--history", "Nora Blum.")
    assert (
        run("detect-ambiguity", "--rewrite", FOLLOW_UP, *said, "-o", "threshold=0").out
        == "When does Nora Blum have time?\n"
    )
    (row,) = run("detect-ambiguity", "--rewrite", FOLLOW_UP, "--json").rows
    assert row.keys() == {"run_id", "rewritten", "was_ambiguous", "reason", "status"}
    assert (row["rewritten"], row["was_ambiguous"], row["status"]) == (FOLLOW_UP, True, "succeeded")
    assert row["reason"] in " ".join(run("detect-ambiguity", "--rewrite", FOLLOW_UP).err.split())


def test_a_model_that_fails_shows_in_how_rewrite_ends(run: Run, model: Server) -> None:
    model.behavior = lambda chat: Reply.error(403)
    question = "What was she paid for it?"
    said = ("--history", "Who fixes it?", "--history", "Nora Blum.", "-o", "threshold=0")
    plain = run("detect-ambiguity", "--rewrite", question, *said)
    assert (plain.code, plain.out) == (1, f"{question}\n")
    assert plain.err.strip()
    as_json = run("detect-ambiguity", "--rewrite", question, *said, "--json")
    assert (as_json.code, as_json.rows[0]["rewritten"], as_json.rows[0]["status"]) == (1, question, "partial")


def test_an_empty_corpus_is_named_as_such(run: Run, asker: psycopg.Connection[Any]) -> None:
    asker.execute("select pgclarify.create_corpus(name => 'bare')")
    # The worker must notice it first.
    until(lambda: run("ask", "rental car", "--corpus", "bare").code == 0)
    for command in ("ask", "list-answers", "clarifying-questions"):
        done = run(command, "rental car", "--corpus", "bare")
        assert (done.code, "The corpus bare is empty: it has 0 documents." in done.out) == (0, True), done.err


class TestInterrupted:
    def test_detecting_says_how_far_it_came(self, service: Service, model: Server, tmp_path: Path) -> None:
        file = tmp_path / "searches.txt"
        # The output of a thousand does not fit into the pipe, so the signal comes before the end.
        file.write_text("".join(f"Who owns car {number}?\n" for number in range(5_000)))
        with subprocess.Popen(
            [sys.executable, "-m", "pgclarify.cli", "detect-ambiguity", "--file", str(file), "--json"],
            env={**os.environ, "PGCLARIFY_DATABASE_URL": as_role(service.dsn, service.asker)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            process.send_signal(signal.SIGINT)
            _, told = process.communicate(timeout=60)
        assert process.returncode == 130
        assert re.search(r"Cancelled; [1-4],000 of 5,000 questions were looked at\.", told)
        assert "paid" not in told


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
    def test_away_from_a_terminal_it_only_shows(self, run: Run) -> None:
        done = run("clarifying-questions", "rental car", "-o", "form=select", "-o", "count=2")
        assert done.out.startswith('What do you mean by "rental car"?\n\n1. What about ')
        assert "\n   answered by 1" in done.out
        assert HINT.search(done.out)
        run_id = HINT.findall(done.out)[0]
        assert f".reply({run_id}, ordinal => ORDINAL)" in done.out
        assert f".reply({run_id}, '...')" in done.out
        assert "pgclarify ask 'rental car'\n" in done.out
        rows = run("clarifying-questions", "rental car", "--json").rows
        assert all(row["clarifying_question"] and row["ambiguity_type"] for row in rows)

    def test_the_history_is_sent_with_the_question(self, run: Run, superuser: psycopg.Connection[Any]) -> None:
        (row, *_) = run("clarifying-questions", "rental car", "--history", "I am in Canada.", "--json").rows
        history = scalar(superuser, "select history from pgclarify.run where run_id = %s", row["run_id"])
        assert history == ["I am in Canada."]


class Terminal:
    """A command on a terminal: the test reads its output and types answers."""

    def __init__(self, screen: int) -> None:
        self._screen = screen
        self.shown = ""

    def read_until(self, words: str) -> str:
        """The output up to these words, without ANSI sequences."""
        deadline = time.monotonic() + 60
        while words not in (plain := re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.shown).replace("\r", "")):
            assert time.monotonic() < deadline, plain
            if not select.select([self._screen], [], [], 1.0)[0]:
                continue
            try:
                self.shown += os.read(self._screen, 65536).decode(errors="replace")
            except OSError:
                raise AssertionError(plain) from None
        self.shown = ""
        return plain

    def type(self, line: str) -> None:
        os.write(self._screen, f"{line}\n".encode())


@contextmanager
def on_a_terminal(
    service: Service, *arguments: str, kind: str = "dumb"
) -> Iterator[tuple[Terminal, subprocess.Popen[bytes]]]:
    screen, keyboard = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "pgclarify.cli", *arguments],
        env={
            **os.environ,
            "PGCLARIFY_DATABASE_URL": as_role(service.dsn, service.asker),
            "TERM": kind,
            "COLUMNS": "200",
        },
        stdin=keyboard,
        stdout=keyboard,
        stderr=keyboard,
    ) as process:
        os.close(keyboard)
        try:
            yield Terminal(screen), process
        finally:
            process.kill()
            os.close(screen)


def sleeps(process_id: int) -> bool:
    """Whether a process has been asleep for a while, not only for a moment."""

    def naps() -> str | None:
        (told,) = re.findall(r"^State:\t(\w)[\S\s]*^voluntary_ctxt_switches:\t(\d+)", status.read_text(), re.MULTILINE)
        return told[1] if told[0] == "S" else None

    status = Path(f"/proc/{process_id}/status")
    before = naps()
    time.sleep(0.1)
    return before is not None and naps() == before


def test_ask_shows_on_a_terminal_how_many_passages_are_judged(service: Service, model: Server) -> None:
    with on_a_terminal(service, "ask", "fuel for a car", "--top-k", "4", kind="xterm") as (terminal, process):
        with held_back(model, after=3):
            assert re.search(r"\b\d of 4\b", terminal.read_until("the call waits"))
        terminal.read_until("pgclarify explain")
        assert process.wait(60) == 0


class TestAskBackOnATerminal:
    def test_up_to_three_turns_and_then_it_asks(
        self, service: Service, model: Server, superuser: psycopg.Connection[Any]
    ) -> None:
        first = reformulation("cars", "a deductible after hail")
        with on_a_terminal(service, "clarifying-questions", "cars", "-o", "form=select") as (terminal, process):
            assert f"1. {first}" in terminal.read_until("own words")
            for number in ("99", "-1", "1.", "0"):
                terminal.type(number)
                assert "to choose from." in terminal.read_until("or your own words (Enter")
            terminal.type("1")
            terminal.read_until("Ask back once more? [y/N]")
            terminal.type("yes")
            assert first in terminal.read_until("own words")
            terminal.type("in Canada")
            terminal.read_until("Ask back once more? [y/N]")
            terminal.type("y")
            terminal.read_until("own words")
            terminal.type("in Mexico")
            # After the third turn, there are no more questions back.
            shown = terminal.read_until("Ask this? [Y/n]")
            assert "once more" not in shown
            terminal.type("")
            terminal.read_until("(conversation ")
            assert process.wait(60) == 0
        asked = "select question from pgclarify.run where operation = 'clarify' order by run_id desc limit 1"
        assert scalar(superuser, asked) == reformulated("cars", first, "in Canada", "in Mexico")

    def test_a_reply_in_words_and_going_away(self, service: Service, model: Server) -> None:
        with on_a_terminal(service, "clarifying-questions", "hire cars") as (terminal, process):
            assert "\n- " in terminal.read_until("Your reply")
            calls = model.calls
            terminal.type("2")
            assert "Reply in words" in terminal.read_until("Your reply")
            assert model.calls == calls
            terminal.type("in Canada")
            meant = reformulated("hire cars", "in Canada")
            assert meant in terminal.read_until("Ask back once more? [y/N]")
            terminal.type("while mine is repaired")
            assert "Type y or n." in terminal.read_until("Ask back once more? [y/N]")
            terminal.type("")
            terminal.read_until("Ask this? [Y/n]")
            terminal.type("sure")
            assert "Type y or n." in terminal.read_until("Ask this? [Y/n]")
            terminal.type("n")
            told = terminal.read_until("'form', 'respond')")
            assert f"The question is: {meant} (conversation " in told
            assert "pgclarify ask " in told
            assert process.wait(60) == 0

    def test_the_end_of_input_ends_the_dialogue(self, service: Service, model: Server) -> None:
        with on_a_terminal(service, "clarifying-questions", "hire cars") as (terminal, process):
            terminal.read_until("Your reply")
            terminal.type("\x04")
            assert "select * from pgclarify.reply(" in terminal.read_until("pgclarify explain")
            assert process.wait(60) == 0

    def test_an_interrupt_loses_nothing_either(self, service: Service, model: Server) -> None:
        with on_a_terminal(service, "clarifying-questions", "hire cars", "-o", "form=select") as (terminal, process):
            terminal.read_until("own words")
            # Python loses an interrupt between its last look for one and the system call that waits for a line.
            until(lambda: sleeps(process.pid))
            process.send_signal(signal.SIGINT)
            assert "ordinal => ORDINAL)" in terminal.read_until("pgclarify explain")
            assert process.wait(60) == 130
