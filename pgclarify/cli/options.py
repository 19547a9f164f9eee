"""Options of operations, as commands take them: NAME=VALUE."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import typer


def read_options(given: Sequence[str]) -> dict[str, object]:
    """Read options: a value is JSON if it can be, and text otherwise.

    Raises:
        typer.BadParameter: If one has no name or no value.
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


def _refuse(constant: str) -> object:
    """Refuse NaN and the infinities, which Python takes for JSON and PostgreSQL does not."""
    raise ValueError(f"{constant} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is out of range")
    return number
