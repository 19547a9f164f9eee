"""Writes hints that name parameters and options in SQL, or in Python, as one writes them on the command line."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping

from pgclarify.cli.asking_commands import ASKING
from pgclarify.cli.forms import Flag

_TIMEOUT = Flag("timeout", "interval", None, "")
_FLAGS: Mapping[str, Flag] = {flag.name: flag for form in ASKING for flag in (*form.flags, _TIMEOUT)}
_OPTIONS = frozenset(name for form in ASKING for name in form.options)
_COMMANDS = {form.operation: form.name for form in ASKING}
_NAME = "|".join((*_FLAGS, "options"))
_TEXT = r"'(?:[^']|'')*'"
# `top_k => 20`, `document_ids => array['a', 'b']`, and in Python `corpus="name"`.
_ARGUMENT = re.compile(
    rf"\b(?P<name>{_NAME}) => (?P<value>{_TEXT}|array\[(?:{_TEXT}|[\s,])*\]|[^\s,.;]+)"
    rf'|\b(?P<named>{_NAME})=(?P<python>"[^"]*"|\d+(?:\.\d+)?)'
)
# `{"check": "none"}`
_OBJECT = re.compile(r"\{[^{}]*\}")
_OPTION = re.compile(rf'\boption "(?P<option>{"|".join(sorted(_OPTIONS))})"')
# `question` and `filter` are also words.
_BARE = re.compile(rf"(?<![\w.\"'-])(?:{'|'.join(name for name in _FLAGS if '_' in name)})(?![\w\"'])")
_FUNCTION = re.compile(rf"\bpgclarify\.(?P<operation>{'|'.join(_COMMANDS)})\b(?!\()")
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
        parts += [_without_names(told[end : found.start()]), _argument(found)]
        end = found.end()
    return "".join([*parts, _without_names(told[end:]), select, statement])


def _without_names(text: str) -> str:
    """Write what stands between arguments."""
    text = _CREATE_CORPUS.sub("pgclarify load NAME PATH", _SESSION.sub("", text))
    text = _OBJECT.sub(lambda found: _object(found[0]) or found[0], text)
    text = _OPTION.sub(lambda found: f"-o {found['option']}=…", text)
    text = _FUNCTION.sub(lambda found: f"pgclarify {_COMMANDS[found['operation']]}", text)
    return _BARE.sub(lambda found: _flag(found[0]), text)


def _argument(found: re.Match[str]) -> str:
    name = found["name"] or found["named"]
    values = [*_values(found["value"] or json.loads(found["python"]))]
    if name == "options":
        return _object(values[0]) or _ANY_OPTION
    flag = _FLAGS[name]
    if flag.type == "interval":
        values = [_SECONDS.sub(r"\1", value) for value in values]
    shown = [value if value == "…" else shlex.quote(value) for value in values]
    if flag.is_required:
        return " ".join(shown)
    return " ".join(f"{_flag(name)} {value}" for value in shown)


def _values(value: object) -> Iterable[str]:
    text = str(value)
    if text.startswith("array["):
        return [_unquoted(one) for one in re.findall(_TEXT, text)]
    return [_unquoted(text) if text.startswith("'") else text]


def _unquoted(literal: str) -> str:
    return literal[1:-1].replace("''", "'")


def _object(text: str) -> str | None:
    """Write the options of a JSON object as arguments; None if it is none, or has other keys."""
    try:
        options = json.loads(text)
    except ValueError:
        return None
    if not isinstance(options, dict) or not options.keys() <= _OPTIONS | _FLAGS.keys():
        return None
    return " ".join(_given(name, value) for name, value in options.items())


def _given(name: str, value: object) -> str:
    shown = shlex.quote(value if isinstance(value, str) else json.dumps(value))
    return f"{_flag(name)} {shown}" if name in _FLAGS else f"-o {name}={shown}"


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
