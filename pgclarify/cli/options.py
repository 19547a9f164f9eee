"""NAME=VALUE options of operations."""

from __future__ import annotations

import json
from collections.abc import Sequence

import typer


def read_options(given: Sequence[str]) -> dict[str, object]:
    """Read options: a value is JSON if it can be parsed, else text.

    Raises:
        typer.BadParameter: If a name or a value is missing, or the time is given, which is a flag of each command.
    """
    options: dict[str, object] = {}
    for option in given:
        name, equals, value = option.partition("=")
        if not name or not equals:
            raise typer.BadParameter(f"{option!r} is not NAME=VALUE", param_hint="--option")
        if name == "timeout":
            raise typer.BadParameter("give the time in seconds as --timeout", param_hint="--option")
        try:
            options[name] = json.loads(value)
        except (ValueError, RecursionError):
            options[name] = value
    return options
