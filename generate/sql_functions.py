"""sql/declared/functions.sql: the public functions, each with COMMENT and GRANT."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from generate.sql_text import HEAD, SEARCH_PATH, Call, comment
from pgclarify.declared.forms import Function, Option, Parameter, Rows
from pgclarify.declared.functions import FUNCTIONS
from pgclarify.declared.operations import OPERATIONS

_NO_LIMIT = 2**31 - 1


def functions() -> str:
    """Return the content of the file."""
    head = f"{HEAD}-- What people call: wrappers, which pass on who calls.\n"
    return "\n".join([head, *(function(one) for one in FUNCTIONS)])


def function(one: Function) -> str:
    """Return the statements that create a function, and the one of an earlier release if that had fewer parameters."""
    statements = _statements(f"pgclarify.{one.name}", one, one.later_parameters, about(one), _body(one))
    if one.later_parameters:
        statements += "\n" + _earlier(one)
    return statements


def _earlier(one: Function) -> str:
    name = f"{one.name}_0_2_0"
    passed = [f"{name}.{parameter.name}" for parameter in one.parameters]
    if one.options is not None:
        passed.append(f"{name}.options")
    called = Call(f"pgclarify.{one.name}", passed).laid_out("    ", 12)
    body = ("    select seen.*", f"    from {called} as seen;")
    meaning = f"{one.name} as release 0.2.0 had it, for views that use it."
    return _statements(f"pgclarify_private.{name}", one, (), meaning, body)


def _statements(name: str, one: Function, later: Sequence[Parameter], meaning: str, body: Iterable[str]) -> str:
    parameters = [_parameter(parameter) for parameter in one.parameters]
    types = [parameter.type for parameter in one.parameters]
    if one.options is not None:
        parameters.append("options jsonb default '{}'" if one.options_default else "options jsonb")
        types.append("jsonb")
    parameters += [_parameter(parameter) for parameter in later]
    types += [parameter.type for parameter in later]
    signature = f"{name}({', '.join(types)})"
    granted = Call(f"function {name}", types).laid_out("", 40)
    lines = [
        Call(f"create or replace function {name}", parameters).laid_out(""),
        f"returns {_returned(one)}",
        f"language sql {one.volatility}",
        SEARCH_PATH,
    ]
    if one.expected_rows:
        lines.append(f"rows {one.expected_rows}")
    lines.append("begin atomic")
    lines += body
    lines.append("end;")
    lines.append("")
    lines.append(comment(f"function {signature}", meaning).rstrip())
    lines.append(f"grant execute on {granted} to {one.grantee};")
    return "\n".join(lines) + "\n"


def _parameter(parameter: Parameter) -> str:
    declared = f"{parameter.name} {parameter.type}"
    if parameter.default:
        declared += f" default {parameter.default}"
    return declared


def about(one: Function) -> str:
    """Return the comment on a function: what it does, its parameters, its options."""
    told = [one.summary]
    told += [f"{parameter.name}: {parameter.meaning}." for parameter in one.parameters if parameter.meaning]
    if one.options_of is not None:
        told.append(f"The rest as in {one.options_of}.")
    elif one.options is not None:
        options = ", ".join(map(brief, one.options))
        told.append(f"options: {options}; help says when to change each.")
    told += [f"{parameter.name}: {parameter.meaning}." for parameter in one.later_parameters if parameter.meaning]
    if one.remark:
        told.append(one.remark)
    return " ".join(told)


def brief(option: Option) -> str:
    """Return an option with its values, for a comment."""
    values = _values(option)
    if not values:
        return option.name
    return f"{option.name} ({values})"


def _values(option: Option) -> str:
    """Return the values that an option can have, or its default."""
    default = option.default or ""
    if option.choices:
        return ", ".join(option.choices)
    if option.keywords:
        keywords = ", ".join(option.keywords)
        return f"{keywords}, or a name"
    if option.least is not None:
        return f"{_range(option)}; {default}" if default else _range(option)
    if option.type == "boolean":
        return "true"
    return default


def _range(option: Option) -> str:
    """Return the range of a number. The largest number of a type is no limit that a person needs."""
    if (option.most or 0) < _NO_LIMIT:
        return f"{option.least} to {option.most}"
    return f"from {option.least}"


def _returned(one: Function) -> str:
    if isinstance(one.returns, Rows):
        return f"setof pgclarify.{one.returns.name}"
    if one.is_set and not one.returns.startswith(("table", "setof")):
        return f"setof {one.returns}"
    return one.returns


def _body(one: Function) -> Iterator[str]:
    if one.name == "help":
        yield "    select seen.* from pgclarify_private.help(help.topic) as seen;"
        return
    inner = _internal_call(one)
    if isinstance(one.returns, Rows) and _returns_json_inside(one):
        inner = Call("jsonb_populate_recordset", [f"null::pgclarify.{one.returns.name}", inner])
    if not one.is_set:
        yield f"    select {inner.laid_out('    ', 7)}"
        yield "    from pgclarify_private.caller;"
        return
    seen, alias = ("seen.*", "seen")
    if one.returns == "text":
        seen, alias = ("seen.line", "seen (line)")
    yield f"    select {seen}"
    yield "    from pgclarify_private.caller"
    yield f"    cross join lateral {inner.laid_out('    ', 28)} as {alias};"


def _caller(one: Function) -> str:
    return "pgclarify_private.writer(caller)" if one.writes else "caller"


def _returns_json_inside(one: Function) -> bool:
    """Return whether the internal function returns JSON, of which the public one makes rows."""
    return one.name == "result" or (one.name in OPERATIONS and one.calls is None)


def _internal_call(one: Function) -> Call:
    """Return the call of the internal function; an operation's parameters are one JSON object, as submit has them."""
    options = [f"{one.name}.options"] if one.options is not None else []
    if one.passes:
        return Call(f"pgclarify_private.{one.calls}", [_caller(one), *one.passes])
    if one.name in OPERATIONS or one.apart:
        return _call_with_object(one, options)
    own = [f"{one.name}.{parameter.name}" for parameter in one.parameters]
    later = [f"{one.name}.{parameter.name}" for parameter in one.later_parameters]
    called = one.calls or one.name
    return Call(f"pgclarify_private.{called}", [_caller(one), *own, *options, *later])


def _call_with_object(one: Function, options: Sequence[str]) -> Call:
    """Return a call that passes the parameters as one object, but for those that stand apart."""
    names = [parameter.name for parameter in one.all_parameters if parameter.name not in one.apart]
    pairs = [f"'{name}', {one.name}.{name}" for name in names]
    gathered = Call("jsonb_build_object", pairs)
    called = one.calls
    first = [_caller(one)]
    if called is None:
        called = "start_and_wait"
        first.append(f"'{one.name}'")
    apart = [f"{one.name}.{name}" for name in one.apart]
    return Call(f"pgclarify_private.{called}", [*first, *apart, gathered, *options])
