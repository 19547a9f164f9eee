"""Investigations that are refused, that fail, or that are late."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from tests.integration.answering import rows
from tests.integration.by_hand import Connection, HandWorker, rows_of, scalar, state_of
from tests.integration.in_turn import in_turn
from tests.integration.investigating import (
    NOT_READY,
    OPTIONS,
    QUESTION,
    alice,
    carry_out,
    investigation,
    record,
    stranger,
    submit,
    unanswered,
    worker,
)

READ = rows_of("investigation")
pytestmark = pytest.mark.rolled_back

__all__ = ["alice", "stranger", "worker"]

WRONG_VALUE = "22023"


class TestRefusals:
    @in_turn("options", [{"max_passages": 9}, {"top_k": 33}])
    def test_fewer_passages_than_are_asked_for_are_refused(
        self, worker: HandWorker, alice: Connection, options: Any
    ) -> None:
        for call in ("investigate(", "submit('investigate', "):
            query = f"select pgclarify.{call}%s, 'atlas', %s::jsonb)"
            assert state_of(alice, query, [QUESTION, json.dumps(options)]) == WRONG_VALUE

    def test_all_options_are_kept_as_used(self, worker: HandWorker, alice: Connection) -> None:
        run_id = submit(alice, options='{"top_k": 7.0, "max_passages": null}')

        kept = scalar(alice, "select settings ->> 'top_k' from pgclarify.run where run_id = %s", run_id)
        assert kept == "7", "equal numbers are equal settings in any notation"
        assert scalar(alice, "select settings from pgclarify.run where run_id = %s", run_id) == {
            "method": "hybrid", "retrieval": "adaptive", "reranker": "signal", "top_k": 7, "max_passages": 32,
            "max_steps": 4, "max_calls": 60, "entailment": "embedding",
        }  # fmt: skip

    def test_functions_refuse_runs_of_another_operation(self, worker: HandWorker, alice: Connection) -> None:
        clarified = scalar(alice, "select pgclarify.submit('clarify', 'x', 'atlas', %s)", OPTIONS)
        worker.answer(clarified)
        run_id = submit(alice)
        carry_out(worker, run_id)

        for query in ("select pgclarify.result(%s)", "select pgclarify.consolidate(%s)"):
            assert state_of(alice, query, [run_id]) == NOT_READY
        assert state_of(alice, READ, [clarified]) == NOT_READY
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as refused:
            alice.execute("select pgclarify.consolidate(%s)", [run_id])
        assert refused.value.diag.message_detail == "Its operation is investigate, and its status succeeded."
        assert rows(alice, "select interpretations from pgclarify.run order by run_id") == [
            {"interpretations": 0},
            {"interpretations": None},
        ]
        told = rows(alice, "select * from pgclarify.wait(%s::bigint[])", [run_id, clarified])
        assert [(outcome["status"], outcome["interpretations"]) for outcome in told] == [
            ("succeeded", None),
            ("succeeded", 0),
        ]

    @pytest.mark.committed
    @pytest.mark.parametrize(("level", "is_told"), [("read committed", False), ("repeatable read", True)])
    def test_a_run_that_is_newer_than_the_transaction(
        self, worker: HandWorker, alice: Connection, stranger: Connection, level: str, is_told: bool
    ) -> None:
        with alice.transaction(force_rollback=True), pytest.raises(psycopg.errors.UndefinedObject) as refused:
            alice.execute(f"set transaction isolation level {level}".encode())
            scalar(alice, "select count(*) from pgclarify.run")
            investigation(alice, submit(stranger))
        assert ("end it first" in (refused.value.diag.message_hint or "")) == is_told

    @pytest.mark.committed
    @pytest.mark.parametrize(("level", "is_told"), [("read committed", False), ("repeatable read", True)])
    def test_a_run_that_may_be_over_since_the_transaction_began(
        self, worker: HandWorker, alice: Connection, level: str, is_told: bool
    ) -> None:
        run_id = submit(alice)
        with (
            alice.transaction(force_rollback=True),
            pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as refused,
        ):
            alice.execute(f"set transaction isolation level {level}".encode())
            investigation(alice, run_id)
        hint = refused.value.diag.message_hint or ""
        assert f"pgclarify.wait(array[{run_id}])" in hint
        assert ("begin the transaction anew" in hint) == is_told

    @pytest.mark.parametrize(
        ("stop_reason", "why"),
        [
            ("the calls left did not suffice", "the calls left did not suffice"),
            (None, "calls failed, so that not all was judged"),
        ],
    )
    def test_partial_ones_warn(self, worker: HandWorker, alice: Connection, stop_reason: str | None, why: str) -> None:
        run_id = submit(alice)
        worker.start(run_id)
        record(worker, run_id, unanswered(1, "conclusion", "cut_off"))
        worker.finish(run_id, 1, "partial", stop_reason=stop_reason)
        heard: list[tuple[str | None, str | None, str | None]] = []
        alice.add_notice_handler(
            lambda notice: heard.append((notice.severity_nonlocalized, notice.message_primary, notice.message_hint))
        )

        assert investigation(alice, run_id)["outcome"] == "cut_off"

        ((severity, message, hint),) = heard
        assert (severity, message) == ("WARNING", f"run {run_id} is partial: {why}")
        assert hint is not None
        # The statement in the hint works.
        told = [row["explain"] for row in rows(alice, hint.removeprefix("See: ").removesuffix("."))]
        assert told[0].startswith("investigate in atlas")

    @pytest.mark.committed
    def test_a_timeout_names_the_run_and_the_statement_that_reads_it(
        self, worker: HandWorker, alice: Connection
    ) -> None:
        with pytest.raises(psycopg.Error) as late:
            alice.execute("select pgclarify.investigate('x', 'atlas', '{\"timeout\": \"0.1s\"}')")
        assert late.value.sqlstate == "PC002"
        (run,) = rows(alice, "select run_id, status from pgclarify.run")
        assert run["status"] == "queued"
        for told in ("pgclarify.wait(array[{}])", "pgclarify.investigation_step where run_id = {}"):
            assert f"{told.format(run['run_id'])}." in (late.value.diag.message_hint or "")
