"""Options of the commands ask and investigate."""

from __future__ import annotations

import pytest
import typer

from pgclarify.cli.options import read_options


def test_values_are_json_where_they_can_be() -> None:
    given = ["max_steps=2", "dry_run=false", "reranker=model", "entailment=a/model=1", 'method="dense"', "uri="]
    assert read_options(given) == {
        "max_steps": 2,
        "dry_run": False,
        "reranker": "model",
        "entailment": "a/model=1",
        "method": "dense",
        "uri": "",
    }


def test_values_that_are_no_json_stay_text() -> None:
    deep = "[" * 100_000
    assert read_options(["method=dense,", f"max_passages={deep}"]) == {"method": "dense,", "max_passages": deep}


@pytest.mark.parametrize("option", ["max_steps", "=2", ""])
def test_an_option_has_a_name_and_a_value(option: str) -> None:
    with pytest.raises(typer.BadParameter):
        read_options([option])


def test_the_time_is_a_flag() -> None:
    with pytest.raises(typer.BadParameter, match="--timeout"):
        read_options(["timeout=9min"])
