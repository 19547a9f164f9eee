"""Asking back from end to end: a real worker, a model server, and conversations of up to three turns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from threading import Event
from typing import Any

import psycopg
import pytest

from tests.integration.answering import rows
from tests.integration.by_hand import Connection, at_once, state_of
from tests.openai_rules.questioning import SUBJECTS, reformulated, reformulation
from tests.openai_server import Chat, Reply, Server, by_rules
from tests.workers import CORPUS, DOCUMENTS, Service, scalar

# No document has a word of it.
QUESTION = "zebra"
LEXICAL = '"method": "lexical", "count": 5'
ASK = "select * from pgclarify.clarifying_questions(%s, options => %s)"
UNCHECKED = '{"check": "none", "count": 5}'


def ask(connection: Connection, options: str = "{}", question: str | None = QUESTION) -> list[dict[str, Any]]:
    return rows(connection, ASK, question, options)


def reply(connection: Connection, run_id: int, text: str) -> dict[str, Any]:
    (row,) = rows(connection, "select * from pgclarify.reply(%s, %s)", run_id, text)
    return row


def failing(purpose: str) -> Any:
    """A model that fails for one purpose."""

    def behave(chat: Chat) -> Reply:
        return Reply.error(403) if chat.purpose == purpose else by_rules(chat)

    return behave


@pytest.fixture
def other(service: Service) -> Iterator[Connection]:
    """Another session of the role that asks."""
    with closing(service.connect(service.asker)) as connection:
        yield connection


class TestProposals:
    def test_a_question_that_no_document_answers_is_not_asked(self, asker: Connection, model: Server) -> None:
        found = ask(asker, f"{{{LEXICAL}}}")

        assert [(row["ordinal"], row["ambiguity_type"], row["clarifying_question"]) for row in found] == [
            (1, "semantic", f"Is it about {SUBJECTS[0]}?"),
            (2, "specify", f"Is it about {SUBJECTS[1]}?"),
        ]
        for subject, row in zip(SUBJECTS, found, strict=False):
            assert row["reformulation"] == reformulation(QUESTION, subject)
            assert row["is_answerable"] is True
            assert row["reasoning"].startswith("It may be")
            assert row["document_ids"] == [citation["document_id"] for citation in row["citations"]]
            for citation in row["citations"]:
                title, content = DOCUMENTS[int(citation["document_id"])]
                assert content[citation["start_char"] : citation["end_char"]] == citation["quote"]
                assert (citation["title"], citation["is_current"]) == (title, True)
        assert found[0]["document_ids"][0] == "102"
        (run,) = rows(asker, "select * from pgclarify.run where run_id = %s", found[0]["run_id"])
        assert (run["status"], run["stop_reason"]) == ("succeeded", "1 proposal left out that no document answers")

    def test_check_mark_returns_unanswerable_questions_marked(self, asker: Connection, model: Server) -> None:
        found = ask(asker, f'{{{LEXICAL}, "check": "mark"}}')
        assert [row["is_answerable"] for row in found] == [True, True, False]
        assert (found[2]["document_ids"], found[2]["citations"]) == ([], [])
        listed = rows(
            asker,
            "select * from pgclarify.clarifying_question where run_id = %s order by ordinal",
            found[0]["run_id"],
        )
        assert [(row["reformulation"], row["is_answerable"]) for row in listed] == [
            (row["reformulation"], row["is_answerable"]) for row in found
        ]
        assert [row["documents"] for row in listed] == [len(row["document_ids"]) for row in found]
        assert {(row["corpus"], row["question"], row["form"]) for row in listed} == {(CORPUS, QUESTION, "respond")}

    def test_questions_can_be_asked_back_without_a_corpus(self, asker: Connection, model: Server) -> None:
        (run_id,) = {row["run_id"] for row in ask(asker, UNCHECKED)}
        assert rows(asker, "select corpus from pgclarify.run where run_id = %s", run_id) == [{"corpus": None}]
        assert not scalar(asker, "select count(*) from pgclarify.candidate where run_id = %s", run_id)

    def test_asking_again_serves_the_stored_questions(self, asker: Connection, model: Server) -> None:
        first = ask(asker, question="gnu")
        calls = model.calls
        assert ask(asker, question="gnu") == first
        # A later call with the reformulation finds its verdicts in the ledger.
        assert first
        asker.execute(b"select from pgclarify.clarify(%s, top_k => 4)", [first[0]["reformulation"]])
        assert model.calls == calls + 1


class TestConversation:
    def test_a_conversation_has_three_turns_and_no_more(self, asker: Connection, model: Server) -> None:
        """Replies by words, by choice, and by words that reject all choices."""
        (run_id,) = {row["run_id"] for row in ask(asker, UNCHECKED)}
        first = reply(asker, run_id, " the second \n")
        assert first["question"] == reformulated(QUESTION, "the second")

        talk = f'"conversation": {first["conversation_id"]}'
        offered = ask(asker, f'{{"check": "none", "form": "select", {talk}}}', question=None)
        (second,) = rows(asker, "select * from pgclarify.reply(%s, ordinal => 1)", offered[0]["run_id"])
        assert second["question"] == offered[0]["reformulation"] == reformulation(first["question"], SUBJECTS[0])

        # A reply may repeat the question.
        options = f'{{"check": "none", "form": "select", {talk}}}'
        offered = ask(asker, options, question=second["question"])
        assert all(SUBJECTS[0] not in row["reformulation"].split(", for ")[0] for row in offered)
        third = reply(asker, offered[0]["run_id"], "neither")
        assert third["question"] == reformulated(QUESTION, "the second", second["question"], "neither")
        assert [(turn["turn"], turn["turns_left"]) for turn in (first, second, third)] == [(1, 2), (2, 1), (3, 0)]

        turns = rows(
            asker,
            "select form, asked, reply, question from pgclarify.conversation_turn where conversation_id = %s"
            " order by ordinal",
            first["conversation_id"],
        )
        assert [turn["form"] for turn in turns] == ["respond", "select", "respond"]
        assert turns[0]["asked"].splitlines() == [f"Is it about {subject}?" for subject in SUBJECTS]
        assert turns[2]["asked"].splitlines() == [row["reformulation"] for row in offered]
        history = rows(asker, "select history from pgclarify.run where run_id = %s", offered[0]["run_id"])
        assert history[0]["history"] == [
            QUESTION, turns[0]["asked"], "the second", turns[1]["asked"], turns[1]["reply"]
        ]  # fmt: skip
        assert state_of(asker, ASK, [None, options]) == "55000"

    def test_two_replies_at_once_store_one_turn(self, asker: Connection, other: Connection, model: Server) -> None:
        first = reply(asker, ask(asker, UNCHECKED)[0]["run_id"], "the third")
        options = f'{{"check": "none", "conversation": {first["conversation_id"]}}}'
        run_id = ask(asker, options, question=None)[0]["run_id"]
        calls = model.calls
        ended = at_once(lambda: reply(asker, run_id, "this"), lambda: reply(other, run_id, "that"))
        assert sorted(ended, key=str) == ["55000", None]
        # The refused reply makes no model call.
        assert model.calls == calls + 1

    @pytest.mark.parametrize("level", ["repeatable read", "serializable"])
    def test_a_conversation_goes_on_in_a_frozen_snapshot(self, asker: Connection, model: Server, level: str) -> None:
        run_id = ask(asker, UNCHECKED)[0]["run_id"]
        with asker.transaction():
            asker.execute(f"set transaction isolation level {level}".encode())
            turn = reply(asker, run_id, level)
        assert turn["question"] == reformulated(QUESTION, level)
        assert (
            scalar(asker, "select count(*) from pgclarify.conversation_turn where question = %s", turn["question"]) == 1
        )

    def test_a_reply_that_takes_too_long_is_there_later(self, asker: Connection, model: Server) -> None:
        run_id = ask(asker, UNCHECKED)[0]["run_id"]
        is_over = Event()

        def behave(chat: Chat) -> Reply:
            is_over.wait(60)
            return by_rules(chat)

        model.behavior = behave
        query = "select pgclarify.reply(%s, 'slowly', options => '{\"timeout\": \"50ms\"}')"
        with pytest.raises(psycopg.Error) as late:
            asker.execute(query.encode(), [run_id])
        is_over.set()
        assert late.value.sqlstate == "PC002"
        # It makes a turn, here of a new conversation.
        assert "Then reply again in the same words: that makes a turn of it" in (late.value.diag.message_hint or "")
        rows(
            asker,
            "select * from pgclarify.wait(array(select run_id from pgclarify.run where parent_run_id = %s))",
            run_id,
        )
        calls = model.calls
        assert reply(asker, run_id, "slowly")["question"] == reformulated(QUESTION, "slowly")
        assert model.calls == calls

    def test_a_model_that_makes_no_question_of_it(self, asker: Connection, model: Server) -> None:
        run_id = ask(asker, UNCHECKED)[0]["run_id"]
        model.behavior = failing("reformulation")
        assert state_of(asker, "select pgclarify.reply(%s, 'in vain')", [run_id]) == "PC003"
        assert not scalar(asker, "select count(*) from pgclarify.conversation_turn where run_id = %s", run_id)
