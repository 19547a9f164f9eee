"""Why a run has no result: known if a language model judged the passages, otherwise reported as unknown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from pgclarify.data.vocabulary import StopCode
from tests.integration.manual_worker import MAKE_OPEN_CORPUS, ManualWorker, vector_of
from tests.sessions import Connect, Connection, MakeRole, scalar

pytestmark = pytest.mark.rolled_back

DOCS = Path(__file__).parents[2] / "docs"
LUGGAGE = "We replace lost baggage for up to $1,800."
GERMAN = "Wir ersetzen das verlorene Gepäck, wenn die Tasche nicht mehr da ist, bis zu einem Betrag von 1800 Dollar."


class Desk:
    """A corpus, a role that asks, and a worker.

    Args:
        provider: extractive (the rules) or openai (a language model).
    """

    def __init__(self, maintenance: Connection, asker: Connection, provider: str) -> None:
        self.maintenance = maintenance
        self.asker = asker
        model = "extractive-1" if provider == "extractive" else "gpt-x"
        self.worker = ManualWorker(maintenance, model=model, provider=provider)

    def add(self, corpus: str, content: str | None) -> None:
        """Make a corpus of one document, or of none."""
        self.maintenance.execute(MAKE_OPEN_CORPUS, [corpus])
        if content is not None:
            self.maintenance.execute("select pgclarify.add_document(%s, 'one', %s)", [corpus, content])
        self.worker.index_everything()

    def ask(
        self,
        question: str,
        corpus: str = "c",
        *,
        status: str = "succeeded",
        error: str | None = None,
        stop_code: str | None = None,
        options: str = "{}",
    ) -> int:
        """Ask, and end the run with nothing found."""
        run_id = int(scalar(self.asker, "select pgclarify.submit('clarify', %s, %s, %s)", question, corpus, options))
        assert self.worker.start(run_id) is not None
        self.worker.retrieve(run_id, 1, question, None if "lexical" in options else vector_of(question))
        returned = self.worker.finish(run_id, status=status, error=error, stop_code=stop_code)
        assert returned == self.code(run_id), "the worker counts runs by it"
        return run_id

    def code(self, run_id: int) -> str | None:
        """The row of run."""
        found: str | None = scalar(self.asker, "select stop_code from pgclarify.run where run_id = %s", run_id)
        return found


@pytest.fixture
def rules(connection: Connection, connect: Connect, make_role: MakeRole) -> Desk:
    """Without a language model."""
    return Desk(connection, connect(make_role("pgclarify_user")), "extractive")


@pytest.fixture
def model(connection: Connection, connect: Connect, make_role: MakeRole) -> Desk:
    """With one."""
    return Desk(connection, connect(make_role("pgclarify_user")), "openai")


def test_runs_without_a_language_model_say_so_by_code(rules: Desk) -> None:
    rules.add("c", LUGGAGE)
    rules.add("empty", None)
    assert rules.code(rules.ask("Does travel insurance pay for lost luggage?")) == "no_language_model"
    assert rules.code(rules.ask("luggage", "empty")) == "no_passage"
    for known in ("threshold", "language", "unproven"):
        assert rules.code(rules.ask(f"luggage {known}", stop_code=known)) == known


def test_runs_with_a_language_model_have_their_stop_code(model: Desk) -> None:
    model.add("c", GERMAN)
    model.add("empty", None)
    assert model.code(model.ask("luggage")) == "not_answered"
    assert model.code(model.ask("bags", stop_code="unproven")) == "unproven"
    assert model.code(model.ask("luggage", "empty")) == "no_passage"
    assert model.code(model.ask("trunks", status="partial")) == "failed_calls"
    assert model.code(model.ask("cases", status="partial", stop_code="budget")) == "budget"
    assert model.code(model.ask("sacks", status="failed", error="the endpoint is gone")) is None


def test_a_caller_is_told_the_stop_code(rules: Desk) -> None:
    rules.add("c", LUGGAGE)
    # The test's worker answers only what a test tells it, so the answer is reused from this run.
    run_id = rules.ask("luggage")
    waited = rules.asker.execute("select interpretations, stop_code from pgclarify.wait(array[%s])", [run_id])
    assert waited.fetchall() == [(0, "no_language_model")]
    heard: list[str] = []
    rules.asker.add_notice_handler(lambda notice: heard.append(f"{notice.severity} {notice.message_detail}"))
    assert rules.asker.execute("select * from pgclarify.result(%s)", [run_id]).fetchall() == []
    assert [re.findall("WARNING|no_language_model", one) for one in heard] == [["WARNING", "no_language_model"]]
    many = rules.asker.execute("select status, stop_code, ordinal from pgclarify.clarify_many(array['luggage'])")
    assert many.fetchall() == [("succeeded", "no_language_model", None)]


def test_only_what_a_language_model_judged_is_a_gap(rules: Desk, connection: Connection) -> None:
    rules.add("c", LUGGAGE)
    rules.ask("Does travel insurance pay for lost luggage?")
    reading = Desk(connection, rules.asker, "openai")
    reading.ask("pizza")
    reading.ask("towing", status="partial", stop_code="budget")
    rules.worker.send("group_questions", most=100)
    gaps = rules.asker.execute("select question from pgclarify.asked_question where is_gap").fetchall()
    asked = rules.asker.execute(
        "select question, unanswered_runs, unread_runs from pgclarify.asked_question order by question"
    ).fetchall()
    assert gaps == [("pizza",)]
    assert asked == [("Does travel insurance pay for lost luggage?", 0, 1), ("pizza", 1, 0), ("towing", 0, 1)]


def test_all_codes_are_in_one_list(connection: Connection) -> None:
    known = [row[0] for row in connection.execute("select stop_code from pgclarify_private.stop_codes()")]
    checked: Sequence[str] = re.findall(
        r"'(\w+)'::text",
        scalar(
            connection, "select pg_get_constraintdef(oid) from pg_constraint where conname = 'run_stop_code_is_known'"
        ),
    )
    _, *documented = re.findall(r"^\| `(\w+)` \| [^|]+ \| [^|]+ \|$", section("Stop codes"), re.M)
    assert known == [*checked] == documented == [code.value for code in StopCode]


def section(name: str) -> str:
    """A section of the page about runs."""
    return (DOCS / "run-states.md").read_text().partition(f"## {name}\n")[2].partition("\n## ")[0]
