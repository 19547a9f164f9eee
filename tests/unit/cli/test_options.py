"""Options of the commands ask and investigate."""

from __future__ import annotations

import pytest
import typer

from pgclarify.cli.main import main
from pgclarify.cli.options import read_options


def test_values_are_json_where_they_can_be() -> None:
    given = ["max_steps=2", "penalty=false", "reranker=model", "entailment=a/model=1", 'search="dense"', "samples="]
    assert read_options(given) == {
        "max_steps": 2,
        "penalty": False,
        "reranker": "model",
        "entailment": "a/model=1",
        "search": "dense",
        "samples": "",
    }


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "1e999", "[NaN]", "[" * 100_000])
def test_what_python_alone_takes_for_json_is_text(value: str) -> None:
    assert read_options([f"budget={value}"]) == {"budget": value}


@pytest.mark.parametrize("option", ["max_steps", "=2", ""])
def test_an_option_has_a_name_and_a_value(option: str) -> None:
    with pytest.raises(typer.BadParameter):
        read_options([option])


@pytest.mark.parametrize(
    ("command", "option", "value"),
    [
        ("ask-back", "form", "select"),
        ("ask-back", "scheme", "standard"),
        ("ask-back", "timeout", "5min"),
        ("list", "top_k", "20"),
        ("list", "max_answers", "3"),
        ("detect", "corpus", "insurance"),
        ("detect", "threshold", "0.5"),
        ("rewrite", "threshold", "0"),
        ("rewrite", "timeout", "60s"),
        ("ask", "threshold", "0.5"),
    ],
)
def test_an_option_that_is_given_twice(
    command: str, option: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    flag = "--" + option.replace("_", "-")
    with pytest.raises(SystemExit) as caught:
        main([command, "q", flag, value, "-o", f"{option}={value}"])
    told = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert (caught.value.code, f"give either {flag} or --option {option}=..., not both" in told) == (2, True)


def test_a_threshold_goes_with_asking_back(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["ask", "q", "--threshold", "0.5"])
    assert (caught.value.code, "it goes with --ask-back" in capsys.readouterr().err) == (2, True)
