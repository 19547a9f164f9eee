"""Continuing a conversation: the settings that it keeps from its start, with a worker played by hand."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from tests.integration.answering import rows
from tests.integration.by_hand import MAKE_OPEN_CORPUS, Connect, Connection, HandWorker, MakeRole, scalar, state_of
from tests.integration.conversing import (
    PROPOSED,
    QUESTION,
    UNDEFINED_OBJECT,
    WRONG,
    alice,
    carry_out,
    choose,
    enter,
    next_run,
    stranger,
    worker,
)

__all__ = ["alice", "stranger", "worker"]

HISTORY = ["Where is Lindvik?", "In the north."]
LATE = "PC002"
REPLY = "select pgclarify.reply(%s, 'the old one', options => '{\"timeout\": \"10ms\"}')"
RUNS = "select count(*) from pgclarify.run"


@pytest.fixture
def begun(connection: Connection, worker: HandWorker, alice: Connection) -> dict[str, Any]:
    """The first turn of a conversation about the corpus."""
    return choose(alice, carry_out(worker, enter(connection, alice.info.user, history=HISTORY)))


def go_on(session: Connection, turn: dict[str, Any], **parameters: Any) -> str | None:
    """The SQLSTATE that clarifying_questions ends with; PC002 if a run was entered, since no worker is at work."""
    options = {"conversation": turn["conversation_id"], "timeout": "10ms"} | parameters.pop("options", {})
    given = {"corpus": None, "history": [], "question": None} | parameters
    query = "select pgclarify.clarifying_questions(%s, %s, %s, %s)"
    return state_of(session, query, [given["question"], given["corpus"], given["history"], json.dumps(options)])


def last_run(connection: Connection) -> dict[str, Any]:
    (row,) = rows(connection, "select * from pgclarify.run order by run_id desc limit 1")
    return row


class TestCorpus:
    def test_is_that_in_which_it_began(self, connection: Connection, alice: Connection, begun: dict[str, Any]) -> None:
        connection.execute(MAKE_OPEN_CORPUS, ["other"])
        alice.execute("set pgclarify.corpus = 'other'")

        assert [go_on(alice, begun, corpus=corpus) for corpus in (None, "atlas", "other", "none")] == [
            LATE, LATE, WRONG, UNDEFINED_OBJECT
        ]  # fmt: skip
        assert go_on(alice, begun, options={"check": "none"}) == LATE
        assert rows(alice, "select distinct corpus from pgclarify.run") == [{"corpus": "atlas"}]

    @pytest.mark.parametrize("how", ["dropped", "made anew", "not for her any more"])
    def test_a_conversation_does_not_switch_to_another_corpus(
        self, connection: Connection, alice: Connection, make_role: MakeRole, begun: dict[str, Any], how: str
    ) -> None:
        connection.execute(MAKE_OPEN_CORPUS, ["other"])
        if how == "not for her any more":
            connection.execute(
                "update pgclarify_private.corpus set readers = %s where name = 'atlas'", [[make_role(name="boss")]]
            )
        else:
            connection.execute("select pgclarify.drop_corpus('atlas')")
        if how == "made anew":
            connection.execute(MAKE_OPEN_CORPUS, ["atlas"])
        count = scalar(connection, RUNS)

        for corpus in (None, "atlas", "other"):
            for check in ("drop", "none"):
                assert go_on(alice, begun, corpus=corpus, options={"check": check}) == UNDEFINED_OBJECT
        with pytest.raises(psycopg.errors.UndefinedObject) as gone:
            alice.execute(
                "select pgclarify.clarifying_questions(options => %s)",
                [json.dumps({"conversation": begun["conversation_id"]})],
            )
        assert "atlas" in (gone.value.diag.message_detail or "")
        assert scalar(connection, RUNS) == count

    def test_a_conversation_without_a_corpus_stays_without_one(
        self, connection: Connection, worker: HandWorker, alice: Connection
    ) -> None:
        turn = choose(alice, carry_out(worker, enter(connection, alice.info.user, has_corpus=False)))
        alice.execute("set pgclarify.corpus = 'atlas'")

        assert go_on(alice, turn) == WRONG
        assert go_on(alice, turn, corpus="atlas", options={"check": "none"}) == WRONG
        assert go_on(alice, turn, options={"check": "none"}) == LATE
        assert last_run(connection)["corpus"] is None


class TestHistory:
    def test_is_told_again_and_need_not_be(
        self, connection: Connection, alice: Connection, begun: dict[str, Any]
    ) -> None:
        for history in ([], HISTORY, [*HISTORY, " "]):
            assert go_on(alice, begun, history=history) == LATE
            assert last_run(connection)["history"] == [*HISTORY, QUESTION, "\n".join(PROPOSED), PROPOSED[0]]
        assert go_on(alice, begun, history=HISTORY[:1]) == WRONG

    def test_reaches_who_puts_the_question_anew(
        self, connection: Connection, worker: HandWorker, alice: Connection, begun: dict[str, Any]
    ) -> None:
        first = carry_out(worker, enter(connection, alice.info.user, history=HISTORY))
        # It has the turns since then in its own history, too.
        later = next_run(
            connection, worker, alice.info.user, begun, history=[*HISTORY, QUESTION, "\n".join(PROPOSED), PROPOSED[0]]
        )
        for run_id in (first, later):
            assert state_of(alice, REPLY, [run_id]) == LATE
            assert last_run(connection)["history"] == HISTORY
            run = worker.start(last_run(connection)["run_id"])
            assert run is not None
            assert run["settings"]["history"] == HISTORY

    def test_is_no_longer_than_any(self, connection: Connection, worker: HandWorker, alice: Connection) -> None:
        said = [f"{number}" for number in range(100)]
        long = carry_out(worker, enter(connection, alice.info.user, "x" * 12000, history=said))
        turn = choose(alice, long)

        assert go_on(alice, turn) == LATE

        assert last_run(connection)["history"] == [*said[3:], "x" * 10000, "\n".join(PROPOSED), PROPOSED[0]]


class TestFrozenSnapshot:
    def test_sees_the_turn_that_it_made_itself(
        self, connection: Connection, worker: HandWorker, alice: Connection, begun: dict[str, Any]
    ) -> None:
        later = next_run(connection, worker, alice.info.user, begun)
        with alice.transaction():
            alice.execute("set transaction isolation level repeatable read")
            turn = choose(alice, later, 2)
            assert go_on(alice, turn) == LATE
        assert last_run(connection)["settings"]["turn"] == 3

    def test_a_conversation_that_is_newer_is_not_seen(
        self, connection: Connection, worker: HandWorker, alice: Connection, connect: Connect
    ) -> None:
        old = connect(alice.info.user)
        old.execute("begin isolation level repeatable read")
        old.execute("select from pgclarify.conversation_turn")
        newer = choose(alice, carry_out(worker, enter(connection, alice.info.user)))
        with pytest.raises(psycopg.errors.UndefinedObject) as unseen:
            old.execute(
                "select pgclarify.clarifying_questions(options => %s)",
                [json.dumps({"conversation": newer["conversation_id"]})],
            )
        assert "begin the transaction anew" in (unseen.value.diag.message_hint or "")
