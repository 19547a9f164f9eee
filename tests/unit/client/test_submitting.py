"""The statements that submit, submit_many and result send."""

from __future__ import annotations

import json

import pytest

from pgclarify.client import submitting
from pgclarify.client.scripts import Session
from pgclarify.errors import InputError
from tests.unit.client.playing import play

SESSION = Session("insurance")


def test_submit_sends_the_operation_with_its_options() -> None:
    played = play(submitting.submit(SESSION, "clarify", "cars", top_k=5), [{"run_id": 7}])
    (sent,) = played.sent
    assert (played.returned, sent.name) == (7, "client_submit")
    assert (sent.parameters["operation"], sent.parameters["question"]) == ("clarify", "cars")
    assert sent.parameters["corpus"] == "insurance"
    assert json.loads(str(sent.parameters["options"])) == {"top_k": 5}


@pytest.mark.parametrize("operation", ["consolidate", "reply", "detect_ambiguity", "rewrite"])
def test_the_corpus_of_the_client_is_not_used_where_it_is_a_choice(operation: str) -> None:
    played = play(submitting.submit(SESSION, operation), [{"run_id": 7}])
    assert played.sent[0].parameters["corpus"] is None


def test_many_questions_have_their_runs_in_order() -> None:
    played = play(submitting.submit_many(SESSION, "search", ["cars", "vans"]), [{"run_ids": [8, 7]}])
    assert played.returned == [8, 7]
    with pytest.raises(InputError):
        play(submitting.submit_many(SESSION, "search", "cars"))
