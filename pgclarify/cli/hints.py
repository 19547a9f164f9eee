"""Writes hints that name parameters and options in SQL, or in Python, as one writes them on the command line."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable

from pgclarify.cli.asking_commands import ASKING
from pgclarify.cli.forms import Flag

_FLAGS: dict[str, Flag] = {"timeout": Flag("timeout", "interval", None, "")}
_OPTIONS: set[str] = set()
_COMMANDS: dict[str, str] = {}
for _form in ASKING:
    _FLAGS |= {flag.name: flag for flag in _form.flags}
    _OPTIONS.update(_form.options)
    _COMMANDS[_form.operation] = _form.name


def _any(words: Iterable[str]) -> str:
    """Return a pattern for one of several words."""
    return "|".join(sorted(words))


_NAME = _any([*_FLAGS, "options"])
_TEXT = r"'(?:[^']|'')*'"
# `20`, `'name'`, `array['a', 'b']`
_VALUE = rf"{_TEXT}|array\[(?:{_TEXT}|[\s,])*\]|[^\s,.;]+"
_PYTHON_VALUE = r'"[^"]*"|\d+(?:\.\d+)?'
# `top_k => 20`, and in Python `corpus="name"`.
_ARGUMENT = re.compile(
    rf"\b(?P<name>{_NAME}) => (?P<value>{_VALUE})"
    rf"|\b(?P<named>{_NAME})=(?P<python>{_PYTHON_VALUE})"
)
# `{"check": "none"}`
_OBJECT = re.compile(r"\{[^{}]*\}")
_OPTION = re.compile(rf'\boption "({_any(_OPTIONS)})"')
# `question` and `filter` are also words.
_NO_WORDS = _any(name for name in _FLAGS if "_" in name)
_BARE = re.compile(rf"(?<![\w.\"'-])(?:{_NO_WORDS})(?![\w\"'])")
_FUNCTION = re.compile(rf"\bpgclarify\.({_any(_COMMANDS)})\b(?!\()")
# The command that also makes what this function makes.
_CREATE_CORPUS = re.compile(rf"\bpgclarify\.create_corpus\({_TEXT}\)")
# A command has a session of its own.
_SESSION = re.compile(rf", or SET pgclarify\.\w+ = {_TEXT}")
_SECONDS = re.compile(r"(\d+)s")
# What stands for options that the hint does not name.
_ANY_OPTION = "-o NAME=VALUE"


def on_the_command_line(hint: str) -> str:
    """Write what a hint says to pass as arguments of a command; a statement at its end, to run in SQL, stays as it is.

    Args:
        hint: `Pass top_k => 20, or {"retrieval": "adaptive"}.`

    Returns:
        `Pass --top-k 20, or -o retrieval=adaptive.`
    """
    told, select, statement = hint.partition("select ")
    parts = []
    end = 0
    for found in _ARGUMENT.finditer(told):
        between = told[end : found.start()]
        parts += [_without_names(between), _argument(found)]
        end = found.end()
    parts.append(_without_names(told[end:]))
    return "".join([*parts, select, statement])


def _without_names(text: str) -> str:
    """Write what stands between arguments."""
    text = _SESSION.sub("", text)
    text = _CREATE_CORPUS.sub("pgclarify load NAME PATH", text)
    text = _OBJECT.sub(_object, text)
    text = _OPTION.sub(r"-o \1=…", text)
    text = _FUNCTION.sub(_command, text)
    return _BARE.sub(_flag, text)


def _argument(found: re.Match[str]) -> str:
    """Write an argument of a call."""
    name = found["name"] or found["named"]
    values = _values(found["value"] or found["python"])
    if name == "options":
        return _options(values[0]) or _ANY_OPTION
    flag = _FLAGS[name]
    if flag.type == "interval":
        values = [_SECONDS.sub(r"\1", value) for value in values]
    shown = map(_quoted, values)
    if flag.is_required:
        return " ".join(shown)
    return " ".join(f"{_named(name)} {value}" for value in shown)


def _values(text: str) -> list[str]:
    """Read the values of an argument: those of an array, or one."""
    if text.startswith(("'", "array[")):
        return [_unquoted(literal) for literal in re.findall(_TEXT, text)]
    return [text.strip('"')]


def _unquoted(literal: str) -> str:
    return literal[1:-1].replace("''", "'")


def _quoted(value: str) -> str:
    return value if value == "…" else shlex.quote(value)


def _object(found: re.Match[str]) -> str:
    text = found[0]
    return _options(text) or text


def _command(found: re.Match[str]) -> str:
    name = _COMMANDS[found[1]]
    return f"pgclarify {name}"


def _flag(found: re.Match[str]) -> str:
    return _named(found[0])


def _options(text: str) -> str | None:
    """Write the options of a JSON object as arguments; None if it is none, or has other keys."""
    try:
        options = json.loads(text)
    except ValueError:
        return None
    if not isinstance(options, dict) or not options.keys() <= _OPTIONS | _FLAGS.keys():
        return None
    return " ".join(_given(name, value) for name, value in options.items())


def _given(name: str, value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    shown = shlex.quote(text)
    if name in _FLAGS:
        return f"{_named(name)} {shown}"
    return f"-o {name}={shown}"


def _named(name: str) -> str:
    flag = name.replace("_", "-")
    return f"--{flag}"
