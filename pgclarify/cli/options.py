"""Options of several commands, and NAME=VALUE options of operations."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Annotated

import typer

Timeout = Annotated[str, typer.Option(metavar="INTERVAL", help="How long to wait: 90s, 5min, or any interval.")]
AsOneObject = Annotated[bool, typer.Option("--json", metavar="", help="One JSON object.")]
AskBackThreshold = Annotated[
    float | None,
    typer.Option(
        metavar="X",
        min=0.0,
        max=1.0,
        help="With --ask-back: a question is ambiguous if its probability is at least this.",
    ),
]


def read_options(given: Sequence[str]) -> dict[str, object]:
    """Read options: a value is JSON if it can be parsed, else text.

    Raises:
        typer.BadParameter: If a name or a value is missing.
    """
    options: dict[str, object] = {}
    for option in given:
        name, equals, value = option.partition("=")
        if not name or not equals:
            raise typer.BadParameter(f"{option!r} is not NAME=VALUE", param_hint="--option")
        try:
            options[name] = json.loads(value, parse_constant=_refuse, parse_float=_finite)
        except (ValueError, RecursionError):
            options[name] = value
    return options


def with_flags(context: typer.Context, given: Sequence[str], **flags: object) -> dict[str, object]:
    """Combine options that are given by name with those that have their own flag.

    Args:
        context: Of the command, whose parameters have the names of the options.
        given: As for `read_options`.
        flags: The values of the flags; None for a flag that was not given.

    Raises:
        typer.BadParameter: If an option is given in both ways, or cannot be read.
    """
    options = read_options(given)
    for name in flags:
        if name in options and _is_typed(context, name):
            flag = "--" + name.replace("_", "-")
            raise typer.BadParameter(f"give either {flag} or --option {name}=..., not both", param_hint=flag)
    return {name: value for name, value in flags.items() if value is not None} | options


def _is_typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _refuse(constant: str) -> object:
    """Refuse NaN and infinities, which Python accepts as JSON and PostgreSQL does not."""
    raise ValueError(f"{constant} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is out of range")
    return number
