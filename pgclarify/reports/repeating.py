"""The command that repeats an evaluation, and the file that it needs."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from pgclarify.evaluated import EvaluationPlan
from pgclarify.evaluation.configurations import BASELINE_SETTINGS
from pgclarify.reports.formats import setting

# Methods that call the model from the process of the command.
_BASELINES = frozenset(BASELINE_SETTINGS) - {"human"}


@dataclass(frozen=True, slots=True)
class Repeat:
    """How to repeat an evaluation.

    Attributes:
        command: For a shell.
        file: The content of the file that the command names; None if it names none.
    """

    command: str
    file: str | None


def repeat(plan: EvaluationPlan) -> Repeat:
    """Say how to repeat an evaluation, from its plan; paid replies come from the ledger."""
    words = ["pgclarify", "eval", "run", f"{plan.data_set}.jsonl", "--corpus", plan.corpus_name, "--name", plan.name]
    words += ["--judge", plan.judges]
    # A parameter without a value has its default.
    given = {name: value for name, value in sorted(plan.settings.items()) if value is not None}
    file = None
    if all(_fits_a_grid(value) for value in given.values()):
        words += ["--method", plan.method]
        for name, value in given.items():
            words += ["--set", f"{name}={setting(value)}"]
    else:
        words += ["--config", "configuration.toml"]
        file = _configuration(plan.method, given)
    return Repeat(_asked_model(plan) + shlex.join(words), file)


def _asked_model(plan: EvaluationPlan) -> str:
    """Return the variables of the model that the command itself calls; empty if it calls none."""
    if plan.judging_model is not None:
        return f"PGCLARIFY_LLM_MODEL={shlex.quote(plan.judging_model)} "
    return f"PGCLARIFY_LLM_MODEL={shlex.quote(plan.model)} " if plan.method in _BASELINES else ""


def _fits_a_grid(value: object) -> bool:
    """Whether --set reads the value unchanged: it splits at commas, and parses JSON."""
    if not isinstance(value, str):
        return True
    try:
        json.loads(value)
    except ValueError:
        return bool(value) and "," not in value
    return False


def _configuration(method: str, options: Mapping[str, object]) -> str:
    lines = [f"{_text(name)} = {_value(value)}" for name, value in options.items()]
    return "\n".join([f"method = {_text(method)}", "", "[options]", *lines])


def _value(value: object) -> str:
    # Settings also have numbers and booleans, which TOML spells as JSON does.
    return _text(value) if isinstance(value, str) else json.dumps(value)


def _text(text: str) -> str:
    """Write a basic TOML (1.0) string; invisible characters are escaped."""
    return '"' + "".join(_character(one) for one in text) + '"'


def _character(one: str) -> str:
    if one in '"\\':
        return f"\\{one}"
    if one.isprintable():
        return one
    return f"\\u{ord(one):04X}" if ord(one) < 0x10000 else f"\\U{ord(one):08X}"
