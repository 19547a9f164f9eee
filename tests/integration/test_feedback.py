"""Feedback: who may rate which reading, what a rating keeps, who sees it, and what hides and erases it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.erasing import CANARY, CORPUS, SECRET, alice, carry_out, erase, places, worker
from tests.integration.manual_worker import ManualWorker
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.integration.stored_answers import rows
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of

__all__ = ["alice", "worker"]

pytestmark = pytest.mark.rolled_back

WRONG_VALUE, NOT_READY, NO_SUCH_OBJECT, NOT_ALLOWED, READ_ONLY = "22023", "55000", "42704", "42501", "25006"
VIEW = "select * from pgclarify.feedback order by feedback_id"


def give(session: Connection, run_id: int, **given: object) -> bool:
    named = ", ".join(f"{name} => %s" for name in given)
    return bool(scalar(session, f"select pgclarify.give_feedback(%s, {named})", run_id, *given.values()))


def refusal(session: Connection, run_id: int, **given: object) -> str | None:
    named = ", ".join(f"{name} => %s" for name in given)
    return sqlstate_of(session, f"select pgclarify.give_feedback(%s, {named})", [run_id, *given.values()])


def seen(session: Connection, *columns: str) -> list[tuple[Any, ...]]:
    statement = f"select {', '.join(columns)} from pgclarify.feedback order by feedback_id"  # noqa: S608 - names
    return session.execute(statement.encode()).fetchall()


@pytest.fixture
def run_id(alice: Connection, worker: ManualWorker) -> int:
    """A run with two readings, both represented by the secret document; the first one cites the open one, too."""
    return carry_out(alice, worker)


class TestWhatItKeeps:
    def test_question_reading_answer_documents_and_what_judged(
        self, alice: Connection, worker: ManualWorker, run_id: int
    ) -> None:
        assert give(alice, run_id, ordinal=1, rating="wrong", comment=" Too much. ", person=" Ann ")

        (rating,) = rows(alice, VIEW)
        asked = scalar(alice, "select question from pgclarify.run where run_id = %s", run_id)
        model, version = alice.execute("select model, prompt_version from pgclarify.run").fetchone() or (None, None)
        kept = {
            "run_id": run_id, "corpus": CORPUS, "question": asked, "history": [], "is_of_part": False, "ordinal": 1,
            "interpretation": f"What does {CANARY} cost?", "answer": f"{CANARY} 12", "document_ids": [SECRET, "open"],
            "rating": "wrong", "comment": "Too much.", "missing": None, "person": "Ann", "model": model,
            "prompt_version": version, "probability": None, "requested_by": alice.info.user,
            "given_by": alice.info.user,
        }  # fmt: skip
        assert {name: rating[name] for name in kept} == kept
        assert model is not None

    def test_the_probability_of_the_proof(
        self, connection: Connection, alice: Connection, worker: ManualWorker, run_id: int
    ) -> None:
        connection.execute("update pgclarify_private.verdict set score = 0.25 where quote ~ %s", [CANARY])
        give(alice, run_id, ordinal=2, rating="right")
        assert seen(alice, "probability") == [(0.25,)]

    def test_a_missing_answer_has_no_reading(self, alice: Connection, run_id: int) -> None:
        assert give(alice, run_id, missing="\n13 dollars ", comment="as of May")
        assert seen(alice, "ordinal", "rating", "answer", "document_ids", "missing", "comment") == [
            (None, None, None, [], "13 dollars", "as of May")
        ]

    def test_whether_the_question_was_for_a_part_of_the_corpus(self, alice: Connection, worker: ManualWorker) -> None:
        for part in ('{"filter": {"year": 2025}}', '{"document_ids": ["open"]}', '{"top_k": 3}'):
            run_id = int(scalar(alice, "select pgclarify.submit('clarify', 'vans', %s, %s)", CORPUS, part))
            assert worker.start(run_id) is not None
            worker.finish(run_id)
            give(alice, run_id, missing="Nine.")
        assert seen(alice, "is_of_part") == [(True,), (True,), (False,)]

    def test_a_follow_up_keeps_what_was_said_before(self, alice: Connection, worker: ManualWorker) -> None:
        options = '{"history": ["Who may drive?", "His daughter."]}'
        run_id = int(scalar(alice, "select pgclarify.submit('clarify', 'And when?', %s, %s)", CORPUS, options))
        assert worker.start(run_id) is not None
        worker.finish(run_id)
        give(alice, run_id, missing="At night.")
        assert seen(alice, "history") == [(["Who may drive?", "His daughter."],)]


class TestOneForEach:
    def test_role_person_and_reading(self, alice: Connection, run_id: int) -> None:
        for given in (
            {"ordinal": 1, "rating": "right"}, {"ordinal": 2, "rating": "useless"},
            {"ordinal": 1, "rating": "wrong", "person": "Ann"}, {"missing": "13"}, {"missing": "14", "person": "Ann"},
        ):  # fmt: skip
            assert give(alice, run_id, **given)
            assert not give(alice, run_id, **given)
        assert seen(alice, "ordinal", "rating", "person", "missing") == [
            (1, "right", None, None), (2, "useless", None, None), (1, "wrong", "Ann", None), (None, None, None, "13"),
            (None, None, "Ann", "14"),
        ]  # fmt: skip

    def test_given_again_it_replaces_and_null_removes(self, alice: Connection, run_id: int) -> None:
        give(alice, run_id, ordinal=1, rating="right", comment="Yes.")
        assert give(alice, run_id, ordinal=1, rating="wrong")
        assert seen(alice, "rating", "comment") == [("wrong", None)]
        give(alice, run_id, missing="13")
        assert give(alice, run_id, missing="14")
        assert seen(alice, "rating", "missing") == [("wrong", None), (None, "14")]
        assert give(alice, run_id, ordinal=1)
        assert not give(alice, run_id, ordinal=1, rating=None, comment=" ")
        assert give(alice, run_id, ordinal=None)
        assert not give(alice, run_id, missing=None)
        assert seen(alice, "rating") == []

    def test_it_outlives_its_run_and_its_corpus(self, connection: Connection, alice: Connection, run_id: int) -> None:
        for person in ("Ann", "Ben"):
            give(alice, run_id, ordinal=1, rating="right", person=person)
        connection.execute("delete from pgclarify_private.run")
        assert seen(alice, "run_id", "rating") == [(None, "right")] * 2
        alice.execute("select pgclarify.drop_corpus(%s)", [CORPUS])
        connection.execute("update pgclarify_private.feedback set corpus_id = null")
        assert seen(alice, "corpus_id", "corpus") == [(None, CORPUS)] * 2


@parametrize_in_one_test(
    "given, sqlstate",
    [
        ({"ordinal": 1, "rating": "Right"}, WRONG_VALUE),
        ({"ordinal": 1, "rating": ""}, WRONG_VALUE),
        ({"ordinal": 3, "rating": "right"}, WRONG_VALUE),
        ({"ordinal": 0, "rating": "right"}, WRONG_VALUE),
        ({"ordinal": 0}, WRONG_VALUE),
        ({"rating": "right"}, WRONG_VALUE),
        ({"rating": "right", "missing": "13"}, WRONG_VALUE),
        ({"ordinal": 1, "missing": "13"}, WRONG_VALUE),
        ({"ordinal": 1, "rating": "wrong", "missing": "13"}, WRONG_VALUE),
        ({"ordinal": 1, "comment": "Why?"}, WRONG_VALUE),
        ({"comment": "Why?"}, WRONG_VALUE),
        ({"missing": " \n"}, WRONG_VALUE),
        ({"missing": "x" * 10_001}, WRONG_VALUE),
        ({"ordinal": 1, "rating": "wrong", "comment": "x" * 10_001}, WRONG_VALUE),
        ({"ordinal": 1, "rating": "wrong", "person": "x" * 201}, WRONG_VALUE),
    ],
)
def test_what_is_no_rating_is_refused(alice: Connection, run_id: int, given: dict[str, object], sqlstate: str) -> None:
    assert refusal(alice, run_id, **given) == sqlstate
    assert seen(alice, "rating") == []


def test_nothing_is_removed_by_an_ordinal_of_no_reading(alice: Connection, run_id: int) -> None:
    give(alice, run_id, missing="13")
    assert refusal(alice, run_id, ordinal=0) == WRONG_VALUE
    assert not give(alice, run_id, ordinal=9)
    assert seen(alice, "missing") == [("13",)]


def test_only_readings_of_a_run_that_is_over_are_rated(alice: Connection, worker: ManualWorker) -> None:
    queued = int(scalar(alice, "select pgclarify.submit('clarify', 'vans', %s)", CORPUS))
    listed = int(scalar(alice, "select pgclarify.submit('list_answers', 'vans', %s)", CORPUS))
    assert worker.start(listed) is not None
    worker.finish(listed)
    assert refusal(alice, queued, ordinal=1, rating="right") == NOT_READY
    assert refusal(alice, listed, missing="9") == NOT_READY
    alice.execute("select pgclarify.cancel(array[%s]::bigint[])", [queued])
    assert refusal(alice, queued, missing="9") == NOT_READY
    assert refusal(alice, 987654321, missing="9") == NO_SUCH_OBJECT
    assert refusal(alice, None, missing="9") == NO_SUCH_OBJECT  # type: ignore[arg-type]


class TestWhoMay:
    def test_a_stranger_neither_rates_nor_sees(
        self, alice: Connection, connect: Connect, make_role: MakeRole, run_id: int
    ) -> None:
        give(alice, run_id, ordinal=1, rating="right")
        stranger = connect(make_role("pgclarify_user"))
        for given in ({"ordinal": 1, "rating": "wrong"}, {"ordinal": 1}, {"missing": "13"}):
            assert refusal(stranger, run_id, **given) == NO_SUCH_OBJECT
        assert seen(stranger, "rating") == []
        assert seen(alice, "rating") == [("right",)]

    def test_a_dashboards_role_sees_all_of_its_corpus_and_writes_nothing(
        self, alice: Connection, connect: Connect, make_role: MakeRole, run_id: int
    ) -> None:
        give(alice, run_id, ordinal=1, rating="right")
        dashboard = make_role("pgclarify_reader")
        alice.execute("select pgclarify.grant_access(%s, %s, 'analyst')", [CORPUS, dashboard])
        reading = connect(dashboard)
        assert seen(reading, "rating") == [("right",)]
        for given in ({"ordinal": 1, "rating": "wrong"}, {"ordinal": 1}):
            assert refusal(reading, run_id, **given) == NOT_ALLOWED
        alice.execute("select pgclarify.revoke_access(%s, %s, 'analyst')", [CORPUS, dashboard])
        assert seen(reading, "rating") == []

    def test_a_group_role_rates_nothing(self, alice: Connection, run_id: int) -> None:
        alice.execute("set role pgclarify_user")
        assert refusal(alice, run_id, missing="9") == NOT_ALLOWED
        alice.execute("reset role")

    def test_a_member_has_ratings_of_its_own_until_it_loses_the_role(
        self, connection: Connection, alice: Connection, connect: Connect, make_role: MakeRole, run_id: int
    ) -> None:
        name = make_role(alice.info.user)
        member = connect(name)
        give(alice, run_id, ordinal=1, rating="right")
        assert give(member, run_id, ordinal=1, rating="wrong", comment=f"{CANARY}: 13")
        assert seen(member, "rating") == [("right",), ("wrong",)]
        # The role that asked has not the rights of its members.
        assert seen(alice, "rating") == [("right",)]
        assert give(member, run_id, ordinal=1)
        assert give(member, run_id, ordinal=1, rating="useless")
        connection.execute(f"revoke {alice.info.user} from {name}".encode())
        connection.execute(f"grant pgclarify_user to {name}".encode())
        assert seen(member, "rating") == []
        assert refusal(member, run_id, ordinal=1) == NO_SUCH_OBJECT

    def test_what_an_analyst_says_is_not_shown_to_who_asked(
        self, alice: Connection, connect: Connect, make_role: MakeRole, run_id: int
    ) -> None:
        name = make_role("pgclarify_user")
        alice.execute("select pgclarify.grant_access(%s, %s, 'analyst')", [CORPUS, name])
        analyst = connect(name)
        give(analyst, run_id, missing="The board says 14.")
        assert seen(analyst, "missing") == [("The board says 14.",)]
        assert seen(alice, "missing") == []
        alice.execute("select pgclarify.revoke_access(%s, %s, 'analyst')", [CORPUS, name])
        assert seen(analyst, "missing") == []

    def test_nothing_is_stored_in_a_read_only_transaction(self, alice: Connection, run_id: int) -> None:
        with alice.transaction():
            alice.execute("set transaction read only")
            assert refusal(alice, run_id, missing="9") == READ_ONLY


class TestWithheld:
    """A rating of a reading of the open document alone, and a missing answer, of a run that also found the secret."""

    @pytest.fixture
    def asker(
        self, alice: Connection, connect: Connect, make_role: MakeRole, worker: ManualWorker
    ) -> tuple[Connection, int]:
        name = make_role("pgclarify_user")
        alice.execute("select pgclarify.grant_access(%s, %s)", [CORPUS, name])
        asker = connect(name)
        run_id = carry_out(asker, worker)
        give(asker, run_id, ordinal=1, rating="right", comment=CANARY)
        give(asker, run_id, missing=CANARY)
        assert len(seen(asker, "rating")) == 2
        return asker, run_id

    def test_when_a_document_gets_other_readers(self, alice: Connection, asker: tuple[Connection, int]) -> None:
        alice.execute("select pgclarify.add_document(%s, %s, 'Other.', readers => '{nobody}')", [CORPUS, SECRET])
        session, run_id = asker
        assert seen(session, "rating") == []
        # Both readings are represented by the closed document.
        assert refusal(session, run_id, ordinal=1, rating="wrong") == WRONG_VALUE
        assert refusal(session, run_id, ordinal=9, rating="wrong") == WRONG_VALUE

    def test_also_if_it_is_not_cited_and_after_the_run_is_gone(
        self, connection: Connection, alice: Connection, asker: tuple[Connection, int]
    ) -> None:
        connection.execute("delete from pgclarify_private.citation where document_id = 'open'")
        connection.execute("delete from pgclarify_private.run")
        assert len(seen(asker[0], "rating")) == 2
        alice.execute("select pgclarify.add_document(%s, 'open', 'Other.', readers => '{nobody}')", [CORPUS])
        assert seen(asker[0], "rating") == []

    def test_also_if_only_a_reply_that_was_used_again_has_its_words(
        self, connection: Connection, alice: Connection, asker: tuple[Connection, int]
    ) -> None:
        session, run_id = asker
        alice.execute("select pgclarify.add_document(%s, 'third', 'Other.')", [CORPUS])
        connection.execute("update pgclarify_private.verdict set leans_on = '{third}' where leans_on is null")
        give(session, run_id, missing=None)
        give(session, run_id, ordinal=1, rating=None)
        give(session, run_id, ordinal=1, rating="wrong")
        give(session, run_id, missing=CANARY)
        assert len(seen(session, "rating")) == 2
        alice.execute("select pgclarify.add_document(%s, 'third', 'Other.', readers => '{nobody}')", [CORPUS])
        assert seen(session, "rating") == []
        erase(alice, "third")
        assert scalar(connection, "select count(*) from pgclarify_private.feedback") == 0

    def test_by_a_fence(self, alice: Connection, asker: tuple[Connection, int]) -> None:
        session, _ = asker
        alice.execute(
            'select pgclarify.grant_access(%s, %s, filter => \'{"tenant": "acme"}\')', [CORPUS, session.info.user]
        )
        assert seen(session, "rating") == []


class TestErased:
    def test_nothing_has_its_words_any_more(
        self, connection: Connection, alice: Connection, worker: ManualWorker, run_id: int
    ) -> None:
        give(alice, run_id, ordinal=1, rating="wrong", comment=CANARY, person="Ann")
        give(alice, run_id, missing=CANARY)
        told = {"feedback.interpretation", "feedback.answer", "feedback.comment", "feedback.missing"}
        assert told <= places(connection)

        erase(alice)

        assert places(connection) == set()
        assert seen(alice, "rating") == []

    def test_with_a_document_that_was_found_and_not_cited_after_the_run_is_gone(
        self, connection: Connection, alice: Connection, worker: ManualWorker, run_id: int
    ) -> None:
        give(alice, run_id, missing="Open says 14.")
        connection.execute("delete from pgclarify_private.run")
        connection.execute("select pgclarify.create_corpus('other'), pgclarify.add_document('other', 'open', 'Cars.')")
        connection.execute("select pgclarify.erase_document('other', 'open')")
        assert seen(alice, "missing") == [("Open says 14.",)]
        erase(alice, "open")
        assert seen(alice, "missing") == []
