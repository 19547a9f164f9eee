"""Many cases in one test, because a database for each case would take most of the time."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def parametrize_in_one_test(names: str, cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Like `pytest.mark.parametrize`, but one test runs all cases, and reports each case that fails.

    For cases without effects on the next one: refusals, and questions that only read.
    """
    arguments = [name.strip() for name in names.split(",")]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)

        @functools.wraps(test)
        def run(*args: Any, subtests: pytest.Subtests, **fixtures: Any) -> None:
            for case in cases:
                values = case if len(arguments) > 1 else (case,)
                with subtests.test(repr(case)):
                    test(*args, **fixtures, **dict(zip(arguments, values, strict=True)))

        wanted = [parameter for name, parameter in signature.parameters.items() if name not in arguments]
        asked = inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY)
        run.__signature__ = signature.replace(parameters=[*wanted, asked])  # type: ignore[attr-defined]
        return run

    return decorate
