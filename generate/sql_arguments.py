"""sql/declared/arguments.sql: what check_options and help know of parameters and options."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from generate.sql_text import HEAD, SEARCH_PATH, WIDTH, Call, comment, literal, long_literal
from pgclarify.declared.forms import Function
from pgclarify.declared.functions import FUNCTIONS
from pgclarify.declared.operations import OPERATIONS

_AFTER_PARAMETERS = 100


def arguments() -> str:
    """Return the content of the file."""
    parameters = {
        name: {parameter.name: parameter.check for parameter in operation.parameters.values()}
        for name, operation in OPERATIONS.items()
    }
    options = {
        one.name: {option.name: option.check for option in one.options} for one in FUNCTIONS if one.options is not None
    }
    return "\n".join(
        (
            f"{HEAD}-- What is known of parameters and options.\n",
            _known(
                "parameters_of(operation text)",
                "parameters_of.operation",
                parameters,
                "The parameters of an operation, in the form of check_options; null if there is no such operation.",
            ),
            _known(
                "options_of(name text)",
                "options_of.name",
                options,
                "The options of a public function, in the form of check_options; null if it has none of its own.",
            ),
            _help(),
        )
    )


def _known(signature: str, asked: str, known: Mapping[str, Mapping[str, Any]], about: str) -> str:
    # In the language of procedures: a query would be planned for each call.
    names: dict[str, list[str]] = {}
    for name, value in known.items():
        names.setdefault(_object(value), []).append(literal(name))
    cases = "\n".join(f"        when {asked} in ({', '.join(of)}) then {value}" for value, of in names.items())
    return f"""\
create or replace function pgclarify_private.{signature}
returns jsonb
language plpgsql immutable parallel safe
{SEARCH_PATH}
as $$
begin
    return case
{cases}
    end;
end
$$;

{comment(f"function pgclarify_private.{_types(signature)}", about)}"""


def _types(signature: str) -> str:
    name, _, parameters = signature.rstrip(")").partition("(")
    return f"{name}({', '.join(parameter.split()[1] for parameter in parameters.split(', '))})"


def _object(value: Mapping[str, Any]) -> str:
    lines = ",\n".join(f'            "{name}": {json.dumps(part)}' for name, part in value.items())
    return f"'{{\n{lines}\n        }}'"


def _help() -> str:
    functions: dict[tuple[object, ...], list[str]] = {}
    for one in FUNCTIONS:
        for line in _help_lines(one):
            functions.setdefault(line, []).append(one.name)
    lines = ",\n".join(_laid_out(("{" + ", ".join(of) + "}", *line)) for line, of in functions.items())
    columns = (
        "functions text[], ordinal integer, name text, kind text, type text, default_value text, minimum text, "
        "maximum text,\n    choices text[], meaning text"
    )
    about = (
        "The lines of help: each function, with its first sentence; its parameters; and its options. functions: those "
        "that have the line. ordinal, and then name: place of the line in the help of a function."
    )
    return f"""\
create or replace function pgclarify_private.help_lines()
returns table (
    {columns}
)
language sql immutable parallel safe
{SEARCH_PATH}
rows 200
begin atomic
    select
        known.functions::text[], known.ordinal, known.name, known.kind, known.type, known.default_value, known.minimum,
        known.maximum, known.choices::text[], known.meaning
    from (
        values
{lines}
    ) as known (
        functions, ordinal, name, kind, type, default_value, minimum, maximum, choices, meaning
    );
end;

{comment("function pgclarify_private.help_lines()", about)}"""


def _laid_out(line: tuple[object, ...]) -> str:
    meaning = literal(line[-1])
    if len(meaning) > WIDTH - 16:
        meaning = long_literal(str(line[-1]), " " * 12)
    indent = " " * 8
    return indent + Call("", [*map(literal, line[:-1]), meaning]).laid_out(indent, 1)


def _help_lines(one: Function) -> Iterable[tuple[object, ...]]:
    yield 0, one.name, "function", *(None,) * 5, first_sentence(one.summary)
    parameters = [parameter for parameter in one.parameters if parameter.name != "options"]
    for place, parameter in enumerate(parameters, start=1):
        default = parameter.default.strip("'") if parameter.default not in (None, "null") else None
        bounds = (_text(parameter.least), _text(parameter.most))
        meaning = parameter.meaning or None
        yield place, parameter.name, "parameter", parameter.type, default, *bounds, None, meaning
    for option in one.options or ():
        default = option.default if isinstance(option.default, str | None) else json.dumps(option.default)
        choices = "{" + ",".join(option.choices) + "}" if option.choices else None
        bounds = (_text(option.least), _text(option.most))
        yield _AFTER_PARAMETERS, option.name, "option", option.type, default, *bounds, choices, option.meaning


def first_sentence(text: str) -> str:
    """Return what a text says first, without its end: up to a full stop, a semicolon or a colon."""
    ends = [place for mark in (". ", "; ", ": ") if (place := text.find(mark)) >= 0]
    return text[: min(ends)] if ends else text.rstrip(".")


def _text(number: float | None) -> str | None:
    return None if number is None else str(number)
