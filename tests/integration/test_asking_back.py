"""Asking back from end to end: a real worker, a model server, and conversations of up to three turns."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.manual_worker import rows_of
from tests.integration.stored_answers import rows
from tests.openai_rules.questioning import SUBJECTS, reformulated, reformulation
from tests.openai_server import Server
from tests.sessions import Connection, scalar, sqlstate_of
from tests.workers import CORPUS, DOCUMENTS

# No document has a word of it.
QUESTION = "zebra"
LEXICAL = '"form": "select", "method": "lexical"'
ASK = "select * from pgclarify.clarifying_questions(%s, options => %s)"
UNCHECKED = '{"check": "none", "count": 5}'


def ask(connection: Connection, options: str = "{}", question: str | None = QUESTION) -> list[dict[str, Any]]:
    return rows(connection, ASK, question, options)


def reply(connection: Connection, run_id: int, text: str) -> dict[str, Any]:
    (row,) = rows(connection, "select * from pgclarify.reply(%s, %s)", run_id, text)
    return row


def go_on(connection: Connection, replied: dict[str, Any]) -> list[dict[str, Any]]:
    """Ask back about the question of a reply, with reformulations to choose from."""
    return ask(connection, f'{{"check": "none", "form": "select", "reply": {replied["run_id"]}}}', question=None)


class TestProposals:
    def test_a_reformulation_that_no_document_answers_is_not_offered(self, asker: Connection, model: Server) -> None:
        found = ask(asker, f"{{{LEXICAL}}}")

        assert [(row["ordinal"], row["ambiguity_type"], row["reformulation"]) for row in found] == [
            (1, "semantic", reformulation(QUESTION, SUBJECTS[0])),
            (2, "specify", reformulation(QUESTION, SUBJECTS[1])),
        ]
        for row in found:
            assert row["clarifying_question"] is None
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

    def test_check_mark_returns_unanswerable_reformulations_marked(self, asker: Connection, model: Server) -> None:
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
        assert {(row["corpus"], row["question"], row["form"]) for row in listed} == {(CORPUS, QUESTION, "select")}

    def test_questions_to_answer_need_one_call_and_no_corpus(self, asker: Connection, model: Server) -> None:
        calls = model.calls
        (row,) = ask(asker)
        assert (row["clarifying_question"], row["reformulation"]) == (f"Is it about {SUBJECTS[0]}?", None)
        assert (row["is_answerable"], row["document_ids"], row["citations"]) == (None, [], [])
        assert model.calls == calls + 1
        run_id = row["run_id"]
        assert rows(asker, "select corpus from pgclarify.run where run_id = %s", run_id) == [{"corpus": None}]
        assert not scalar(asker, "select count(*) from pgclarify.candidate where run_id = %s", run_id)

    def test_asking_again_serves_the_stored_questions(self, asker: Connection, model: Server) -> None:
        first = ask(asker, f"{{{LEXICAL}}}", question="gnu")
        calls = model.calls
        assert ask(asker, f"{{{LEXICAL}}}", question="gnu") == first
        # A later call with the reformulation finds its verdicts in the ledger.
        assert first
        again = b"""select from pgclarify.clarify(%s, top_k => 4, options => '{"method": "lexical"}')"""
        asker.execute(again, [first[0]["reformulation"]])
        assert model.calls == calls


class TestSplit:
    QUESTION = "Which fee is charged for each day of the rental car?"

    def clarify(self, asker: Connection) -> list[dict[str, Any]]:
        return rows(asker, "select * from pgclarify.clarify(%s, %s)", self.QUESTION, CORPUS)

    def split(self, asker: Connection, options: str = "{}") -> list[dict[str, Any]]:
        asked = "select * from pgclarify.clarifying_questions(%s, %s, options => %s)"
        return rows(asker, asked, self.QUESTION, CORPUS, options)

    def test_readings_that_clarify_found_are_split_without_a_call(self, asker: Connection, model: Server) -> None:
        readings = self.clarify(asker)
        assert len(readings) > 1
        calls = model.calls
        first, second = self.split(asker)
        assert model.calls == calls
        for side in (first, second):
            assert side["clarifying_question"].startswith("Is it about ")
            assert (side["ambiguity_type"], side["is_answerable"]) == (None, True)
        documents = [document for side in (first, second) for document in side["document_ids"]]
        assert sorted(documents) == sorted({one for reading in readings for one in reading["document_ids"]})
        listed = rows(asker, "select * from pgclarify.clarifying_question where run_id = %s", first["run_id"])
        assert {one["form"] for one in listed} == {"split"}
        chosen = next(side for side in (first, second) if side["reformulation"] is not None)
        said = rows(asker, "select * from pgclarify.reply(%s, ordinal => %s)", chosen["run_id"], chosen["ordinal"])
        assert said[0]["rewritten"] == chosen["reformulation"]

    def test_another_form_or_a_count_asks_the_model(self, asker: Connection, model: Server) -> None:
        self.clarify(asker)
        for options in ('{"form": "respond"}', '{"count": 2}'):
            calls = model.calls
            assert all(row["ambiguity_type"] for row in self.split(asker, options))
            assert model.calls == calls + 1

    def test_there_have_to_be_readings_to_split(self, asker: Connection, model: Server) -> None:
        asked = "select pgclarify.clarifying_questions('never asked', %s, options => %s)"
        assert sqlstate_of(asker, asked, [CORPUS, '{"form": "split"}']) == "55000"
        assert sqlstate_of(asker, asked, [CORPUS, '{"form": "split", "check": "drop"}']) == "22023"

    def test_a_side_is_hidden_and_erased_with_the_document_whose_words_it_has(
        self, asker: Connection, model: Server, superuser: Connection
    ) -> None:
        self.clarify(asker)
        first, _ = self.split(asker)
        run_id, document_id = first["run_id"], first["document_ids"][0]
        title, content = DOCUMENTS[int(document_id)]
        seen = "select ordinal from pgclarify.clarifying_question where run_id = %s order by ordinal"
        add = "select pgclarify.add_document(%s, %s, %s, %s, readers => %s::name[])"
        superuser.execute(add, [CORPUS, document_id, content, title, [superuser.info.user]])
        assert rows(asker, seen, run_id) == [{"ordinal": 2}]
        assert [row["ordinal"] for row in rows(asker, rows_of("proposed_question"), run_id)] == [2]
        superuser.execute("select pgclarify.erase_document(%s, %s)", [CORPUS, document_id])
        assert (
            scalar(superuser, "select count(*) from pgclarify_private.clarifying_question where run_id = %s", run_id)
            == 0
        )
        superuser.execute(add, [CORPUS, document_id, content, title, None])


class TestConversation:
    def test_a_conversation_has_three_turns_and_no_more(self, asker: Connection, model: Server) -> None:
        """Replies by words, by choice, and by words that reject all choices."""
        (run_id,) = {row["run_id"] for row in ask(asker, UNCHECKED)}
        first = reply(asker, run_id, " the second \n")
        assert first["rewritten"] == reformulated(QUESTION, "the second")

        offered = go_on(asker, first)
        calls = model.calls
        (second,) = rows(asker, "select * from pgclarify.reply(%s, ordinal => 1)", offered[0]["run_id"])
        assert second["rewritten"] == offered[0]["reformulation"] == reformulation(first["rewritten"], SUBJECTS[0])
        assert model.calls == calls

        offered = go_on(asker, second)
        assert all(SUBJECTS[0] not in row["reformulation"].split(", for ")[0] for row in offered)
        third = reply(asker, offered[0]["run_id"], "neither")
        assert third["rewritten"] == reformulated(QUESTION, "the second", second["rewritten"], "neither")
        assert sqlstate_of(asker, ASK, [None, f'{{"reply": {third["run_id"]}}}']) == "55000"

    @pytest.mark.parametrize("level", ["repeatable read", "serializable"])
    def test_a_reply_in_a_frozen_snapshot(self, asker: Connection, model: Server, level: str) -> None:
        run_id = ask(asker, UNCHECKED)[0]["run_id"]
        with asker.transaction():
            asker.execute(f"set transaction isolation level {level}".encode())
            replied = reply(asker, run_id, level)
        assert replied["rewritten"] == reformulated(QUESTION, level)
