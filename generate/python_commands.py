"""pgclarify/cli/asking_commands.py: the commands that ask, with their flags."""

from __future__ import annotations

import re
from collections.abc import Iterator

from generate.python_client import default_value
from generate.python_text import HEAD, argument, constant, sentence
from pgclarify.declared.forms import Operation, Option, Parameter
from pgclarify.declared.operations import OPERATIONS

# Options that are flags, too: most questions are asked with them.
_FLAGS = ("corpus", "top_k", "include")
_TABLE = "plain_table"


def asking_commands() -> str:
    """Return the content of the file."""
    commands = "".join(map(command, OPERATIONS.values()))
    return f'''\
{HEAD}"""The commands that ask."""

from __future__ import annotations

from typing import Final

from pgclarify.cli.forms import AskingForm, Flag

ASKING: Final = (
{commands})
'''


def command(operation: Operation) -> str:
    """Return the code of the form of a command; nothing if the operation has none."""
    if (declared := operation.command) is None:
        return ""
    options = [one for one in operation.function.options or () if one.name != "timeout" and one.name not in _FLAGS]
    values = {
        "name": declared.name,
        "operation": operation.name,
        "summary": declared.summary,
        "doing": declared.doing,
        "example": declared.example,
        "show": declared.show or _TABLE,
        "remark": declared.remark,
        "timeout": _timeout(operation),
    }
    lines = [argument(name, value, " " * 8) for name, value in values.items()]
    lines += ["        flags=(", *_flags(operation), "        ),"]
    names = "".join(f"            {constant(one.name)},\n" for one in options)
    several = f"(\n{names}        )"
    lines.append(f"        options={several if len(options) > 1 else constant(tuple(one.name for one in options))},")
    return "    AskingForm(\n" + "\n".join(lines) + "\n    ),\n"


def _timeout(operation: Operation) -> object:
    declared = next((one for one in operation.function.parameters if one.name == "timeout"), None)
    options = (one for one in operation.function.options or () if one.name == "timeout")
    return default_value(declared or _parameter(next(options)))


def _flags(operation: Operation) -> Iterator[str]:
    options = {one.name: one for one in operation.function.options or ()}
    for parameter in operation.parameters.values():
        yield _flag(parameter)
    for name in _FLAGS:
        if name in options and name not in operation.parameters:
            yield _flag(_parameter(options[name]))


def _parameter(option: Option) -> Parameter:
    kind = {"string": "text", "number": "real", "array": "text[]"}.get(option.type, option.type)
    default = "null" if option.default is None else str(option.default)
    return Parameter(option.name, kind, option.meaning, default)


def _flag(parameter: Parameter) -> str:
    # Without a value, an empty one is the default of the server, too.
    values = {
        "name": parameter.name,
        "type": parameter.type,
        "default": default_value(parameter) or None,
        "meaning": sentence(_without_null(parameter.meaning)),
    }
    lines = "\n".join(argument(name, value, " " * 16) for name, value in values.items())
    lines += "\n                is_required=True," if parameter.default is None else ""
    return f"            Flag(\n{lines}\n            ),"


def _without_null(meaning: str) -> str:
    """Return a meaning in words for a user who omits a flag instead of passing null."""
    return re.sub(r"\bnull\b", "omitted", re.sub(r"\bnull means\b", "by default", meaning))
