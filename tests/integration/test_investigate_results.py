"""What an investigation returns: its answer, and the citations that prove it."""

from __future__ import annotations

from datetime import datetime

import pytest

from tests.integration.answering import rows
from tests.integration.by_hand import Connection, HandWorker, scalar
from tests.integration.investigating import (
    DOCUMENTS,
    OPTIONS,
    QUESTION,
    alice,
    carry_out,
    investigation,
    submit,
    unanswered,
    worker,
)

pytestmark = pytest.mark.rolled_back

__all__ = ["alice", "worker"]


class TestAnswers:
    def test_come_with_steps_and_what_proves_them(self, worker: HandWorker, alice: Connection) -> None:
        run_id = submit(alice)
        carry_out(worker, run_id)

        found = investigation(alice, run_id)

        assert (found["run_id"], found["status"], found["outcome"]) == (run_id, "succeeded", "answered")
        assert (found["answer"], found["confidence"]) == ("Nora Blum", 0.75)
        assert found["document_ids"] == ["bridge", "Blum"]
        assert [step["answer"] for step in found["steps"]] == ["Ripon", "Nora Blum"]
        assert [step["confidence"] for step in found["steps"]] == [0.9, 0.75]
        assert found["steps"][1]["citations"] == found["citations"]
        for citation in found["citations"]:
            title, content = DOCUMENTS[citation["document_id"]]
            assert content[citation["start_char"] : citation["end_char"]] == citation["quote"]
            assert (citation["title"], citation["uri"]) == (title, f"/{citation['document_id']}")
            assert citation["is_current"]

    def test_have_the_columns_of_the_views(self, worker: HandWorker, alice: Connection) -> None:
        run_id = submit(alice)
        carry_out(worker, run_id)
        found = investigation(alice, run_id)

        steps = rows(alice, "select * from pgclarify.investigation_step order by ordinal")
        citations = rows(alice, "select * from pgclarify.citation order by ordinal, rank")
        told = [{key: value for key, value in step.items() if key != "citations"} for step in found["steps"]]
        for step in told:
            # JSON has its seconds without trailing zeros.
            step["created_at"] = datetime.fromisoformat(step["created_at"])
        assert told == steps
        told = [citation for step in found["steps"] for citation in step["citations"]]
        assert told == [{key: row[key] for key in told[0]} for row in citations]

    def test_are_one_row_also_if_there_is_none(self, worker: HandWorker, alice: Connection) -> None:
        run_id = submit(alice)
        carry_out(worker, run_id, [unanswered(1, "direct"), unanswered(2, "conclusion")])

        found = investigation(alice, run_id)

        assert (found["status"], found["outcome"]) == ("succeeded", "not_in_corpus")
        assert (found["answer"], found["confidence"]) == (None, None)
        assert (found["document_ids"], found["citations"]) == ([], [])
        assert [step["citations"] for step in found["steps"]] == [[], []]

    def test_are_served_again(self, connection: Connection, worker: HandWorker, alice: Connection) -> None:
        run_id = submit(alice)
        carry_out(worker, run_id)
        first = investigation(alice, run_id)
        again = "select * from pgclarify.investigate(%s, 'atlas', %s)"

        assert submit(alice) == run_id
        assert rows(alice, again, f"  {QUESTION} ", OPTIONS) == [first]
        # The timeout is not part of the question.
        assert rows(alice, again, QUESTION, '{"method": "lexical", "timeout": "1s"}') == [first]
        assert submit(alice, options='{"method": "lexical", "max_steps": 1}') != run_id
        assert scalar(alice, "select pgclarify.submit('clarify', %s, 'atlas', %s)", QUESTION, OPTIONS) != run_id
        connection.execute("select pgclarify.remove_document('atlas', 'Blum')")
        assert submit(alice) != run_id


class TestCitations:
    @pytest.mark.parametrize(("reason", "is_shown"), [("Passage 2 says Ripon.", False), (None, True)])
    def test_a_conclusion_is_hidden_if_its_reason_may_repeat_a_closed_document(
        self, connection: Connection, worker: HandWorker, alice: Connection, reason: str | None, is_shown: bool
    ) -> None:
        run_id = submit(alice)
        carry_out(worker, run_id, [unanswered(1, "direct"), unanswered(2, "conclusion", "contradicted", reason)])

        def shown() -> list[bool]:
            by_function = investigation(alice, run_id)["steps"]
            by_view = rows(alice, "select * from pgclarify.investigation_step where run_id = %s", run_id)
            told = str(rows(alice, "select * from pgclarify.explain(%s)", run_id))
            steps = [[step["kind"] for step in found] for found in (by_function, by_view)]
            assert all("direct" in kinds for kinds in steps)
            return [*("conclusion" in kinds for kinds in steps), "conclusion" in told]

        assert shown() == [True, True, True]
        title, content = DOCUMENTS["Blum"]
        connection.execute(
            "select pgclarify.add_document('atlas', 'Blum', %s, %s, readers => array['auditor'::name])",
            [content, title],
        )
        assert shown() == [is_shown, is_shown, is_shown]
