"""The Python client in a dialogue, against a real server and a real worker, blocking and awaited."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import pgclarify
from pgclarify import Client
from pgclarify.data.vocabulary import AmbiguityType
from pgclarify.errors import NotFound, NotReady
from tests.openai_rules.questioning import SUBJECTS, reformulated, reformulation
from tests.openai_server import Chat, Reply, Server, by_rules
from tests.workers import DOCUMENTS, Service, as_role

pytestmark = pytest.mark.xdist_group("dialogue_client")

SAID = ["Who fixes the dent?", "Nora Blum."]
FOLLOW_UP = "When does she have time?"
ABSTENTION = Reply('{"interpretation": null, "answer": null, "quote": null}')
CLEAR = "How high is the deductible for a rental car that is damaged by hail?"


@pytest.fixture
def client(service: Service, model: Server) -> Iterator[Client]:
    """A client of a role that may only ask."""
    with pgclarify.connect(as_role(service.dsn, service.asker)) as connected:
        yield connected


def knows_no_unicorns(chat: Chat) -> Reply:
    """A behavior: no passage is about the last subject."""
    return ABSTENTION if chat.passage is not None and SUBJECTS[-1] in chat.outside else by_rules(chat)


class TestDetecting:
    def test_a_question_without_its_antecedent(self, client: Client) -> None:
        found = client.detect_ambiguity(FOLLOW_UP)

        assert found.is_ambiguous
        assert found.probability is not None
        assert 0.0 < found.probability <= 1.0
        assert found.kind == "pragmatic"
        assert all(reason.text for reason in found.reasons)
        assert any("she" in reason.text for reason in found.reasons)

    def test_a_clear_question_has_no_kind(self, client: Client) -> None:
        found = client.detect_ambiguity(CLEAR, threshold=1.0)
        assert (found.is_ambiguous, found.kind) == (False, None)

    def test_a_corpus_speaks_too(self, client: Client) -> None:
        found = client.detect_ambiguity("rental car", corpus="rental")
        assert "corpus" in {reason.source for reason in found.reasons}
        with pytest.raises(NotFound):
            client.detect_ambiguity("rental car", corpus="no such")

    def test_many_are_told_in_order_and_as_one_is(self, client: Client) -> None:
        questions = [FOLLOW_UP, CLEAR, FOLLOW_UP]
        run_ids = client.submit_many("detect_ambiguity", questions)
        client.wait(run_ids)
        found = client.result(run_ids[0])

        assert [(one.ordinal, one.question) for one in found] == [(1, FOLLOW_UP), (2, CLEAR)]
        alone = client.detect_ambiguity(FOLLOW_UP)
        for one in found[:1]:
            assert (one.is_ambiguous, one.kind, one.reasons) == (alone.is_ambiguous, alone.kind, alone.reasons)
            assert one.probability == pytest.approx(alone.probability, abs=1e-3)


def test_the_client_rewrites_a_question(client: Client, model: Server) -> None:
    rewritten = client.rewrite(FOLLOW_UP, SAID, threshold=0.0)
    assert (rewritten.rewritten, rewritten.was_ambiguous) == ("When does Nora Blum have time?", True)

    calls = model.calls
    asked = f"  {CLEAR}"
    clear = client.rewrite(asked, SAID, threshold=1.0)
    assert (clear.rewritten, clear.was_ambiguous) == (asked, False)
    assert model.calls == calls


class TestAskingBack:
    def test_a_conversation_of_three_turns(self, client: Client, model: Server) -> None:
        model.behavior = knows_no_unicorns
        first = client.clarifying_questions("rental car", form="select")
        meant = [reformulation("rental car", subject) for subject in SUBJECTS[:2]]
        assert [one.reformulation for one in first] == meant
        assert [one.ordinal for one in first] == [1, 2]
        for one in first:
            assert isinstance(one.ambiguity_type, AmbiguityType)
            assert (one.clarifying_question, one.is_answerable) == (None, True)
            assert [citation.document_id for citation in one.citations][:1] == list(one.document_ids[:1])
            for citation in one.citations:
                _, content = DOCUMENTS[int(citation.document_id)]
                assert content[citation.start_char : citation.end_char] == citation.quote

        turn = client.reply(first[0].run_id, ordinal=2)
        assert (turn.turn, turn.question, turn.turns_left) == (1, meant[1], 2)
        assert client.reply(first[0].run_id, ordinal=2).question == meant[1]

        for ordinal in (2, 3):
            asked = client.clarifying_questions(conversation=turn.conversation_id, check="none")
            assert asked[0].clarifying_question
            before = turn
            turn = client.reply(asked[0].run_id, f"reply {ordinal}")
            assert (turn.conversation_id, turn.turn, turn.turns_left) == (before.conversation_id, ordinal, 3 - ordinal)
            assert turn.question.endswith(f"reply {ordinal}?")
        with pytest.raises(NotReady):
            client.clarifying_questions(conversation=turn.conversation_id)

    def test_a_reply_makes_the_next_question(self, client: Client) -> None:
        asked = client.clarifying_questions("rental car fees", count=2)
        turn = client.reply(asked[0].run_id, "the cleaning fee")
        assert turn.question == reformulated("rental car fees", "the cleaning fee")

    def test_unchecked_it_asks_no_corpus(self, service: Service, model: Server) -> None:
        with pgclarify.connect(as_role(service.dsn, service.asker), corpus="no such") as client:
            (*_, last) = client.clarifying_questions("dialogue", check="none")
            assert (last.is_answerable, last.document_ids, last.citations) == (None, (), ())
            with pytest.raises(NotFound):
                client.clarifying_questions("dialogue")


def test_the_client_lists_answers(client: Client) -> None:
    found = client.list_answers("What costs dollars?", max_answers=3)

    assert 1 <= len(found) <= 3
    assert [answer.ordinal for answer in found] == list(range(1, len(found) + 1))
    for answer in found:
        assert answer.variants[0] == answer.answer
        assert answer.document_ids
        for citation in answer.citations:
            _, content = DOCUMENTS[int(citation.document_id)]
            assert content[citation.start_char : citation.end_char] == citation.quote
    assert client.list_answers("zzzz qqqq?", method="lexical") == []


async def test_the_async_client_has_the_same_dialogue(service: Service, model: Server) -> None:
    async with pgclarify.connect_async(as_role(service.dsn, service.asker)) as client:
        assert (await client.detect_ambiguity(FOLLOW_UP)).is_ambiguous
        assert (await client.rewrite(CLEAR, threshold=1.0)).rewritten == CLEAR
        asked = await client.clarifying_questions("rental car", form="select")
        turn = await client.reply(asked[0].run_id, ordinal=1)
        assert turn.question == asked[0].reformulation
        assert (await client.reply(asked[0].run_id, "another")).turns_left == 2
        assert await client.list_answers("What costs dollars?", max_answers=1)
        with pytest.raises(NotFound):
            await client.result(2**40)
