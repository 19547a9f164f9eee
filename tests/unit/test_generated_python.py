"""What the generator makes of a function that is not declared yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest

from generate.python_client import script, seconds
from generate.python_commands import command
from generate.python_records import record_class
from pgclarify.cli import forms
from pgclarify.client import asking, parts, scripts
from pgclarify.client.rows import record
from pgclarify.declared.forms import Column, Command, Function, Method, Operation, Option, Parameter, Rows
from pgclarify.declared.options import TIMEOUT
from tests.unit.client.playing import play, sent_values

ROWS = Rows(
    name="summary",
    meaning="What a passage says.",
    columns=(
        Column("run_id", "bigint", "The run."),
        Column("words", "text[]", "Its words; null if it has none.", null=True),
        Column("proof", "jsonb", "The proof: array of objects with much.", record_type="tuple[Citation, ...]"),
        Column("score", "real", "How sure it is.", null=True, default="None"),
    ),
    record="Summary",
)
FUNCTION = Function(
    name="summarize",
    summary="Say what passages say.",
    parameters=(
        Parameter("question", "text", "what to look for; null looks for all", "null"),
        Parameter("corpus", "text", "its name; null means the only one", "null"),
        Parameter("top_k", "integer", "how many", "5"),
        Parameter("words", "text[]", "those that count", "'{}'"),
        Parameter("filter", "jsonb", "which documents count", "null"),
        Parameter("run_id", "bigint", "an earlier run"),
    ),
    options=(
        Option(name="style", meaning="How it is said."),
        TIMEOUT.but(default="2min"),
    ),
    returns=ROWS,
    method=Method(positional=("question",)),
)
OPERATION = Operation(function=FUNCTION, view="summary", command=Command("sum", "Say it. Twice.", "Reading", "'cars'"))


def executed(code: str, **names: Any) -> dict[str, Any]:
    known: dict[str, Any] = {**vars(scripts), **vars(asking), **vars(parts), **names}
    exec("from __future__ import annotations\nfrom dataclasses import dataclass\n" + code, known)  # noqa: S102
    return known


@pytest.fixture
def kind() -> Any:
    made = executed(record_class(ROWS))["Summary"]
    # Types are read as texts, with the names of the module.
    made.__annotations__ = {"run_id": int, "words": tuple[str, ...] | None, "proof": tuple[parts.Citation, ...]}
    return made


def test_a_record_has_the_columns_of_its_rows(kind: Any) -> None:
    made = record(kind, {"run_id": 1, "words": ["a"], "proof": []})
    assert (made.run_id, made.words, made.proof, made.score) == (1, ("a",), (), None)
    assert "words: Its words; None if it has none." in kind.__doc__
    assert "proof: The proof.\n" in kind.__doc__


def test_a_script_sends_the_parameters_and_options_of_its_function(kind: Any) -> None:
    summarize = executed(script(FUNCTION, FUNCTION.method or Method()), Summary=kind, Sequence=Sequence)["summarize"]
    session = scripts.Session("insurance")
    played = play(
        summarize(session, 7, "cars", filter={"year": 1}, style="short"), [{"run_id": 1, "words": None, "proof": []}]
    )
    assert sent_values(played.sent[0]) == {
        "question": "cars",
        "corpus": "insurance",
        "top_k": 5,
        "words": [],
        "filter": '{"year": 1}',
        "run_id": 7,
        "options": '{"style": "short", "timeout": "120.000000 seconds"}',
    }
    assert sent_values(play(summarize(session, 7), []).sent[0])["filter"] is None
    assert "options: style;" in summarize.__doc__


def test_a_command_has_the_parameters_of_its_operation_as_flags() -> None:
    names: Mapping[str, Any] = vars(forms)
    form: forms.AskingForm = eval(command(OPERATION).strip().removesuffix(","), dict(names))  # noqa: S307
    assert (form.name, form.operation, form.timeout, form.options) == ("sum", "summarize", 120.0, ("style",))
    flags = {flag.name: (flag.type, flag.default, flag.is_required) for flag in form.flags}
    assert flags["run_id"] == ("bigint", None, True)
    assert flags["top_k"] == ("integer", 5, False)
    assert flags["filter"] == ("jsonb", None, False)
    assert form.flags[1].meaning == "Its name; by default the only one."


@pytest.mark.parametrize(("text", "expected"), [("60s", 60), ("5min", 300), ("2h", 7200)])
def test_a_timeout_is_the_same_in_sql_and_in_seconds(text: str, expected: int) -> None:
    assert timedelta(seconds=seconds(text)) == timedelta(seconds=expected)
