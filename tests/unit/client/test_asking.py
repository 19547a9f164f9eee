"""Scripts about questions and runs: the statements that they send, and the records that they make of the rows."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from pgclarify.client import asking, investigating
from pgclarify.client.records import Answer, Citation, Interpretation, RunOutcome
from pgclarify.client.scripts import Session
from pgclarify.errors import InputError
from pgclarify.vocabulary import RunStatus, StopCode
from tests.unit.client.playing import play

SESSION = Session()
CITATION: dict[str, Any] = {
    "rank": 1,
    "is_medoid": True,
    "document_id": "17",
    "title": "Coverage",
    "uri": None,
    "passage_id": 5,
    "heading": None,
    "quote": "thirty days",
    "start_char": 10,
    "end_char": 21,
    "is_current": True,
}
# Rows as the server sends them: with columns that the record has from elsewhere, or that the client does not know yet.
READING: dict[str, Any] = {
    "run_id": 3,
    "status": "succeeded",
    "ordinal": 1,
    "interpretation": "How long?",
    "answer": "thirty days",
    "support": 1,
    "cohesion": 1.0,
    "document_ids": ["17"],
    "citations": [CITATION | {"run_id": 3, "ordinal": 1, "interpretation": "How long?", "answer": "thirty days"}],
    "invented_later": 1,
    "stop_code": None,
}
RECORD = Interpretation(3, RunStatus.SUCCEEDED, 1, "How long?", "thirty days", 1, 1.0, ("17",), (Citation(**CITATION),))


def outcome(status: str) -> dict[str, Any]:
    return {
        "run_id": 3,
        "status": status,
        "error": None,
        "interpretations": None,
        "stop_reason": None,
        "cost_usd": None,
        "stop_code": None,
        "error_code": None,
    }


def test_clarify_reads_readings() -> None:
    played = play(asking.clarify(SESSION, "rental cars", top_k=5, timeout=1.5, search="dense"), [READING])

    assert played.returned == [RECORD]
    assert hash(played.returned[0])
    (statement,) = played.sent
    assert statement.parameters == {
        "question": "rental cars",
        "corpus": None,
        "top_k": 5,
        "timeout": timedelta(seconds=1.5),
        "options": '{"search": "dense"}',
    }


def test_a_call_that_names_no_corpus_means_that_of_the_client() -> None:
    session = Session("insurance")
    scripts = [
        lambda **corpus: asking.clarify(session, "q", **corpus),
        lambda **corpus: asking.clarify_many(session, ["q"], **corpus),
        lambda **corpus: asking.search(session, "q", **corpus),
    ]
    for script in scripts:
        assert next(script()).parameters["corpus"] == "insurance"  # type: ignore[union-attr]
        assert next(script(corpus="wiki")).parameters["corpus"] == "wiki"  # type: ignore[union-attr]


def test_no_timeout_means_without_end() -> None:
    for script in (asking.clarify(SESSION, "q", timeout=None), asking.wait(SESSION, [1], timeout=None)):
        assert next(script).parameters["timeout"] is None  # type: ignore[union-attr]


@pytest.mark.parametrize("timeout", [float("nan"), float("inf"), 1e300, "60s"])
def test_a_timeout_that_is_no_length_of_time(timeout: Any) -> None:
    with pytest.raises(InputError) as caught:
        play(asking.clarify(SESSION, "q", timeout=timeout), [])
    assert repr(timeout) in str(caught.value)


@pytest.mark.parametrize("value", [object(), float("nan"), {1, 2}])
def test_an_option_that_json_does_not_know(value: object) -> None:
    with pytest.raises(InputError):
        play(asking.clarify(SESSION, "q", search=value), [])


def test_timeouts_among_options_are_intervals() -> None:
    for script in (asking.search(SESSION, "q", timeout=1e-5), asking.consolidate(SESSION, 3, timeout=1e-5)):
        options = next(script).parameters["options"]  # type: ignore[union-attr]
        assert json.loads(str(options))["timeout"] == "0.000010 seconds"


def test_no_timeout_among_options_is_longer_than_anybody_waits() -> None:
    for script in (
        asking.search(SESSION, "q", timeout=None),
        asking.consolidate(SESSION, 3, timeout=None),
        investigating.investigate(SESSION, "q", timeout=None),
    ):
        options = next(script).parameters["options"]  # type: ignore[union-attr]
        assert json.loads(str(options))["timeout"] == "36500 days"


def test_a_search_has_its_method_among_its_options() -> None:
    script = asking.search(SESSION, "q", method="adaptive", search="lexical", budget=50)
    options = json.loads(str(next(script).parameters["options"]))  # type: ignore[union-attr]
    assert options == {"method": "adaptive", "search": "lexical", "budget": 50, "timeout": "60.000000 seconds"}


def test_each_question_has_its_answer() -> None:
    nothing = dict.fromkeys(READING) | {"run_id": 4, "status": "failed", "stop_code": None}
    unread = nothing | {"run_id": 5, "status": "succeeded", "stop_code": "no_language_model"}
    rows = [
        nothing | {"question_ordinal": 2},
        READING | {"question_ordinal": 3},
        READING | {"question_ordinal": 3, "ordinal": 2},
        unread | {"question_ordinal": 4},
    ]
    played = play(
        asking.clarify_many(SESSION, ["unheard of", "refused", "rental", "unread"], ["a", "b", "c", "d"]), rows
    )

    found = played.returned[2]
    assert played.returned[:2] == [
        Answer("unheard of", "a", RunStatus.SUCCEEDED, None, (), StopCode.NOT_ANSWERED),
        Answer("refused", "b", RunStatus.FAILED, 4, ()),
    ]
    unread_answer = Answer("unread", "d", RunStatus.SUCCEEDED, 5, (), StopCode.NO_LANGUAGE_MODEL)
    assert played.returned[3] == unread_answer
    assert (found.question, found.key, found.status, found.run_id) == ("rental", "c", RunStatus.SUCCEEDED, 3)
    assert [reading.ordinal for reading in found.interpretations] == [1, 2]


def test_without_keys_answers_have_none() -> None:
    assert [answer.key for answer in play(asking.clarify_many(SESSION, ["one", "two"]), []).returned] == [None, None]


def test_as_many_keys_as_questions() -> None:
    with pytest.raises(InputError):
        play(asking.clarify_many(SESSION, ["one", "two"], ["a"]), [])


def test_one_text_is_no_list_of_letters() -> None:
    for script in (
        asking.clarify_many(SESSION, "abc"),
        asking.clarify_many(SESSION, ["one", "two"], "ab"),
    ):
        with pytest.raises(InputError):
            play(script, [])


def test_wait_tells_what_is_over() -> None:
    rows = [outcome(status) for status in RunStatus]
    outcomes = play(asking.wait(SESSION, [3]), rows).returned
    assert outcomes[0] == RunOutcome(3, RunStatus.QUEUED, None, None)
    assert [found.status.value for found in outcomes if not found.is_over] == ["queued", "running"]
