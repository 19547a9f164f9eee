"""pgclarify/client/operations.py and methods.py: what clients do for each operation, and the methods that do it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from generate.python_records import records
from generate.python_text import HEAD, constant, docstring, in_python, sentence, used
from pgclarify.declared.forms import Function, Method, Parameter, Rows
from pgclarify.declared.functions import FUNCTIONS
from pgclarify.declared.operations import OPERATIONS, names_of

# For each type of a parameter in SQL: its type in Python, and how it is sent.
_TYPES = {
    "bigint": ("int", "{}"),
    "boolean": ("bool", "{}"),
    "integer": ("int", "{}"),
    "interval": ("float | None", "interval({})"),
    "jsonb": ("Mapping[str, object]", 'to_json({0}, "{0}")'),
    "jsonb[]": (
        "Sequence[Mapping[str, object] | None]",
        '[None if one is None else to_json(one, "{0}") for one in {0}]',
    ),
    "real": ("float", "{}"),
    "text": ("str", "{}"),
    "text[]": ("Sequence[str]", "listed({})"),
    "timestamptz": ("datetime", "{}"),
}
_BITS = {"integer": 31, "bigint": 63}
_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0}
_STANDARD = (("collections.abc", ("Mapping", "Sequence")), ("datetime", ("datetime",)), ("typing", ("Any", "Final")))
_OURS = (
    ("pgclarify.client.asking", ("ask", "ask_many", "ask_one")),
    ("pgclarify.client.records", ("Answer",)),
    ("pgclarify.client.result_records", tuple(str(rows.record) for rows in records())),
    ("pgclarify.client.results", ("Results",)),
    ("pgclarify.client.scripts", ("Script", "Session", "interval", "listed", "timed", "to_json")),
)


def asking_functions() -> Iterator[tuple[Function, Method]]:
    """Return the functions with a generated method, and this method."""
    operations = {one.function.name for one in OPERATIONS.values()}
    for function in FUNCTIONS:
        method = function.method or (Method() if function.name in operations else None)
        if method is not None:
            yield function, method


def operations() -> str:
    """Return the content of operations.py."""
    known = ", ".join(map(constant, names_of("finds_readings")))
    without = ", ".join(constant(name) for name, one in OPERATIONS.items() if "corpus" not in one.parameters)
    rows = "".join(
        f"    {constant(name)}: ({constant(one.rows.name)}, {one.rows.record}),\n" for name, one in OPERATIONS.items()
    )
    bits = sorted(
        {
            (one.name, _BITS[one.type.removesuffix("[]")])
            for function in FUNCTIONS
            for one in function.parameters
            if one.type.removesuffix("[]") in _BITS
        }
    )
    whole = "".join(f"    {constant(name)}: {count},\n" for name, count in bits)
    code = f"""\
# For each operation: the type of its rows in SQL, and the class of its records.
ROWS: Final[Mapping[str, tuple[str, type[Any]]]] = {{
{rows}}}
# These continue a run, or use a corpus only if it is named.
WITHOUT_CORPUS: Final = frozenset({{{without}}})
# These have verdicts.
WITH_VERDICTS: Final = ({known})
# The parameters of all functions that are whole numbers, and the bits of each without its sign.
WHOLE_NUMBERS: Final[Mapping[str, int]] = {{
{whole}}}


"""
    code += "\n\n".join(script(function, method) for function, method in asking_functions())
    return f'''\
{HEAD}"""Scripts of the operations. The docstrings are those of the client's methods."""

from __future__ import annotations

{used(code, _STANDARD)}
{used(code, _OURS)}
{code}'''


def methods() -> str:
    """Return the content of methods.py."""
    names = [function.name for function, _ in asking_functions()]

    def listed(maker: str) -> str:
        return "".join(f"    {name} = {maker}(operations.{name})\n" for name in names)

    return f'''\
{HEAD}"""The methods of both clients that ask."""

from __future__ import annotations

from pgclarify.client import operations
from pgclarify.client.executing import AsyncExecutor, Executor, async_method, method


class Methods(Executor):
    """The methods of Client that ask."""

{listed("method")}

class AsyncMethods(AsyncExecutor):
    """The methods of AsyncClient that ask."""

{listed("async_method")}'''


def script(function: Function, method: Method) -> str:
    """Return the code of a script."""
    rows = function.returns
    if not isinstance(rows, Rows):
        raise TypeError(f"{function.name} has a method, but returns no rows")
    record = "Answer" if method.script == "ask_many" else str(rows.record)
    returned = record if method.script == "ask_one" else f"Results[{record}]"
    arguments = "".join(f"        {constant(one.name)}: {_sent(one)},\n" for one in function.parameters)
    timeout = _timeout_option(function)
    options = "options" if timeout is None else "timed(options, timeout)"
    about = method.about or in_python(function.summary)
    returns = method.returns or in_python(rows.meaning)
    return f"""\
def {function.name}(
{_signature(function, method)}) -> Script[{returned}]:
{
        docstring(
            about,
            "    ",
            example=method.example,
            sections=[("Args", _meanings(function, method)), ("Returns", [returns])],
        )
    }\
    arguments = {{
{arguments}    }}
    return (yield from {method.script}(session, {record}, {constant(function.name)}, arguments, {options}))
"""


def _ordered(function: Function, method: Method) -> tuple[list[Parameter], list[Parameter]]:
    """Return the parameters that may be passed by position, and the others."""
    positional = [one for one in function.parameters if one.default is None or one.name in method.positional]
    positional.sort(key=lambda one: one.default is not None)
    return positional, [one for one in function.parameters if one not in positional]


def _signature(function: Function, method: Method) -> str:
    positional, named = _ordered(function, method)
    lines = ["session: Session", "/", *map(_declared, positional), "*", *map(_declared, named)]
    if (timeout := _timeout_option(function)) is not None:
        lines.append(f"timeout: float | None = {seconds(timeout)}")
    lines.append("**options: object")
    return "".join(f"    {line},\n" for line in lines)


def _declared(parameter: Parameter) -> str:
    kind = _TYPES[parameter.type][0]
    if parameter.default is None:
        return f"{parameter.name}: {kind}"
    value = default_value(parameter)
    optional = "" if value is not None or kind.endswith("None") else " | None"
    return f"{parameter.name}: {kind}{optional} = {constant(value)}"


def default_value(parameter: Parameter) -> object:
    """Return the default of a parameter in Python; None if it has none."""
    text = str(parameter.default or "null").strip("'")
    if text == "null":
        return None
    match parameter.type:
        case "bigint" | "integer":
            return int(text)
        case "boolean":
            return text == "true"
        case "interval":
            return seconds(text)
        case "real":
            return float(text)
        case "text[]":
            return ()
    return text


def _sent(parameter: Parameter) -> str:
    sent = _TYPES[parameter.type][1].format(parameter.name)
    is_made = sent != parameter.name and parameter.type != "interval"
    return f"None if {parameter.name} is None else {sent}" if is_made and parameter.default == "null" else sent


def _meanings(function: Function, method: Method) -> Iterator[str]:
    for parameter in (one for part in _ordered(function, method) for one in part):
        meaning = parameter.meaning
        if parameter.type == "interval":
            meaning = f"seconds {meaning.removeprefix('how long ')}"
        if parameter.name == "corpus":
            # The client may have one, too.
            meaning = meaning.replace("null means ", "null means the client's, else ")
        yield f"{parameter.name}: {sentence(in_python(meaning or f'as in {function.options_of}'))}"
    if _timeout_option(function) is not None:
        yield "timeout: Seconds to wait; the run goes on afterwards. None waits without limit."
    names = ", ".join(one.name for one in function.options or () if one.name != "timeout")
    help_of = f"; `select * from pgclarify.help('{function.name}')` explains them" if names else ""
    yield f"options: {names or 'There are none yet'}{help_of}."


def _timeout_option(function: Function) -> str | None:
    """Return the default of option timeout; None if timeout is a parameter."""
    return next((str(one.default) for one in function.options or () if one.name == "timeout"), None)


def seconds(interval: str) -> float:
    """Return an interval of SQL, such as 5min, in seconds."""
    found = re.fullmatch(r"(\d+)\s?(\w+)", interval)
    if found is None or found[2] not in _UNITS:
        raise ValueError(f"{interval!r} is no number with one of the units {', '.join(_UNITS)}")
    return int(found[1]) * _UNITS[found[2]]
