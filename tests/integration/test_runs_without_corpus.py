"""Runs without a corpus, and the history of a question."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.integration.explaining import Desk, desk
from tests.integration.manual_worker import ManualWorker
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back

__all__ = ["desk"]

LOCK_NOT_AVAILABLE = "55P03"
TIMED_OUT = "PC002"
RUN = """
    select status, error, corpus_id, corpus, corpus_revision, graph_revision from pgclarify.run where run_id = %s
"""
DETECT = "select * from pgclarify.detect_ambiguity('Is it?', options => '{\"timeout\": \"50ms\"}')"


class TestStarted:
    def test_without_a_corpus_there_is_nothing_of_one(self, desk: Desk) -> None:
        run_id = desk.enter("detect_ambiguity", {"threshold": 0.5}, corpus_id=None)

        assert desk.worker.start(run_id) == {
            "attempt": 1, "operation": "detect_ambiguity", "question": "rental cars", "settings": {"threshold": 0.5},
            "corpus_id": None, "embedding_model": None, "dimensions": None, "parent_run_id": None,
            "traceparent": None,
        }  # fmt: skip
        assert desk.owner.execute(RUN.encode(), [run_id]).fetchone() == ("running", None, None, None, None, None)
        desk.worker.finish(run_id)
        assert desk.owner.execute(RUN.encode(), [run_id]).fetchone() == ("succeeded", None, None, None, None, None)

    def test_a_corpus_that_is_gone_before_the_run_is_entered_makes_none(self, desk: Desk) -> None:
        before = scalar(desk.owner, "select count(*) from pgclarify.run")

        enter = "select pgclarify_private.enter_runs(%s, null, '{}', 'rewrite', 99, array['q'], '{}', null, null)"
        assert scalar(desk.owner, enter, "postgres") is None
        assert scalar(desk.owner, "select count(*) from pgclarify.run") == before


class TestHistory:
    SAID = ("Who wrote Emma?", "Jane Austen.")

    def test_is_a_column_and_comes_back_as_a_setting(self, desk: Desk) -> None:
        settings = {"threshold": 0.5, "history": list(self.SAID)}
        run_id = desk.enter("rewrite", settings, corpus_id=None)

        kept = "select settings, history from pgclarify.run where run_id = %s"
        assert desk.owner.execute(kept.encode(), [run_id]).fetchone() == ({"threshold": 0.5}, list(self.SAID))
        run = desk.worker.start(run_id)
        assert run is not None
        assert run["settings"] == settings

    def test_makes_another_question_of_it(self, desk: Desk) -> None:
        settings: dict[str, Any] = {"check": "drop"}
        with_history = settings | {"history": list(self.SAID)}
        run_id = desk.enter("clarifying_questions", with_history)
        desk.start(run_id)
        desk.worker.finish(run_id)

        answered = """
            select answered.run_id
            from (select %s::name as name) as asker
            cross join lateral pgclarify_private.find_reusable_runs(
                1, 'clarifying_questions', array['rental cars'], %s, asker.name, pgclarify_private.roles_of(asker.name)
            ) as answered
        """

        def found(asked: dict[str, Any]) -> list[tuple[Any, ...]]:
            return desk.owner.execute(answered.encode(), [desk.user.info.user, json.dumps(asked)]).fetchall()

        assert found(with_history) == [(run_id,)]
        assert found(settings) == found(settings | {"history": ["Jane Austen."]}) == []

    def test_is_trimmed_and_has_no_blank_elements(self, connection: Connection) -> None:
        check = "select pgclarify_private.check_history(%s)"

        assert scalar(connection, check, Jsonb([" Who? ", "", "\n\t ", "She."])) == ["Who?", "She."]
        assert scalar(connection, check, Jsonb([" "])) == scalar(connection, check, Jsonb([])) == []

    @parametrize_in_one_test(
        "history, detail", [(["a", None], "It is element 2."), (["b" * 10_001], "It is element 1.")]
    )
    def test_the_wrong_element_of_a_history_is_named(
        self, connection: Connection, history: list[str | None], detail: str
    ) -> None:
        with pytest.raises(psycopg.errors.InvalidParameterValue) as refused:
            connection.execute("select pgclarify_private.check_history(%s)", [Jsonb(history)])
        assert refused.value.diag.message_detail == detail


class TestNumbers:
    KNOWN = '{"threshold": {"type": "number", "least": 0, "most": 1, "default": 0.5}}'
    CHECK = "select pgclarify_private.check_options(%s, %s)::text"

    def test_equal_numbers_are_stored_as_the_same_text(self, connection: Connection) -> None:
        kept = {"0": "0", "1.0": "1", "0.50": "0.5", "5e-1": "0.5", "0.1234567": "0.123457", "null": "0.5"}

        assert scalar(connection, self.CHECK, "{}", self.KNOWN) == '{"threshold": 0.5}'
        for given, number in kept.items():
            found = scalar(connection, self.CHECK, f'{{"threshold": {given}}}', self.KNOWN)
            assert found == f'{{"threshold": {number}}}'


class TestAsked:
    @pytest.mark.committed
    def test_each_time_anew(self, desk: Desk) -> None:
        for _ in range(2):
            assert sqlstate_of(desk.user, DETECT) == TIMED_OUT
        runs = "select run_id from pgclarify.run order by run_id"
        first, second = (row[0] for row in desk.user.execute(runs.encode()))
        desk.start(first)
        desk.worker.finish(first)

        assert sqlstate_of(desk.user, DETECT) == TIMED_OUT
        assert scalar(desk.user, "select count(*) from pgclarify.run") == 3
        assert second > first


class TestWhoStartsThem:
    @parametrize_in_one_test("operation", ["rewrite", "clarifying_questions", "reply", "list_answers", "estimate"])
    def test_a_run_that_needs_a_language_model_waits_for_a_worker_with_one(
        self, desk: Desk, connect: Connect, make_role: MakeRole, operation: str
    ) -> None:
        thinker = ManualWorker(connect(make_role("pgclarify_worker")), model="a-large-one", provider="openai")
        run_id = desk.enter(operation, {}, corpus_id=1 if operation in ("list_answers", "estimate") else None)

        assert state_of_start(desk.worker, run_id) == LOCK_NOT_AVAILABLE
        assert thinker.start(run_id) is not None


def state_of_start(worker: ManualWorker, run_id: int) -> str | None:
    """The SQLSTATE that starting a run ends with; None if it succeeds."""
    start = "select * from pgclarify_private.start_run(%s, %s)"
    return sqlstate_of(worker.connection, start, [run_id, worker.worker_id])
