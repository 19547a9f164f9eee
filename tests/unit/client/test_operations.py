"""The calls that the methods of operations send, and the records that they make of the rows."""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

import pgclarify
from pgclarify.client import operations, runs
from pgclarify.client.opening import statement_of
from pgclarify.client.parts import Citation
from pgclarify.client.result_records import Interpretation
from pgclarify.client.scripts import Call, Script, Session, Statement
from pgclarify.data.vocabulary import RunStatus, StopCode
from pgclarify.declared.forms import Option, Parameter
from pgclarify.declared.functions import FUNCTIONS
from pgclarify.errors import InputError
from tests.unit.client.playing import play, sent_name, sent_values

SESSION = Session("insurance")
CITATION: dict[str, Any] = {
    "rank": 1, "document_id": "17", "title": "Coverage", "uri": None, "passage_id": 5, "heading": None,
    "quote": "thirty days", "start_char": 10, "end_char": 21, "is_current": True, "is_medoid": True,
}  # fmt: skip
# As the server sends it: with a column that the client does not know yet.
READING: dict[str, Any] = {
    "run_id": 3, "status": "succeeded", "ordinal": 1, "interpretation": "How long?", "answer": "thirty days",
    "support": 1, "cohesion": 1.0, "is_contested": False, "document_ids": ["17"], "citations": [CITATION],
    "stop_code": None, "invented_later": 1,
}  # fmt: skip
RECORD = Interpretation(
    3, RunStatus.SUCCEEDED, 1, "How long?", "thirty days", 1, 1.0, ("17",), (Citation(**CITATION),), is_contested=False
)


def test_clarify_sends_its_arguments_and_reads_readings() -> None:
    played = play(
        operations.clarify(
            SESSION, "cars", top_k=5, timeout=2.0, filter={"year": 2026}, history=("What is insured?",), verify="none"
        ),
        [READING],
    )
    assert played.returned == [RECORD]
    (call,) = played.sent
    assert sent_name(call) == "clarify"
    assert sent_values(call) == {
        "question": "cars",
        "corpus": "insurance",
        "top_k": 5,
        "timeout": timedelta(seconds=2),
        "options": '{"verify": "none"}',
        "filter": '{"year": 2026}',
        "document_ids": None,
        "history": ["What is insured?"],
    }


@pytest.mark.parametrize("question", [["cars"], 17])
def test_a_question_must_be_a_text(question: Any) -> None:
    with pytest.raises(InputError, match="a question is a str"):
        play(operations.clarify(SESSION, question), [])


def test_many_questions_have_one_answer_each() -> None:
    rows = [READING | {"question_ordinal": 2}, {"question_ordinal": 3, "run_id": 4, "status": "failed"}]
    rows[1] |= {"ordinal": None, "stop_code": None}
    found = play(operations.clarify_many(SESSION, ["a", "b", "c"], ["x", "y", "z"]), rows).returned
    assert [(one.key, one.status, one.stop_code, len(one.interpretations)) for one in found] == [
        ("x", RunStatus.SUCCEEDED, StopCode.NOT_ANSWERED, 0),
        ("y", RunStatus.SUCCEEDED, None, 1),
        ("z", RunStatus.FAILED, None, 0),
    ]
    with pytest.raises(InputError, match="differ"):
        play(operations.clarify_many(SESSION, ["a"], []))


@pytest.mark.parametrize(
    ("timeout", "option"), [(None, "36500 days"), (0.25, "0.250000 seconds"), (90_000, "90000.000000 seconds")]
)
def test_a_timeout_of_any_length_is_sent_as_it_is(timeout: float | None, option: str) -> None:
    played = play(operations.list_answers(SESSION, "q", timeout=timeout), [])
    assert json.loads(sent_values(played.sent[0])["options"]) == {"timeout": option}
    parameter = None if timeout is None else timedelta(seconds=timeout)
    assert sent_values(play(operations.clarify(SESSION, "q", timeout=timeout), []).sent[0])["timeout"] == parameter
    assert sent_values(play(runs.wait(SESSION, [1], timeout=timeout), []).sent[0])["timeout"] == parameter


def test_feedback_is_sent_by_the_names_of_its_parameters() -> None:
    played = play(runs.give_feedback(SESSION, 7, 2, "wrong", person="Ann"), [{"give_feedback": True}])
    assert played.returned is True
    assert sent_values(played.sent[0]) == {
        "run_id": 7, "ordinal": 2, "rating": "wrong", "comment": None, "person": "Ann", "missing": None,
    }  # fmt: skip


def test_a_timeout_that_is_no_time_is_refused() -> None:
    with pytest.raises(InputError):
        play(operations.search(SESSION, "q", timeout="soon"))  # type: ignore[arg-type]


UNITS = {"s": 1.0, "min": 60.0}
VALUES = {"null": None, "{}": ()}


def in_python(default: str | int) -> object:
    """A default of SQL as the client writes it."""
    text = str(default).strip("'")
    if found := re.fullmatch(r"(\d+) ?(s|min)?", text):
        return UNITS[found[2]] * int(found[1]) if found[2] else int(found[1])
    return VALUES.get(text, text)


def test_methods_have_the_defaults_of_their_functions() -> None:
    compared = {}
    for function in FUNCTIONS:
        method = getattr(pgclarify.Client, function.name, None)
        parameters = {} if method is None else inspect.signature(method).parameters
        declared: list[Parameter | Option] = [*function.parameters, *(function.options or ())]
        for one in declared:
            mine = inspect.Parameter.empty if one.name not in parameters else parameters[one.name].default
            if one.default is not None and mine is not inspect.Parameter.empty:
                compared[f"{function.name}.{one.name}"] = (mine, in_python(one.default))
    assert compared["search.top_k"] == (10, 10)
    assert compared["investigate.timeout"] == (300.0, 300.0)
    assert {name: both for name, both in compared.items() if both[0] != both[1]} == {}


@pytest.mark.parametrize("operation", ["consolidate", "reply", "detect_ambiguity", "rewrite"])
def test_the_corpus_of_the_client_is_not_used_where_it_is_a_choice(operation: str) -> None:
    played = play(runs.submit(SESSION, operation), [{"submit": 7}])
    assert (played.returned, sent_values(played.sent[0])["corpus"]) == (7, None)


def test_a_conversation_keeps_its_corpus() -> None:
    def corpus(**options: Any) -> object:
        return sent_values(play(operations.clarifying_questions(SESSION, **options), []).sent[0])["corpus"]

    assert corpus(question="cars") == "insurance"
    assert corpus(question="cars", check="none") is None
    assert corpus(reply=7) is None
    assert corpus(question="cars", check="none", corpus="films") == "films"


def test_the_rules_of_a_corpus_judge_only_if_it_is_named() -> None:
    def options(**given: Any) -> object:
        judged: dict[str, Any] = {"run_id": 1, "is_ambiguous": False, "probability": 0.1, "kind": None, "reasons": []}
        sent = sent_values(play(operations.detect_ambiguity(SESSION, "cars", **given), [judged]).sent[0])
        assert "corpus" not in sent
        return json.loads(sent["options"]).get("corpus")

    assert options() is None
    assert options(corpus="films") == "films"


def test_many_questions_have_their_runs_in_order() -> None:
    assert play(runs.submit_many(SESSION, "search", ["cars", "vans"]), [{"f": [8, 7]}]).returned == [8, 7]
    with pytest.raises(InputError):
        play(runs.submit_many(SESSION, "search", "cars"))


def test_a_result_is_read_as_its_operation_says() -> None:
    found = [{"found": [READING | {"ordinal": 2}, READING]}]
    played = play(runs.result(SESSION, 3), [{"operation": "clarify"}], found)
    assert [one.ordinal for one in played.returned] == [1, 2]
    assert sent_values(played.sent[1]) == {"run_id": 3, "row_type": "clarification", "include": None}


@pytest.mark.parametrize("given", [17, None, "17"])
@pytest.mark.parametrize("call", [runs.wait, runs.cancel, operations.clarify_many])
def test_a_single_value_where_a_list_is_expected_is_refused(call: Callable[..., Script[Any]], given: object) -> None:
    with pytest.raises(InputError):
        play(call(SESSION, given), [])


@pytest.mark.parametrize(
    "number",
    [2**63, -(2**63) - 1, 10**5000, True, False, 5.0, 1e300, math.inf, math.nan],
    ids=["above", "below", "long", "true", "false", "5.0", "1e300", "infinity", "nan"],
)
def test_a_number_that_a_parameter_cannot_have_is_refused_before_it_is_sent(number: Any) -> None:
    whole = [
        (function.name, parameter.name, [number] if parameter.type.endswith("[]") else number)
        for function in FUNCTIONS
        for parameter in function.parameters
        if parameter.type in ("integer", "bigint", "bigint[]")
    ]
    assert whole
    steps: list[Call | Statement] = [Call(function, {name: given}) for function, name, given in whole]
    for step in [*steps, Statement("client_watch_run", {"run_id": number, "seen": []})]:
        with pytest.raises(InputError) as caught:
            statement_of(step)
        assert len(str(caught.value)) < 500


def test_a_number_is_limited_by_the_type_of_its_parameter() -> None:
    for name, largest in (("top_k", 2**31 - 1), ("run_id", 2**63 - 1)):
        assert statement_of(Call("search", {name: largest}))
        for number in (largest + 1, -largest - 2):
            with pytest.raises(InputError):
                statement_of(Call("search", {name: number}))


def test_an_option_that_is_no_json_is_refused() -> None:
    with pytest.raises(InputError):
        play(operations.clarify(SESSION, "cars", threshold=float("nan")))
