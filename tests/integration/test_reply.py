"""Replies to questions back, and how a conversation goes on, with a worker played by hand and without model calls."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import psycopg
import pytest

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, ManualWorker
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.integration.stored_answers import rows
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back

UNDEFINED_OBJECT = "42704"
NOT_READY = "55000"
WRONG = "22023"
QUESTION = "lindvik harbor"
HISTORY = ["Where is Lindvik?", "In the north."]
PROPOSED = ("What does a berth in Lindvik harbor cost?", "Who wrote the novel\nLindvik Harbor?")
SUBMIT = "select pgclarify.submit(%s, options => %s)"


def enter(connection: Connection, role: str, question: str = QUESTION, *, has_corpus: bool = True, **given: Any) -> int:
    """Enter a run of clarifying_questions as a call of a role does, without waiting; as the owner."""
    (run_id,) = scalar(
        connection,
        "select pgclarify_private.enter_runs("
        "%s, null, pgclarify_private.roles_of(%s), %s, %s, array[%s], %s, null, null)",
        role,
        role,
        given.pop("operation", "clarifying_questions"),
        scalar(connection, "select corpus_id from pgclarify.corpus") if has_corpus else None,
        question,
        json.dumps({"form": "select", "count": 5, "check": "drop", "method": "lexical", "top_k": 4} | given),
    )
    return int(run_id)


def ask_back(worker: ManualWorker, run_id: int, proposed: Sequence[str | None] = PROPOSED) -> int:
    """Carry a run of clarifying_questions out."""
    entries = [
        {"ordinal": ordinal, "reformulation": text, "clarifying_question": "Which?"}
        for ordinal, text in enumerate(proposed, start=1)
    ]
    run = worker.start(run_id)
    assert run is not None
    worker.record_results(run_id, "clarifying_question", *entries, attempt=run["attempt"])
    worker.finish(run_id, run["attempt"])
    return run_id


def submit(session: Connection, operation: str, **options: Any) -> dict[str, Any]:
    """Submit a run, and return it as the role sees it."""
    run_id = scalar(session, SUBMIT, operation, json.dumps(options))
    (row,) = rows(session, "select * from pgclarify.run where run_id = %s", run_id)
    return row


def refused(session: Connection, operation: str, **options: Any) -> str | None:
    return sqlstate_of(session, SUBMIT, [operation, json.dumps(options)])


def reply(session: Connection, worker: ManualWorker, run_id: int, text: str = "the second") -> int:
    """Reply, and carry the run of it out: the question is then the text in capitals."""
    replied: int = submit(session, "reply", run_id=run_id, reply=text)["run_id"]
    run = worker.start(replied)
    assert run is not None
    rewriting = {"rewritten": text.upper(), "was_ambiguous": None, "reason": None}
    worker.record_results(replied, "rewriting", rewriting, attempt=run["attempt"])
    worker.finish(replied, run["attempt"])
    return replied


def turns(worker: ManualWorker, run_id: int) -> list[dict[str, Any]]:
    """The turns that a worker reads for a submitted reply."""
    run = worker.start(run_id)
    assert run is not None
    return worker.send("conversation_turns", run_id=run_id, attempt=run["attempt"])


@pytest.fixture
def worker(connection: Connection, make_worker: MakeWorker) -> ManualWorker:
    """A worker, and a searchable corpus with an analyst."""
    connection.execute(MAKE_OPEN_CORPUS, ["atlas"])
    connection.execute("select pgclarify.add_document('atlas', 'berth', 'A berth in the harbor costs forty crowns.')")
    hired = make_worker()
    hired.index_everything()
    return hired


@pytest.fixture
def alice(connect: Connect, make_role: MakeRole) -> Connection:
    return connect(make_role("pgclarify_user"))


@pytest.fixture
def asking(connection: Connection, worker: ManualWorker, alice: Connection) -> int:
    """A run of alice that offers two reformulations."""
    return ask_back(worker, enter(connection, alice.info.user, history=HISTORY))


class TestReply:
    def test_in_words_is_a_run_that_names_the_run_it_replies_to(
        self, worker: ManualWorker, alice: Connection, asking: int
    ) -> None:
        run = submit(alice, "reply", run_id=asking, reply=" the second\n")

        assert (run["parent_run_id"], run["question"], run["corpus"]) == (asking, QUESTION, "atlas")
        assert (run["settings"], run["history"]) == ({"text": "the second"}, HISTORY)
        assert turns(worker, run["run_id"]) == [
            {"question": QUESTION, "asked": ["Which?", "Which?"], "reply": "the second"}
        ]

    def test_by_choice_has_the_reformulation(self, alice: Connection, asking: int) -> None:
        run = submit(alice, "reply", run_id=asking, ordinal=2)
        assert run["settings"] == {"text": PROPOSED[1], "ordinal": 2}

    def test_can_be_made_again_and_differently(self, alice: Connection, asking: int) -> None:
        again = [
            submit(alice, "reply", run_id=asking, **said) for said in ({"reply": "x"}, {"reply": "x"}, {"ordinal": 1})
        ]
        assert len({run["run_id"] for run in again}) == 3
        assert {run["parent_run_id"] for run in again} == {asking}

    def test_a_member_of_the_role_that_asked_may(
        self, connect: Connect, make_role: MakeRole, alice: Connection, asking: int
    ) -> None:
        colleague = connect(make_role(alice.info.user))
        assert submit(colleague, "reply", run_id=asking, ordinal=1)["requested_by"] == colleague.info.user

    def test_an_analyst_of_the_corpus_may_not(
        self, connection: Connection, connect: Connect, make_role: MakeRole, asking: int
    ) -> None:
        analyst = connect(make_role("pgclarify_user"))
        connection.execute("select pgclarify.grant_access('atlas', %s, 'analyst')", [analyst.info.user])
        assert refused(analyst, "reply", run_id=asking, reply="x") == "42501"

    def test_a_reply_whose_run_is_deleted_fails_its_worker(
        self, connection: Connection, worker: ManualWorker, alice: Connection, asking: int
    ) -> None:
        run = submit(alice, "reply", run_id=asking, reply="x")
        connection.execute("delete from pgclarify_private.run where run_id = %s", [asking])
        with pytest.raises(psycopg.errors.UndefinedObject):
            turns(worker, run["run_id"])


class TestSplitOfAClosedDocument:
    """Readings of two documents are split, and then one is closed to the role that asked."""

    HIDDEN = "Who wrote the Wyvernquartz?"

    @pytest.fixture
    def split(self, connection: Connection, worker: ManualWorker, alice: Connection) -> int:
        connection.execute("select pgclarify.add_document('atlas', 'novel', 'The Wyvernquartz is a novel.')")
        worker.index_everything()
        run_id = enter(connection, alice.info.user, form="split", check="none")
        assert worker.start(run_id) is not None
        passages = dict(connection.execute("select document_id, id from pgclarify.passage").fetchall())
        found = []
        for place, (document_id, text) in enumerate([("novel", self.HIDDEN), ("berth", PROPOSED[0])], start=1):
            worker.record_candidates(
                run_id, {"rank": place, "document_id": document_id, "passage_id": passages[document_id]}
            )
            cited = {"candidate_rank": place, "is_medoid": True, "quote": "The", "start_char": 0, "end_char": 3}
            asked = {"ordinal": place, "reformulation": text, "clarifying_question": f"{text}?", "citations": [cited]}
            found.append(asked)
        worker.record_results(run_id, "clarifying_question", *found)
        worker.finish(run_id)
        return run_id

    def close(self, connection: Connection, *document_ids: str) -> None:
        connection.execute(
            "update pgclarify_private.document set readers = '{}' where id = any(%s)", [list(document_ids)]
        )

    def test_it_cannot_be_chosen(self, connection: Connection, alice: Connection, split: int) -> None:
        assert submit(alice, "reply", run_id=split, ordinal=1)["settings"]["text"] == self.HIDDEN
        self.close(connection, "novel")
        with pytest.raises(psycopg.errors.InvalidParameterValue) as raised:
            submit(alice, "reply", run_id=split, ordinal=1)
        assert raised.value.diag.message_detail == "Its reformulations are 2."
        # The other one keeps its ordinal.
        assert submit(alice, "reply", run_id=split, ordinal=2)["settings"]["text"] == PROPOSED[0]
        self.close(connection, "novel", "berth")
        assert refused(alice, "reply", run_id=split, reply="x") == NOT_READY

    def test_a_model_is_not_told_of_it(
        self, connection: Connection, worker: ManualWorker, alice: Connection, split: int
    ) -> None:
        self.close(connection, "novel")
        asked = f"{PROPOSED[0]}?"
        replied: int = submit(alice, "reply", run_id=split, reply="the price")["run_id"]
        assert [turn["asked"] for turn in turns(worker, replied)] == [[asked]]
        worker.record_results(replied, "rewriting", {"rewritten": "THE PRICE"})
        worker.finish(replied)
        run = submit(alice, "clarifying_questions", reply=replied)
        assert run["history"] == [QUESTION, asked, "the price"]


class TestRefusedReply:
    @parametrize_in_one_test(
        "said", [{}, {"reply": "x", "ordinal": 1}, {"reply": " \n"}, {"reply": "x" * 10001}, {"ordinal": 3}]
    )
    def test_a_reply_has_words_or_the_ordinal_of_a_reformulation(
        self, alice: Connection, asking: int, said: dict[str, Any]
    ) -> None:
        assert refused(alice, "reply", run_id=asking, **said) == WRONG

    def test_a_proposal_without_a_reformulation_cannot_be_chosen(
        self, connection: Connection, worker: ManualWorker, alice: Connection
    ) -> None:
        run_id = ask_back(worker, enter(connection, alice.info.user, form="respond"), [None])
        assert refused(alice, "reply", run_id=run_id, ordinal=1) == WRONG

    def test_there_must_be_questions(self, connection: Connection, worker: ManualWorker, alice: Connection) -> None:
        answered = enter(connection, alice.info.user, operation="clarify")
        worker.answer(answered)
        nothing = ask_back(worker, enter(connection, alice.info.user), [])
        for run_id in (answered, nothing):
            assert refused(alice, "reply", run_id=run_id, reply="x") == NOT_READY

    def test_the_run_must_be_over_and_not_failed(
        self, connection: Connection, worker: ManualWorker, alice: Connection
    ) -> None:
        run_id = enter(connection, alice.info.user)
        assert refused(alice, "reply", run_id=run_id, reply="x") == NOT_READY
        worker.start(run_id)
        worker.finish(run_id, 1, "failed", "the model is gone")
        assert refused(alice, "reply", run_id=run_id, reply="x") == "PC003"

    def test_the_corpus_must_still_be_open_to_the_caller(
        self, connection: Connection, connect: Connect, make_role: MakeRole, alice: Connection, asking: int
    ) -> None:
        readers = "update pgclarify_private.corpus set readers = %s"
        connection.execute(readers, [[make_role(name="boss")]])
        assert refused(alice, "reply", run_id=asking, reply="x") == "42501"
        connection.execute("select pgclarify.drop_corpus('atlas')")
        assert refused(alice, "reply", run_id=asking, reply="x") == NOT_READY


class TestGoingOn:
    def test_asks_back_about_the_question_of_the_reply(
        self, worker: ManualWorker, alice: Connection, asking: int
    ) -> None:
        replied = reply(alice, worker, asking)
        run = submit(alice, "clarifying_questions", reply=replied, form="select")

        assert (run["parent_run_id"], run["question"], run["corpus"]) == (replied, "THE SECOND", "atlas")
        assert run["history"] == [*HISTORY, QUESTION, "Which?\nWhich?", "the second"]
        assert "reply" not in run["settings"]

    def test_a_later_reply_has_all_turns_and_the_first_question(
        self, worker: ManualWorker, alice: Connection, asking: int
    ) -> None:
        first = reply(alice, worker, asking)
        later = ask_back(worker, submit(alice, "clarifying_questions", reply=first)["run_id"], ["A?"])
        run = submit(alice, "reply", run_id=later, reply="no")

        assert run["history"] == HISTORY
        assert turns(worker, run["run_id"]) == [
            {"question": QUESTION, "asked": ["Which?", "Which?"], "reply": "the second"},
            {"question": QUESTION, "asked": ["Which?"], "reply": "no"},
        ]

    def test_turns_that_were_deleted_are_still_in_the_history(
        self, connection: Connection, worker: ManualWorker, alice: Connection, asking: int
    ) -> None:
        first = reply(alice, worker, asking)
        later = ask_back(worker, submit(alice, "clarifying_questions", reply=first)["run_id"], ["A?"])
        connection.execute("delete from pgclarify_private.run where run_id = %s", [asking])
        run = submit(alice, "reply", run_id=later, reply="no")

        assert run["history"] == [*HISTORY, QUESTION, "Which?\nWhich?", "the second"]
        assert turns(worker, run["run_id"]) == [{"question": "THE SECOND", "asked": ["Which?"], "reply": "no"}]

    def test_ends_when_the_run_that_asked_back_is_deleted(
        self, connection: Connection, worker: ManualWorker, alice: Connection, asking: int
    ) -> None:
        replied = reply(alice, worker, asking)
        connection.execute("delete from pgclarify_private.run where run_id = %s", [asking])
        assert refused(alice, "clarifying_questions", reply=replied) == NOT_READY

    def test_stays_in_the_part_of_the_corpus_that_was_asked(
        self, connection: Connection, worker: ManualWorker, alice: Connection
    ) -> None:
        asked = {"year": 2026, "lang": None}
        replied = reply(alice, worker, ask_back(worker, enter(connection, alice.info.user, filter=asked)))
        assert submit(alice, "clarifying_questions", reply=replied)["settings"]["filter"] == asked
        other = {"year": 2025}
        assert submit(alice, "clarifying_questions", reply=replied, filter=other)["settings"]["filter"] == other

    def test_ends_after_three_turns(self, worker: ManualWorker, alice: Connection, asking: int) -> None:
        for _ in range(2):
            replied = reply(alice, worker, asking)
            asking = ask_back(worker, submit(alice, "clarifying_questions", reply=replied)["run_id"])
        assert refused(alice, "clarifying_questions", reply=reply(alice, worker, asking)) == NOT_READY

    def test_its_history_is_no_longer_than_any(
        self, connection: Connection, worker: ManualWorker, alice: Connection
    ) -> None:
        said = [f"{number}" for number in range(100)]
        long = ask_back(worker, enter(connection, alice.info.user, "x" * 12000, history=said))
        run = submit(alice, "clarifying_questions", reply=reply(alice, worker, long))
        assert run["history"] == [*said[3:], "x" * 10000, "Which?\nWhich?", "the second"]

    def test_keeps_its_question_its_corpus_and_its_history(
        self, worker: ManualWorker, alice: Connection, asking: int
    ) -> None:
        replied = reply(alice, worker, asking)
        for given in ({"corpus": "atlas"}, {"history": HISTORY}):
            assert refused(alice, "clarifying_questions", reply=replied, **given) == WRONG
        ask = "select pgclarify.clarifying_questions('x', options => %s)"
        assert sqlstate_of(alice, ask, [json.dumps({"reply": replied})]) == WRONG

    def test_without_a_corpus_it_stays_without_one(
        self, connection: Connection, worker: ManualWorker, alice: Connection
    ) -> None:
        run_id = ask_back(worker, enter(connection, alice.info.user, has_corpus=False))
        alice.execute("set pgclarify.corpus = 'atlas'")
        replied = reply(alice, worker, run_id)
        assert refused(alice, "clarifying_questions", reply=replied, form="select") == WRONG
        assert submit(alice, "clarifying_questions", reply=replied)["corpus"] is None

    def test_does_not_switch_to_another_corpus(
        self, connection: Connection, worker: ManualWorker, alice: Connection, asking: int
    ) -> None:
        replied = reply(alice, worker, asking)
        connection.execute("select pgclarify.drop_corpus('atlas')")
        connection.execute(MAKE_OPEN_CORPUS, ["atlas"])
        assert refused(alice, "clarifying_questions", reply=replied) == NOT_READY

    def test_goes_on_from_a_reply_only(self, alice: Connection, asking: int) -> None:
        assert refused(alice, "clarifying_questions", reply=asking) == NOT_READY

    def test_goes_on_from_nothing_of_another_role(
        self, connect: Connect, make_role: MakeRole, worker: ManualWorker, alice: Connection, asking: int
    ) -> None:
        replied = reply(alice, worker, asking)
        stranger = connect(make_role("pgclarify_user"))
        assert refused(stranger, "clarifying_questions", reply=replied) == UNDEFINED_OBJECT


@parametrize_in_one_test(
    "options", ['{"form": "select", "check": "none", "top_k": 3}', '{"method": "dense"}', '{"check": "mark"}']
)
def test_options_of_the_check_are_refused_without_a_check(alice: Connection, options: str) -> None:
    assert sqlstate_of(alice, "select pgclarify.clarifying_questions('x', options => %s)", [options]) == WRONG
