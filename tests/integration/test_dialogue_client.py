"""The Python client in a dialogue, against a real server and a real worker, blocking and awaited."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import pgclarify
from pgclarify import Client
from pgclarify.data.vocabulary import AmbiguityType
from pgclarify.errors import NotReady
from tests.openai_rules.questioning import SUBJECTS, reformulation
from tests.openai_server import Chat, Reply, Server, by_rules
from tests.workers import DOCUMENTS, Service, as_role

pytestmark = pytest.mark.xdist_group("dialogue_client")

ABSTENTION = Reply('{"interpretation": null, "answer": null, "quote": null}')


@pytest.fixture
def client(service: Service, model: Server) -> Iterator[Client]:
    """A client of a role that may only ask."""
    with pgclarify.connect(as_role(service.dsn, service.asker)) as connected:
        yield connected


def knows_no_unicorns(chat: Chat) -> Reply:
    """A behavior: no passage is about the last subject."""
    return ABSTENTION if chat.passage is not None and SUBJECTS[-1] in chat.outside else by_rules(chat)


class TestAskingBack:
    def test_a_conversation_of_two_turns(self, client: Client, model: Server) -> None:
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

        asked = client.clarifying_questions(conversation=turn.conversation_id, check="none")
        assert asked[0].clarifying_question
        later = client.reply(asked[0].run_id, "this one")
        assert (later.conversation_id, later.turn, later.turns_left) == (turn.conversation_id, 2, 1)
        with pytest.raises(NotReady):
            client.reply(asked[0].run_id, "another one")
