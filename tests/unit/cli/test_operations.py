"""Commands that ask, made of forms that no operation has yet."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from pgclarify.cli import asking, connection
from pgclarify.cli.deferred import AskingCommand
from pgclarify.cli.forms import AskingForm, Flag

FORM = AskingForm(
    name="sum",
    operation="summarize",
    summary="Say what passages say. Nothing else.",
    doing="Reading",
    example="'cars'",
    show="plain_table",
    remark=None,
    timeout=60.0,
    flags=(
        Flag("question", "text", None, "What to look for.", is_required=True),
        Flag("run_id", "bigint", None, "An earlier run.", is_required=True),
        Flag("top_k", "integer", 5, "How many."),
        Flag("source_names", "text[]", None, "Where to look."),
        Flag("filter", "jsonb", None, "Which documents count."),
    ),
    options=("style",),
)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What commands pass to the client, whose answer is one row."""
    calls: list[dict[str, Any]] = []

    def perform(database: object, operation: str, doing: str, **arguments: Any) -> tuple[list[Any], int, bool]:
        calls.append({"operation": operation, **arguments})
        return [{"run_id": 3, "summary": "It pays."}], 3, False

    monkeypatch.setattr(asking, "perform", perform)
    monkeypatch.setattr(connection, "load_settings", lambda: None)
    monkeypatch.setattr(connection, "running_dsn", lambda settings: "")
    monkeypatch.setattr(connection, "connect", lambda url: nullcontext())
    run = {"run_id": 3, "status": "succeeded", "meaning": None, "cost_usd": None}
    monkeypatch.setattr(connection, "client_of", lambda database: SimpleNamespace(run=lambda run_id: run))
    return calls


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        AskingCommand(FORM, "Ask it").command.main([*arguments])
    return int(caught.value.code or 0)


def test_each_parameter_is_a_flag_or_an_argument(
    asked: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("--source-names", "a", "--source-names", "b")
    assert run("cars", "7", *names, "--filter", '{"year": 1}', "-o", "style=short") == 0
    assert run("cars", "7", "-k", "9", "--timeout", "2") == 0
    default: dict[str, Any] = {"operation": "summarize", "question": "cars", "run_id": 7, "timeout": 60.0, "top_k": 5}
    assert asked == [
        default | {"source_names": ["a", "b"], "filter": {"year": 1}, "style": "short"},
        default | {"top_k": 9, "timeout": 2.0},
    ]
    assert run("cars", "7", "--filter", "year") == 2
    assert run("cars") == 2


def test_rows_without_a_renderer_are_a_table(asked: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("cars", "7") == 0
    head, _, row, *_ = capsys.readouterr().out.splitlines()
    assert ([*map(str.strip, head.split("|"))], [*map(str.strip, row.split("|"))]) == (
        ["run_id", "summary"],
        ["3", "It pays."],
    )


def test_the_list_of_commands_has_the_first_sentence() -> None:
    assert AskingCommand(FORM, "Ask it").help == "Say what passages say."
