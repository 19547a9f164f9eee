"""The explanation of real runs of a dialogue shows each of their results below a stage."""

from __future__ import annotations

import json
import re
from typing import Any

import psycopg
import pytest

from tests.integration.by_hand import scalar
from tests.integration.explaining import explained


def ask(asker: psycopg.Connection[Any], function: str, *parameters: Any) -> list[str]:
    """Call a function that waits, and return the explanation of its run."""
    places = ", ".join(["%s"] * len(parameters))
    asker.execute(f"select pgclarify.{function}({places})".encode(), parameters)
    return explained(asker, scalar(asker, "select max(run_id) from pgclarify.run")).splitlines()


def below(told: list[str], stage: str) -> list[str]:
    """The lines below a stage."""
    (start,) = (place for place, line in enumerate(told) if re.match(rf" *->  {stage}\b", line))
    lines = []
    for line in told[start + 1 :]:
        if not line.startswith("        "):
            break
        lines.append(line.strip())
    return lines


@pytest.mark.usefixtures("model")
class TestRuns:
    def test_explain_shows_clarifying_questions_and_replies(self, asker: psycopg.Connection[Any]) -> None:
        asked = ask(asker, "clarifying_questions", "rental cars", "rental")
        count = scalar(asker, "select max(ordinal) from pgclarify.clarifying_question")
        below_checks = [line for line in below(asked, "checking") if re.match(r"\d+\. ", line)]
        assert len(below_checks) == count > 0
        assert all(re.search(r"\(answered by #\d", line) for line in below_checks)
        assert asked[0].endswith(f"questions={count})")

        run_id = scalar(asker, "select max(run_id) from pgclarify.run")
        told = ask(asker, "reply", run_id, "with a dog")
        assert told[0].startswith(f'reply to what run {run_id} asked back in rental: "rental cars"')
        question = scalar(asker, "select question from pgclarify.conversation_turn order by created_at desc limit 1")
        assert below(told, "rewriting") == [f"Question: {question}"]

    def test_explain_shows_listed_answers(self, asker: psycopg.Connection[Any]) -> None:
        told = ask(asker, "list_answers", "What does a rental car cost?", "rental")
        answers = asker.execute("select ordinal, answer from pgclarify.listed_answer order by ordinal").fetchall()
        assert len(answers) > 1
        lines = below(told, "listing")
        assert [one for one in lines if not one.startswith("Proof: #")] == [
            f"{ordinal}. {answer}" for ordinal, answer in answers
        ]
        assert len(lines) >= 2 * len(answers)

    @pytest.mark.parametrize(("threshold", "route"), [(0, "clarified"), (1, "answered")])
    def test_explain_shows_the_route_of_clarify(
        self, asker: psycopg.Connection[Any], threshold: float, route: str
    ) -> None:
        question, options = "How many days does rental reimbursement pay for?", {"ask_back": "when_vague"}
        told = ask(asker, "clarify", question, "rental", 20, "5min", json.dumps(options | {"threshold": threshold}))
        assert re.match(rf"  Route: {route}\b", told[4])
        assert below(told, "detection")[0].startswith("Clear" if route == "answered" else "Ambiguous")
        (saved,) = (row[0] for row in asker.execute("select max(saved_completions) from pgclarify.run"))
        assert ("saved" in told[4]) == (route == "answered" and saved > 0)
        assert any(re.match(r"\d\. .* Answer: ", line) for line in below(told, "consolidation"))
