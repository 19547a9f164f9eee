"""Replies to questions back, and how a conversation continues, with a worker played by hand and without model calls."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
import pytest

from tests.integration.answering import rows
from tests.integration.by_hand import (
    MAKE_OPEN_CORPUS,
    Connect,
    Connection,
    HandWorker,
    Hire,
    MakeRole,
    at_once,
    scalar,
    state_of,
)
from tests.integration.in_turn import in_turn

pytestmark = pytest.mark.rolled_back


UNDEFINED_OBJECT = "42704"
NOT_READY = "55000"
WRONG = "22023"
QUESTION = "lindvik harbor"
PROPOSED = ("What does a berth in Lindvik harbor cost?", "Who wrote the novel Lindvik Harbor?")
DOCUMENTS = {"berth": "A berth in the harbor costs forty crowns.", "novel": "The novel was written by Ida Holm."}


def enter(
    connection: Connection,
    role: str,
    question: str = QUESTION,
    *,
    operation: str = "clarifying_questions",
    has_corpus: bool = True,
    **settings: object,
) -> int:
    """Enter a run as a call of a role does, without waiting; as the owner."""
    corpus_id = scalar(connection, "select corpus_id from pgclarify.corpus") if has_corpus else None
    given = {"form": "select", "count": 5, "check": "drop", "method": "lexical", "top_k": 4}
    (run_id,) = scalar(
        connection,
        "select pgclarify_private.enter_runs(%s, pgclarify_private.roles_of(%s), %s, %s, array[%s], %s, null, null)",
        role,
        role,
        operation,
        corpus_id,
        question,
        json.dumps(given | settings),
    )
    return int(run_id)


def entry(ordinal: int, reformulation: str | None, asked: str | None = None) -> dict[str, Any]:
    """A question as a worker sends it."""
    proposed = {
        "ambiguity_type": "specify",
        "reasoning": "It is short.",
        "clarifying_question": asked,
        "reformulation": reformulation,
    }
    return {"ordinal": ordinal, "proposed": proposed, "is_answerable": True, "citations": []}


def carry_out(
    worker: HandWorker, run_id: int, entries: Sequence[Mapping[str, Any]] | None = None, status: str = "succeeded"
) -> int:
    """Carry a run out; entries: None for the reformulations above."""
    run = worker.start(run_id)
    assert run is not None
    if entries is None:
        entries = [entry(ordinal, text) for ordinal, text in enumerate(PROPOSED, start=1)]
    worker.send(
        "record_clarifying_questions", run_id=run_id, attempt=run["attempt"], questions=json.dumps(list(entries))
    )
    worker.finish(run_id, run["attempt"], status)
    return run_id


def choose(connection: Connection, run_id: int, ordinal: int | None = 1) -> dict[str, Any]:
    (row,) = rows(connection, "select * from pgclarify.reply(%s, ordinal => %s)", run_id, ordinal)
    return row


def next_run(connection: Connection, worker: HandWorker, role: str, turn: Mapping[str, Any], **settings: object) -> int:
    """A run that asked back in the next turn of a conversation."""
    given = {"conversation": turn["conversation_id"], "turn": turn["turn"] + 1} | settings
    return carry_out(worker, enter(connection, role, turn["question"], **given))


@pytest.fixture
def worker(connection: Connection, hire: Hire) -> HandWorker:
    """A worker, and a searchable corpus with an analyst."""
    connection.execute(MAKE_OPEN_CORPUS, ["atlas"])
    connection.execute("select pgclarify.grant_access('atlas', 'pg_monitor', 'analyst')")
    for document_id, content in DOCUMENTS.items():
        connection.execute("select pgclarify.add_document('atlas', %s, %s)", [document_id, content])
    hired = hire()
    hired.index_everything()
    return hired


@pytest.fixture
def alice(connect: Connect, make_role: MakeRole) -> Connection:
    return connect(make_role("pgclarify_user"))


@pytest.fixture
def stranger(connect: Connect, make_role: MakeRole) -> Connection:
    return connect(make_role("pgclarify_user"))


CHOOSE = "select pgclarify.reply(%s, ordinal => %s)"


@pytest.fixture
def run_id(connection: Connection, worker: HandWorker, alice: Connection) -> int:
    """A run of alice that offers two reformulations."""
    return carry_out(worker, enter(connection, alice.info.user))


class TestChoose:
    def test_begins_a_conversation(self, alice: Connection, run_id: int) -> None:
        chosen = choose(alice, run_id, 2)

        assert chosen["conversation_id"] > 0
        assert (chosen["turn"], chosen["question"], chosen["turns_left"]) == (1, PROPOSED[1], 2)
        (turn,) = rows(alice, "select * from pgclarify.conversation_turn")
        assert turn.pop("created_at") is not None
        assert turn == {
            "conversation_id": chosen["conversation_id"],
            "first_question": QUESTION,
            "corpus": "atlas",
            "requested_by": alice.info.user,
            "ordinal": 1,
            "run_id": run_id,
            "form": "select",
            "asked": "\n".join(PROPOSED),
            "reply": PROPOSED[1],
            "question": PROPOSED[1],
        }

    def test_begins_another_one_each_time(self, alice: Connection, run_id: int) -> None:
        """Two users who share a role may have the same run, but each gets a conversation of its own."""
        first, second = choose(alice, run_id), choose(alice, run_id)
        assert first["conversation_id"] != second["conversation_id"]
        assert first["turn"] == second["turn"] == 1

    def test_goes_on_where_it_was_asked_back(
        self, connection: Connection, worker: HandWorker, alice: Connection, run_id: int
    ) -> None:
        first = choose(alice, run_id)
        second = choose(alice, next_run(connection, worker, alice.info.user, first), 2)
        third = choose(alice, next_run(connection, worker, alice.info.user, second), 1)

        assert [(one["turn"], one["turns_left"]) for one in (first, second, third)] == [(1, 2), (2, 1), (3, 0)]
        assert {one["conversation_id"] for one in (first, second, third)} == {first["conversation_id"]}
        turns = rows(alice, "select ordinal, question from pgclarify.conversation_turn order by ordinal")
        assert [turn["question"] for turn in turns] == [PROPOSED[0], PROPOSED[1], PROPOSED[0]]

    def test_works_on_a_run_that_is_partial_or_has_no_corpus(
        self, connection: Connection, worker: HandWorker, alice: Connection
    ) -> None:
        run_id = enter(connection, alice.info.user, has_corpus=False)
        carry_out(worker, run_id, status="partial")
        notices: list[str] = []
        alice.add_notice_handler(lambda diagnostic: notices.append(diagnostic.message_primary or ""))

        assert choose(alice, run_id)["question"] == PROPOSED[0]
        assert notices == []
        assert scalar(alice, "select corpus is null from pgclarify.conversation_turn")

    def test_a_line_is_a_line(self, connection: Connection, worker: HandWorker, alice: Connection) -> None:
        run_id = carry_out(worker, enter(connection, alice.info.user), [entry(1, "What\nis it?"), entry(2, "Who?")])
        assert choose(alice, run_id, 2)["question"] == "Who?"
        assert scalar(alice, "select asked from pgclarify.conversation_turn") == "What is it?\nWho?"


class TestAgain:
    @pytest.fixture
    def second_run(self, connection: Connection, worker: HandWorker, alice: Connection, run_id: int) -> int:
        """A run in the second turn."""
        return next_run(connection, worker, alice.info.user, choose(alice, run_id))

    def test_the_same_choice_is_the_same_turn(self, alice: Connection, second_run: int) -> None:
        assert choose(alice, second_run) == choose(alice, second_run)
        assert scalar(alice, "select count(*) from pgclarify.conversation_turn") == 2

    def test_another_choice_comes_too_late(self, alice: Connection, second_run: int) -> None:
        chosen = choose(alice, second_run, 1)
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="turn 2 of conversation") as late:
            choose(alice, second_run, 2)
        assert f"conversation_id = {chosen['conversation_id']}" in (late.value.diag.message_hint or "")

    def test_a_run_that_was_asked_in_the_same_turn_comes_too_late(
        self, connection: Connection, worker: HandWorker, alice: Connection, second_run: int
    ) -> None:
        conversation_id = scalar(alice, "select conversation_id from pgclarify.conversation_turn")
        turn = {"conversation_id": conversation_id, "turn": 1, "question": PROPOSED[0]}
        other = next_run(connection, worker, alice.info.user, turn, count=3)
        choose(alice, second_run)
        assert state_of(alice, CHOOSE, [other, 1]) == NOT_READY

    @pytest.mark.committed
    @pytest.mark.parametrize(("ordinals", "states"), [((1, 2), [NOT_READY, None]), ((1, 1), [None, None])])
    def test_two_choices_at_once_store_one_turn(
        self, connect: Connect, alice: Connection, second_run: int, ordinals: tuple[int, int], states: list[Any]
    ) -> None:
        sessions = [connect(alice.info.user) for _ in ordinals]
        ended = at_once(*(lambda s=s, o=o: choose(s, second_run, o) for s, o in zip(sessions, ordinals, strict=True)))
        assert sorted(ended, key=str, reverse=states[0] is None) == sorted(states, key=str, reverse=states[0] is None)
        assert scalar(alice, "select count(*) from pgclarify.conversation_turn where ordinal = 2") == 1

    @pytest.mark.committed
    def test_a_choice_waits_for_a_choice_in_progress(
        self, connect: Connect, alice: Connection, second_run: int
    ) -> None:
        with alice.transaction():
            choose(alice, second_run, 1)
            other = connect(alice.info.user)
            with pytest.raises(psycopg.errors.LockNotAvailable, match="is being replied to") as busy:
                other.execute("select pgclarify.reply(%s, 'x', options => '{\"timeout\": \"50ms\"}')", [second_run])
            assert busy.value.diag.message_hint == "Try again once it has ended."
            assert scalar(other, "select current_setting('lock_timeout')") == "0"
            # The caller's own limit is shorter.
            other.execute("set lock_timeout = '40ms'")
            for statement in (CHOOSE, "select pgclarify.reply(%s, %s::text)"):
                assert state_of(other, statement, [second_run, 2]) == "55P03"
        with other.transaction():
            assert choose(other, second_run, 1)["turn"] == 2
            assert scalar(other, "select current_setting('lock_timeout')") == "40ms"
        assert state_of(other, CHOOSE, [second_run, 2]) == NOT_READY

    def test_no_stranger_can_keep_others_from_replying(
        self, alice: Connection, stranger: Connection, second_run: int
    ) -> None:
        # Any role may take any advisory lock. Earlier versions locked conversations with these.
        stranger.execute("select pg_advisory_lock(1885823084, -number) from generate_series(1, 100) as number")
        alice.execute("set lock_timeout = '1s'")

        assert choose(alice, second_run)["turn"] == 2

    @pytest.mark.committed
    def test_nobody_who_drops_the_corpus_waits_for_it(
        self, connection: Connection, alice: Connection, second_run: int
    ) -> None:
        connection.execute("set lock_timeout = '1s'")
        with alice.transaction():
            choose(alice, second_run)
            connection.execute("select pgclarify.drop_corpus('atlas')")
        assert scalar(connection, "select corpus_id is null from pgclarify_private.conversation")

    @pytest.mark.committed
    def test_a_snapshot_that_is_too_old_is_told_so(self, connect: Connect, alice: Connection, second_run: int) -> None:
        old = connect(alice.info.user)
        with old.transaction():
            old.execute("set transaction isolation level repeatable read")
            old.execute("select from pgclarify.run")
            choose(alice, second_run, 1)
            assert state_of(old, CHOOSE, [second_run, 2]) == "40001"


class TestRefused:
    @in_turn("ordinal", [0, 3])
    def test_a_choice_that_was_not_offered_is_refused(
        self, alice: Connection, run_id: int, ordinal: int | None
    ) -> None:
        with pytest.raises(psycopg.errors.InvalidParameterValue) as wrong:
            choose(alice, run_id, ordinal)
        assert wrong.value.diag.message_detail == "It has 2, from 1."

    def test_questions_to_answer_cannot_be_chosen(
        self, connection: Connection, worker: HandWorker, alice: Connection
    ) -> None:
        run_id = carry_out(worker, enter(connection, alice.info.user, form="respond"), [entry(1, None, "Which?")])
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as wrong:
            choose(alice, run_id)
        assert f"pgclarify.reply({run_id}" in (wrong.value.diag.message_hint or "")

    def test_a_run_without_questions_cannot_be_chosen_from(
        self, connection: Connection, worker: HandWorker, alice: Connection
    ) -> None:
        run_id = enter(connection, alice.info.user, operation="clarify")
        worker.answer(run_id)
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="asked nothing back"):
            choose(alice, run_id)
        run_id = carry_out(worker, enter(connection, alice.info.user), [])
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="has nothing to reply to"):
            choose(alice, run_id)

    def test_a_run_that_is_not_over_or_went_wrong(
        self, connection: Connection, worker: HandWorker, alice: Connection
    ) -> None:
        run_id = enter(connection, alice.info.user)
        assert state_of(alice, CHOOSE, [run_id, 1]) == NOT_READY
        worker.start(run_id)
        worker.finish(run_id, 1, "failed", "the model is gone")
        assert state_of(alice, CHOOSE, [run_id, 1]) == "PC003"
        assert state_of(alice, "select pgclarify.reply(%s, 'x')", [run_id]) == "PC003"

    def test_a_member_of_the_role_that_asked_may(
        self,
        connection: Connection,
        worker: HandWorker,
        connect: Connect,
        make_role: MakeRole,
        alice: Connection,
        run_id: int,
    ) -> None:
        colleague = connect(make_role(alice.info.user))
        turn = choose(colleague, run_id)
        assert turn["turn"] == 1
        # The role that asked can continue: the conversation belongs to it.
        later = next_run(connection, worker, alice.info.user, turn)
        assert [choose(one, later)["turn"] for one in (alice, colleague)] == [2, 2]
        assert rows(alice, "select distinct requested_by from pgclarify.conversation_turn") == [
            {"requested_by": alice.info.user}
        ]

    @pytest.mark.committed
    def test_a_transaction_that_may_not_write(self, alice: Connection, run_id: int) -> None:
        alice.execute("set default_transaction_read_only = on")
        for statement in (CHOOSE, "select pgclarify.reply(%s, %s::text)"):
            assert state_of(alice, statement, [run_id, 1]) == "25006"

    def test_a_conversation_that_is_gone(
        self, connection: Connection, worker: HandWorker, alice: Connection, run_id: int
    ) -> None:
        later = next_run(connection, worker, alice.info.user, choose(alice, run_id))
        connection.execute("delete from pgclarify_private.conversation")
        assert state_of(alice, CHOOSE, [later, 1]) == UNDEFINED_OBJECT


class TestSeen:
    def test_when_run_and_corpus_are_gone(self, connection: Connection, alice: Connection, run_id: int) -> None:
        choose(alice, run_id)
        connection.execute("delete from pgclarify_private.run")
        connection.execute("select pgclarify.drop_corpus('atlas')")
        assert rows(alice, "select run_id, corpus, question from pgclarify.conversation_turn") == [
            {"run_id": None, "corpus": "atlas", "question": PROPOSED[0]}
        ]


class TestGoingOn:
    """The checks of clarifying_questions on a conversation, before any call."""

    ASK = "select pgclarify.clarifying_questions(%s, options => %s)"

    def options(self, turn: dict[str, Any]) -> str:
        return f'{{"conversation": {turn["conversation_id"]}}}'

    def test_another_question_is_another_conversation(self, alice: Connection, run_id: int) -> None:
        turn = choose(alice, run_id)
        assert state_of(alice, self.ASK, ["Who?", self.options(turn)]) == WRONG

    @pytest.mark.committed
    def test_a_reply_in_a_transaction_that_made_the_last_turn_would_not_be_seen(
        self, connection: Connection, worker: HandWorker, alice: Connection, run_id: int
    ) -> None:
        with alice.transaction():
            turn = choose(alice, run_id)
            later = next_run(connection, worker, alice.info.user, turn)
            assert state_of(alice, "select pgclarify.reply(%s, 'the old one')", [later]) == "PC004"
        assert (
            state_of(alice, "select pgclarify.reply(%s, 'the old one', options => '{\"timeout\": \"10ms\"}')", [later])
            == "PC002"
        )


def test_options_of_the_check_are_refused_without_a_check(alice: Connection) -> None:
    for options in ('{"check": "none", "top_k": 3}', '{"check": "none", "method": "dense"}'):
        assert state_of(alice, TestGoingOn.ASK, ["x", options]) == WRONG


@in_turn("reply", [None, " \n", "x" * 10001])
def test_a_blank_or_long_reply_is_refused(alice: Connection, reply: str | None) -> None:
    assert state_of(alice, "select pgclarify.reply(1, %s)", [reply]) == WRONG


def test_a_corpus_that_was_dropped_since_is_no_obstacle(
    connection: Connection, worker: HandWorker, alice: Connection
) -> None:
    run_id = carry_out(worker, enter(connection, alice.info.user))
    connection.execute("select pgclarify.drop_corpus('atlas')")
    assert choose(alice, run_id)["question"] == PROPOSED[0]
    assert scalar(connection, "select corpus_id is null from pgclarify_private.conversation")


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


@pytest.mark.committed
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


@pytest.mark.committed
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


@pytest.mark.committed
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
